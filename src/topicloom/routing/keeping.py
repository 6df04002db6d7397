"""What an older plan leaves to a new one: rows, forests and the order in which brokers start, matched by name."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.model.arrays import Int32Array, Int64Array
from topicloom.model.interest import Interest
from topicloom.routing.ownership import ranks
from topicloom.routing.route_table import Routes, names


@dataclass(frozen=True, eq=False)
class Kept:
    """Rows of an older plan that the new interest and links still allow, in new ids and sorted by topic.

    Attributes
    ----------
    topic, src, dst, parent : int32 arrays
        Active rows; parent is -1 where the older parent is gone.
    standby : (topic, src, dst), int32 arrays
        Standby rows.
    home : int32 array, one cell per topic
        Forest of the topic's older tree, -1 without one.
    rank : int64 array, one cell per node
        Position in the older start order, -1 for new nodes.
    """

    topic: Int32Array
    src: Int32Array
    dst: Int32Array
    parent: Int32Array
    standby: tuple[Int32Array, Int32Array, Int32Array]
    home: Int32Array
    rank: Int64Array


def kept_rows(old: Routes, interest: Interest, links: Int32Array) -> Kept:
    """Find what of the older routes can stay: rows on links that are still there, between current subscribers."""
    new_node = _matched(old.interest.node_labels, old.interest.n_nodes, interest.node_labels, interest.n_nodes)
    new_topic = _matched(old.interest.topic_labels, old.interest.n_topics, interest.topic_labels, interest.n_topics)
    topic, src, dst = new_topic[old.topic], new_node[old.src], new_node[old.dst]
    usable = (topic >= 0) & (src >= 0) & (dst >= 0)
    usable &= _linked(links, src, dst, interest.n_nodes) & _wants(interest, topic, src) & _wants(interest, topic, dst)
    active, standby = _sorted(usable & old.active, topic), _sorted(usable & ~old.active, topic)
    parent = np.where(old.parent >= 0, new_node[old.parent], -1)[active]
    home = np.full(interest.n_topics, -1, np.int32)
    home[topic[active]] = old.forest[active]
    rank = np.full(interest.n_nodes, -1, np.int64)
    rank[new_node[new_node >= 0]] = ranks(old.order)[new_node >= 0]
    rows = tuple(np.ascontiguousarray(column[standby]) for column in (topic, src, dst))
    return Kept(topic[active], src[active], dst[active], parent.astype(np.int32), rows, home, rank)  # type: ignore[arg-type]


def _sorted(wanted: npt.NDArray[np.bool_], topic: Int32Array) -> Int64Array:
    at = np.flatnonzero(wanted)
    return at[np.argsort(topic[at], kind="stable")]


def _matched(old: npt.ArrayLike | None, n_old: int, new: npt.ArrayLike | None, n_new: int) -> Int32Array:
    """New id of every old one, by name. Returns -1 where the name is gone."""
    found: pa.Array = pc.index_in(names(old, n_old), names(new, n_new))
    return pc.fill_null(found, -1).to_numpy().astype(np.int32)  # type: ignore[no-any-return]


def _linked(links: Int32Array, src: Int32Array, dst: Int32Array, n_nodes: int) -> npt.NDArray[np.bool_]:
    low, high = np.minimum(src, dst).astype(np.int64), np.maximum(src, dst)
    return np.isin(low * n_nodes + high, links[:, 0].astype(np.int64) * n_nodes + links[:, 1])


def _wants(interest: Interest, topic: npt.NDArray[Any], node: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    width = max(interest.n_topics, 1)
    return np.isin(node.astype(np.int64) * width + topic, interest.nodes.astype(np.int64) * width + interest.topics)
