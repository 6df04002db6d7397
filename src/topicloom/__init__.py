"""topicloom weaves topic-connected overlays for publish/subscribe.

Given who subscribes to what, it picks the few links over which every message on a topic reaches all its subscribers
by passing only through subscribers.

>>> import topicloom as tl
>>> interest = tl.Interest.from_pairs(["a", "b", "c", "a"], ["news", "news", "sport", "sport"])
>>> overlay = tl.design(interest, "gm")
>>> overlay.n_links, tl.verify(interest, overlay.links).ok
(2, True)
"""

from topicloom.errors import TopicloomError
from topicloom.judge import drill, random_drills, verify, weak_nodes
from topicloom.measures import measure, soc
from topicloom.methods import (
    METHODS,
    MethodSpec,
    cycle_per_topic,
    design,
    drop_redundant_links,
    gm2,
    greedy_merge,
    harary_per_topic,
    low_oda,
    minmax_oda,
    repeated_greedy_merge,
    ring_per_topic,
    stacked_greedy_merge,
)
from topicloom.model import (
    BrokenTopic,
    CutTopic,
    DrillReport,
    DrillSummary,
    Interest,
    Metrics,
    Overlay,
    SocAnswer,
    Verdict,
    WeakNode,
)
from topicloom.version import __version__
from topicloom.workloads import generate

__all__ = [
    "METHODS",
    "BrokenTopic",
    "CutTopic",
    "DrillReport",
    "DrillSummary",
    "Interest",
    "MethodSpec",
    "Metrics",
    "Overlay",
    "SocAnswer",
    "TopicloomError",
    "Verdict",
    "WeakNode",
    "__version__",
    "cycle_per_topic",
    "design",
    "drill",
    "drop_redundant_links",
    "generate",
    "gm2",
    "greedy_merge",
    "harary_per_topic",
    "low_oda",
    "measure",
    "minmax_oda",
    "random_drills",
    "repeated_greedy_merge",
    "ring_per_topic",
    "soc",
    "stacked_greedy_merge",
    "verify",
    "weak_nodes",
]
