"""The construction algorithms of the papers, one per file; `METHODS` lists them."""

from types import MappingProxyType

from topicloom.methods.cycle_per_topic import cycle_per_topic
from topicloom.methods.gm2 import gm2
from topicloom.methods.greedy_merge import greedy_merge
from topicloom.methods.harary_per_topic import harary_per_topic
from topicloom.methods.low_oda import low_oda
from topicloom.methods.minmax_oda import minmax_oda
from topicloom.methods.redundant_links import drop_redundant_links
from topicloom.methods.registry import MethodSpec, design, registered
from topicloom.methods.repeated_greedy_merge import repeated_greedy_merge
from topicloom.methods.ring_per_topic import ring_per_topic
from topicloom.methods.stacked_greedy_merge import stacked_greedy_merge

METHODS = MappingProxyType(registered())

__all__ = [
    "METHODS",
    "MethodSpec",
    "cycle_per_topic",
    "design",
    "drop_redundant_links",
    "gm2",
    "greedy_merge",
    "harary_per_topic",
    "low_oda",
    "minmax_oda",
    "repeated_greedy_merge",
    "ring_per_topic",
    "stacked_greedy_merge",
]
