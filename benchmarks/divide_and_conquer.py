"""Degree and time of dc beside gm: ``python -m benchmarks.divide_and_conquer [instance…]``; a Markdown table.

An instance is a CSV file with columns node and topic and ``:partitions``, or ``nodes×topics×subscriptions:popularity
[:alpha]:partitions``. Every overlay is verified. Kernels are compiled before the clock starts.

``python -m benchmarks.divide_and_conquer two [instance…]`` runs dc with ``inner="gm2"`` beside gm2 on Spark instead, on
two cores, judged at k = 2 there; seconds are those of the design, reading and judging apart.
"""

import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

import topicloom as tl

SYNTHETIC = ("1000x100x20:uniform:10", "1000x100x20:zipf:10", "1000x100x20:exponential:10")
VARIANTS = {
    "random": {"division": "random"},
    "similar, no core": {"division": "similar", "core": 0},
    "similar": {"division": "similar"},
}


def instance(text: str) -> tuple[tl.Interest, int]:
    """The interest and the number of partitions that an argument names."""
    what, *facts, partitions = text.split(":")
    if not facts:
        table = pd.read_csv(Path(what), dtype=str)
        return tl.Interest.from_pairs(table["node"], table["topic"]), int(partitions)
    nodes, topics, subscriptions = map(int, what.split("x"))
    extra = {"alpha": float(facts[1])} if len(facts) > 1 else {}
    drawn = tl.generate(nodes=nodes, topics=topics, subscriptions=subscriptions, popularity=facts[0], seed=1, **extra)
    return drawn, int(partitions)


def timed(interest: tl.Interest, method: str, **options: object) -> tuple[tl.Overlay, float]:
    """A design and its seconds."""
    start = time.perf_counter()
    overlay = tl.design(interest, method, seed=1, **options)
    seconds = time.perf_counter() - start
    assert tl.verify(interest, overlay.links).ok
    return overlay, seconds


TWO = ("2000x100x20:zipf:0.8:10", "5000x250x20:zipf:0.8:10", "20000x1000x20:zipf:0.8:10", "20000x1000x20:zipf:0.8:20")


def on_spark(spark: Any, interest: tl.Interest, method: str, **options: object) -> tuple[int, float]:
    """Links of a design on Spark that the judge passes at k = 2, and the seconds of its design."""
    from topicloom.pipeline import design_overlay
    from topicloom.spark.stages import Stages

    rows = spark.createDataFrame(pa.table({"node": interest.nodes, "topic": interest.topics}))
    stages = Stages()
    result = design_overlay(rows, method, seed=1, k=2, stages=stages, **options)
    assert result.verdict.ok and result.verdict.k == 2
    result.release()
    return result.metrics.links, stages.seconds["design"]


def two(instances: list[str]) -> None:
    """Print a row per instance: dc with inner gm2 against gm2, on Spark."""
    from topicloom.spark.session import spark_session

    print("| instance:partitions | gm2 links | gm2 seconds | dc links | / gm2 | dc seconds | times faster |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    options = {"inner": "gm2", "division": "similar", "core": 0}
    with spark_session(master="local[2]") as spark:
        small = tl.generate(nodes=300, topics=30, subscriptions=5)
        on_spark(spark, small, "gm2"), on_spark(spark, small, "dc", partitions=4, **options)
        for text in instances:
            interest, partitions = instance(text)
            links, seconds = on_spark(spark, interest, "gm2")
            dc_links, dc_seconds = on_spark(spark, interest, "dc", partitions=partitions, **options)
            print(
                f"| {text} | {links:,} | {seconds:.1f} | {dc_links:,} | {dc_links / links:.3f} | {dc_seconds:.1f} "
                f"| {seconds / dc_seconds:.1f} |",
                flush=True,
            )


def main(instances: list[str]) -> None:
    """Print a row per instance and variant."""
    small = tl.generate(nodes=300, topics=30, subscriptions=5)
    for method, options in [("gm", {}), *(("dc", options) for options in VARIANTS.values())]:
        timed(small, method, **options)
    print("| instance | variant | degree | / gm | max degree | seconds | / gm | star nodes | core | pn-ratio |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for text in instances:
        interest, partitions = instance(text)
        name = Path(text).name
        gm, gm_seconds = timed(interest, "gm")
        degree = 2 * gm.n_links / interest.n_nodes
        print(
            f"| {name} | gm | {degree:.3f} | 1 | {gm.degree().max()} | {gm_seconds:.2f} | 1 | – | – | – |", flush=True
        )
        for variant, options in VARIANTS.items():
            dc, seconds = timed(interest, "dc", partitions=partitions, **options)
            report = dc.report
            print(
                f"| {name} | {variant} | {2 * dc.n_links / interest.n_nodes:.3f} | {dc.n_links / gm.n_links:.3f} "
                f"| {dc.degree().max()} | {seconds:.2f} | {seconds / gm_seconds:.3f} | {report['star_nodes']:,} "
                f"| {report['core_nodes']:,} | {report['pn_ratio']:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["two"]:
        two(sys.argv[2:] or list(TWO))
    else:
        main(sys.argv[1:] or list(SYNTHETIC))
