"""Overlays under churn: nodes join, leave and change their minds, and topics stay connected."""

from topicloom.churn.events import Event
from topicloom.churn.maintainer import Maintainer
from topicloom.churn.reading import KeptState, holds_state, read_state

__all__ = ["Event", "KeptState", "Maintainer", "holds_state", "read_state"]
