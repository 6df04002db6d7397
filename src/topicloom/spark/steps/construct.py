"""Run construction methods on the whole interest: one in a task, or several side by side."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.methods.registry import design
from topicloom.model import Interest
from topicloom.runs.comparison import ARROW, METRICS, Compared, Row, compared_as, metrics_for, with_pareto_best
from topicloom.spark.session.columns import DST_ID, NODE_ID, ORDER, SRC_ID, TOPIC_ID, require_columns

_SCHEMA = f"{SRC_ID} int, {DST_ID} int, `{ORDER}` bigint"


def construct(
    subscriptions: DataFrame,
    *,
    method: str,
    seed: int,
    options: Mapping[str, Any],
    n_nodes: int,
    n_topics: int,
) -> DataFrame:
    """(node_id, topic_id) -> (src_id, dst_id, order) by a method that needs the interest in one place.

    One Python worker holds the interest, 8 bytes a subscription on arrival, and what the method takes; the driver
    holds nothing. The same links as in memory, whatever the order in which rows arrive.
    """
    require_columns(subscriptions, NODE_ID, TOPIC_ID)
    whole = subscriptions.select(NODE_ID, TOPIC_ID).groupBy(F.lit(0).alias("all"))
    return whole.applyInArrow(_designer(method, seed, dict(options), n_nodes, n_topics), _SCHEMA)


def _designer(
    method: str, seed: int, options: dict[str, Any], n_nodes: int, n_topics: int
) -> Callable[[pa.Table], pa.Table]:
    def run(table: pa.Table) -> pa.Table:
        interest = Interest.from_ids(
            table[NODE_ID].to_numpy(), table[TOPIC_ID].to_numpy(), n_nodes=n_nodes, n_topics=n_topics
        )
        links = design(interest, method, seed=seed, **options).links
        order = np.arange(len(links), dtype=np.int64)
        return pa.table({SRC_ID: links[:, 0], DST_ID: links[:, 1], ORDER: order})

    return run


_TASK = "task"
_METRICS = f"{_TASK} bigint, " + ", ".join(f"{name} {kind}" for name, kind in METRICS.items())


def compare_methods(
    encoded: DataFrame, choices: Sequence[Row], *, seed: int, n_nodes: int, n_topics: int
) -> list[Compared]:
    """(node_id, topic_id) -> the values of every chosen method, and of links that there are, in the order given.

    Every method gets the interest in a task of its own; tasks run side by side as far as there are cores. A method that
    refuses the interest is reported, and the others go on.
    """
    tasks = dict(zip(_separate_keys(encoded, len(choices)), choices))
    rows = evaluated(encoded, tasks, seed=seed, n_nodes=n_nodes, n_topics=n_topics).collect()
    by_task = {row[_TASK]: row.asDict() for row in rows}
    return with_pareto_best([compared_as(choice, by_task[task]) for task, choice in tasks.items()])


def evaluated(encoded: DataFrame, tasks: Mapping[int, Row], *, seed: int, n_nodes: int, n_topics: int) -> DataFrame:
    """(node_id, topic_id) -> (task, values of the method of that task)."""
    require_columns(encoded, NODE_ID, TOPIC_ID)
    copies = encoded.select(
        F.explode(F.array(*(F.lit(task).cast("bigint") for task in tasks))).alias(_TASK), NODE_ID, TOPIC_ID
    )
    # a number of partitions that is asked for is kept: Spark would put small groups together, one after the other
    apart = copies.repartition(len(tasks), _TASK)
    return apart.groupBy(_TASK).applyInArrow(_evaluator(dict(tasks), seed, n_nodes, n_topics), _METRICS)


def _separate_keys(table: DataFrame, count: int) -> list[int]:
    """That many numbers which Spark hashes to different partitions, so that each is a task of its own."""
    numbers = table.sparkSession.range(64 * count * count)
    place = F.pmod(F.hash("id"), F.lit(count)).alias("place")
    return [row["id"] for row in numbers.groupBy(place).agg(F.min("id").alias("id")).orderBy("place").collect()]


def _evaluator(choices: dict[int, Row], seed: int, n_nodes: int, n_topics: int) -> Callable[[pa.Table], pa.Table]:
    def run(table: pa.Table) -> pa.Table:
        task = table[_TASK][0].as_py()
        ids = table[NODE_ID].to_numpy(), table[TOPIC_ID].to_numpy()
        values = metrics_for(choices[task], Interest.from_ids(*ids, n_nodes=n_nodes, n_topics=n_topics), seed)
        columns = {name: pa.array([values.get(name)], ARROW[kind]) for name, kind in METRICS.items()}
        return pa.table({_TASK: pa.array([task], pa.int64()), **columns})

    return run
