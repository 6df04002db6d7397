"""The pipeline on Spark: one file per step, each a function from DataFrame to DataFrame.

Users call `read_subscriptions`, then `design_overlay`, `verify_overlay`, `measure_overlay` or `route_overlay`; sessions
are theirs.
"""

from topicloom.extras import needing

with needing("spark", "the pipeline on Spark"):
    from topicloom.spark.steps.check import measure_overlay, verify_overlay
    from topicloom.spark.steps.design import DesignResult, design_overlay
    from topicloom.spark.steps.read import read_subscriptions
    from topicloom.spark.steps.spark_routes import route_overlay
    from topicloom.spark.steps.star_join import join_stars
    from topicloom.spark.steps.synthetic import generate_subscriptions
    from topicloom.spark.steps.write import write_overlay

__all__ = [
    "DesignResult",
    "design_overlay",
    "generate_subscriptions",
    "join_stars",
    "measure_overlay",
    "read_subscriptions",
    "route_overlay",
    "verify_overlay",
    "write_overlay",
]
