"""``make demo``: the main job end to end on Spark, and one table that shows what it saves."""

import sys
from pathlib import Path

from topicloom.cli.console import figure, narrated, print_table, tell
from topicloom.pipeline import generate_subscriptions, read_subscriptions, write_overlay
from topicloom.pipeline.design import design_prepared
from topicloom.pipeline.prepare import prepare
from topicloom.spark.session import spark_session
from topicloom.spark.stages import Stages
from topicloom.spark.warm import COMPILING, warm, warm_workers
from topicloom.storage.atomic import whole_directory
from topicloom.storage.destination import not_our_subscriptions

WORKLOAD = {"nodes": 2000, "topics": 200, "subscriptions": 20, "popularity": "zipf", "alpha": 0.5, "seed": 1}
HEADER = ("method", "links", "average degree", "maximum degree", "mean diameter", "max diameter", "verified", "seconds")


def main(folder: Path) -> int:
    """Generate, design with two methods, verify, measure, write; print the table."""
    rows = []
    with narrated("starting Spark") as narrator, spark_session() as spark:
        narrator("generating subscriptions")
        with whole_directory(folder / "subscriptions", overwrite=True, ours=not_our_subscriptions) as staging:
            generate_subscriptions(spark, **WORKLOAD).write.mode("overwrite").parquet(str(staging))
        prepared = prepare(read_subscriptions(spark, str(folder / "subscriptions")), stages=Stages(narrator))
        narrator(COMPILING)
        warm("gm")
        warm_workers(spark, "gm")  # or the first method would be charged for starting Python
        for method in ("ring-pt", "gm"):
            stages = Stages(narrator)
            result = design_prepared(prepared, method=method, seed=0, stages=stages)
            write_overlay(result, folder / method, overwrite=True, stages=stages)
            metrics, verdict = result.metrics, result.verdict
            rows.append(
                (
                    method,
                    figure(metrics.links),
                    figure(metrics.average_degree),
                    figure(metrics.max_degree),
                    figure(metrics.mean_topic_diameter),
                    figure(metrics.max_topic_diameter),
                    "yes" if verdict.ok else f"{verdict.broken_topics} topics broken",
                    f"{stages.seconds['design']:.1f}",
                )
            )
    counts = prepared.counts
    sizes = f"{counts['nodes']:,} nodes, {counts['topics']:,} topics, {counts['subscriptions']:,} subscriptions"
    print_table(HEADER, rows, title=f"RSS-like interest (Zipf 0.5): {sizes}")
    tell(f"files: {folder}/subscriptions, {folder}/ring-pt, {folder}/gm (Parquet; see docs/architecture.md)")
    tell(f"next: .venv/bin/topicloom measure {folder}/subscriptions {folder}/gm")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
