"""Spark: one file per step, each a function DataFrame -> DataFrame."""

from topicloom.pipeline.generate import generate_subscriptions

__all__ = ["generate_subscriptions"]
