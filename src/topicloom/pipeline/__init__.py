"""The pipeline on Spark: one file per step, each a function from DataFrame to DataFrame.

Users call `read_subscriptions`, then `design_overlay`, `verify_overlay`, `measure_overlay` or `route_overlay`; sessions
are theirs.
"""

from topicloom.extras import needing

with needing("spark", "the pipeline on Spark"):
    from topicloom.pipeline.check import measure_overlay, verify_overlay
    from topicloom.pipeline.design import DesignResult, design_overlay
    from topicloom.pipeline.read import read_subscriptions
    from topicloom.pipeline.spark_routes import route_overlay
    from topicloom.pipeline.star_join import join_stars
    from topicloom.pipeline.synthetic import generate_subscriptions
    from topicloom.pipeline.write import write_overlay

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
