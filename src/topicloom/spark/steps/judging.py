"""The judge on Spark: every topic judged on the executors, by code that shares nothing with the design."""

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.judge import verify
from topicloom.model import BrokenTopic
from topicloom.spark.session.columns import NODE, NODE_ID, SHARED_TOPICS, TOPIC, TOPIC_ID
from topicloom.spark.steps.topic_links import Question, TopicBucket

_COMPONENTS, _WITNESS = "broken_components", "witness"
_COLLECTED = 1000


def judging(k: int) -> Question:
    """Whether topics are k-connected: ``broken_components`` (null where they are) and ``witness``."""

    def answer(bucket: TopicBucket) -> dict[str, pa.Array]:
        broken = {found.topic: found for found in verify(bucket.interest, bucket.links, k).broken}
        found = [broken.get(topic) for topic in range(len(bucket.topics))]
        return {
            _COMPONENTS: pa.array([one and one.components for one in found], pa.int32()),
            _WITNESS: pa.array(
                [one and bucket.nodes[np.array(one.witness, int)].tolist() for one in found], pa.list_(pa.int32())
            ),
        }

    return Question(f"{_COMPONENTS} int, {_WITNESS} array<int>", answer)


def broken_topics(judged: DataFrame) -> DataFrame:
    """Answers to `judging` -> (topic_id, components, witness) of the topics that are broken."""
    broken = judged.where(F.col(_COMPONENTS).isNotNull())
    return broken.select(TOPIC_ID, F.col(_COMPONENTS).alias("components"), _WITNESS)


def first_labelled(broken: DataFrame, nodes: DataFrame, topics: DataFrame) -> tuple[BrokenTopic, ...]:
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
    return tuple(BrokenTopic(row[TOPIC], row["components"], tuple(row["witness"])) for row in rows)


def count_idle(linked: DataFrame) -> int:
    """How many links serve no topic."""
    return linked.where(F.col(SHARED_TOPICS) == 0).count()
