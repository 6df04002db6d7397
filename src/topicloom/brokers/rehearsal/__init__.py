"""Rehearsals: a plan on real brokers on loopback, under traffic, with failures and changes."""
