"""Degrees, diameters and routing cost of overlays made by any tool."""

from topicloom.measures.hops import TopicHops, mean_hops, topic_hops
from topicloom.measures.network_costs import NetworkCosts, measure_network
from topicloom.measures.routing_cost import filtering_costs, overlay_diameters
from topicloom.measures.separate_paths import disjoint_paths
from topicloom.measures.soc import soc
from topicloom.measures.summary import measure, summarize
from topicloom.measures.topic_measures import TopicMeasures, measure_topics

__all__ = [
    "NetworkCosts",
    "TopicHops",
    "TopicMeasures",
    "disjoint_paths",
    "filtering_costs",
    "mean_hops",
    "measure",
    "measure_network",
    "measure_topics",
    "overlay_diameters",
    "soc",
    "summarize",
    "topic_hops",
]
