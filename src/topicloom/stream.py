"""Churn on Spark Structured Streaming: events in, link changes out, exactly once."""

from topicloom.extras import needing

with needing("spark", "churn as a stream"):
    from topicloom.spark.stream.batches import BatchReport
    from topicloom.spark.stream.maintain import MaintainedQuery, maintain
    from topicloom.spark.stream.source import read_events

__all__ = ["BatchReport", "MaintainedQuery", "maintain", "read_events"]
