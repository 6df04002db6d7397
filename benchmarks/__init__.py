"""Timing topicloom: ``python -m benchmarks``, or ``make bench``."""
