"""Refinement: fewer links, or lower degrees, from a finished overlay."""

from topicloom.methods.refinement.refine import Progress, refine

__all__ = ["Progress", "refine"]
