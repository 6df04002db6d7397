"""The construction algorithms of the papers, one per file. `METHODS` lists them."""

from types import MappingProxyType

from topicloom.methods.automatic import automatic as automatic
from topicloom.methods.dc.divide_and_conquer import divide_and_conquer as divide_and_conquer
from topicloom.methods.dc.join import JOIN_METHODS as JOIN_METHODS, join as join
from topicloom.methods.diameter.constant_diameter import cd_oda as cd_oda, cd_oda_1 as cd_oda_1, cd_oda_2 as cd_oda_2
from topicloom.methods.diameter.two_diameter import two_diameter_oda as two_diameter_oda
from topicloom.methods.exact.exact import exact as exact
from topicloom.methods.exact.existence import Existence as Existence, soc_exists as soc_exists, tco_exists as tco_exists
from topicloom.methods.greedy.gm2 import gm2 as gm2
from topicloom.methods.greedy.greedy_merge import greedy_merge as greedy_merge
from topicloom.methods.greedy.low_oda import low_oda as low_oda
from topicloom.methods.greedy.minmax_oda import minmax_oda as minmax_oda
from topicloom.methods.greedy.redundant_links import drop_redundant_links as drop_redundant_links
from topicloom.methods.greedy.repeated_greedy_merge import repeated_greedy_merge as repeated_greedy_merge
from topicloom.methods.greedy.stacked_greedy_merge import stacked_greedy_merge as stacked_greedy_merge
from topicloom.methods.greedy.weighted_greedy_merge import weighted_greedy_merge as weighted_greedy_merge
from topicloom.methods.per_topic.cycle_per_topic import cycle_per_topic as cycle_per_topic
from topicloom.methods.per_topic.harary_per_topic import harary_per_topic as harary_per_topic
from topicloom.methods.per_topic.ring_per_topic import ring_per_topic as ring_per_topic
from topicloom.methods.references.full_mesh import full_mesh as full_mesh
from topicloom.methods.references.hub import hub as hub
from topicloom.methods.references.random_regular import random_regular as random_regular
from topicloom.methods.references.spanning_tree import spanning_tree as spanning_tree
from topicloom.methods.registry import MethodSpec as MethodSpec, design as design, registered
from topicloom.methods.rounds.rounds_gm import rounds_greedy_merge as rounds_greedy_merge

METHODS = MappingProxyType(registered())
