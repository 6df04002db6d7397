"""Figures of an overlay, on Spark."""

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.measures import measure_topics
from topicloom.model import Metrics
from topicloom.pipeline.columns import DST_ID, NODE_ID, SHARED_TOPICS, SRC_ID, TOPIC_ID
from topicloom.pipeline.topic_links import TopicBucket, per_topic

_SCHEMA = f"{TOPIC_ID} int, subscribers bigint, links bigint, components bigint, diameter bigint"


def topic_figures(subscriptions: DataFrame, served: DataFrame, *, n_subscriptions: int) -> DataFrame:
    """(node_id, topic_id) and their `topic_links` -> (topic_id, subscribers, links, components, diameter).

    The diameter is exact, inside the sub-overlay, and null where that is not connected.
    """

    def figures(bucket: TopicBucket) -> pa.Table:
        columns = measure_topics(bucket.interest, bucket.links).columns()
        named = {name: columns[name].cast(pa.int64()) for name in ("subscribers", "links", "components", "diameter")}
        return pa.table({TOPIC_ID: pa.array(bucket.topics, pa.int32()), **named})

    return per_topic(subscriptions, served, figures, _SCHEMA, n_subscriptions=n_subscriptions)


def node_figures(subscriptions: DataFrame, links: DataFrame) -> DataFrame:
    """(node_id, topic_id), (src_id, dst_id) -> (node_id, topic_count, degree); degree 0 without links."""
    ends = links.select(F.explode(F.array(SRC_ID, DST_ID)).alias(NODE_ID))
    degree = ends.groupBy(NODE_ID).agg(F.count("*").alias("degree"))
    topic_count = subscriptions.groupBy(NODE_ID).agg(F.count("*").alias("topic_count"))
    joined = topic_count.join(degree, NODE_ID, "left")
    return joined.select(NODE_ID, "topic_count", F.coalesce("degree", F.lit(0)).cast("bigint").alias("degree"))


def summarize(nodes: DataFrame, topics: DataFrame, links: DataFrame) -> Metrics:
    """Metrics from the outputs of `node_figures`, `topic_figures` and `with_shared_topics`; runs three aggregations."""
    histogram = {row["degree"]: row["count"] for row in nodes.groupBy("degree").count().orderBy("degree").collect()}
    linked = F.col("subscribers") >= 2
    topic_row = topics.agg(
        F.count("*").alias("topics"),
        F.sum("subscribers").alias("subscriptions"),
        F.sum(F.greatest(F.col("subscribers") - 1, F.lit(0))).alias("tree_links"),
        F.count_if(F.col("diameter").isNull()).alias("disconnected"),
        F.avg(F.when(linked, F.col("diameter"))).alias("mean_diameter"),
        F.max("diameter").alias("max_diameter"),
    ).collect()[0]
    link_row = links.agg(
        F.count("*").alias("links"),
        F.avg(SHARED_TOPICS).alias("shared"),
        F.count_if(F.col(SHARED_TOPICS) == 0).alias("idle"),
    ).collect()[0]
    connected = topic_row["disconnected"] == 0
    n_nodes = sum(histogram.values())
    return Metrics(
        nodes=n_nodes,
        topics=topic_row["topics"],
        subscriptions=topic_row["subscriptions"] or 0,
        links=link_row["links"],
        average_degree=2 * link_row["links"] / max(n_nodes, 1),
        max_degree=max(histogram, default=0),
        mean_topic_diameter=(topic_row["mean_diameter"] or 0.0) if connected else None,
        max_topic_diameter=(topic_row["max_diameter"] or 0) if connected else None,
        disconnected_topics=topic_row["disconnected"],
        links_per_topic_tree=link_row["links"] / topic_row["tree_links"] if topic_row["tree_links"] else None,
        mean_shared_topics=link_row["shared"],
        idle_links=link_row["idle"],
        degree_histogram=histogram,
    )
