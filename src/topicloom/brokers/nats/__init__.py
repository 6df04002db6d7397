"""NATS: what is written for it, rehearsed on it, and read from it."""

from topicloom.brokers.kinds import Kind
from topicloom.brokers.nats.nats import Nats
from topicloom.brokers.nats.nats_mesh import NatsReader
from topicloom.brokers.nats.run_nats import RunNats

KIND = Kind("nats", "NATS", Nats(), RunNats, NatsReader())
