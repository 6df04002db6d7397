"""Cells of the studies: what they are, how they run, where they are kept."""
