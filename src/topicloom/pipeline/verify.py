"""The judge on Spark: every topic judged on the executors, by code that shares nothing with the design."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.judge import verify
from topicloom.pipeline.columns import DST_ID, NODE, NODE_ID, SRC_ID, TOPIC, TOPIC_ID
from topicloom.pipeline.topic_links import TopicBucket, per_topic

_SCHEMA = f"{TOPIC_ID} int, components int, witness array<int>"


@dataclass(frozen=True)
class OverlayVerdict:
    """Whether an overlay is k-topic-connected.

    Attributes
    ----------
    ok : bool
    k : int
    topics, broken_topics : int
        How many topics were judged, and how many of them are broken.
    broken : DataFrame
        (topic, components, witness): labels; the witness is as in `topicloom.BrokenTopic`.
    idle_links : int
        Links whose ends share no topic.
    """

    ok: bool
    k: int
    topics: int
    broken_topics: int
    broken: DataFrame
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


def labelled(broken: DataFrame, nodes: DataFrame, topics: DataFrame) -> DataFrame:
    """(topic_id, components, witness ids) -> (topic, components, witness labels), by topic."""
    ends = broken.select(TOPIC_ID, "components", F.posexplode_outer("witness").alias("place", NODE_ID))
    named = ends.join(nodes, NODE_ID, "left").join(topics, TOPIC_ID)
    places = F.array_sort(F.collect_list(F.struct("place", NODE)))
    grouped = named.groupBy(TOPIC_ID, TOPIC, "components").agg(
        F.transform(places, lambda at: at[NODE]).alias("witness")
    )
    return grouped.orderBy(TOPIC_ID).select(TOPIC, "components", "witness")


def count_idle(links: DataFrame, served: DataFrame) -> int:
    """How many links serve no topic."""
    return links.select(SRC_ID, DST_ID).join(served, [SRC_ID, DST_ID], "left_anti").count()
