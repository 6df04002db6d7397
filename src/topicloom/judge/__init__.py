"""The verifier: judges overlays from the definitions alone, by no code of ``methods/`` or ``kernels/``."""

from topicloom.judge.verify import verify

__all__ = ["verify"]
