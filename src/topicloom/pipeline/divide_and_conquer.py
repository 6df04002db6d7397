"""Divide and conquer on Spark: partitions are conquered on the executors, star nodes travel, nobody holds everything.

The pieces are those of `topicloom.methods.conquer`, and so are the links. The driver holds the core (at most as many
nodes as it was asked to have), two numbers per topic and a few per partition; a Python worker holds one partition with
the core, or the star nodes of one group of partitions.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.kernels.division import shuffled_ranks, topic_hashes
from topicloom.methods.conquer import Core, Piece, Settings, Stars, build_core, conquer, group_units, merge_group
from topicloom.methods.divide_and_conquer import (
    LevelFigures,
    Plan,
    divided_report,
    needs_no_division,
    undivided_report,
)
from topicloom.methods.division import (
    MINHASHES,
    SAMPLED_PARTITIONS,
    best_count,
    choose_core,
    core_size,
    partition_of_rank,
    pool_size,
    trial_counts,
    trial_star_set,
)
from topicloom.methods.star_merge import BoolArray, Part, TopicSpan
from topicloom.model.arrays import Int32Array, Int64Array
from topicloom.pipeline.columns import DST_ID, NODE_ID, ORDER, SRC_ID, TOPIC_ID, require_columns
from topicloom.pipeline.encode import dense_ids
from topicloom.pipeline.stages import Stages

_PARTITION, _GROUP, _PIECE, _KIND = "partition", "group", "piece", "kind"
_LINK, _STAR, _FIGURES = 0, 1, 2
# A row is a link (src_id, dst_id, order), a star node (src_id with its open topics and candidates), or the figures
# of a piece (src_id its nodes, candidates).
_PIECES = (
    f"{_PIECE} int, {_KIND} int, {SRC_ID} int, {DST_ID} int, `{ORDER}` bigint, topics array<int>, candidates bigint"
)
_PARTITIONED = f"{NODE_ID} int, {TOPIC_ID} int, {_PARTITION} int"


class Divided(NamedTuple):
    """Links (src_id, dst_id, order), what `Overlay.report` would say, and what Spark keeps until they are used."""

    links: DataFrame
    report: dict[str, Any]
    persisted: tuple[DataFrame, ...]


class _Level(NamedTuple):
    """The pieces of a level, and how many links and star nodes each of them has."""

    pieces: DataFrame
    links: Int64Array
    star_sets: Int64Array
    nodes: Int64Array
    candidates: int

    def figures(self) -> LevelFigures:
        return LevelFigures(self.star_sets, int(self.links.sum()), self.candidates)


def divide_and_conquer(
    subscriptions: DataFrame,
    *,
    seed: int,
    options: Mapping[str, Any],
    n_nodes: int,
    n_topics: int,
    stages: Stages | None = None,
) -> Divided:
    """(node_id, topic_id) -> links by `dc`, the same as in memory, whatever the number of cores or retried tasks.

    Runs an action for the topics' spans, one for the core, one for the partitions and one for each level of merges.
    """
    require_columns(subscriptions, NODE_ID, TOPIC_ID)
    stages = stages or Stages()
    plan = Plan.of(**options)
    settings = Settings(n_topics, plan.rho, seed)
    subscriptions = subscriptions.select(NODE_ID, TOPIC_ID)
    if plan.partitions == "auto":
        stages.say("choosing the number of partitions by trial")
        count = _chosen_count(subscriptions, plan.aim, n_nodes=n_nodes, n_topics=n_topics, seed=seed)
    else:
        count = int(plan.partitions)
    if needs_no_division(count, n_nodes):
        undivided = _undivided(subscriptions, settings)
        return Divided(undivided, undivided_report(count, n_nodes, undivided.count()), (undivided,))
    core = _core(subscriptions, core_size(plan.core, plan.division, n_nodes, count), settings)
    partitioned = with_partition(
        subscriptions, count, plan.division, n_nodes=n_nodes, core_nodes=core.part.nodes, seed=seed
    ).persist()
    span = _topic_span(partitioned, n_topics)
    stages.say(f"conquering {count:,} partitions of about {n_nodes // count:,} nodes, core of {len(core.part.nodes):,}")
    levels = [_level(partitioned.groupBy(_PARTITION).applyInArrow(_conqueror(span, core, settings), _PIECES), count)]
    while len(levels[-1].star_sets) > 1 and levels[-1].star_sets.any():
        last = levels[-1]
        groups = group_units(last.star_sets, plan.merge_limit)
        span = span.merged(groups)
        stages.say(
            f"merging {len(groups):,} units by {int(last.star_sets.sum()):,} star nodes in {int(groups[-1]) + 1:,} "
            f"groups; {len(core.links) + sum(int(level.links.sum()) for level in levels):,} links so far"
        )
        levels.append(_level(_merged(last.pieces, groups, span, core, settings), int(groups[-1]) + 1))
    report = divided_report(
        n_nodes=n_nodes,
        partition_sizes=levels[0].nodes,
        core=core,
        conquered=levels[0].figures(),
        levels=[level.figures() for level in levels[1:]],
    )
    persisted = (partitioned, *(level.pieces for level in levels))
    return Divided(_ordered_links(levels, core.links), report, persisted)


def with_partition(
    subscriptions: DataFrame, count: int, division: str, *, n_nodes: int, core_nodes: Int32Array, seed: int
) -> DataFrame:
    """(node_id, topic_id) -> (node_id, topic_id, partition), the nodes of the core left out; see `divide`.

    For ``similar``, nodes are ranked by their minhashes: `dense_ids` of a text made of these runs two small actions.
    """
    if division == "random":

        def assign(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                nodes = batch[NODE_ID].to_numpy()
                partition = partition_of_rank(shuffled_ranks(nodes, n_nodes, seed), n_nodes, count)
                kept = ~np.isin(nodes, core_nodes)
                columns = {
                    NODE_ID: nodes[kept],
                    TOPIC_ID: batch[TOPIC_ID].to_numpy()[kept],
                    _PARTITION: partition[kept],
                }
                yield pa.RecordBatch.from_pydict(columns)

        return subscriptions.mapInArrow(assign, _PARTITIONED)
    ranked, _ = dense_ids(_minhash_keys(subscriptions, seed), "key", "rank")
    partition = F.floor(F.col("rank").cast("bigint") * count / F.lit(n_nodes)).cast("int")
    nodes = ranked.select(
        F.conv(F.right("key", F.lit(8)), 16, 10).cast("int").alias(NODE_ID), partition.alias(_PARTITION)
    )
    spark = subscriptions.sparkSession
    core = spark.createDataFrame([(int(node),) for node in core_nodes], f"{NODE_ID} int")
    outside = nodes.join(F.broadcast(core), NODE_ID, "left_anti")
    return subscriptions.join(outside, NODE_ID).select(NODE_ID, TOPIC_ID, _PARTITION)


def _minhash_keys(subscriptions: DataFrame, seed: int) -> DataFrame:
    """(node_id, topic_id) -> (key): the node's minhashes and its id, as text that sorts like them."""
    names = [f"hash{stream}" for stream in range(MINHASHES)]

    def hashed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            topics = batch[TOPIC_ID].to_numpy()
            hashes = {name: topic_hashes(topics, stream, seed) for stream, name in enumerate(names)}
            yield pa.RecordBatch.from_pydict({NODE_ID: batch[NODE_ID], **hashes})

    rows = subscriptions.mapInArrow(hashed, f"{NODE_ID} int, " + ", ".join(f"{name} bigint" for name in names))
    smallest = rows.groupBy(NODE_ID).agg(*(F.min(name).alias(name) for name in names))
    texts = [F.lpad(F.hex(name), 16, "0") for name in names]
    return smallest.select(F.concat(*texts, F.lpad(F.hex(NODE_ID), 8, "0")).alias("key"))


