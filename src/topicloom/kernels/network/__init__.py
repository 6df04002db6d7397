"""Designs over a network with prices, dialling rules, relays, caps and failure units, as loops over plain arrays."""
