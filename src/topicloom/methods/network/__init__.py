"""Designs for the network that people have: sites, prices, firewalls, relays, caps, links that stand."""
