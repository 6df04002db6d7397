"""Mosquitto: what is written for it, rehearsed on it, and read from it."""

from topicloom.brokers.kinds import Kind
from topicloom.brokers.mosquitto.mosquitto import Mosquitto
from topicloom.brokers.mosquitto.mosquitto_mesh import MosquittoReader
from topicloom.brokers.mosquitto.run_mosquitto import RunMosquitto

KIND = Kind("mosquitto", "Mosquitto", Mosquitto(), RunMosquitto, MosquittoReader())
