"""Designs for the network that people have: sites, prices, firewalls, relays, caps, links that stand."""

from topicloom.methods.network.design_network import design_network

__all__ = ["design_network"]
