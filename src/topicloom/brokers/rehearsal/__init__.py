"""Rehearsals: a plan on real brokers on loopback, under traffic, with failures and changes."""

from topicloom.brokers.rehearsal.rehearsal import Rehearsal, rehearse

__all__ = ["Rehearsal", "rehearse"]
