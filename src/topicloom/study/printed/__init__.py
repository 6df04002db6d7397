"""Algorithms as the papers print them, for comparison with ours; where one had to be mended, its module says so."""
