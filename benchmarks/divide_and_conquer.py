"""Degree and time of dc beside gm: ``python -m benchmarks.divide_and_conquer [instance…]``; a Markdown table.

An instance is a CSV file with columns node and topic and ``:partitions``, or ``nodes×topics×subscriptions:popularity
[:alpha]:partitions``. Every overlay is verified. Kernels are compiled before the clock starts.

``python -m benchmarks.divide_and_conquer two [instance…]`` runs dc with ``inner="gm2"`` beside gm2 on Spark instead, on
two cores, judged at k = 2 there. Each is one task, as `design_overlay` does it by itself for so few subscriptions.
Seconds are medians of three of the design, without reading and judging, in one session that has designed the same
before; for ``whole`` they are those of `design_overlay` with all that it does.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

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


TWO = {
    "2000x100x20:zipf:0.8": ("auto",),
    "5000x250x20:zipf:0.8": ("auto",),
    "10000x500x20:zipf:0.8": ("auto",),
    "20000x1000x20:zipf:0.8": ("auto", 6, 10, 20),
}
RUNS = 3


class OnSpark(NamedTuple):
    """Links of a design that the judge passes at k = 2, its partitions, and median seconds of design and call."""

    links: int
    partitions: int
    seconds: float
    whole: float


def on_spark(rows: Any, method: str, **options: object) -> OnSpark:
    """A design on Spark, run as often as is needed for medians after a first run that does not count."""
    from topicloom.pipeline import design_overlay

    seconds, whole = [], []
    for _ in range(1 + RUNS):
        start = time.perf_counter()
        result = design_overlay(rows, method, seed=1, k=2, **options)
        whole.append(time.perf_counter() - start)
        seconds.append(result.run["seconds"]["design"])
        assert result.verdict.ok and result.verdict.k == 2
        result.release()
    partitions = result.run["report"].get("partitions", 1)
    return OnSpark(result.metrics.links, partitions, median(seconds[1:]), median(whole[1:]))


def two(instances: Mapping[str, Sequence[int | str]]) -> None:
    """Print a row per instance and number of partitions: dc with inner gm2 against gm2, on Spark."""
    from topicloom.spark.session.session import spark_session

    print("| instance | partitions | gm2 links | design s | whole s | dc links | / gm2 | design s | whole s | faster |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    with spark_session(master="local[2]") as spark:
        for text, counts in instances.items():
            interest, _ = instance(f"{text}:1")
            rows = spark.createDataFrame(pa.table({"node": interest.nodes, "topic": interest.topics}))
            gm2 = on_spark(rows, "gm2")
            for count in counts:
                dc = on_spark(rows, "dc", partitions=count, inner="gm2", division="similar", core=0)
                name = f"{count}: {dc.partitions}" if count == "auto" else count
                print(
                    f"| {text} | {name} | {gm2.links:,} | {gm2.seconds:.2f} | {gm2.whole:.1f} | {dc.links:,} "
                    f"| {dc.links / gm2.links:.3f} | {dc.seconds:.2f} | {dc.whole:.1f} "
                    f"| {gm2.seconds / dc.seconds:.1f} |",
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
        named = (text.rpartition(":")[::2] for text in sys.argv[2:])
        two({text: (count if count == "auto" else int(count),) for text, count in named} or TWO)
    else:
        main(sys.argv[1:] or list(SYNTHETIC))
