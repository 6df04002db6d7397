"""The verifier: judges overlays from the definitions alone, by no code of ``methods/`` or ``kernels/``."""

from topicloom.judge.drill import drill, random_drills
from topicloom.judge.verify import checked_k, verify
from topicloom.judge.weak_nodes import weak_nodes

__all__ = ["checked_k", "drill", "random_drills", "verify", "weak_nodes"]
