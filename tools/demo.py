"""``make demo``: the main job end to end on Spark, and one table that shows what it saves."""

import sys
from functools import partial
from pathlib import Path

from topicloom.cli.console import format_number, narrated, print_table, tell
from topicloom.files.read.read_options import ReadOptions
from topicloom.files.write.atomic import whole_directory
from topicloom.files.write.destination import not_our_subscriptions
from topicloom.pipeline import generate_subscriptions
from topicloom.runs.design_rows import design_rows, write_designed
from topicloom.runs.memory import available_memory
from topicloom.runs.request import SPARK, DesignRequest
from topicloom.runs.stages import Stages
from topicloom.spark.session.session import spark_session
from topicloom.spark.steps.one_pass import in_tasks
from topicloom.spark.steps.read import open_table

WORKLOAD = {"nodes": 2000, "topics": 200, "subscriptions": 20, "popularity": "zipf", "alpha": 0.5, "seed": 1}
HEADER = ("method", "links", "average degree", "maximum degree", "mean diameter", "max diameter", "verified", "seconds")


def main(folder: Path) -> int:
    """Generate, design with two methods, verify, measure, write; print the table."""
    rows = []
    with narrated("starting Spark") as narrator, spark_session(small=True) as spark:
        narrator("generating subscriptions")
        with whole_directory(folder / "subscriptions", overwrite=True, ours=not_our_subscriptions) as staging:
            generate_subscriptions(spark, **WORKLOAD).write.mode("overwrite").parquet(str(staging))
        source = open_table(spark, str(folder / "subscriptions"), ReadOptions())
        for method in ("ring-pt", "gm"):
            stages = Stages(narrator, lambda _: None)
            request = DesignRequest.of(method, {})
            task = partial(design_rows, request=request, available=available_memory())
            found = in_tasks([source], [task], engine=SPARK, stages=stages, sentence=f"designing with {method}")
            assert found is not None  # so few subscriptions fit one task
            result = found[0]
            with whole_directory(folder / method, overwrite=True) as staging:
                write_designed(result, staging, request=request, stages=stages)
            metrics, verdict = result.metrics, result.verdict
            rows.append(
                (
                    method,
                    format_number(metrics.links),
                    format_number(metrics.average_degree),
                    format_number(metrics.max_degree),
                    format_number(metrics.mean_topic_diameter),
                    format_number(metrics.max_topic_diameter),
                    "yes" if verdict.ok else f"{verdict.broken_topics} topics broken",
                    f"{stages.seconds['design']:.1f}",
                )
            )
    counts = result.run["counts"]
    sizes = f"{counts['nodes']:,} nodes, {counts['topics']:,} topics, {counts['subscriptions']:,} subscriptions"
    print_table(HEADER, rows, title=f"RSS-like interest (Zipf 0.5): {sizes}")
    tell(f"files: {folder}/subscriptions, {folder}/ring-pt, {folder}/gm (Parquet; see docs/architecture.md)")
    tell(f"next: .venv/bin/topicloom measure {folder}/subscriptions {folder}/gm")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
