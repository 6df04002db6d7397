"""Degree and time of dc beside gm: ``python -m benchmarks.divide_and_conquer [instance…]``; a Markdown table.

An instance is a CSV file with columns node and topic and ``:partitions``, or ``nodes×topics×subscriptions:popularity
[:alpha]:partitions``. Every overlay is verified. Kernels are compiled before the clock starts.
"""

import sys
import time
from pathlib import Path

import pandas as pd

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
    main(sys.argv[1:] or list(SYNTHETIC))
