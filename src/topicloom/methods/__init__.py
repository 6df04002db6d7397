"""The construction algorithms of the papers, one per file; `METHODS` lists them."""

from types import MappingProxyType

from topicloom.methods.automatic import automatic
from topicloom.methods.dc.divide_and_conquer import divide_and_conquer
from topicloom.methods.dc.join import JOIN_METHODS, join
from topicloom.methods.diameter.constant_diameter import cd_oda, cd_oda_1, cd_oda_2
from topicloom.methods.diameter.two_diameter import two_diameter_oda
from topicloom.methods.exact.exact import exact
from topicloom.methods.exact.existence import Existence, soc_exists, tco_exists
from topicloom.methods.greedy.gm2 import gm2
from topicloom.methods.greedy.greedy_merge import greedy_merge
from topicloom.methods.greedy.low_oda import low_oda
from topicloom.methods.greedy.minmax_oda import minmax_oda
from topicloom.methods.greedy.redundant_links import drop_redundant_links
from topicloom.methods.greedy.repeated_greedy_merge import repeated_greedy_merge
from topicloom.methods.greedy.stacked_greedy_merge import stacked_greedy_merge
from topicloom.methods.greedy.weighted_greedy_merge import weighted_greedy_merge
from topicloom.methods.per_topic.cycle_per_topic import cycle_per_topic
from topicloom.methods.per_topic.harary_per_topic import harary_per_topic
from topicloom.methods.per_topic.ring_per_topic import ring_per_topic
from topicloom.methods.references.full_mesh import full_mesh
from topicloom.methods.references.hub import hub
from topicloom.methods.references.random_regular import random_regular
from topicloom.methods.references.spanning_tree import spanning_tree
from topicloom.methods.registry import MethodSpec, design, registered
from topicloom.methods.rounds.rounds_gm import rounds_greedy_merge

METHODS = MappingProxyType(registered())

__all__ = [
    "JOIN_METHODS",
    "METHODS",
    "Existence",
    "MethodSpec",
    "automatic",
    "cd_oda",
    "cd_oda_1",
    "cd_oda_2",
    "cycle_per_topic",
    "design",
    "divide_and_conquer",
    "drop_redundant_links",
    "exact",
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
    "rounds_greedy_merge",
    "soc_exists",
    "spanning_tree",
    "stacked_greedy_merge",
    "tco_exists",
    "two_diameter_oda",
    "weighted_greedy_merge",
]
