"""How few links are possible: lower bounds with certificates."""

from topicloom.bounds.certificate import certificate_lines
from topicloom.bounds.lower_bound import LowerBound, lower_bound

__all__ = ["LowerBound", "certificate_lines", "lower_bound"]
