"""Routes on Spark: one tree per topic, for overlays that are too large for one process."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.errors import NotTopicConnectedError
from topicloom.files.write.atomic import whole_directory
from topicloom.judge.verify_routes import cyclic_topics
from topicloom.model.arrays import Int64Array
from topicloom.routing.plan_folder import ROW, generation_of, header, write_plan_contents
from topicloom.routing.topic_trees import least_trees
from topicloom.runs.stages import Stages
from topicloom.spark.session.columns import DST, NODE, NODE_ID, SRC, TOPIC, TOPIC_ID, TOPICS, from_arrow
from topicloom.spark.session.kept_tables import release_with
from topicloom.spark.steps.check import rows_of
from topicloom.spark.steps.encode import counts_by_id
from topicloom.spark.steps.links import encode_links, ends_of
from topicloom.spark.steps.measure import node_metrics
from topicloom.spark.steps.prepare import Prepared, prepare
from topicloom.spark.steps.topic_links import Question, TopicBucket, linked_topics, per_topic
from topicloom.spark.steps.write import parts_of

_ENDS = ("src_id", "dst_id", "owner_id", "parent_id")


def route_overlay(
    subscriptions: DataFrame,
    links: DataFrame,
    *,
    rates: Mapping[str, float] | None = None,
    node_column: str | None = None,
    topic_column: str | None = None,
    stages: Stages | None = None,
) -> DataFrame:
    """Choose a tree of least diameter for every topic, on the executors.

    A message of a topic that travels along its tree reaches every subscriber exactly once.

    Parameters
    ----------
    subscriptions : DataFrame
        With columns ``node`` and ``topic``.
    links : DataFrame
        With columns ``src`` and ``dst``: node labels of a topic-connected overlay.
    rates : mapping from topic label to a number, optional
        Messages per second; see `topicloom.routes`.
    node_column, topic_column : str, optional
        Names of the columns of subscriptions, if they are others.
    stages : Stages, optional
        Hears of progress and keeps the seconds.

    Returns
    -------
    DataFrame
        (topic, src, dst, owner, parent, forest, active): the very rows of `topicloom.routes`, in no order. Spark
        keeps tables for it until it is collected.

    Raises
    ------
    NotTopicConnectedError
        A topic has no tree; the message names the first.

    See Also
    --------
    topicloom.routes : the same in memory, with forests and standby rows.
    verify_overlay : whether every topic has a tree.

    Notes
    -----
    Topics are spread over groups, and the largest one has to fit into one Python worker. Each costs a few searches of
    its sub-overlay. The driver holds 16 bytes a node.

    Examples
    --------
    >>> import topicloom as tl
    >>> from topicloom.pipeline import design_overlay, route_overlay
    >>> factory = tl.datasets.example()
    >>> rows = [(node, topic) for node in factory.node_labels.tolist() for topic in factory.topics_of(node)]
    >>> subscriptions = spark.createDataFrame(rows, ["node", "topic"])  # spark is your session
    >>> links = design_overlay(subscriptions, "gm").links
    >>> rows = route_overlay(subscriptions, links)
    >>> rows.where("topic = 'stock'").select("topic", "src", "dst").collect()
    [Row(topic='stock', src='crane', dst='office')]
    """
    rows = rows_of(subscriptions, node_column=node_column, topic_column=topic_column)
    ends, stages = ends_of(links), stages or Stages()
    prepared = prepare(rows, stages=stages)
    trees, _ = _grown(prepared, ends, rates, stages)
    labelled = _labelled(trees, prepared)
    release_with([labelled], [trees, *prepared.persisted])
    return labelled


def write_plan(
    subscriptions: DataFrame,
    links: DataFrame,
    destination: Path,
    *,
    rates: Mapping[str, float] | None = None,
    target: str | None = None,
    overwrite: bool = False,
    stages: Stages | None = None,
) -> dict[str, Any]:
    """Choose a tree for every topic on the executors, judge the rows and write a plan, whole or not at all.

    Parameters
    ----------
    subscriptions, links, rates
        As for `route_overlay`; the links also have the column ``order``.
    destination : Path
        A folder that the driver and the executors share.
    target : str, optional
        The kind of broker, which the plan names.

    Returns
    -------
    dict
        ``generation``, and the numbers of topics, links, rows and ``broken`` topics, whose rows are no tree.

    Notes
    -----
    The folder is that of `topicloom.Plan`, without fingerprints. The driver holds 16 bytes a node.
    """
    stages = stages or Stages()
    prepared = prepare(subscriptions, stages=stages)
    trees, rank = _grown(prepared, links, rates, stages)
    rows = _labelled(trees, prepared)
    nodes = prepared.nodes.join(_rank_table(prepared, rank), NODE_ID).persist()
    owned = _owned(links, nodes).orderBy("order").select(SRC, DST, "owner")
    exact = trees.join(prepared.topics, TOPIC_ID).select(TOPIC, "exact")
    with stages("write", "writing"), whole_directory(destination, overwrite=overwrite) as staging:
        tables = {
            "routes": rows.orderBy(TOPIC, SRC, DST),
            "links": owned,
            "nodes": nodes.orderBy(NODE).select(NODE, "order"),
            "topics": exact.orderBy(TOPIC),
            "subscriptions": subscriptions.select(NODE, TOPIC).distinct(),
        }
        facts: dict[str, Any] = {name: prepared.counts[name] for name in ("nodes", "topics")}

        def about() -> dict[str, Any]:
            written = rows.sparkSession.read.parquet(str(staging / "routes"))
            facts.update(links=links.count(), rows=written.count(), standby=0, forests=0)
            made = header(target, None, generation_of(staging / "routes"), dict(facts))
            facts.update(broken=_broken(written, prepared, links), generation=made["generation"])
            return made

        write_plan_contents(staging, parts_of(tables), about)
    return facts


def _grown(
    prepared: Prepared, links: DataFrame, rates: Mapping[str, float] | None, stages: Stages
) -> tuple[DataFrame, Int64Array]:
    """(topic_id, arrays of ids, cut, exact), and the position of every node in the start order."""
    with stages("routes", f"choosing the trees of {prepared.counts['topics']:,} topics"):
        by_id = encode_links(links, prepared.nodes)
        load, rank = _loads(prepared, rates), _ranks(prepared, by_id)
        linked = linked_topics(prepared.interest, by_id)
        count = prepared.counts["subscriptions"]
        trees = per_topic(prepared.interest, linked, [_growing(load, rank)], n_subscriptions=count).persist()
        _refuse_unconnected(trees, prepared)
    return trees, rank


def _rank_table(prepared: Prepared, rank: Int64Array) -> DataFrame:
    table = pa.table({NODE_ID: pa.array(np.arange(len(rank)), pa.int32()), "order": pa.array(rank)})
    return from_arrow(prepared.interest.sparkSession, table)


def _owned(links: DataFrame, nodes: DataFrame) -> DataFrame:
    """The links with the end that starts later and therefore dials."""
    ends = links.select(SRC, DST, "order")
    for end in (SRC, DST):
        ends = ends.join(nodes.select(F.col(NODE).alias(end), F.col("order").alias(f"{end}_rank")), end)
    return ends.withColumn("owner", F.when(F.col("src_rank") > F.col("dst_rank"), F.col(SRC)).otherwise(F.col(DST)))


def _broken(rows: DataFrame, prepared: Prepared, links: DataFrame) -> int:
    """Topics that the judge finds broken: not one row less than subscribers, a row on no link or beside, or a cycle."""
    sizes = rows.groupBy(TOPIC).count()
    counted = prepared.topics.join(sizes, TOPIC, "left").where("subscribers - 1 <> coalesce(count, 0)").select(TOPIC)
    beside = rows.join(links, [SRC, DST], "left_anti").select(TOPIC)
    pairs = prepared.encoded.join(prepared.nodes, NODE_ID).join(prepared.topics, TOPIC_ID).select(NODE, TOPIC)
    for end in (SRC, DST):
        strange = rows.join(pairs.withColumnRenamed(NODE, end), [TOPIC, end], "left_anti")
        beside = beside.union(strange.select(TOPIC))
    cyclic = rows.select(TOPIC, SRC, DST).repartition(TOPIC).mapInArrow(_cyclic, f"{TOPIC} string")
    return counted.union(beside).union(cyclic).distinct().count()


def _cyclic(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    rows = (row for batch in batches for row in zip(*(column.to_pylist() for column in batch.columns)))
    yield pa.RecordBatch.from_pydict({TOPIC: pa.array(cyclic_topics(rows), pa.string())})


def _growing(load: npt.NDArray[np.float64], rank: Int64Array) -> Question:
    """Find the rows of every topic as arrays of ids. All are null where the topic is not connected."""

    def answer(bucket: TopicBucket) -> dict[str, pa.Array]:
        interest, nodes = bucket.interest, np.asarray(bucket.nodes)
        links = np.asarray(bucket.links, np.int32)
        salts = np.asarray(bucket.topics, np.int64)
        parent, exact = least_trees(interest, links, load[nodes], salts)
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
        return {**found, "cut": pa.array(cut), "exact": pa.array(exact)}

    return Question(", ".join([*(f"{name} array<int>" for name in _ENDS), "cut boolean", "exact boolean"]), answer)


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
    found = node_metrics(prepared.interest, links).join(prepared.nodes.select(F.col(NODE).alias("id"), NODE_ID), "id")
    degree = counts_by_id(found.select(NODE_ID, "degree"), prepared.counts["nodes"])
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
    return rows.join(topics, TOPIC_ID).withColumns(constant).select(*ROW)
