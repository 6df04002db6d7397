"""Kernels of `rounds-gm`: orders of the nodes, candidate links within blocks of them, greedy over the candidates."""
