"""Routes on Spark: one tree per topic, for overlays that are too large for one process."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.errors import NotTopicConnectedError
from topicloom.model.arrays import Int64Array
from topicloom.pipeline.encode import counts_by_id
from topicloom.pipeline.links import encode_links
from topicloom.pipeline.measure import node_figures
from topicloom.pipeline.prepare import Prepared, prepare
from topicloom.pipeline.topic_links import Question, TopicBucket, linked_topics, per_topic
from topicloom.routing.topic_trees import least_trees
from topicloom.spark.columns import DST, NODE, NODE_ID, SRC, TOPIC, TOPIC_ID, TOPICS, require_dataframe
from topicloom.spark.stages import Stages

_ENDS = ("src_id", "dst_id", "owner_id", "parent_id")
_COLUMNS = (TOPIC, SRC, DST, "owner", "parent", "forest", "active")


def route_overlay(
    subscriptions: DataFrame,
    links: DataFrame,
    *,
    rates: Mapping[str, float] | None = None,
    stages: Stages | None = None,
) -> DataFrame:
    """Choose a tree of least diameter for every topic, on the executors.

    Parameters
    ----------
    subscriptions : DataFrame
        With columns ``node`` and ``topic``.
    links : DataFrame
        With columns ``src`` and ``dst``: node labels of a topic-connected overlay.
    rates : mapping from topic label to a number, optional
        Messages per second; see `topicloom.routes`.

    Returns
    -------
    DataFrame
        (topic, src, dst, owner, parent, forest, active): the very rows of `topicloom.routes`, in no order. What Spark
        keeps for it is freed when its session ends.

    Raises
    ------
    NotTopicConnectedError
        A topic has no tree; the message names the first.

    Notes
    -----
    Topics are spread over buckets; the largest one has to fit into one Python worker. The driver holds 16 bytes a node.
    """
    require_dataframe(subscriptions, "subscriptions", "node and topic")
    require_dataframe(links, "links", "src and dst")
    stages = stages or Stages()
    prepared = prepare(subscriptions, stages=stages)
    with stages("routes", f"choosing the trees of {prepared.counts['topics']:,} topics"):
        by_id = encode_links(links, prepared.nodes)
        load, rank = _loads(prepared, rates), _ranks(prepared, by_id)
        linked = linked_topics(prepared.interest, by_id)
        count = prepared.counts["subscriptions"]
        trees = per_topic(prepared.interest, linked, [_growing(load, rank)], n_subscriptions=count).persist()
        _refuse_unconnected(trees, prepared)
    return _labelled(trees, prepared)


def _growing(load: npt.NDArray[np.float64], rank: Int64Array) -> Question:
    """The rows of every topic as arrays of ids; all null where the topic is not connected."""

    def answer(bucket: TopicBucket) -> dict[str, pa.Array]:
        interest, nodes = bucket.interest, np.asarray(bucket.nodes)
        links = np.asarray(bucket.links, np.int32)
        salts = np.asarray(bucket.topics, np.int64)
        parent, _ = least_trees(interest, links, load[nodes], salts)
        rows = np.flatnonzero(parent >= 0)
        one, other = nodes[interest.topic_nodes[rows]], nodes[parent[rows]]
        later = np.where(rank[one] > rank[other], one, other)
        starts = np.concatenate(([0], np.cumsum(parent >= 0)))[interest.topic_indptr]
        cut = np.zeros(len(salts), bool)
        cut[np.searchsorted(interest.topic_indptr, np.flatnonzero(parent == -2), side="right") - 1] = True
        lists = (np.minimum(one, other), np.maximum(one, other), later, other)
        offsets = pa.array(starts, pa.int32())
        found = {
            name: pa.ListArray.from_arrays(offsets, pa.array(part, pa.int32())) for name, part in zip(_ENDS, lists)
        }
        return {**found, "cut": pa.array(cut)}

    return Question(", ".join([*(f"{name} array<int>" for name in _ENDS), "cut boolean"]), answer)


def _loads(prepared: Prepared, rates: Mapping[str, float] | None) -> npt.NDArray[np.float64]:
    """Traffic that each node takes in: the rates of its topics, 1 each where none are given."""
    n_nodes = prepared.counts["nodes"]
    if rates is None:
        sizes = prepared.interest.select(NODE_ID, F.size(TOPICS).cast("bigint").alias("load"))
        return counts_by_id(sizes, n_nodes).astype(np.float64)
    pairs = prepared.encoded.join(prepared.topics.select(TOPIC, TOPIC_ID), TOPIC_ID)
    table = prepared.interest.sparkSession.createDataFrame(
        [(topic, float(rate)) for topic, rate in rates.items()] or [("", 0.0)], f"{TOPIC} string, rate double"
    )
    summed = pairs.join(table, TOPIC).groupBy(NODE_ID).agg(F.sum("rate").alias("load")).toArrow()
    load = np.zeros(n_nodes)
    load[summed[NODE_ID].to_numpy()] = summed["load"].to_numpy()
    return load


def _ranks(prepared: Prepared, links: DataFrame) -> Int64Array:
    """Position of every node in the start order: by falling degree, then by id."""
    figures = node_figures(prepared.interest, links).join(prepared.nodes.select(F.col(NODE).alias("id"), NODE_ID), "id")
    degree = counts_by_id(figures.select(NODE_ID, "degree"), prepared.counts["nodes"])
    rank = np.empty(len(degree), np.int64)
    rank[np.lexsort((np.arange(len(degree)), -degree))] = np.arange(len(degree))
    return rank


def _refuse_unconnected(trees: DataFrame, prepared: Prepared) -> None:
    cut = trees.where("cut").select(TOPIC_ID).join(prepared.topics, TOPIC_ID).orderBy(TOPIC_ID).limit(1).collect()
    if cut:
        raise NotTopicConnectedError(f"topic {cut[0][TOPIC]!r} is not connected by the links, so it has no tree")


def _labelled(trees: DataFrame, prepared: Prepared) -> DataFrame:
    """(topic_id, arrays of ids) -> rows by label."""
    rows = trees.select(TOPIC_ID, F.explode(F.arrays_zip(*_ENDS)).alias("row")).select(
        TOPIC_ID, *(F.col(f"row.{name}").alias(name) for name in _ENDS)
    )
    for name in _ENDS:
        of_end = prepared.nodes.select(F.col(NODE_ID).alias(name), F.col(NODE).alias(name.removesuffix("_id")))
        rows = rows.join(of_end, name)
    topics = prepared.topics.select(TOPIC_ID, TOPIC)
    constant = {"forest": F.lit(None).cast("int"), "active": F.lit(True)}
    return rows.join(topics, TOPIC_ID).withColumns(constant).select(*_COLUMNS)
