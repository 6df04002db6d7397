"""Metrics of an overlay, on Spark."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.judge import verify
from topicloom.measures import measure_topics, topic_hops
from topicloom.measures.routing_cost import relayed_ways
from topicloom.measures.topic_measures import exact_limit
from topicloom.model import Interest, Metrics
from topicloom.spark.session.columns import DST_ID, NODE, NODE_ID, SHARED_TOPICS, SRC_ID, TOPIC_ID, TOPICS
from topicloom.spark.steps.topic_links import Question, TopicBucket

_RELAY_TASKS = 8
_SUMS = ("costs", "relayed", "broken", "hops", "diameters", "longest")
_ARROW = pa.schema([*((name, pa.int64()) for name in _SUMS), ("nodes", pa.list_(pa.int64()))])


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


class Relays(NamedTuple):
    """Sums over the topics that are not connected, as `topicloom.measures.routing_cost.RelayedWays` has them."""

    costs: int = 0
    relayed: int = 0
    broken: int = 0
    hops: int = 0
    diameters: int = 0
    longest: int = 0
    nodes: int = 0


def relays_of(interest: DataFrame, topics: DataFrame, linked: DataFrame) -> Relays:
    """Find what joins the topics that are not connected.

    Every task gets all links, and some of the topics: (node_id, topics), `topic_metrics`, (src_id, dst_id).
    """
    group = F.pmod(F.xxhash64(TOPIC_ID), F.lit(_RELAY_TASKS)).alias("task")
    cut = topics.where(F.col("diameter").isNull()).select(TOPIC_ID)
    wanted = interest.select(NODE_ID, F.explode(TOPICS).alias(TOPIC_ID)).join(cut, TOPIC_ID, "left_semi")
    every = F.explode(F.array(*(F.lit(task).cast("bigint") for task in range(_RELAY_TASKS)))).alias("task")
    copies = linked.select(every, SRC_ID, DST_ID)

    def run(wanted: pa.Table, links: pa.Table) -> pa.Table:
        if not len(wanted):
            return pa.table({**{name: pa.array([0], pa.int64()) for name in _SUMS}, "nodes": [[]]}, schema=_ARROW)
        ends = [links[name].to_numpy() for name in (SRC_ID, DST_ID)]
        nodes, places = np.unique(np.concatenate([wanted[NODE_ID].to_numpy(), *ends]), return_inverse=True)
        topic_ids, topic_of = np.unique(wanted[TOPIC_ID].to_numpy(), return_inverse=True)
        part = Interest.from_ids(places[: len(wanted)], topic_of, n_nodes=len(nodes), n_topics=len(topic_ids))
        ways = relayed_ways(part, places[len(wanted) :].reshape(2, -1).T)
        sums = (np.maximum(ways.costs, 0), ways.costs > 0, ways.costs < 0, ways.hops, ways.longest)
        values = [*(int(one.sum()) for one in sums), int(ways.longest.max(initial=0))]
        return pa.table({**{name: [value] for name, value in zip(_SUMS, values)}, "nodes": [nodes[ways.nodes]]}, _ARROW)

    left, right = (table.groupBy("task") for table in (wanted.select(group, NODE_ID, TOPIC_ID), copies))
    row = (
        left.cogroup(right)
        .applyInArrow(run, ", ".join(f"{name} bigint" for name in _SUMS) + ", nodes array<bigint>")
        .agg(
            *(F.sum(name).alias(name) for name in _SUMS if name != "longest"),
            F.max("longest").alias("longest"),
            F.size(F.array_distinct(F.flatten(F.collect_list("nodes")))).alias("nodes"),
        )
        .collect()[0]
    )
    return Relays(**row.asDict())


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
        F.sum(F.when(several, F.col("diameter"))).alias("diameters"),
        F.count_if(several).alias("several"),
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
    ways = Relays() if connected else relays_of(interest, topics, linked)
    pairs, several_topics = topic_row["pairs"] or 0, topic_row["several"]
    hops, diameters = (topic_row["hops"] or 0) + ways.hops, (topic_row["diameters"] or 0) + ways.diameters
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
        unwanted_relays=None if ways.broken else ways.costs,
        survives_one_failure=topic_row["fragile"] == 0,
        disconnected_topics=topic_row["disconnected"],
        links_per_topic_tree=link_row["links"] / topic_row["tree_links"] if topic_row["tree_links"] else None,
        mean_shared_topics=link_row["shared"],
        idle_links=link_row["idle"],
        sampled_diameters=topic_row["sampled"],
        sampled_hops=topic_row["sampled_hops"],
        degree_histogram=histogram,
        relayed_topics=ways.relayed,
        relaying_nodes=ways.nodes,
        hops_with_relays=None if ways.broken else hops / pairs if pairs else 0.0,
        mean_diameter_with_relays=None if ways.broken else diameters / several_topics if several_topics else 0.0,
        max_diameter_with_relays=None if ways.broken else max(topic_row["max_diameter"] or 0, ways.longest),
    )
