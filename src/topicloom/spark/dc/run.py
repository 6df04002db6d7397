"""Divide and conquer on Spark: partitions are conquered on the executors, star nodes travel, nobody holds everything.

The pieces are those of `topicloom.methods.dc.conquer`, and so are the links. A Python worker holds one partition with
the core, or the star nodes of one group of partitions. The driver holds the core (at most as many nodes as it was asked
to have), a few numbers per topic and per partition, and the star nodes of the last group, which it merges itself.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, GroupedData
from pyspark.sql import functions as F

from topicloom.errors import OutputExistsError
from topicloom.methods.dc.conquer import Core, Settings, build_core, conquer, group_units, merge_group
from topicloom.methods.dc.divide_and_conquer import (
    DivisionPlan,
    LevelCounts,
    divided_report,
    needs_no_division,
    undivided_report,
)
from topicloom.methods.dc.partitioning import core_size, order_of
from topicloom.model.arrays import Int32Array, Int64Array
from topicloom.runs.stages import Stages
from topicloom.spark.dc.division import PARTITION, brought_core, chosen_count, counted_subscribers, divided
from topicloom.spark.dc.pieces import (
    CANDIDATES,
    COUNTS,
    KIND,
    LINK,
    PIECE,
    SCHEMA,
    STAR,
    PieceCounts,
    as_part,
    as_stars,
    as_table,
    counts_of,
)
from topicloom.spark.dc.work import keep_piece, kept_pieces, open_folder, watched
from topicloom.spark.session.columns import DST_ID, NODE_ID, ORDER, SRC_ID, TOPICS, from_arrow, require_columns, spread
from topicloom.spark.session.workers import settle

_GROUP = "group"
_LINKS = f"{SRC_ID} int, {DST_ID} int, `{ORDER}` bigint"


class Divided(NamedTuple):
    """Links (src_id, dst_id, order), their number, what `Overlay.report` would say, and what Spark keeps for them."""

    links: DataFrame
    n_links: int
    report: dict[str, Any]
    persisted: tuple[DataFrame, ...]


class Level(NamedTuple):
    """The pieces of a level, where they are kept if that is a folder, and the counts of each of them."""

    pieces: DataFrame
    folder: Path | None
    links: Int64Array
    star_sets: Int64Array
    nodes: Int64Array
    candidates: int

    @classmethod
    def of(
        cls, pieces: DataFrame, counts: Mapping[int, PieceCounts], count: int, folder: Path | None = None
    ) -> "Level":
        """Pieces without counts are empty."""
        columns = np.zeros((count, 4), np.int64)
        for number, found in counts.items():
            columns[number] = found
        links, stars, nodes, candidates = columns.T
        return cls(pieces, folder, links, stars, nodes, int(candidates.max(initial=0)))

    def counts(self) -> LevelCounts:
        return LevelCounts(self.star_sets, int(self.links.sum()), self.candidates)


def divide_and_conquer(
    interest: DataFrame,
    *,
    seed: int,
    options: Mapping[str, Any],
    n_nodes: int,
    n_topics: int,
    subscribers: Int64Array | None = None,
    work: Path | None = None,
    stages: Stages | None = None,
) -> Divided:
    """(node_id, topics) -> links by `dc`, the same as in memory, whatever the number of cores or retried tasks.

    ``subscribers`` are the topics' numbers of them, counted here if they are not given. Runs an action for the core and
    one for the division by likeness, if they are asked for, one for the partitions, and two for each level of merges
    but the last.
    Finished partitions are kept in the folder ``work``, which driver and executors must share, and those found there
    are not conquered again: it must belong to this interest, these options and this seed. Without it Spark keeps them.
    """
    require_columns(interest, NODE_ID, TOPICS)
    stages = stages or Stages()
    plan = DivisionPlan.of(**options)
    settings = plan.settings(n_topics, seed)
    if subscribers is None:
        subscribers = counted_subscribers(interest, n_topics)
    if plan.partitions == "auto":
        with stages("design/choose", "choosing the number of partitions by trial"):
            count = chosen_count(interest, subscribers, plan, n_nodes=n_nodes, settings=settings)
    else:
        count = int(plan.partitions)
    if needs_no_division(count, n_nodes):
        undivided = _undivided(interest, settings)
        n_links = undivided.count()
        return Divided(undivided, n_links, undivided_report(count, n_nodes, n_links), (undivided,))
    size = core_size(plan.core, plan.division, n_nodes, count)
    with stages("design/core", "choosing the core"):
        core = brought_core(interest, subscribers, count, size, settings)
    with stages("design/divide", f"dividing {n_nodes:,} nodes"):
        order = order_of(plan.division, subscribers, n_nodes, count, seed=seed)
        partitioned = divided(interest, order, core_nodes=core.part.nodes)
    sentence = f"conquering {count:,} partitions of about {n_nodes // count:,} nodes"
    with stages("design/conquer", f"{sentence}, core of {len(core.part.nodes):,}"):
        conqueror = _conqueror(core.left_over(subscribers, plan.k), core, settings)
        if work is None:
            groups = spread(partitioned, PARTITION, count).groupBy(PARTITION)
            levels = [_level(groups.applyInArrow(conqueror, SCHEMA), count)]
        else:
            levels = [_kept_level(partitioned, count, conqueror, work, stages)]
    levels = [*levels, *merged_levels(levels[0], plan.merge_limit, settings, stages, links=len(core.links))]
    report = divided_report(
        n_nodes=n_nodes,
        partition_sizes=levels[0].nodes,
        core=core,
        conquered=levels[0].counts(),
        levels=[level.counts() for level in levels[1:]],
        merge_limit=plan.merge_limit,
    )
    n_links = report["inner_links"] + report["outer_links"]
    return Divided(ordered_links(levels, core.links), n_links, report, tuple(level.pieces for level in levels))


def merged_levels(first: Level, limit: int, settings: Settings, stages: Stages, *, links: int = 0) -> Iterator[Level]:
    """Merge the units of a level over their star nodes, in groups, until one group is left.

    ``links`` is how many there are beside those of the first level.
    """
    last = first
    links += int(first.links.sum())
    number = 1
    while len(last.star_sets) > 1 and last.star_sets.any():
        groups_of = group_units(last.star_sets, limit)
        n_groups = int(groups_of[-1]) + 1
        sentence = (
            f"merging {len(groups_of):,} units by {int(last.star_sets.sum()):,} star nodes in {n_groups:,} groups"
        )
        with stages(f"design/merge {number}", f"{sentence}; {links:,} links so far"):
            if n_groups == 1:
                last = _last_level(last, settings)
            else:
                stars = last.pieces.where(F.col(KIND) == STAR)
                merger = _merger(counted_subscribers(stars, settings.n_topics), settings)
                last = _level(_grouped(stars, groups_of).applyInArrow(merger, SCHEMA), n_groups)
        links += int(last.links.sum())
        number += 1
        yield last


def _conqueror(subscribers: Int64Array, core: Core, settings: Settings) -> Callable[[pa.Table], pa.Table]:
    def run(table: pa.Table) -> pa.Table:
        part, number = as_part(table), table[PARTITION][0].as_py()
        piece = as_table(conquer(part, number, core, subscribers, settings), number, len(part.nodes))
        settle()
        return piece

    return run


def _kept_level(
    partitioned: DataFrame, count: int, conqueror: Callable[[pa.Table], pa.Table], work: Path, stages: Stages
) -> Level:
    """Conquer the partitions that the work folder does not hold yet, and keep each there as soon as it is done."""
    open_folder(work)
    kept = kept_pieces(work)
    if kept:
        stages.note(f"reused {len(kept):,} of {count:,} partitions that an earlier run had finished")

    def run(table: pa.Table) -> pa.Table:
        piece = conqueror(table)
        keep_piece(work, piece[PIECE][0].as_py(), piece, counts_of(piece))
        return piece.slice(0, 1).select([PIECE])

    spark = partitioned.sparkSession
    rest = partitioned
    if kept:
        finished = from_arrow(spark, pa.table({PARTITION: pa.array(list(kept), pa.int32())}))
        rest = partitioned.join(F.broadcast(finished), PARTITION, "left_anti")
    with watched(work, count, stages):
        conquered = spread(rest, PARTITION, count).groupBy(PARTITION).applyInArrow(run, f"{PIECE} int").count()
    counts = kept_pieces(work, kept)
    if len(counts) < len(kept) + conquered:
        raise OutputExistsError(
            f"the executors do not write where this process reads ({work}): choose a work folder that both share"
        )
    return Level.of(spark.read.schema(SCHEMA).parquet(work.as_uri()), counts, count, work)


def _merger(subscribers: Int64Array, settings: Settings) -> Callable[[pa.Table], pa.Table]:
    """Merge the units of one group over their star nodes. ``subscribers`` are counted among those of all groups."""

    def run(table: pa.Table) -> pa.Table:
        stars, number = as_stars(table), table[_GROUP][0].as_py()
        return as_table(merge_group(stars, number, subscribers, settings), number, len(stars.unit))

    return run


def _grouped(stars: DataFrame, groups: Int64Array) -> GroupedData:
    """The star nodes of all units, by group."""
    units = np.arange(len(groups), dtype=np.int32)
    group_of = from_arrow(stars.sparkSession, pa.table({PIECE: units, _GROUP: groups.astype(np.int32)}))
    return spread(stars.join(F.broadcast(group_of), PIECE), _GROUP, int(groups[-1]) + 1).groupBy(_GROUP)


def _last_level(last: Level, settings: Settings) -> Level:
    """One group is left: its star nodes are as few as one task may have, and merged here without a job."""
    if last.folder is None:
        stars = last.pieces.where(F.col(KIND) == STAR).toArrow()
    else:
        stars = pq.read_table(last.folder, filters=pc.field(KIND) == STAR)
    merger = _merger(np.zeros(settings.n_topics, np.int64), settings)  # there are no others who want a topic
    piece = merger(stars.append_column(_GROUP, pa.array(np.zeros(len(stars), np.int32))))
    return Level.of(from_arrow(last.pieces.sparkSession, piece), {0: counts_of(piece)}, 1)


def _level(pieces: DataFrame, count: int) -> Level:
    """Compute the pieces, let Spark keep them, and count."""
    pieces = pieces.persist()
    rows = pieces.groupBy(PIECE).agg(
        F.count_if(F.col(KIND) == LINK).alias("links"),
        F.count_if(F.col(KIND) == STAR).alias("stars"),
        F.max(F.when(F.col(KIND) == COUNTS, F.col(SRC_ID))).alias("nodes"),
        F.max(CANDIDATES).alias(CANDIDATES),
    )
    counts = {
        row[PIECE]: PieceCounts(row["links"], row["stars"], row["nodes"], row[CANDIDATES]) for row in rows.collect()
    }
    return Level.of(pieces, counts, count)


def ordered_links(levels: list[Level], core_links: Int32Array) -> DataFrame:
    """(src_id, dst_id, order): the core's links, then those of the pieces, level by level."""
    spark = levels[0].pieces.sparkSession
    parts = [from_arrow(spark, _links_table(core_links))] if len(core_links) else []
    start = len(core_links)
    for level in levels:
        before = start + np.cumsum(level.links) - level.links
        numbers = np.arange(len(before), dtype=np.int32)
        offsets = from_arrow(spark, pa.table({PIECE: numbers, "offset": before.astype(np.int64)}))
        found = level.pieces.where(F.col(KIND) == LINK).join(F.broadcast(offsets), PIECE)
        parts.append(found.select(SRC_ID, DST_ID, (F.col("offset") + F.col(ORDER)).alias(ORDER)))
        start += int(level.links.sum())
    return reduce(lambda one, other: one.union(other), parts)


def _undivided(interest: DataFrame, settings: Settings) -> DataFrame:
    def run(table: pa.Table) -> pa.Table:
        return _links_table(build_core(as_part(table), settings).links)

    whole = interest.select(NODE_ID, TOPICS).groupBy(F.lit(0).alias("all"))
    return whole.applyInArrow(run, _LINKS).persist()


def _links_table(links: Int32Array) -> pa.Table:
    return pa.table({SRC_ID: links[:, 0], DST_ID: links[:, 1], ORDER: np.arange(len(links), dtype=np.int64)})
