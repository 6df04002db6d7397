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

from topicloom.version import __version__ as __version__

if TYPE_CHECKING:
    from topicloom import datasets as datasets
    from topicloom.auditing import Finding as Finding, Findings as Findings, audit as audit
    from topicloom.methods.bounds import LowerBound as LowerBound, lower_bound as lower_bound
    from topicloom.churn import Event as Event, Maintainer as Maintainer
    from topicloom.deploy import (
        Inventory as Inventory,
        Steps as Steps,
        diff as diff,
        export as export,
        rehearse as rehearse,
    )
    from topicloom.errors import TopicloomError as TopicloomError
    from topicloom.judge import (
        drill as drill,
        random_drills as random_drills,
        verify as verify,
        weak_nodes as weak_nodes,
    )
    from topicloom.measures import disjoint_paths as disjoint_paths, measure as measure, soc as soc
    from topicloom.methods import (
        JOIN_METHODS as JOIN_METHODS,
        METHODS as METHODS,
        Existence as Existence,
        MethodSpec as MethodSpec,
        automatic as automatic,
        cd_oda as cd_oda,
        cd_oda_1 as cd_oda_1,
        cd_oda_2 as cd_oda_2,
        cycle_per_topic as cycle_per_topic,
        design as design,
        divide_and_conquer as divide_and_conquer,
        drop_redundant_links as drop_redundant_links,
        exact as exact,
        full_mesh as full_mesh,
        gm2 as gm2,
        greedy_merge as greedy_merge,
        harary_per_topic as harary_per_topic,
        hub as hub,
        join as join,
        low_oda as low_oda,
        minmax_oda as minmax_oda,
        random_regular as random_regular,
        repeated_greedy_merge as repeated_greedy_merge,
        ring_per_topic as ring_per_topic,
        rounds_greedy_merge as rounds_greedy_merge,
        soc_exists as soc_exists,
        spanning_tree as spanning_tree,
        stacked_greedy_merge as stacked_greedy_merge,
        tco_exists as tco_exists,
        two_diameter_oda as two_diameter_oda,
        weighted_greedy_merge as weighted_greedy_merge,
    )
    from topicloom.model import (
        BrokenTopic as BrokenTopic,
        Change as Change,
        CutTopic as CutTopic,
        DrillReport as DrillReport,
        DrillSummary as DrillSummary,
        Interest as Interest,
        Metrics as Metrics,
        Network as Network,
        Overlay as Overlay,
        Rejection as Rejection,
        SocAnswer as SocAnswer,
        Verdict as Verdict,
        WeakNode as WeakNode,
    )
    from topicloom.files.read import (
        Reading as Reading,
        read_links as read_links,
        read_subscriptions as read_subscriptions,
    )
    from topicloom.methods.network import design_network as design_network
    from topicloom.methods.refinement import refine as refine
    from topicloom.routing import (
        Plan as Plan,
        RouteChange as RouteChange,
        RouteFollower as RouteFollower,
        Routes as Routes,
        routes as routes,
    )
    from topicloom_papers.simulation import (
        DcSimulation as DcSimulation,
        Faults as Faults,
        LeavesSimulation as LeavesSimulation,
        simulate_dc as simulate_dc,
        simulate_leaves as simulate_leaves,
    )
    from topicloom.methods.star_sets import (
        StarJoin as StarJoin,
        StarLink as StarLink,
        StarSet as StarSet,
        TopicDigest as TopicDigest,
        join_stars as join_stars,
        star_set as star_set,
        topic_digest as topic_digest,
    )
    from topicloom.datasets import generate as generate

# Where each public name lives; loaded when it is first asked for, so that `import topicloom` costs next to nothing.
_HOMES = {
    "topicloom": "datasets",
    "topicloom.auditing": "Finding Findings audit",
    "topicloom.methods.bounds": "LowerBound lower_bound",
    "topicloom.churn": "Event Maintainer",
    "topicloom.deploy": "Inventory Steps diff export rehearse",
    "topicloom.errors": "TopicloomError",
    "topicloom.judge": "drill random_drills verify weak_nodes",
    "topicloom.measures": "disjoint_paths measure soc",
    "topicloom.methods": (
        "JOIN_METHODS METHODS Existence MethodSpec automatic cd_oda cd_oda_1 cd_oda_2 cycle_per_topic design "
        "divide_and_conquer drop_redundant_links exact full_mesh gm2 greedy_merge harary_per_topic hub join low_oda "
        "minmax_oda random_regular repeated_greedy_merge ring_per_topic rounds_greedy_merge soc_exists spanning_tree "
        "stacked_greedy_merge tco_exists two_diameter_oda weighted_greedy_merge"
    ),
    "topicloom.model": (
        "BrokenTopic Change CutTopic DrillReport DrillSummary Interest Metrics Network Overlay Rejection SocAnswer "
        "Verdict WeakNode"
    ),
    "topicloom.files.read": "Reading read_links read_subscriptions",
    "topicloom.methods.network": "design_network",
    "topicloom.methods.refinement": "refine",
    "topicloom.routing": "Plan RouteChange RouteFollower Routes routes",
    "topicloom_papers.simulation": "DcSimulation Faults LeavesSimulation simulate_dc simulate_leaves",
    "topicloom.methods.star_sets": "StarJoin StarLink StarSet TopicDigest join_stars star_set topic_digest",
    "topicloom.datasets": "generate",
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
    return sorted({*globals(), *_HOME_OF})


if not TYPE_CHECKING:
    __all__ = ["__version__", *_HOME_OF]  # noqa: PLE0604 - names of the table
