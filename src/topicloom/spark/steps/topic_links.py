"""Which links serve which topics: the join that verifying and measuring both start from."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.model import Interest
from topicloom.spark.session.columns import (
    DST,
    DST_ID,
    NODE,
    NODE_ID,
    SHARED_TOPICS,
    SRC,
    SRC_ID,
    TOPIC_ID,
    TOPICS,
    require_columns,
    spread,
)
from topicloom.spark.session.workers import settle

_BUCKET = "bucket"
_SUBSCRIPTIONS_A_BUCKET = 100_000


class TopicBucket(NamedTuple):
    """Some topics of an interest with all that concerns them, as an interest of its own with small ids."""

    interest: Interest
    links: npt.NDArray[np.integer]
    nodes: npt.NDArray[np.integer]
    topics: npt.NDArray[np.integer]


class Question(NamedTuple):
    """What is asked about every topic: the columns of the answer as Spark names them, and who answers for a bucket."""

    schema: str
    answer: Callable[[TopicBucket], dict[str, pa.Array]]


def linked_topics(interest: DataFrame, links: DataFrame) -> DataFrame:
    """(node, node_id, topics) and links by id -> links with ``src``, ``dst``, ``topics`` of both ends and their number.

    A row per link: what is joined are lists, not subscriptions.
    """
    require_columns(interest, NODE, NODE_ID, TOPICS)
    require_columns(links, SRC_ID, DST_ID)
    of_src = interest.select(F.col(NODE_ID).alias(SRC_ID), F.col(NODE).alias(SRC), F.col(TOPICS).alias("of_src"))
    of_dst = interest.select(F.col(NODE_ID).alias(DST_ID), F.col(NODE).alias(DST), F.col(TOPICS).alias("of_dst"))
    both = F.array_intersect("of_src", "of_dst").alias(TOPICS)
    linked = links.join(of_src, SRC_ID).join(of_dst, DST_ID).select(*links.columns, SRC, DST, both)
    return linked.withColumn(SHARED_TOPICS, F.size(TOPICS).cast("bigint"))


def per_topic(
    interest: DataFrame, linked: DataFrame, questions: Sequence[Question], *, n_subscriptions: int
) -> DataFrame:
    """(node_id, topics) and `linked_topics` -> (topic_id, answers): questions about topics, asked on the executors.

    A bucket holds many topics, because a task per topic would cost more than the work in it. Topics are spread by their
    id; a single topic is never split, so the largest topic must fit into one Python worker.
    """
    buckets = max(1, n_subscriptions // _SUBSCRIPTIONS_A_BUCKET)
    pairs = interest.select(NODE_ID, F.explode(TOPICS).alias(TOPIC_ID))
    wanted = pairs.select(F.pmod(F.xxhash64(TOPIC_ID), F.lit(buckets)).alias(_BUCKET), NODE_ID, TOPIC_ID)
    served = F.array_distinct(F.transform(TOPICS, lambda topic: F.pmod(F.xxhash64(topic), F.lit(buckets))))
    serving = linked.select(F.explode(served).alias(_BUCKET), SRC_ID, DST_ID)
    answers = [question.answer for question in questions]

    def run(wanted: pa.Table, linked: pa.Table) -> pa.Table:
        bucket = _bucket(wanted, linked)
        columns = {TOPIC_ID: pa.array(bucket.topics, pa.int32())}
        for answer in answers:
            columns |= answer(bucket)
        settle()
        return pa.table(columns)

    left, right = (spread(table, _BUCKET, buckets).groupBy(_BUCKET) for table in (wanted, serving))
    schema = ", ".join([f"{TOPIC_ID} int", *(question.schema for question in questions)])
    return left.cogroup(right).applyInArrow(run, schema)


def _bucket(wanted: pa.Table, linked: pa.Table) -> TopicBucket:
    nodes, node_of = np.unique(wanted[NODE_ID].to_numpy(), return_inverse=True)
    topics, topic_of = np.unique(wanted[TOPIC_ID].to_numpy(), return_inverse=True)
    interest = Interest.from_ids(node_of, topic_of, n_nodes=len(nodes), n_topics=len(topics))
    ends = np.column_stack((linked[SRC_ID].to_numpy(), linked[DST_ID].to_numpy()))
    return TopicBucket(interest, np.searchsorted(nodes, ends), nodes, topics)
