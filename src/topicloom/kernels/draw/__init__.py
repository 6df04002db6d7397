"""Kernels that draw by counters: topics of a workload, random meshes, divisions of nodes."""
