"""Dividing an interest on Spark: how many partitions, the core that all of them see, and who goes into which."""

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.methods.dc.conquer import Core, Piece, Settings, Stars, build_core
from topicloom.methods.dc.divide_and_conquer import DivisionPlan
from topicloom.methods.dc.partitioning import (
    SAMPLED_PARTITIONS,
    Order,
    Trial,
    best_count,
    choose_core,
    core_size,
    order_of,
    partition_of_rank,
    pool_size,
    random_ranks,
    trial_counts,
    trial_star_set,
)
from topicloom.methods.dc.star_merge import BoolArray, Part
from topicloom.model.arrays import Int32Array, Int64Array
from topicloom.spark.dc.pieces import COUNTS, KIND, LINK, SCHEMA, STAR, as_part, as_stars, as_table
from topicloom.spark.session.columns import DST_ID, NODE_ID, ORDER, SRC_ID, TOPIC_ID, TOPICS
from topicloom.spark.steps.encode import counts_by_id

PARTITION = "partition"
_INTEREST = f"{NODE_ID} int, {TOPICS} array<int>"
_TRIAL = "trial"


def chosen_count(
    interest: DataFrame, subscribers: Int64Array, plan: DivisionPlan, *, n_nodes: int, settings: Settings
) -> int:
    """`choose_count` on Spark: the same number.

    Without a core and with random partitions it is one job, in which every row goes to the sampled partitions of all
    trials to which it belongs. Otherwise each trial has jobs of its own.
    """
    counts = trial_counts(n_nodes)
    if plan.division == "random" and not plan.core:
        trials = _random_trials(interest, subscribers, counts, n_nodes=n_nodes, settings=settings)
    else:
        trials = {
            count: _trial(interest, subscribers, plan, count, n_nodes=n_nodes, settings=settings) for count in counts
        }
    return best_count(n_nodes, trials, plan.aim)


