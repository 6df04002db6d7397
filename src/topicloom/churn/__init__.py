"""Overlays under churn: nodes join, leave and change their minds, and topics stay connected."""

from topicloom.churn.events import Event
from topicloom.churn.maintainer import Maintainer

__all__ = ["Event", "Maintainer"]
