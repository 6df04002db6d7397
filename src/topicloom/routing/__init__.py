"""From links to routes: one tree per topic, over which every message reaches each subscriber exactly once."""

from topicloom.model.change import RouteChange
from topicloom.routing.following import RouteFollower
from topicloom.routing.plan_folder import Plan
from topicloom.routing.route_table import Failover, Routes
from topicloom.routing.topic_trees import routes

__all__ = ["Failover", "Plan", "RouteChange", "RouteFollower", "Routes", "routes"]
