"""Seeded synthetic interests: the workloads of the papers' experiments."""

from topicloom.workloads.generate import generate
from topicloom.workloads.workload import Workload, WorkloadOptions

__all__ = ["Workload", "WorkloadOptions", "generate"]
