"""Divide and conquer, and joining overlays by star sets (the star-merge paper)."""