def _chosen_count(subscriptions: DataFrame, aim: str, *, n_nodes: int, n_topics: int, seed: int) -> int:
    """`choose_count` in one job: every row goes to the sampled partitions of all trials to which it belongs."""
    counts = trial_counts(n_nodes)
    subscribers = _subscribers(subscriptions, n_topics)

    def assign(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            nodes, topics = batch[NODE_ID].to_numpy(), batch[TOPIC_ID].to_numpy()
            ranks = shuffled_ranks(nodes, n_nodes, seed)
            for count in counts:
                partition = partition_of_rank(ranks, n_nodes, count)
                kept = partition < SAMPLED_PARTITIONS
                trial = np.full(int(kept.sum()), count, np.int32)
                columns = {
                    NODE_ID: nodes[kept],
                    TOPIC_ID: topics[kept],
                    _PARTITION: partition[kept],
                    "trial": trial,
                }
                yield pa.RecordBatch.from_pydict(columns)

    def size(table: pa.Table) -> pa.Table:
        part = Part.of_pairs(table[NODE_ID].to_numpy(), table[TOPIC_ID].to_numpy())
        stars = trial_star_set(part, subscribers, seed=seed)
        return pa.table({"trial": table["trial"][:1], "stars": pa.array([stars], pa.int32())})

    rows = subscriptions.mapInArrow(assign, f"{_PARTITIONED}, trial int")
    sizes = rows.groupBy("trial", _PARTITION).applyInArrow(size, "trial int, stars int")
    found = sizes.groupBy("trial").agg(F.avg("stars").alias("stars")).collect()
    return best_count(n_nodes, {row["trial"]: row["stars"] for row in found}, aim)


def _subscribers(subscriptions: DataFrame, n_topics: int) -> Int64Array:
    counts = np.zeros(n_topics, np.int64)
    for row in subscriptions.groupBy(TOPIC_ID).count().collect():
        counts[row[TOPIC_ID]] = row["count"]
    return counts


def _core(subscriptions: DataFrame, size: int, settings: Settings) -> Core:
    """The core, chosen and connected in one task, and brought to the driver."""
    if not size:
        return build_core(Part.of_pairs(np.empty(0, np.int32), np.empty(0, np.int32)), settings)
    subscribers = _subscribers(subscriptions, settings.n_topics)
    largest = subscriptions.groupBy(NODE_ID).count().orderBy(F.desc("count"), NODE_ID).limit(pool_size(size))

    def choose(table: pa.Table) -> pa.Table:
        pool = Part.of_pairs(table[NODE_ID].to_numpy(), table[TOPIC_ID].to_numpy())
        core = build_core(choose_core(pool, subscribers, size, seed=settings.seed), settings)
        everyone = Stars(core.part, np.zeros(len(core.part.nodes), np.int32), np.zeros(len(core.part.nodes), np.int64))
        return _as_table(Piece(core.links, everyone, 0), 0, len(core.part.nodes))

    pool = subscriptions.join(largest.select(NODE_ID), NODE_ID).groupBy(F.lit(0).alias("all"))
    found = pool.applyInArrow(choose, _PIECES).where(F.col(_KIND) != _FIGURES).toArrow()
    links = found.filter(pa.compute.equal(found[_KIND], _LINK)).sort_by(ORDER)
    stars = _as_stars(found.filter(pa.compute.equal(found[_KIND], _STAR)))
    wanted = np.zeros(settings.n_topics, np.bool_)
    wanted[stars.part.topics] = True
    ends = np.column_stack((links[SRC_ID].to_numpy(), links[DST_ID].to_numpy()))
    return Core(stars.part, ends.astype(np.int32).reshape(-1, 2), wanted)


def _topic_span(partitioned: DataFrame, n_topics: int) -> TopicSpan:
    rows = partitioned.groupBy(TOPIC_ID).agg(F.min(_PARTITION).alias("first"), F.max(_PARTITION).alias("last"))
    found = rows.toArrow()
    span = TopicSpan.of(np.empty(0, np.int32), np.empty(0, np.int32), n_topics)
    span.first[found[TOPIC_ID].to_numpy()] = found["first"].to_numpy()
    span.last[found[TOPIC_ID].to_numpy()] = found["last"].to_numpy()
    return span


def _conqueror(span: TopicSpan, core: Core, settings: Settings) -> Callable[[pa.Table], pa.Table]:
    open_topics = span.open_topics() & ~core.wanted

    def run(table: pa.Table) -> pa.Table:
        part = Part.of_pairs(table[NODE_ID].to_numpy(), table[TOPIC_ID].to_numpy())
        number = table[_PARTITION][0].as_py()
        return _as_table(conquer(part, number, core, open_topics, settings), number, len(part.nodes))

    return run


def _merged(pieces: DataFrame, groups: Int64Array, span: TopicSpan, core: Core, settings: Settings) -> DataFrame:
    """The next level: star nodes of the units of each group, merged in one task."""
    still_open: BoolArray = span.open_topics() & ~core.wanted

    def run(table: pa.Table) -> pa.Table:
        stars = _as_stars(table)
        number = table[_GROUP][0].as_py()
        return _as_table(merge_group(stars, number, still_open, settings), number, len(stars.unit))

    group_of = [(unit, int(group)) for unit, group in enumerate(groups)]
    table = pieces.sparkSession.createDataFrame(group_of, f"{_PIECE} int, {_GROUP} int")
    stars = pieces.where(F.col(_KIND) == _STAR).join(F.broadcast(table), _PIECE)
    return stars.groupBy(_GROUP).applyInArrow(run, _PIECES)


def _level(pieces: DataFrame, count: int) -> _Level:
    """Compute the pieces, keep them, and count; pieces that no row has are empty."""
    pieces = pieces.persist()
    rows = pieces.groupBy(_PIECE).agg(
        F.count_if(F.col(_KIND) == _LINK).alias("links"),
        F.count_if(F.col(_KIND) == _STAR).alias("stars"),
        F.max(F.when(F.col(_KIND) == _FIGURES, F.col(SRC_ID))).alias("nodes"),
        F.max("candidates").alias("candidates"),
    )
    links, stars, nodes = (np.zeros(count, np.int64) for _ in range(3))
    candidates = 0
    for row in rows.collect():
        links[row[_PIECE]], stars[row[_PIECE]], nodes[row[_PIECE]] = row["links"], row["stars"], row["nodes"]
        candidates = max(candidates, row["candidates"])
    return _Level(pieces, links, stars, nodes, candidates)


def _ordered_links(levels: list[_Level], core_links: Int32Array) -> DataFrame:
    """(src_id, dst_id, order): the core's links, then those of the pieces, level by level."""
    spark = levels[0].pieces.sparkSession
    rows = [(int(u), int(v), order) for order, (u, v) in enumerate(core_links)]
    links = spark.createDataFrame(rows, f"{SRC_ID} int, {DST_ID} int, `{ORDER}` bigint")
    start = len(core_links)
    for level in levels:
        before = start + np.cumsum(level.links) - level.links
        offsets = spark.createDataFrame(
            [(piece, int(offset)) for piece, offset in enumerate(before)], f"{_PIECE} int, offset bigint"
        )
        found = level.pieces.where(F.col(_KIND) == _LINK).join(F.broadcast(offsets), _PIECE)
        links = links.union(found.select(SRC_ID, DST_ID, (F.col("offset") + F.col(ORDER)).alias(ORDER)))
        start += int(level.links.sum())
    return links


def _undivided(subscriptions: DataFrame, settings: Settings) -> DataFrame:
    def run(table: pa.Table) -> pa.Table:
        part = Part.of_pairs(table[NODE_ID].to_numpy(), table[TOPIC_ID].to_numpy())
        links = build_core(part, settings).links
        return pa.table({SRC_ID: links[:, 0], DST_ID: links[:, 1], ORDER: np.arange(len(links), dtype=np.int64)})

    whole = subscriptions.groupBy(F.lit(0).alias("all"))
    return whole.applyInArrow(run, f"{SRC_ID} int, {DST_ID} int, `{ORDER}` bigint").persist()


def _as_table(piece: Piece, number: int, n_nodes: int) -> pa.Table:
    """A piece as rows of `_PIECES`."""
    links, stars = piece.links, piece.stars
    n_links, n_stars = len(links), len(stars.unit)
    n_rows = n_links + n_stars + 1
    kind = np.repeat(np.array([_LINK, _STAR, _FIGURES], np.int32), [n_links, n_stars, 1])
    empty = np.zeros(n_stars + 1, np.int32)
    offsets = np.concatenate((np.zeros(n_links), stars.part.indptr, stars.part.indptr[-1:])).astype(np.int32)
    return pa.table(
        {
            _PIECE: np.full(n_rows, number, np.int32),
            _KIND: kind,
            SRC_ID: np.concatenate((links[:, 0], stars.part.nodes, [n_nodes])).astype(np.int32),
            DST_ID: np.concatenate((links[:, 1], empty)).astype(np.int32),
            ORDER: np.concatenate((np.arange(n_links), empty)).astype(np.int64),
            "topics": pa.ListArray.from_arrays(pa.array(offsets), pa.array(stars.part.topics, pa.int32())),
            "candidates": np.concatenate((np.zeros(n_links), stars.candidates, [piece.candidates])).astype(np.int64),
        }
    )


def _as_stars(table: pa.Table) -> Stars:
    """Star nodes from rows of `_PIECES`, by unit and node."""
    table = table.sort_by([(_PIECE, "ascending"), (SRC_ID, "ascending")]).combine_chunks()
    lists = table["topics"]
    sizes = pa.compute.list_value_length(lists).to_numpy()
    indptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    topics = pa.compute.list_flatten(lists).to_numpy()
    part = Part(table[SRC_ID].to_numpy().astype(np.int32), indptr, topics.astype(np.int32))
    return Stars(part, table[_PIECE].to_numpy().astype(np.int32), table["candidates"].to_numpy().astype(np.int64))
