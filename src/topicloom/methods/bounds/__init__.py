"""How few links are possible: lower bounds with certificates."""

from topicloom.methods.bounds.certificate import certificate_lines
from topicloom.methods.bounds.lower_bound import LowerBound, lower_bound

__all__ = ["LowerBound", "certificate_lines", "lower_bound"]
