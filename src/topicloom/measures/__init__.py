"""Degrees, diameters and routing cost of overlays, whoever made them."""

from topicloom.measures.summary import measure, summarize
from topicloom.measures.topics import TopicMeasures, measure_topics

__all__ = ["TopicMeasures", "measure", "measure_topics", "summarize"]
