"""Interest, Overlay and the other frozen result types."""

from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.model.results import BrokenTopic, Metrics, Verdict

__all__ = ["BrokenTopic", "Interest", "Metrics", "Overlay", "Verdict"]
