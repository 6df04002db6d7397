"""Algorithms exactly as the papers print them, for comparison with ours."""
