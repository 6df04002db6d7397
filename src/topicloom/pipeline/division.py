"""Dividing an interest on Spark: how many partitions, the core that all of them see, and who goes into which."""

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.methods.conquer import Core, Piece, Settings, Stars, build_core
from topicloom.methods.division import (
    MINHASHES,
    SAMPLED_PARTITIONS,
    best_count,
    choose_core,
    likeness_hashes,
    partition_of_rank,
    pool_size,
    random_ranks,
    trial_counts,
    trial_star_set,
)
from topicloom.methods.star_merge import Part, TopicSpan
from topicloom.model.arrays import Int32Array, Int64Array
from topicloom.pipeline.columns import DST_ID, NODE_ID, ORDER, SRC_ID, TOPIC_ID, TOPICS
from topicloom.pipeline.encode import ranked
from topicloom.pipeline.pieces import FIGURES, KIND, LINK, SCHEMA, STAR, as_part, as_stars, as_table

PARTITION = "partition"
_INTEREST = f"{NODE_ID} int, {TOPICS} array<int>"
_TRIAL = "trial"


def chosen_count(interest: DataFrame, aim: str, *, n_nodes: int, n_topics: int, seed: int) -> int:
    """`choose_count` in one job: every row goes to the sampled partitions of all trials to which it belongs."""
    counts = trial_counts(n_nodes)
    subscribers = _subscribers(interest, n_topics)

    def assign(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            ranks = random_ranks(batch[NODE_ID].to_numpy(), n_nodes, seed=seed)
            for count in counts:
                partition = partition_of_rank(ranks, n_nodes, count)
                kept = np.flatnonzero(partition < SAMPLED_PARTITIONS)
                trial = np.full(len(kept), count, np.int32)
                columns = [*batch.take(pa.array(kept)).columns, pa.array(partition[kept]), pa.array(trial)]
                yield pa.RecordBatch.from_arrays(columns, [NODE_ID, TOPICS, PARTITION, _TRIAL])

    def size(table: pa.Table) -> pa.Table:
        stars = trial_star_set(as_part(table), subscribers, seed=seed)
        return pa.table({_TRIAL: table[_TRIAL][:1], "stars": pa.array([stars], pa.int32())})

    rows = interest.select(NODE_ID, TOPICS).mapInArrow(assign, f"{_INTEREST}, {PARTITION} int, {_TRIAL} int")
    sizes = rows.groupBy(_TRIAL, PARTITION).applyInArrow(size, f"{_TRIAL} int, stars int")
    found = sizes.groupBy(_TRIAL).agg(F.avg("stars").alias("stars")).collect()
    return best_count(n_nodes, {row[_TRIAL]: row["stars"] for row in found}, aim)


def brought_core(interest: DataFrame, size: int, settings: Settings) -> Core:
    """The core, chosen and connected in one task, and brought to the driver."""
    if not size:
        return build_core(Part.of_pairs(np.empty(0, np.int32), np.empty(0, np.int32)), settings)
    subscribers = _subscribers(interest, settings.n_topics)
    largest = interest.orderBy(F.size(TOPICS).desc(), NODE_ID).limit(pool_size(size)).select(NODE_ID, TOPICS)

    def choose(table: pa.Table) -> pa.Table:
        core = build_core(choose_core(as_part(table), subscribers, size, seed=settings.seed), settings)
        everyone = Stars(core.part, np.zeros(len(core.part.nodes), np.int32), np.zeros(len(core.part.nodes), np.int64))
        return as_table(Piece(core.links, everyone, 0), 0, len(core.part.nodes))

    chosen = largest.groupBy(F.lit(0).alias("all")).applyInArrow(choose, SCHEMA)
    found = chosen.where(F.col(KIND) != FIGURES).toArrow()
    links = found.filter(pc.equal(found[KIND], LINK)).sort_by(ORDER)
    stars = as_stars(found.filter(pc.equal(found[KIND], STAR)))
    wanted = np.zeros(settings.n_topics, np.bool_)
    wanted[stars.part.topics] = True
    ends = np.column_stack((links[SRC_ID].to_numpy(), links[DST_ID].to_numpy()))
    return Core(stars.part, ends.astype(np.int32).reshape(-1, 2), wanted)


def divided(
    interest: DataFrame, count: int, division: str, *, n_nodes: int, n_topics: int, core_nodes: Int32Array, seed: int
) -> tuple[DataFrame, TopicSpan]:
    """(node_id, topics) -> (node_id, topics, partition), the nodes of the core left out, and each topic's span.

    See `divide`. For ``similar``, nodes are ranked by a text made of their minhashes; that runs three actions, and the
    result is persisted. ``random`` needs none, and is so cheap that it is computed again where it is used.
    """
    rows = interest.select(NODE_ID, TOPICS)
    if division == "random":

        def assign(batch: pa.RecordBatch) -> pa.RecordBatch:
            nodes = batch[NODE_ID].to_numpy()
            partition = pa.array(partition_of_rank(random_ranks(nodes, n_nodes, seed=seed), n_nodes, count))
            full = pa.RecordBatch.from_arrays([*batch.columns, partition], [NODE_ID, TOPICS, PARTITION])
            return full.filter(pa.array(~np.isin(nodes, core_nodes))) if len(core_nodes) else full

        def assigned(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            yield from map(assign, batches)

        partitioned = rows.mapInArrow(assigned, f"{_INTEREST}, {PARTITION} int")
        return partitioned, topic_span(rows, n_topics, assign)
    keyed = _keyed(rows, seed).persist()
    placed, _ = ranked(keyed, "key", "rank")
    partition = F.floor(F.col("rank").cast("bigint") * count / F.lit(n_nodes)).cast("int")
    outside = placed.select(NODE_ID, TOPICS, partition.alias(PARTITION))
    if len(core_nodes):
        core = interest.sparkSession.createDataFrame(pa.table({NODE_ID: core_nodes}))
        outside = outside.join(F.broadcast(core), NODE_ID, "left_anti")
    kept = outside.persist()
    kept.count()
    keyed.unpersist()
    return kept, topic_span(kept, n_topics)


def topic_span(
    rows: DataFrame, n_topics: int, assign: Callable[[pa.RecordBatch], pa.RecordBatch] | None = None
) -> TopicSpan:
    """First and last partition of every topic: two numbers a topic come to the driver.

    ``assign`` adds the partition to the rows, where they do not have it.
    """

    def spans(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches if assign is None else map(assign, batches):
            lists = batch[TOPICS]
            partition = np.repeat(batch[PARTITION].to_numpy(), pc.list_value_length(lists).to_numpy())
            seen = TopicSpan.of(pc.list_flatten(lists).to_numpy(), partition, n_topics)
            topics = np.flatnonzero(seen.last >= 0).astype(np.int32)
            columns = [pa.array(column) for column in (topics, seen.first[topics], seen.last[topics])]
            yield pa.RecordBatch.from_arrays(columns, [TOPIC_ID, "first", "last"])

    # a row per topic and batch instead of one per subscription
    by_batch = rows.mapInArrow(spans, f"{TOPIC_ID} int, first int, last int")
    found = by_batch.groupBy(TOPIC_ID).agg(F.min("first").alias("first"), F.max("last").alias("last")).toArrow()
    span = TopicSpan.of(np.empty(0, np.int32), np.empty(0, np.int32), n_topics)
    span.first[found[TOPIC_ID].to_numpy()] = found["first"].to_numpy()
    span.last[found[TOPIC_ID].to_numpy()] = found["last"].to_numpy()
    return span


def _keyed(rows: DataFrame, seed: int) -> DataFrame:
    """(node_id, topics) -> the same with ``key``: the node's minhashes and its id, as text that sorts like them."""
    names = [f"hash{stream}" for stream in range(MINHASHES)]

    def hashed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            lists = batch[TOPICS]
            indptr = np.concatenate(([0], np.cumsum(pc.list_value_length(lists).to_numpy()))).astype(np.int64)
            hashes = likeness_hashes(indptr, pc.list_flatten(lists).to_numpy(), seed=seed)
            columns = [*batch.columns, *(pa.array(np.ascontiguousarray(column)) for column in hashes.T)]
            yield pa.RecordBatch.from_arrays(columns, [NODE_ID, TOPICS, *names])

    found = rows.mapInArrow(hashed, ", ".join([_INTEREST, *(f"{name} bigint" for name in names)]))
    texts = [F.lpad(F.hex(name), 16, "0") for name in names]
    return found.select(NODE_ID, TOPICS, F.concat(*texts, F.lpad(F.hex(NODE_ID), 8, "0")).alias("key"))


def _subscribers(interest: DataFrame, n_topics: int) -> Int64Array:
    counts = np.zeros(n_topics, np.int64)
    found = interest.select(F.explode(TOPICS).alias(TOPIC_ID)).groupBy(TOPIC_ID).count().toArrow()
    counts[found[TOPIC_ID].to_numpy()] = found["count"].to_numpy()
    return counts
