"""Interest, Overlay and the other frozen result types."""

from topicloom.model.change import Change, Rejection
from topicloom.model.forbidden import ForbiddenLinks
from topicloom.model.interest import Interest
from topicloom.model.network_arrays import NetworkArrays
from topicloom.model.network_rows import NetworkNode, NetworkPair, NetworkSite, NetworkTopic, SitePair
from topicloom.model.overlay import Overlay
from topicloom.model.results import (
    BrokenTopic,
    CutTopic,
    DrillReport,
    DrillSummary,
    Hops,
    Metrics,
    SocAnswer,
    Verdict,
    WeakNode,
)
from topicloom.model.site_network import Network

__all__ = [
    "BrokenTopic",
    "Change",
    "CutTopic",
    "DrillReport",
    "DrillSummary",
    "ForbiddenLinks",
    "Hops",
    "Interest",
    "Metrics",
    "Network",
    "NetworkArrays",
    "NetworkNode",
    "NetworkPair",
    "NetworkSite",
    "NetworkTopic",
    "Overlay",
    "Rejection",
    "SitePair",
    "SocAnswer",
    "Verdict",
    "WeakNode",
]
