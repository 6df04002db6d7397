"""The construction algorithms of the papers, one per file; `METHODS` lists them."""

from types import MappingProxyType

from topicloom.methods.constant_diameter import cd_oda, cd_oda_1, cd_oda_2
from topicloom.methods.cycle_per_topic import cycle_per_topic
from topicloom.methods.divide_and_conquer import divide_and_conquer
from topicloom.methods.full_mesh import full_mesh
from topicloom.methods.gm2 import gm2
from topicloom.methods.greedy_merge import greedy_merge
from topicloom.methods.harary_per_topic import harary_per_topic
from topicloom.methods.hub import hub
from topicloom.methods.join import JOIN_METHODS, join
from topicloom.methods.low_oda import low_oda
from topicloom.methods.minmax_oda import minmax_oda
from topicloom.methods.random_regular import random_regular
from topicloom.methods.redundant_links import drop_redundant_links
from topicloom.methods.registry import MethodSpec, design, registered
from topicloom.methods.repeated_greedy_merge import repeated_greedy_merge
from topicloom.methods.ring_per_topic import ring_per_topic
from topicloom.methods.spanning_tree import spanning_tree
from topicloom.methods.stacked_greedy_merge import stacked_greedy_merge
from topicloom.methods.two_diameter import two_diameter_oda

METHODS = MappingProxyType(registered())

__all__ = [
    "JOIN_METHODS",
    "METHODS",
    "MethodSpec",
    "cd_oda",
    "cd_oda_1",
    "cd_oda_2",
    "cycle_per_topic",
    "design",
    "divide_and_conquer",
    "drop_redundant_links",
    "full_mesh",
    "gm2",
    "greedy_merge",
    "harary_per_topic",
    "hub",
    "join",
    "low_oda",
    "minmax_oda",
    "random_regular",
    "repeated_greedy_merge",
    "ring_per_topic",
    "spanning_tree",
    "stacked_greedy_merge",
    "two_diameter_oda",
]
