"""Metrics of an overlay, on Spark."""

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.judge import verify
from topicloom.measures import filtering_costs, measure_topics, topic_hops
from topicloom.measures.topic_measures import exact_limit
from topicloom.model import Interest, Metrics
from topicloom.pipeline.topic_links import Question, TopicBucket
from topicloom.spark.columns import DST_ID, NODE, NODE_ID, SHARED_TOPICS, SRC_ID, TOPIC_ID, TOPICS

_RELAY_TASKS = 8


def topic_metrics(n_subscriptions: int, exact: bool = False) -> Question:
    """What is measured of each topic. Diameters of large topics are lower bounds unless ``exact`` ones are asked for.

    `exact_limit` says what is large.
    """
    limit = exact_limit(n_subscriptions, exact)

    def measure_bucket(bucket: TopicBucket) -> dict[str, pa.Array]:
        shapes = measure_topics(bucket.interest, bucket.links, exact_up_to=limit)
        fragile = shapes.fragile
        if not fragile.any():  # one is enough
            fragile[[broken.topic for broken in verify(bucket.interest, bucket.links, 2).broken]] = True
        hops = topic_hops(bucket.interest, bucket.links, shapes, n_subscriptions=n_subscriptions)
        return {**shapes.columns(), **hops.columns(), "fragile": pa.array(fragile)}

    return Question(
        "subscribers bigint, links bigint, components bigint, diameter bigint, diameter_sampled boolean, "
        "hop_sum bigint, hops_sampled boolean, fragile boolean",
        measure_bucket,
    )


def node_metrics(interest: DataFrame, links: DataFrame) -> DataFrame:
    """(node, node_id, topics), (src_id, dst_id) -> (id, topic_count, degree). The degree is 0 without links."""
    ends = links.select(F.explode(F.array(SRC_ID, DST_ID)).alias(NODE_ID))
    degree = ends.groupBy(NODE_ID).agg(F.count("*").alias("degree"))
    counted = interest.select(F.col(NODE).alias("id"), NODE_ID, F.size(TOPICS).cast("bigint").alias("topic_count"))
    joined = counted.join(degree, NODE_ID, "left")
    return joined.select("id", "topic_count", F.coalesce("degree", F.lit(0)).cast("bigint").alias("degree"))


def unwanted_relays(interest: DataFrame, topics: DataFrame, linked: DataFrame) -> int | None:
    """Sum the nodes that pass on what they do not want over unconnected topics. Returns None if one cannot be joined.

    Every task gets all links, and some of the topics: (node_id, topics), `topic_metrics`, (src_id, dst_id).
    """
    group = F.pmod(F.xxhash64(TOPIC_ID), F.lit(_RELAY_TASKS)).alias("task")
    cut = topics.where(F.col("diameter").isNull()).select(TOPIC_ID)
    wanted = interest.select(NODE_ID, F.explode(TOPICS).alias(TOPIC_ID)).join(cut, TOPIC_ID, "left_semi")
    every = F.explode(F.array(*(F.lit(task).cast("bigint") for task in range(_RELAY_TASKS)))).alias("task")
    copies = linked.select(every, SRC_ID, DST_ID)

    def run(wanted: pa.Table, links: pa.Table) -> pa.Table:
        if not len(wanted):
            return pa.table({"relays": pa.array([0], pa.int64()), "apart": pa.array([False])})
        ends = [links[name].to_numpy() for name in (SRC_ID, DST_ID)]
        nodes, places = np.unique(np.concatenate([wanted[NODE_ID].to_numpy(), *ends]), return_inverse=True)
        topic_ids, topic_of = np.unique(wanted[TOPIC_ID].to_numpy(), return_inverse=True)
        part = Interest.from_ids(places[: len(wanted)], topic_of, n_nodes=len(nodes), n_topics=len(topic_ids))
        costs = filtering_costs(part, places[len(wanted) :].reshape(2, -1).T)
        return pa.table({"relays": pa.array([int(costs.sum())]), "apart": pa.array([bool((costs < 0).any())])})

    left, right = (table.groupBy("task") for table in (wanted.select(group, NODE_ID, TOPIC_ID), copies))
    row = (
        left.cogroup(right)
        .applyInArrow(run, "relays bigint, apart boolean")
        .agg(F.sum("relays").alias("relays"), F.max("apart").alias("apart"))
        .collect()[0]
    )
    return None if row["apart"] else row["relays"]


def summarize(interest: DataFrame, nodes: DataFrame, topics: DataFrame, linked: DataFrame) -> Metrics:
    """Metrics from the interest, `node_metrics`, answers to `topic_metrics` and `linked_topics`: three aggregations."""
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
        F.sum(F.col("subscribers") * (F.col("subscribers") - 1)).alias("pairs"),
        F.sum("hop_sum").alias("hops"),
        F.count_if("hops_sampled").alias("sampled_hops"),
        F.count_if("fragile").alias("fragile"),
    ).collect()[0]
    shared = F.col(SHARED_TOPICS)
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
        mean_hops=(topic_row["hops"] / topic_row["pairs"] if topic_row["pairs"] else 0.0) if connected else None,
        unwanted_relays=0 if connected else unwanted_relays(interest, topics, linked),
        survives_one_failure=topic_row["fragile"] == 0,
        disconnected_topics=topic_row["disconnected"],
        links_per_topic_tree=link_row["links"] / topic_row["tree_links"] if topic_row["tree_links"] else None,
        mean_shared_topics=link_row["shared"],
        idle_links=link_row["idle"],
        sampled_diameters=topic_row["sampled"],
        sampled_hops=topic_row["sampled_hops"],
        degree_histogram=histogram,
    )
