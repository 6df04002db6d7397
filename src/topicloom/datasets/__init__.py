"""Seeded synthetic interests: the workloads of the papers' experiments."""

from topicloom.datasets.example import example
from topicloom.datasets.generate import generate
from topicloom.datasets.workload import Workload, WorkloadOptions

__all__ = ["Workload", "WorkloadOptions", "example", "generate"]
