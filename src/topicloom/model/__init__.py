"""Interest, Overlay and the other frozen result types."""

from topicloom.model.change import Change, Rejection
from topicloom.model.forbidden import ForbiddenLinks
from topicloom.model.interest import Interest
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
    "Overlay",
    "Rejection",
    "SocAnswer",
    "Verdict",
    "WeakNode",
]
