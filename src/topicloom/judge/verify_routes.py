"""Do routes keep their promises? Answered from the definitions, by other code than the one that chooses trees."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.judge.connected import component_labels
from topicloom.model.arrays import Int32Array, Int64Array
from topicloom.model.interest import Interest
from topicloom.model.results import JudgedByOk

_MOST = 1_000


class BrokenRoute(NamedTuple):
    """A promise that routes break.

    Attributes
    ----------
    kind : str
        ``cut`` (subscribers that no row reaches), ``cycle`` (rows that form a cycle), ``outside`` (an end does not want
        the topic), ``no link`` (the overlay has no such link), ``repeated`` (a row stands twice), ``owner`` (a link
        with two owners, or one that is not an end), ``dialling`` (brokers that dial each other in a circle), ``forest``
        (trees of one forest form a cycle, or a topic has several forests), ``parent`` (not an end, or two parents).
    topic : str or None
        Its label; None where the promise is about links.
    nodes : tuple of str
        Labels of nodes that show it.
    """

    kind: str
    topic: str | None
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class RoutesVerdict(JudgedByOk):
    """Answer of `topicloom.routing.Routes.verify`.

    Attributes
    ----------
    ok : bool
        Every promise holds.
    broken : tuple of BrokenRoute
        What does not hold, at most 1,000 of each kind.
    topics, rows : int
        How many were checked; rows are the active ones.
    """

    ok: bool
    broken: tuple[BrokenRoute, ...]
    topics: int
    rows: int

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready dictionary."""
        return {
            "ok": self.ok,
            "topics": self.topics,
            "rows": self.rows,
            "broken": [{**broken._asdict(), "nodes": list(broken.nodes)} for broken in self.broken],
        }


class _Rows(NamedTuple):
    interest: Interest
    topic: Int64Array
    src: Int64Array
    dst: Int64Array
    active: npt.NDArray[np.bool_]

    def broken(self, kind: str, at: Int64Array) -> Iterator[BrokenRoute]:
        for i in at[:_MOST]:
            ends = (self.interest.node_label(self.src[i]), self.interest.node_label(self.dst[i]))
            yield BrokenRoute(kind, self.interest.topic_label(self.topic[i]), ends)

    def only(self, keep: npt.NDArray[np.bool_]) -> "_Rows":
        return _Rows(self.interest, self.topic[keep], self.src[keep], self.dst[keep], self.active[keep])


def verify_routes(
    interest: Interest,
    links: Int32Array,
    *,
    topic: npt.ArrayLike,
    src: npt.ArrayLike,
    dst: npt.ArrayLike,
    owner: npt.ArrayLike,
    parent: npt.ArrayLike,
    forest: npt.ArrayLike,
    active: npt.ArrayLike,
) -> RoutesVerdict:
    """Judge rows given by ids.

    The active rows of every topic are a spanning tree of its subscribers. Rows lie on links of the overlay and inside
    their topic. Every link has one owner, and no brokers dial each other in a circle. The links of a forest have no
    cycle. Takes O(subscriptions + rows + links) memory and time up to sorting.
    """
    columns = [np.asarray(column, np.int64) for column in (topic, src, dst, owner, parent, forest)]
    topic_of, one_end, other_end, owner_of, parent_of, forest_of = columns
    rows = _Rows(interest, topic_of, one_end, other_end, np.asarray(active, bool))
    broken = [
        *_misplaced(rows, np.asarray(links, np.int64)),
        *_repeated(rows),
        *_not_trees(rows.only(rows.active)),
        *_owners(rows, owner_of),
        *_parents(rows.only(rows.active), parent_of[rows.active]),
        *_forests(rows.only(rows.active), forest_of[rows.active]),
    ]
    return RoutesVerdict(not broken, tuple(broken), interest.n_topics, int(rows.active.sum()))


def _misplaced(rows: _Rows, links: Int64Array) -> Iterator[BrokenRoute]:
    """Rows beside the overlay's links, or with an end that does not want the topic."""
    n = rows.interest.n_nodes
    known = np.sort(links, axis=1)
    pair = np.minimum(rows.src, rows.dst) * n + np.maximum(rows.src, rows.dst)
    yield from rows.broken("no link", np.flatnonzero(~np.isin(pair, known[:, 0] * n + known[:, 1])))
    wanted = _wants(rows, rows.src) & _wants(rows, rows.dst)
    yield from rows.broken("outside", np.flatnonzero(~wanted))


def _entries(interest: Interest) -> Int64Array:
    """Key of every subscription, ascending."""
    keys = np.repeat(np.arange(interest.n_topics, dtype=np.int64), np.diff(interest.topic_indptr))
    return keys * max(interest.n_nodes, 1) + interest.topic_nodes


def _wants(rows: _Rows, nodes: Int64Array) -> npt.NDArray[np.bool_]:
    return np.isin(rows.topic * max(rows.interest.n_nodes, 1) + nodes, _entries(rows.interest))


def _repeated(rows: _Rows) -> Iterator[BrokenRoute]:
    low, high = np.minimum(rows.src, rows.dst), np.maximum(rows.src, rows.dst)
    order = np.lexsort((high, low, rows.topic))
    same = (np.diff(rows.topic[order]) == 0) & (np.diff(low[order]) == 0) & (np.diff(high[order]) == 0)
    yield from rows.broken("repeated", np.sort(order[1:][same]))


