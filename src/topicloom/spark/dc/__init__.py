"""Divide and conquer on Spark: dividing, conquering, merging, resuming."""
