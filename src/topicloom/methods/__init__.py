"""The construction algorithms of the papers, one per file; `METHODS` lists them."""

from types import MappingProxyType

from topicloom.methods.cycle_per_topic import cycle_per_topic
from topicloom.methods.registry import MethodSpec, design, registered
from topicloom.methods.ring_per_topic import ring_per_topic

METHODS = MappingProxyType(registered())

__all__ = ["METHODS", "MethodSpec", "cycle_per_topic", "design", "ring_per_topic"]