def _random_trials(
    interest: DataFrame, subscribers: Int64Array, counts: list[int], *, n_nodes: int, settings: Settings
) -> dict[int, Trial]:
    seed = settings.seed

    def assign(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            ranks = random_ranks(batch[NODE_ID].to_numpy(), n_nodes, seed=seed)
            for count in counts:
                partition = partition_of_rank(ranks, n_nodes, count)
                kept = np.flatnonzero(partition < SAMPLED_PARTITIONS)
                trial = np.full(len(kept), count, np.int32)
                columns = [*batch.take(pa.array(kept)).columns, pa.array(partition[kept]), pa.array(trial)]
                yield pa.RecordBatch.from_arrays(columns, [NODE_ID, TOPICS, PARTITION, _TRIAL])

    rows = interest.select(NODE_ID, TOPICS).mapInArrow(assign, f"{_INTEREST}, {PARTITION} int, {_TRIAL} int")
    return _sampled(rows, subscribers, settings, dict.fromkeys(counts, 0))


def _trial(
    interest: DataFrame, subscribers: Int64Array, plan: DivisionPlan, count: int, *, n_nodes: int, settings: Settings
) -> Trial:
    size = core_size(plan.core, plan.division, n_nodes, count)
    core = brought_core(interest, subscribers, count, size, settings, connect=False)
    order = order_of(plan.division, subscribers, n_nodes, count, seed=settings.seed)
    rows = divided(interest, order, core_nodes=core.part.nodes).where(F.col(PARTITION) < SAMPLED_PARTITIONS)
    left = core.left_over(subscribers, settings.k)
    return _sampled(rows.withColumn(_TRIAL, F.lit(count)), left, settings, {count: len(core.part.nodes)})[count]


def _sampled(
    rows: DataFrame, subscribers: Int64Array, settings: Settings, cores: Mapping[int, int]
) -> dict[int, Trial]:
    """Mean star sets of the sampled partitions of trials. Partitions without nodes have none."""

    def size(table: pa.Table) -> pa.Table:
        stars = trial_star_set(as_part(table), subscribers, seed=settings.seed, coverage=settings.coverage)
        return pa.table({_TRIAL: table[_TRIAL][:1], "stars": pa.array([stars], pa.int32())})

    sizes = rows.groupBy(_TRIAL, PARTITION).applyInArrow(size, f"{_TRIAL} int, stars int")
    found = {row[_TRIAL]: row["stars"] for row in sizes.groupBy(_TRIAL).agg(F.sum("stars").alias("stars")).collect()}
    return {count: Trial(found.get(count, 0) / min(count, SAMPLED_PARTITIONS), core) for count, core in cores.items()}


def brought_core(
    interest: DataFrame,
    subscribers: Int64Array,
    partitions: int,
    size: int,
    settings: Settings,
    *,
    connect: bool = True,
) -> Core:
    """The core, chosen and connected (unless that is not asked for) in one task, and brought to the driver."""
    if not size:
        return build_core(Part.of_pairs(np.empty(0, np.int32), np.empty(0, np.int32)), settings)
    largest = interest.orderBy(F.size(TOPICS).desc(), NODE_ID).limit(pool_size(size)).select(NODE_ID, TOPICS)

    def choose(table: pa.Table) -> pa.Table:
        part = choose_core(as_part(table), subscribers, partitions, size, seed=settings.seed)
        core = build_core(part, settings) if connect else Core(part, np.empty((0, 2), np.int32))
        none = np.zeros(len(core.part.nodes), np.int64)
        everyone = Stars(core.part, none.astype(np.int32), none, none)
        return as_table(Piece(core.links, everyone, 0), 0, len(core.part.nodes))

    chosen = largest.groupBy(F.lit(0).alias("all")).applyInArrow(choose, SCHEMA)
    found = chosen.where(F.col(KIND) != COUNTS).toArrow()
    links = found.filter(pc.equal(found[KIND], LINK)).sort_by(ORDER)
    stars = as_stars(found.filter(pc.equal(found[KIND], STAR)))
    ends = np.column_stack((links[SRC_ID].to_numpy(), links[DST_ID].to_numpy()))
    return Core(stars.part, ends.astype(np.int32).reshape(-1, 2))


def divided(interest: DataFrame, order: Order, *, core_nodes: Int32Array) -> DataFrame:
    """(node_id, topics) -> (node_id, topics, partition), the nodes of the core left out.

    If the order is by likeness, one action looks at all nodes, to know how many each rank leads. Partitions are so
    cheap that they are computed again where they are used.
    """
    rows = interest.select(NODE_ID, TOPICS)
    leads = _leads(rows, order)

    def assign(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            partition = pa.array(order.partition(_keys(batch, order), leads))
            full = pa.RecordBatch.from_arrays([*batch.columns, partition], [NODE_ID, TOPICS, PARTITION])
            yield full.filter(pa.array(~_among(core_nodes, batch))) if len(core_nodes) else full

    return rows.mapInArrow(assign, f"{_INTEREST}, {PARTITION} int")


def _leads(rows: DataFrame, order: Order) -> Int64Array:
    """`Order.leads` of all nodes: a number per topic from each task, and to the driver."""
    if order.topic_rank is None:
        return order.leads(np.empty(0, np.int64))
    names = ["rank", "leads"]
    n_ranks = len(order.topic_rank) + 1

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        leads = np.zeros(n_ranks, np.int64)
        for batch in batches:
            leads += order.leads(_keys(batch, order))
        ranks = np.flatnonzero(leads)
        yield pa.RecordBatch.from_arrays([pa.array(ranks.astype(np.int32)), pa.array(leads[ranks])], names)

    by_task = rows.mapInArrow(look, "rank int, leads bigint")
    return counts_by_id(by_task.groupBy("rank").agg(F.sum("leads")), n_ranks)


def _keys(batch: pa.RecordBatch, order: Order) -> Int64Array:
    lists = batch[TOPICS]
    indptr = np.concatenate(([0], np.cumsum(pc.list_value_length(lists).to_numpy()))).astype(np.int64)
    return order.keys(batch[NODE_ID].to_numpy(), indptr, pc.list_flatten(lists).to_numpy())


def _among(nodes: Int32Array, batch: pa.RecordBatch) -> BoolArray:
    return np.isin(batch[NODE_ID].to_numpy(), nodes)


def counted_subscribers(interest: DataFrame, n_topics: int) -> Int64Array:
    """The topics' numbers of subscribers, brought to the driver."""
    return counts_by_id(interest.select(F.explode(TOPICS).alias(TOPIC_ID)).groupBy(TOPIC_ID).count(), n_topics)
