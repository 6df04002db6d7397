"""Greedy in rounds over a few candidate links per node."""
