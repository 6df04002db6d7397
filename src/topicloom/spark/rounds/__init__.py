"""Greedy Merge in rounds on Spark: orders, candidates and merges as tasks over files that they share."""
