"""Synthetic subscriptions as a DataFrame, for sizes that one process should not hold."""

from collections.abc import Callable, Iterator
from typing import Unpack

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from topicloom.datasets import Workload, WorkloadOptions
from topicloom.datasets.tables import node_names, tables_of, topic_names
from topicloom.model.checks import checked_whole

SCHEMA = "node string, topic string"
_ROWS_AT_ONCE = 1 << 17

Batches = Iterator[pa.RecordBatch]


def generate_subscriptions(
    spark: SparkSession, *, partitions: int | None = None, **options: Unpack[WorkloadOptions]
) -> DataFrame:
    """Draw a synthetic interest as a DataFrame (node, topic), one row per subscription.

    The rows are those of `topicloom.generate` with the same options, whatever the partitioning; nodes and
    topics without a subscription do not appear. Nothing is drawn before an action.

    Parameters
    ----------
    spark : SparkSession
        The caller's, classic or Spark Connect; its Python workers need topicloom.
    partitions : int, optional
        Of the result; Spark's default parallelism if not given.
    **options
        Those of `topicloom.generate`: nodes, topics, subscriptions, popularity, sizes, min_size, max_size,
        alpha, rate, size_exponent, size_shift, seed.

    Returns
    -------
    DataFrame

    Raises
    ------
    InvalidOptionError
        An option is out of range, or contradicts another.

    See Also
    --------
    topicloom.generate : the same in memory.
    design_overlay : an overlay for the rows.

    Notes
    -----
    O(subscriptions) over all tasks. A task holds some 131,072 rows at a time, the driver none.

    Examples
    --------
    >>> from topicloom.pipeline import generate_subscriptions
    >>> rows = generate_subscriptions(spark, nodes=1000, topics=50, subscriptions=8, seed=1)  # spark is your session
    >>> rows.columns, rows.count()
    (['node', 'topic'], 8000)
    """
    workload = Workload(**options)
    if partitions is not None:
        partitions = checked_whole("partitions", partitions, 1)
    nodes_at_once = max(1, _ROWS_AT_ONCE // (workload.max_size or workload.subscriptions))
    blocks = -(-workload.nodes // nodes_at_once)
    return spark.range(0, blocks, 1, partitions).mapInArrow(_drawer(workload, nodes_at_once), SCHEMA)


def _drawer(workload: Workload, nodes_at_once: int) -> Callable[[Batches], Batches]:
    """Make a function from block numbers to the subscriptions of the nodes in those blocks."""
    tables = tables_of(workload)

    def draw_blocks(batches: Batches) -> Batches:
        for batch in batches:
            for block in batch.column(0).to_pylist():
                first = block * nodes_at_once
                last = min(first + nodes_at_once, workload.nodes)
                indptr, topics = tables.draw_topics(first, last)
                nodes = np.repeat(np.arange(first, last), np.diff(indptr))
                names = [node_names(nodes, workload.nodes), topic_names(topics, workload.topics)]
                yield pa.RecordBatch.from_arrays(names, ["node", "topic"])

    return draw_blocks
