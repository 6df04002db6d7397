"""Churn on Spark Structured Streaming: events in, link changes out, exactly once."""

from topicloom.stream.batches import BatchReport
from topicloom.stream.maintain import MaintainedQuery, maintain
from topicloom.stream.source import read_events

__all__ = ["BatchReport", "MaintainedQuery", "maintain", "read_events"]
