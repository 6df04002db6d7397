"""The verifier: judges overlays from the definitions alone, by no code of ``methods/`` or ``kernels/``."""

from topicloom.judge.drill import drill, random_drills, weak_nodes
from topicloom.judge.network_judge import NetworkFault, NetworkVerdict, verify_network
from topicloom.judge.verify import checked_k, verify

__all__ = [
    "NetworkFault",
    "NetworkVerdict",
    "checked_k",
    "drill",
    "random_drills",
    "verify",
    "verify_network",
    "weak_nodes",
]
