"""The judge on Spark: every topic judged on the executors, by code that shares nothing with the design."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.judge import verify
from topicloom.pipeline.columns import DST_ID, NODE, NODE_ID, SRC_ID, TOPIC, TOPIC_ID
from topicloom.pipeline.topic_links import TopicBucket, per_topic

_SCHEMA = f"{TOPIC_ID} int, components int, witness array<int>"

_COLLECTED = 1000


class BrokenLabels(NamedTuple):
    """`topicloom.BrokenTopic` with labels instead of ids."""

    topic: str
    components: int
    witness: tuple[str, ...]


@dataclass(frozen=True)
class OverlayVerdict:
    """Whether an overlay is k-topic-connected.

    Attributes
    ----------
    ok : bool
    k : int
    topics, broken_topics : int
        How many topics were judged, and how many of them are broken.
    broken : tuple of BrokenLabels
        The first thousand of those, in the order of their labels.
    idle_links : int
        Links whose ends share no topic.
    """

    ok: bool
    k: int
    topics: int
    broken_topics: int
    broken: tuple[BrokenLabels, ...]
    idle_links: int


def broken_topics(subscriptions: DataFrame, served: DataFrame, *, k: int, n_subscriptions: int) -> DataFrame:
    """(node_id, topic_id) and their `topic_links` -> (topic_id, components, witness) of the topics that are broken."""

    def judge(bucket: TopicBucket) -> pa.Table:
        verdict = verify(bucket.interest, bucket.links, k)
        return pa.table(
            {
                TOPIC_ID: pa.array([bucket.topics[broken.topic] for broken in verdict.broken], pa.int32()),
                "components": pa.array([broken.components for broken in verdict.broken], pa.int32()),
                "witness": pa.array(
                    [bucket.nodes[np.array(broken.witness, int)].tolist() for broken in verdict.broken],
                    pa.list_(pa.int32()),
                ),
            }
        )

    return per_topic(subscriptions, served, judge, _SCHEMA, n_subscriptions=n_subscriptions)


def first_labelled(broken: DataFrame, nodes: DataFrame, topics: DataFrame) -> tuple[BrokenLabels, ...]:
    """The first rows of `broken_topics`, by topic, with labels for ids."""
    ends = (
        broken.orderBy(TOPIC_ID)
        .limit(_COLLECTED)
        .select(TOPIC_ID, "components", F.posexplode_outer("witness").alias("place", NODE_ID))
    )
    named = ends.join(nodes, NODE_ID, "left").join(topics, TOPIC_ID)
    places = F.array_sort(F.collect_list(F.struct("place", NODE)))
    grouped = named.groupBy(TOPIC_ID, TOPIC, "components").agg(
        F.transform(places, lambda at: at[NODE]).alias("witness")
    )
    rows = grouped.orderBy(TOPIC_ID).collect()
    return tuple(BrokenLabels(row[TOPIC], row["components"], tuple(row["witness"])) for row in rows)


def count_idle(links: DataFrame, served: DataFrame) -> int:
    """How many links serve no topic."""
    return links.select(SRC_ID, DST_ID).join(served, [SRC_ID, DST_ID], "left_anti").count()
