"""From links to routes: one tree per topic, over which every message reaches each subscriber exactly once."""

from topicloom.routing.plan import Plan
from topicloom.routing.table import Routes
from topicloom.routing.trees import routes

__all__ = ["Plan", "Routes", "routes"]
