"""Zenoh: what is written for it, rehearsed on it, and read from it."""

from topicloom.brokers.kinds import Kind
from topicloom.brokers.zenoh.run_zenoh import RunZenoh
from topicloom.brokers.zenoh.zenoh import Zenoh

KIND = Kind("zenoh", "Zenoh", Zenoh(), RunZenoh)
