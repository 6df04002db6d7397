"""Kernels over paths: diameters, routing cost, Steiner trees, disjoint paths."""
