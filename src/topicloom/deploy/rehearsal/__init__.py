"""Rehearsals: a plan on real brokers on loopback, under traffic, with failures and changes."""

from topicloom.deploy.rehearsal.rehearsal import Rehearsal, rehearse

__all__ = ["Rehearsal", "rehearse"]
