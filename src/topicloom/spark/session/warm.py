"""Compile the kernels ahead of their first use: at set-up, and before a run on Spark.

Compiled code is cached on disk. Without this, every Python worker of a first run would compile for itself, and the time
that workers take to start would be charged to the design.
"""

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

COMPILING = "loading kernels (compiled on the first run, about a minute)"


def warm(method: str = "gm") -> None:
    """Run a method, the judge and the measures on a tiny interest. With cached code that takes a moment."""
    from topicloom.datasets import generate
    from topicloom.judge import verify
    from topicloom.measures import filtering_costs, measure
    from topicloom.methods import METHODS, design
    from topicloom.methods.references.beside import usual_ways

    if method == "exact":  # compiled without a search that has no end
        warm_refinement()
        method = "gm"
    interest = generate(nodes=100, topics=10, subscriptions=3)
    overlay = design(interest, method)
    if "division" in METHODS[method].options:
        design(interest, method, division="similar")
    for k in (1, 2, 3):
        verify(interest, overlay.links, k)
    measure(interest, overlay.links)
    filtering_costs(interest, overlay.links)
    usual_ways(interest)


def warm_workers(spark: "SparkSession", method: str) -> None:
    """Let the Python workers that will design on an embedded Spark start, and load what `warm` does.

    One worker designs; for a parallel method all cores do. For one that divides they have two workers each, as its
    tasks hand rows from one Python function to another.
    """
    from topicloom.methods.registry import spec_of

    def load(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        from topicloom.spark.session.warm import warm
        from topicloom.spark.session.workers import settle

        for batch in batches:
            warm(method)
            settle()
            yield batch

    spec = spec_of(method)
    tasks = (os.cpu_count() or 1) if spec.parallel else 1
    chained = 2 if spec.divides else 1
    rows = spark.range(0, tasks, 1, tasks)
    for _ in range(chained):
        rows = rows.mapInArrow(load, "id bigint")
    rows.count()


def warm_searches() -> None:
    """Compile each search of the greedy engine, with and without weights: a tiny interest takes one of them only."""
    import numpy as np

    from topicloom.datasets import generate
    from topicloom.kernels.greedy.engine import greedy_links

    interest = generate(nodes=100, topics=10, subscriptions=3)
    for weights in (None, 1 + np.arange(interest.n_topics) % 3):
        for search in ("dense", "sparse", "listed"):
            greedy_links(interest.indptr, interest.topics, interest.n_topics, weights=weights, search=search, seed=0)


def warm_refinement() -> None:
    """Compile refinement and bounds, with the judge of bounds."""
    from topicloom.datasets import generate
    from topicloom.methods import design
    from topicloom.methods.bounds import lower_bound
    from topicloom.methods.refinement import refine

    interest = generate(nodes=100, topics=10, subscriptions=3)
    refine(design(interest, k=2), effort=10)
    refine(design(interest), effort=10, shorten=0.1)
    lower_bound(interest, effort=0.01)


def warm_upkeep() -> None:
    """Compile what changes an overlay and what routes its topics."""
    from topicloom.churn import Maintainer
    from topicloom.datasets import generate
    from topicloom.methods import design
    from topicloom.routing import routes

    overlay = design(generate(nodes=100, topics=10, subscriptions=3))
    keep = routes(overlay, standby=1)
    routes(overlay, keep=keep)
    maintainer = Maintainer(overlay.interest, overlay)
    name = overlay.interest.node_label(0)
    maintainer.leave(name)
    maintainer.join(name, overlay.interest.topics_of(name))


def warm_all(*, backwards: bool = False) -> None:
    """Compile all kernels, as ``make dev`` does.

    Two processes share the work when one of them goes backwards: what one has compiled, the other finds in the cache.
    """
    from topicloom.datasets import generate
    from topicloom.methods import METHODS

    steps: list[Callable[[], object]] = [partial(warm, name) for name in METHODS]
    steps += [warm_searches, warm_upkeep, partial(generate, nodes=10, sizes="mean")]
    for step in reversed(steps) if backwards else steps:
        step()


if __name__ == "__main__":
    warm_all(backwards="backwards" in sys.argv)
