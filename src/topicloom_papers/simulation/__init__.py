"""Protocols without a centre, simulated message by message: node programs, and a network that delays, loses, fails."""

from topicloom_papers.simulation.dc import DcSimulation, simulate_dc
from topicloom_papers.simulation.network import Faults
from topicloom_papers.simulation.shadows import LeavesSimulation, simulate_leaves

__all__ = ["DcSimulation", "Faults", "LeavesSimulation", "simulate_dc", "simulate_leaves"]
