"""Which links serve which topics: the join that verifying and measuring both start from."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.model import Interest
from topicloom.pipeline.columns import DST_ID, NODE_ID, SHARED_TOPICS, SRC_ID, TOPIC_ID, require_columns

_BUCKET = "bucket"
_SUBSCRIPTIONS_A_BUCKET = 100_000


class TopicBucket(NamedTuple):
    """Some topics of an interest with all that concerns them, as an interest of its own with small ids."""

    interest: Interest
    links: npt.NDArray[np.integer]
    nodes: npt.NDArray[np.integer]
    topics: npt.NDArray[np.integer]


def topic_links(subscriptions: DataFrame, links: DataFrame) -> DataFrame:
    """Subscriptions and links by id -> (topic_id, src_id, dst_id): a row per link and topic that both ends want."""
    require_columns(subscriptions, NODE_ID, TOPIC_ID)
    require_columns(links, SRC_ID, DST_ID)
    of_src = subscriptions.select(F.col(NODE_ID).alias(SRC_ID), TOPIC_ID)
    of_dst = subscriptions.select(F.col(NODE_ID).alias(DST_ID), TOPIC_ID)
    return (
        links.select(SRC_ID, DST_ID)
        .join(of_src, SRC_ID)
        .join(of_dst, [DST_ID, TOPIC_ID])
        .select(TOPIC_ID, SRC_ID, DST_ID)
    )


def with_shared_topics(links: DataFrame, served: DataFrame) -> DataFrame:
    """Links and their `topic_links` -> the links with a column ``shared_topics``; 0 for idle links."""
    require_columns(links, SRC_ID, DST_ID)
    counts = served.groupBy(SRC_ID, DST_ID).agg(F.count("*").alias(SHARED_TOPICS))
    joined = links.join(counts, [SRC_ID, DST_ID], "left")
    return joined.select(*links.columns, F.coalesce(SHARED_TOPICS, F.lit(0)).alias(SHARED_TOPICS))


def per_topic(
    subscriptions: DataFrame,
    served: DataFrame,
    work: Callable[[TopicBucket], pa.Table],
    schema: str,
    *,
    n_subscriptions: int,
) -> DataFrame:
    """Run a function on buckets of topics, each with its subscriptions and links, on the executors.

    A bucket holds many topics, because a task per topic would cost more than the work in it. Topics are spread by their
    id; a single topic is never split, so the largest topic must fit into one Python worker.
    """
    buckets = max(1, n_subscriptions // _SUBSCRIPTIONS_A_BUCKET)
    bucket = F.pmod(F.xxhash64(TOPIC_ID), F.lit(buckets)).alias(_BUCKET)
    left = subscriptions.select(bucket, NODE_ID, TOPIC_ID)
    right = served.select(bucket, SRC_ID, DST_ID).distinct()

    def run(wanted: pa.Table, linked: pa.Table) -> pa.Table:
        return work(_bucket(wanted, linked))

    return left.groupBy(_BUCKET).cogroup(right.groupBy(_BUCKET)).applyInArrow(run, schema)


def _bucket(wanted: pa.Table, linked: pa.Table) -> TopicBucket:
    nodes, node_of = np.unique(wanted[NODE_ID].to_numpy(), return_inverse=True)
    topics, topic_of = np.unique(wanted[TOPIC_ID].to_numpy(), return_inverse=True)
    interest = Interest.from_ids(node_of, topic_of, n_nodes=len(nodes), n_topics=len(topics))
    ends = np.column_stack((linked[SRC_ID].to_numpy(), linked[DST_ID].to_numpy()))
    return TopicBucket(interest, np.searchsorted(nodes, ends), nodes, topics)
