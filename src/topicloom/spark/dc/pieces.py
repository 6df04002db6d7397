"""Pieces of `dc` as tables: how links, star nodes and counts of a partition or a group travel between tasks."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.methods.dc.conquer import Piece, Stars
from topicloom.methods.dc.star_merge import Part
from topicloom.spark.session.columns import DST_ID, NODE_ID, ORDER, SRC_ID, TOPICS

PIECE, KIND, CANDIDATES = "piece", "kind", "candidates"
LINK, STAR, COUNTS = 0, 1, 2
# A row is a link (src_id, dst_id, order), a star node (src_id with its open topics and candidates, dst_id its links so
# far), or the counts of a piece (src_id its nodes, candidates).
SCHEMA = (
    f"{PIECE} int, {KIND} int, {SRC_ID} int, {DST_ID} int, `{ORDER}` bigint, {TOPICS} array<int>, {CANDIDATES} bigint"
)


class PieceCounts(NamedTuple):
    """How many links, star nodes and nodes a piece has, and the most neighbours that one of them considered."""

    links: int
    stars: int
    nodes: int
    candidates: int


def as_part(table: pa.Table) -> Part:
    """Rows (node_id, topics) in any order as a part of the interest."""
    return _part(table.select([NODE_ID, TOPICS]).sort_by(NODE_ID), NODE_ID)


def as_table(piece: Piece, number: int, n_nodes: int) -> pa.Table:
    """A piece as rows of `SCHEMA`."""
    links, stars = piece.links, piece.stars
    n_links, n_stars = len(links), len(stars.unit)
    n_rows = n_links + n_stars + 1
    kind = np.repeat(np.array([LINK, STAR, COUNTS], np.int32), [n_links, n_stars, 1])
    empty = np.zeros(n_stars + 1, np.int32)
    offsets = np.concatenate((np.zeros(n_links), stars.part.indptr, stars.part.indptr[-1:])).astype(np.int32)
    return pa.table(
        {
            PIECE: np.full(n_rows, number, np.int32),
            KIND: kind,
            SRC_ID: np.concatenate((links[:, 0], stars.part.nodes, [n_nodes])).astype(np.int32),
            DST_ID: np.concatenate((links[:, 1], stars.degree, [0])).astype(np.int32),
            ORDER: np.concatenate((np.arange(n_links), empty)).astype(np.int64),
            TOPICS: pa.ListArray.from_arrays(pa.array(offsets), pa.array(stars.part.topics, pa.int32())),
            CANDIDATES: np.concatenate((np.zeros(n_links), stars.candidates, [piece.candidates])).astype(np.int64),
        }
    )


def counts_of(piece: pa.Table) -> PieceCounts:
    """What a piece amounts to, from its rows."""
    kinds = piece[KIND].to_numpy()
    nodes, candidates = (piece[name][len(piece) - 1].as_py() for name in (SRC_ID, CANDIDATES))
    return PieceCounts(int((kinds == LINK).sum()), int((kinds == STAR).sum()), nodes, candidates)


def as_stars(table: pa.Table) -> Stars:
    """Star nodes from rows of `SCHEMA`, by unit and node."""
    table = table.sort_by([(PIECE, "ascending"), (SRC_ID, "ascending")])
    units, candidates = table[PIECE].to_numpy(), table[CANDIDATES].to_numpy()
    degree = table[DST_ID].to_numpy().astype(np.int64)
    return Stars(_part(table, SRC_ID), units.astype(np.int32), candidates.astype(np.int64), degree)


def _part(table: pa.Table, node: str) -> Part:
    """Rows in the order they have."""
    sizes = pc.list_value_length(table[TOPICS]).to_numpy()
    indptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    topics = pc.list_flatten(table[TOPICS]).to_numpy()
    return Part(table[node].to_numpy().astype(np.int32), indptr, topics.astype(np.int32))