def _not_trees(rows: _Rows) -> Iterator[BrokenRoute]:
    """Topics whose rows leave a subscriber out, or hold more links than a tree has."""
    interest = rows.interest
    rows = rows.only(_wants(rows, rows.src) & _wants(rows, rows.dst))
    keys = _entries(interest)
    width = max(interest.n_nodes, 1)
    a, b = (np.searchsorted(keys, rows.topic * width + end) for end in (rows.src, rows.dst))
    _, first = np.unique(component_labels(a, b, len(keys)), return_index=True)
    heads = np.sort(first)
    head_topic = keys[heads] // width
    components = np.bincount(head_topic, minlength=interest.n_topics)
    for t in np.flatnonzero(components > 1)[:_MOST]:
        pair = keys[heads[np.searchsorted(head_topic, t) :][:2]] % width
        yield BrokenRoute("cut", interest.topic_label(t), tuple(interest.node_label(int(v)) for v in pair))
    surplus = np.bincount(rows.topic, minlength=interest.n_topics) + components - np.diff(interest.topic_indptr)
    for t in np.flatnonzero(surplus > 0)[:_MOST]:
        chosen = rows.topic == t
        yield BrokenRoute("cycle", interest.topic_label(t), _cycle(interest, rows.src[chosen], rows.dst[chosen]))


def _cycle(interest: Interest, src: Int64Array, dst: Int64Array) -> tuple[str, ...]:
    """Labels of the nodes of the cyclic part: nodes of degree 1 are taken away until none is left."""
    alive = np.ones(len(src), bool)
    while True:
        degree = np.bincount(np.concatenate((src[alive], dst[alive])), minlength=interest.n_nodes)
        kept = alive & (degree[src] > 1) & (degree[dst] > 1)
        if kept.sum() == alive.sum():
            break
        alive = kept
    return tuple(interest.node_label(int(v)) for v in np.unique(np.concatenate((src[alive], dst[alive]))))


def _owners(rows: _Rows, owner: Int64Array) -> Iterator[BrokenRoute]:
    """Links without exactly one owner at one of their ends, and brokers that dial in a circle."""
    n = max(rows.interest.n_nodes, 1)
    yield from rows.broken("owner", np.flatnonzero((owner != rows.src) & (owner != rows.dst)))
    pair = np.minimum(rows.src, rows.dst) * n + np.maximum(rows.src, rows.dst)
    order = np.argsort(pair, kind="stable")
    differs = (np.diff(pair[order]) == 0) & (np.diff(owner[order]) != 0)
    yield from rows.broken("owner", np.sort(order[1:][differs]))
    peer = rows.src + rows.dst - owner
    valid = (peer >= 0) & (peer < n) & (owner >= 0) & (owner < n)
    label = component_labels(owner[valid], peer[valid], n, strong=True)
    for group in np.flatnonzero(np.bincount(label) > 1)[:_MOST]:
        nodes = np.flatnonzero(label == group)
        yield BrokenRoute("dialling", None, tuple(rows.interest.node_label(int(v)) for v in nodes))


def _parents(rows: _Rows, parent: Int64Array) -> Iterator[BrokenRoute]:
    """Rows whose parent is not an end, and subscribers with two parents."""
    is_end = (parent == rows.src) | (parent == rows.dst)
    yield from rows.broken("parent", np.flatnonzero(~is_end))
    child = rows.topic * max(rows.interest.n_nodes, 1) + rows.src + rows.dst - parent
    order = np.argsort(child, kind="stable")
    yield from rows.broken("parent", np.sort(order[1:][(np.diff(child[order]) == 0) & is_end[order][1:]]))


def _forests(rows: _Rows, forest: Int64Array) -> Iterator[BrokenRoute]:
    """Forests whose links have a cycle, and topics with rows in several forests or in some and none."""
    if (forest < 0).all():
        return
    order = np.lexsort((forest, rows.topic))
    mixed = (np.diff(rows.topic[order]) == 0) & (np.diff(forest[order]) != 0)
    yield from rows.broken("forest", np.sort(order[1:][mixed]))
    for number in range(int(forest.max()) + 1):
        chosen = forest == number
        ends = np.unique(np.column_stack((rows.src[chosen], rows.dst[chosen])), axis=0)
        nodes, local = np.unique(ends, return_inverse=True)
        local = local.reshape(ends.shape)
        components = np.unique(component_labels(local[:, 0], local[:, 1], len(nodes)))
        if len(ends) > len(nodes) - len(components):
            yield BrokenRoute("forest", None, _cycle(rows.interest, ends[:, 0], ends[:, 1]))


Row = tuple[str, str, str]


def cyclic_topics(rows: Iterable[Row]) -> tuple[str, ...]:
    """List the topics whose rows (topic, end, end) hold a cycle, sorted. Empty when all live rows are forests.

    >>> cyclic_topics([("x", "a", "b"), ("x", "b", "c"), ("y", "a", "c")])
    ()
    >>> cyclic_topics([("x", "a", "b"), ("x", "b", "c"), ("x", "a", "c")])
    ('x',)
    """
    leader: dict[tuple[str, str], tuple[str, str]] = {}
    cyclic = set()
    for topic, one, other in set(rows):
        a, b = _leader(leader, (topic, one)), _leader(leader, (topic, other))
        if a == b:
            cyclic.add(topic)
        leader[a] = b
    return tuple(sorted(cyclic))


def _leader(leader: dict[tuple[str, str], tuple[str, str]], entry: tuple[str, str]) -> tuple[str, str]:
    way = []
    while leader.get(entry, entry) != entry:
        way.append(entry)
        entry = leader[entry]
    for passed in way:
        leader[passed] = entry
    return entry
