"""Run a construction method on the whole interest, in one task on an executor."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.methods.registry import design
from topicloom.model import Interest
from topicloom.spark.columns import DST_ID, NODE_ID, ORDER, SRC_ID, TOPIC_ID, require_columns

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
