"""How few links are possible: lower bounds with certificates."""

from topicloom.bounds.lower_bound import LowerBound, lower_bound

__all__ = ["LowerBound", "lower_bound"]
