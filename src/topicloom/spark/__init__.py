"""Spark: sessions, one file per step of the pipeline, divide and conquer, rounds, streams."""
