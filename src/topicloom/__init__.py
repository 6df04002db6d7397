"""topicloom weaves topic-connected overlays for publish/subscribe.

Given who subscribes to what, it picks the few links over which every message on a topic reaches all its subscribers
by passing only through subscribers.

>>> import topicloom as tl
>>> interest = tl.Interest.from_pairs(["a", "b", "c", "a"], ["news", "news", "sport", "sport"])
>>> overlay = tl.design(interest, "gm")
>>> overlay.n_links, tl.verify(interest, overlay.links).ok
(2, True)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from topicloom.version import __version__

if TYPE_CHECKING:
    from topicloom import datasets
    from topicloom.auditing import Finding, Findings, audit
    from topicloom.bounds import LowerBound, lower_bound
    from topicloom.churn import Event, Maintainer
    from topicloom.deploy import Inventory, export, rehearse
    from topicloom.errors import TopicloomError
    from topicloom.judge import drill, random_drills, verify, weak_nodes
    from topicloom.measures import measure, soc
    from topicloom.methods import (
        JOIN_METHODS,
        METHODS,
        Existence,
        MethodSpec,
        automatic,
        cd_oda,
        cd_oda_1,
        cd_oda_2,
        cycle_per_topic,
        design,
        divide_and_conquer,
        drop_redundant_links,
        exact,
        full_mesh,
        gm2,
        greedy_merge,
        harary_per_topic,
        hub,
        join,
        low_oda,
        minmax_oda,
        random_regular,
        repeated_greedy_merge,
        ring_per_topic,
        rounds_greedy_merge,
        soc_exists,
        spanning_tree,
        stacked_greedy_merge,
        tco_exists,
        two_diameter_oda,
        weighted_greedy_merge,
    )
    from topicloom.model import (
        BrokenTopic,
        Change,
        CutTopic,
        DrillReport,
        DrillSummary,
        Interest,
        Metrics,
        Overlay,
        Rejection,
        SocAnswer,
        Verdict,
        WeakNode,
    )
    from topicloom.reading import Reading, read_links, read_subscriptions
    from topicloom.refinement import refine
    from topicloom.routing import Plan, RouteChange, RouteFollower, Routes, Steps, diff, routes
    from topicloom.simulation import DcSimulation, Faults, LeavesSimulation, simulate_dc, simulate_leaves
    from topicloom.star_sets import StarJoin, StarLink, StarSet, TopicDigest, join_stars, star_set, topic_digest
    from topicloom.workloads import generate

# Where each public name lives; loaded when it is first asked for, so that `import topicloom` costs next to nothing.
_HOMES = {
    "topicloom": "datasets",
    "topicloom.auditing": "Finding Findings audit",
    "topicloom.bounds": "LowerBound lower_bound",
    "topicloom.churn": "Event Maintainer",
    "topicloom.deploy": "Inventory export rehearse",
    "topicloom.errors": "TopicloomError",
    "topicloom.judge": "drill random_drills verify weak_nodes",
    "topicloom.measures": "measure soc",
    "topicloom.methods": (
        "JOIN_METHODS METHODS Existence MethodSpec automatic cd_oda cd_oda_1 cd_oda_2 cycle_per_topic design "
        "divide_and_conquer drop_redundant_links exact full_mesh gm2 greedy_merge harary_per_topic hub join low_oda "
        "minmax_oda random_regular repeated_greedy_merge ring_per_topic rounds_greedy_merge soc_exists spanning_tree "
        "stacked_greedy_merge tco_exists two_diameter_oda weighted_greedy_merge"
    ),
    "topicloom.model": (
        "BrokenTopic Change CutTopic DrillReport DrillSummary Interest Metrics Overlay Rejection SocAnswer Verdict "
        "WeakNode"
    ),
    "topicloom.reading": "Reading read_links read_subscriptions",
    "topicloom.refinement": "refine",
    "topicloom.routing": "Plan RouteChange RouteFollower Routes Steps diff routes",
    "topicloom.simulation": "DcSimulation Faults LeavesSimulation simulate_dc simulate_leaves",
    "topicloom.star_sets": "StarJoin StarLink StarSet TopicDigest join_stars star_set topic_digest",
    "topicloom.workloads": "generate",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name == "datasets":  # the only module among the public names
        return import_module("topicloom.datasets")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'topicloom' has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(_HOME_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "JOIN_METHODS",
    "METHODS",
    "BrokenTopic",
    "Change",
    "CutTopic",
    "DcSimulation",
    "DrillReport",
    "DrillSummary",
    "Event",
    "Existence",
    "Faults",
    "Finding",
    "Findings",
    "Interest",
    "Inventory",
    "LeavesSimulation",
    "LowerBound",
    "Maintainer",
    "MethodSpec",
    "Metrics",
    "Overlay",
    "Plan",
    "Reading",
    "Rejection",
    "RouteChange",
    "RouteFollower",
    "Routes",
    "SocAnswer",
    "StarJoin",
    "StarLink",
    "StarSet",
    "Steps",
    "TopicDigest",
    "TopicloomError",
    "Verdict",
    "WeakNode",
    "__version__",
    "audit",
    "automatic",
    "cd_oda",
    "cd_oda_1",
    "cd_oda_2",
    "cycle_per_topic",
    "datasets",
    "design",
    "diff",
    "divide_and_conquer",
    "drill",
    "drop_redundant_links",
    "exact",
    "export",
    "full_mesh",
    "generate",
    "gm2",
    "greedy_merge",
    "harary_per_topic",
    "hub",
    "join",
    "join_stars",
    "low_oda",
    "lower_bound",
    "measure",
    "minmax_oda",
    "random_drills",
    "random_regular",
    "read_links",
    "read_subscriptions",
    "refine",
    "rehearse",
    "repeated_greedy_merge",
    "ring_per_topic",
    "rounds_greedy_merge",
    "routes",
    "simulate_dc",
    "simulate_leaves",
    "soc",
    "soc_exists",
    "spanning_tree",
    "stacked_greedy_merge",
    "star_set",
    "tco_exists",
    "topic_digest",
    "two_diameter_oda",
    "verify",
    "weak_nodes",
    "weighted_greedy_merge",
]
