"""Algorithms as the papers print them, for comparison with ours. Where one had to be mended, its module says so."""
