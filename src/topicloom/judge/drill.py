"""Failure drills: which topics fall apart when given nodes, or random ones, are down, and which nodes are weak."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.errors import InvalidOptionError
from topicloom.judge.articulation import pairs_lost
from topicloom.judge.connected import component_labels
from topicloom.judge.k_connected import symmetric
from topicloom.judge.sub_overlays import topic_batches
from topicloom.model.arrays import Int32Array, Int64Array
from topicloom.model.checks import checked_kind, checked_seed, checked_whole
from topicloom.model.given_links import link_ids
from topicloom.model.interest import Interest, checked_interest
from topicloom.model.results import CutTopic, DrillReport, DrillSummary, WeakNode


def drill(interest: Interest, links: Any, fail: Iterable[int | str]) -> DrillReport:
    """What happens to the topics when some nodes fail.

    A k-topic-connected overlay holds under the failure of any k - 1 nodes. Exact; takes the time of a
    verification at k = 1, and memory for the links of every sub-overlay.

    Parameters
    ----------
    interest : Interest
    links : Overlay, pairs, table or graph
        By label or by id, as `Overlay.from_links` takes them.
    fail : iterable of node ids or labels
        The nodes that are down.

    Returns
    -------
    DrillReport
        Its ``ok`` says that no topic is cut.

    Raises
    ------
    InvalidOptionError
        There is no such node.
    InvalidLinksError
        A link joins a node with itself or with one that does not exist.

    See Also
    --------
    random_drills : many drills at random.
    weak_nodes : all single failures that cut a topic.

    Notes
    -----
    O(subscriptions and links of the topics that a failed node wants).

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcde"), ["news"] * 5)
    >>> path = [(0, 1), (1, 2), (2, 3), (3, 4)]
    >>> tl.drill(interest, path, fail=["c"]).cut
    (CutTopic(topic='news', pieces=(2, 2), lost_pairs=4),)
    >>> tl.drill(interest, path + [(4, 0)], fail=["c"]).ok
    True
    >>> factory = tl.datasets.example()
    >>> tl.drill(factory, tl.design(factory), fail=["press"]).cut
    (CutTopic(topic='alarms', pieces=(3, 2), lost_pairs=6), CutTopic(topic='parts', pieces=(1, 1), lost_pairs=1))
    """
    checked_interest(interest, "drill")
    failed = _node_ids(interest, fail)
    return _Rehearsal(interest, link_ids(interest, links)).run(failed)


def random_drills(interest: Interest, links: Any, *, size: int = 1, count: int = 1000, seed: int = 0) -> DrillSummary:
    """Drill many times with ``size`` random nodes down, the same nodes for the same seed on every machine.

    A drill takes time in proportion to the subscribers, and the links among them, of the topics that it hits.

    Parameters
    ----------
    interest : Interest
    links : Overlay, pairs, table or graph
        By label or by id, as `Overlay.from_links` takes them.
    size : int
        Nodes that fail at once.
    count : int
        Number of drills.
    seed : int
        Draws the nodes.

    Returns
    -------
    DrillSummary

    Raises
    ------
    InvalidOptionError
        ``size`` is not a whole number from 1 to the number of nodes, or ``count`` or ``seed`` is out of
        range.

    See Also
    --------
    drill : with nodes of your choice.
    weak_nodes : all single failures that cut a topic.

    Notes
    -----
    O(``count`` times the cost of a `drill`).

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcde"), ["news"] * 5)
    >>> summary = tl.random_drills(interest, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)], size=2, count=10)
    >>> summary.count, summary.max_topics_cut, summary.max_lost_pairs
    (10, 1, 2)
    >>> factory = tl.datasets.example()
    >>> tl.random_drills(factory, tl.gm2(factory), count=10).max_topics_cut
    0
    """
    checked_interest(interest, "random_drills")
    size = checked_whole("size", size, 1, interest.n_nodes)
    count = checked_whole("count", count, 0, 2**31 - 1)
    seed = checked_seed(seed)
    rehearsal = _Rehearsal(interest, link_ids(interest, links))
    topics_cut, lost_pairs = np.zeros(count, np.int64), np.zeros(count, np.int64)
    worst: DrillReport | None = None
    for i in range(count):
        report = rehearsal.run(_random_nodes(interest.n_nodes, size, seed, i))
        topics_cut[i], lost_pairs[i] = len(report.cut), report.lost_pairs
        if worst is None or report.lost_pairs > worst.lost_pairs:
            worst = report
    return DrillSummary(
        size=size,
        count=count,
        seed=seed,
        drills_with_cuts=int((topics_cut > 0).sum()),
        mean_topics_cut=float(topics_cut.mean()) if count else 0.0,
        max_topics_cut=int(topics_cut.max(initial=0)),
        mean_lost_pairs=float(lost_pairs.mean()) if count else 0.0,
        max_lost_pairs=int(lost_pairs.max(initial=0)),
        worst=worst,
    )


class _Rehearsal:
    """An overlay ready for many drills: the edges of all sub-overlays by topic, and its components."""

    def __init__(self, interest: Interest, links: Int32Array) -> None:
        self.interest = interest
        first_ends, second_ends, labels = [], [], []
        seen = 0
        for batch in topic_batches(interest, links):
            first_ends.append(batch.first + batch.a)
            second_ends.append(batch.first + batch.b)
            labels.append(component_labels(batch.a, batch.b, batch.size) + seen)
            seen += batch.size
        a, b = _joined(first_ends), _joined(second_ends)
        order = np.argsort(a, kind="stable")
        self.a, self.b = a[order], b[order]
        self.edge_indptr = np.searchsorted(self.a, interest.topic_indptr)
        self.component = _joined(labels)

    def run(self, failed: Int64Array) -> DrillReport:
        """Drill with these nodes (ascending, without repeats)."""
        interest = self.interest
        hit = np.unique(_joined([interest.topics_of(int(v)) for v in failed]))
        entries, starts = _ranges(interest.topic_indptr, hit)
        edges, _ = _ranges(self.edge_indptr, hit)
        # Entries of the topics hit, numbered from 0; the topics follow each other in both numberings.
        shift = starts[:-1] - interest.topic_indptr[hit]
        edge_shift = np.repeat(shift, self.edge_indptr[hit + 1] - self.edge_indptr[hit])
        a, b = self.a[edges] + edge_shift, self.b[edges] + edge_shift
        alive = np.ones(interest.n_nodes, bool)
        alive[failed] = False
        up = alive[interest.topic_nodes[entries]]
        kept = up[a] & up[b]
        after = component_labels(a[kept], b[kept], len(entries))
        topic = np.repeat(np.arange(len(hit)), np.diff(starts))[up]
        pairs_before, _, _ = _pairs(self.component[entries][up], topic, len(hit))
        pairs_after, piece_topic, piece_size = _pairs(after[up], topic, len(hit))
        lost = pairs_before - pairs_after
        cut = []
        for offset in np.flatnonzero(lost > 0).tolist():
            pieces = sorted(piece_size[piece_topic == offset].tolist(), reverse=True)
            cut.append(CutTopic(interest.topic_name(int(hit[offset])), tuple(pieces), int(lost[offset])))
        return DrillReport(
            failed=tuple(map(interest.node_name, failed.tolist())),
            cut=tuple(cut),
            topics_holding=len(hit) - len(cut),
            topics_untouched=interest.n_topics - len(hit),
        )


def _pairs(
    component: npt.NDArray[np.integer], topic: Int64Array, n_topics: int
) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Sum pairs within components per topic. Returns the sums, and topic and size of each component."""
    _, first, sizes = np.unique(component, return_index=True, return_counts=True)
    total = np.zeros(n_topics, np.int64)
    np.add.at(total, topic[first], sizes * (sizes - 1) // 2)
    return total, topic[first], sizes


def _ranges(indptr: Int64Array, rows: Int64Array) -> tuple[Int64Array, Int64Array]:
    """All positions of some rows of a CSR one after the other, and where each row starts among them."""
    sizes = indptr[rows + 1] - indptr[rows]
    starts = np.concatenate(([0], np.cumsum(sizes)))
    return np.arange(starts[-1]) + np.repeat(indptr[rows] - starts[:-1], sizes), starts


def _joined(parts: Sequence[npt.NDArray[np.integer]]) -> Int64Array:
    return np.concatenate(parts).astype(np.int64) if parts else np.empty(0, np.int64)


def _node_ids(interest: Interest, nodes: Iterable[int | str]) -> Int64Array:
    """Ids of nodes given by id or by label, ascending, without repeats."""
    if isinstance(nodes, str):
        raise InvalidOptionError(f"fail is the text {nodes!r}; a list of node ids or labels is accepted")
    checked_kind("fail", nodes, Iterable, "a list of node ids or labels")
    found = []
    for node in nodes:
        if isinstance(node, str):
            labels = interest.node_labels
            matches = [] if labels is None else np.flatnonzero(labels == node).tolist()
            if not matches:
                raise InvalidOptionError(f"there is no node {node!r} to fail")
            found += matches
        else:
            found.append(checked_whole("a failed node's id", node, 0, interest.n_nodes - 1))
    return np.unique(np.array(found, np.int64))


def _random_nodes(n_nodes: int, size: int, seed: int, drill_number: int) -> Int64Array:
    """The nodes of a drill, ascending: the ``size`` ones with the smallest hash of (seed, drill, node)."""
    keys = _mixed(np.arange(n_nodes, dtype=np.uint64) + _mixed(np.uint64(drill_number) + _mixed(np.uint64(seed))))
    return np.sort(np.argpartition(keys, size - 1)[:size])


def _mixed(values: npt.ArrayLike) -> npt.NDArray[np.uint64]:
    """Hash of 64-bit numbers (the finalizer of splitmix64), the same on every machine."""
    z = np.atleast_1d(np.asarray(values, np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def weak_nodes(interest: Interest, links: Any, *, top: int | None = 10) -> tuple[WeakNode, ...]:
    """Nodes that are articulation points of topics, by topics cut, then pairs of subscribers lost.

    Exact, by one linear search over all sub-overlays (Hopcroft and Tarjan, 1973). A 2-topic-connected overlay
    has none.

    Parameters
    ----------
    interest : Interest
    links : Overlay, pairs, table or graph
        By label or by id, as `Overlay.from_links` takes them.
    top : int or None
        How many to return at most; None for all.

    Returns
    -------
    tuple of WeakNode
        The weakest first.

    Raises
    ------
    InvalidOptionError
        ``top`` is negative or no whole number.
    InvalidLinksError
        A link joins a node with itself or with one that does not exist.

    See Also
    --------
    drill : what the failure of given nodes does.
    gm2 : overlays without weak nodes.

    Notes
    -----
    O(subscriptions + Σ over links of the topics that they serve): one search per topic.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcdeabc"), ["news"] * 5 + ["sport"] * 3)
    >>> tl.weak_nodes(interest, [(0, 1), (1, 2), (2, 3), (3, 4)], top=2)
    (WeakNode(node='b', topics_cut=2, lost_pairs=4), WeakNode(node='c', topics_cut=1, lost_pairs=4))
    >>> factory = tl.datasets.example()
    >>> tl.weak_nodes(factory, tl.design(factory), top=1)
    (WeakNode(node='press', topics_cut=2, lost_pairs=7),)
    """
    checked_interest(interest, "weak_nodes")
    top = None if top is None else checked_whole("top", top, 0)
    topics_cut = np.zeros(interest.n_nodes, np.int64)
    lost_pairs = np.zeros(interest.n_nodes, np.int64)
    for batch in topic_batches(interest, link_ids(interest, links)):
        rows = symmetric(batch)
        lost = pairs_lost(rows.indptr.astype(np.int64), rows.indices.astype(np.int32))
        nodes = interest.topic_nodes[batch.first : batch.first + batch.size]
        np.add.at(topics_cut, nodes[lost > 0], 1)
        np.add.at(lost_pairs, nodes, lost)
    weak = np.flatnonzero(topics_cut)
    ranked = weak[np.lexsort((weak, -lost_pairs[weak], -topics_cut[weak]))][:top]
    return tuple(WeakNode(interest.node_name(v), int(topics_cut[v]), int(lost_pairs[v])) for v in ranked.tolist())
