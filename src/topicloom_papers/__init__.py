"""The papers' experiments: grids of cells run on Spark, tables beside what is published, plots.

A study is one small file in ``papers/``: which cells it needs, how they are drawn, and every number that the paper
states with the way to ours.
"""
