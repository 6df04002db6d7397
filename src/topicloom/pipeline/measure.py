"""Figures of an overlay, on Spark."""

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.measures import measure_topics
from topicloom.measures.topics import EXACT_UP_TO
from topicloom.model import Metrics
from topicloom.pipeline.topic_links import Question, TopicBucket
from topicloom.spark.columns import DST_ID, NODE, NODE_ID, SRC_ID, TOPICS


def _figures(bucket: TopicBucket) -> dict[str, pa.Array]:
    return measure_topics(bucket.interest, bucket.links, exact_up_to=EXACT_UP_TO).columns()


TOPIC_FIGURES = Question(
    "subscribers bigint, links bigint, components bigint, diameter bigint, diameter_sampled boolean", _figures
)


def node_figures(interest: DataFrame, links: DataFrame) -> DataFrame:
    """(node, node_id, topics), (src_id, dst_id) -> (id, topic_count, degree); degree 0 without links."""
    ends = links.select(F.explode(F.array(SRC_ID, DST_ID)).alias(NODE_ID))
    degree = ends.groupBy(NODE_ID).agg(F.count("*").alias("degree"))
    counted = interest.select(F.col(NODE).alias("id"), NODE_ID, F.size(TOPICS).cast("bigint").alias("topic_count"))
    joined = counted.join(degree, NODE_ID, "left")
    return joined.select("id", "topic_count", F.coalesce("degree", F.lit(0)).cast("bigint").alias("degree"))


def summarize(nodes: DataFrame, topics: DataFrame, linked: DataFrame) -> Metrics:
    """Metrics from `node_figures`, answers to `TOPIC_FIGURES` and `linked_topics`; runs three aggregations."""
    histogram = {row["degree"]: row["count"] for row in nodes.groupBy("degree").count().orderBy("degree").collect()}
    several = F.col("subscribers") >= 2
    topic_row = topics.agg(
        F.count("*").alias("topics"),
        F.sum("subscribers").alias("subscriptions"),
        F.sum(F.greatest(F.col("subscribers") - 1, F.lit(0))).alias("tree_links"),
        F.count_if(F.col("diameter").isNull()).alias("disconnected"),
        F.avg(F.when(several, F.col("diameter"))).alias("mean_diameter"),
        F.max("diameter").alias("max_diameter"),
        F.count_if("diameter_sampled").alias("sampled"),
    ).collect()[0]
    shared = F.size(TOPICS)
    link_row = linked.agg(
        F.count("*").alias("links"),
        F.avg(shared).alias("shared"),
        F.count_if(shared == 0).alias("idle"),
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
        sampled_diameters=topic_row["sampled"],
        degree_histogram=histogram,
    )
