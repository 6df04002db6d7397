"""Single moves that lower degrees and keep every topic connected: release, merge, exchange, divert or split links.

Each looks at one node u and its links. Without u, each of its topics falls into pieces. A link to v is needed in those
topics in which no other neighbour of u lies in v's piece: its *cut*. A link whose cut is empty can go. Any other can be
exchanged for one, or split into two, that join v's pieces to the rest; two links can be merged into one to a node that
lies in the pieces that both were needed for (`kernels/repair/thin_star.py`), or diverted: one such, and one between
others.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.churn.state import OverlayState
from topicloom.kernels.repair.repair import entries_of, pieces
from topicloom.kernels.repair.thin_star import thin_star
from topicloom.kernels.trees.disjoint_paths import topics_that_need
from topicloom.model.arrays import Int32Array

CHANGES = 4  # of links that a move makes at most
_PAIRS = 6  # of links that are diverted, those with the smallest cuts
_SPLIT = 2  # links that a split tries, those with the smallest cuts, and
_ENDS = 256  # nodes between which it seeks two, those with the fewest links
_TRIED = 4  # replacements that are tried for links
Bools = npt.NDArray[np.bool_]


class NodeStar(NamedTuple):
    """A node, its neighbours, and the pieces into which its topics fall without it."""

    node: int
    others: Int32Array
    topics: Int32Array
    piece: npt.NDArray[np.int64]  # per neighbour and topic; -1: not wanted
    alike: npt.NDArray[np.int64]  # per neighbour and topic: neighbours in the same piece, itself included


class Cut(NamedTuple):
    """Topics in which some links of a star are needed, and for each of them a neighbour in the piece that they hold."""

    others: Int32Array
    topics: Int32Array
    ends: Int32Array


def relieve(state: OverlayState, u: int, *, turn: int, k: int) -> bool:
    """Lower the degree of a node by one move, if there is one. Returns whether there was.

    The other nodes that gain a link have fewer afterwards, or no more than the state's cap. There may be one link more
    in all.
    """
    if k > 1:
        return _relieve_often(state, u, turn, k)
    if _thin_star(state, u):
        return True
    star = star_of(state, u)
    cuts = _single_cuts(star)
    return _exchange(state, u, cuts) or _divert(state, star) or _split(state, u, cuts)


def thin_out(state: OverlayState, u: int, *, turn: int, k: int) -> bool:
    """Remove one link at a node, and in all, if a move allows it. Returns whether a link was removed."""
    if k == 1:
        return _thin_star(state, u)
    others = np.sort(state.neighbours.of(u))
    if not len(others) or len(_weak_without(state, u, int(others[turn % len(others)]), None, k)):
        return False
    _replace(state, u, others[turn % len(others)][None], [])
    return True


def _thin_star(state: OverlayState, u: int) -> bool:
    """Remove a link that no topic needs, or replace two by one."""
    gone, other = thin_star(
        state.rows.ragged, state.members.ragged, state.neighbours.ragged, state.keys, u, state.cap, state.scratch
    )
    if len(gone):
        _replace(state, u, gone, [(u, int(other))] if other >= 0 else [])
    return len(gone) > 0


def star_of(state: OverlayState, u: int) -> NodeStar:
    """Find the star of a node, neighbours ascending, by one walk through each of its topics."""
    others, topics = np.sort(state.neighbours.of(u)), state.rows.of(u)
    piece = _pieces_without(state, u, others, topics)
    alike = np.zeros_like(piece)
    for t in range(len(topics)):
        _, which, count = np.unique(piece[:, t], return_inverse=True, return_counts=True)
        alike[:, t] = count[which]
    return NodeStar(u, others, topics, piece, alike)


def cut_of_one(star: NodeStar, x: int) -> Cut:
    """Find the topics that need the link to neighbour number x."""
    needed = (star.piece[x] >= 0) & (star.alike[x] == 1)
    return Cut(star.others[x : x + 1], star.topics[needed], np.full(int(needed.sum()), star.others[x], np.int32))


def cut_of_two(star: NodeStar, x: int, y: int) -> Cut | None:
    """Find the topics that need one of two links, without a substitute.

    Returns None if a topic falls into three components without them.
    """
    same = star.piece[x] == star.piece[y]
    needs_x = (star.piece[x] >= 0) & (star.alike[x] - same == 1)
    needs_y = (star.piece[y] >= 0) & (star.alike[y] - same == 1)
    if (needs_x & needs_y & ~same).any():
        return None
    needed = needs_x | needs_y
    ends = np.where(needs_x, star.others[x], star.others[y])[needed]
    return Cut(star.others[[x, y]], star.topics[needed], ends)


def _single_cuts(star: NodeStar) -> list[Cut]:
    """The cut of each link, the smallest first."""
    return sorted((cut_of_one(star, x) for x in range(len(star.others))), key=lambda cut: len(cut.topics))


def _exchange(state: OverlayState, u: int, cuts: list[Cut]) -> bool:
    """Replace a link of a node by one between nodes with fewer links."""
    degree = state.neighbours.ragged.length
    for cut in cuts:
        v = int(cut.others[0])
        nodes = _wanting(state, cut.topics)
        nodes = nodes[((degree[nodes] + 1 < degree[u]) | (nodes == v)) & (nodes != u)]
        far = _in_pieces(state, u, nodes, cut)
        near_nodes, far_nodes = nodes[~far.any(axis=1)], nodes[far.all(axis=1)]
        if len(near_nodes):  # v itself is among the far ones
            w = int(near_nodes[_fewest_links(state, near_nodes)])
            x = int(far_nodes[_fewest_links(state, far_nodes, without=v)])
            _replace(state, u, cut.others, [(w, x)])
            return True
    return False


def _divert(state: OverlayState, star: NodeStar) -> bool:
    """Replace two links of a node by one, and by one between others for the topics that it does not join.

    Where the node has no other neighbour in a topic, no link between others will do: that is what most links of a node
    with very many topics are needed for.
    """
    u, degree = star.node, state.neighbours.ragged.length
    needed = ((star.piece >= 0) & (star.alike == 1)).sum(axis=1)
    pairs = sorted(combinations(np.argsort(needed, kind="stable").tolist(), 2), key=lambda pair: needed[[*pair]].sum())
    for x, y in pairs[:_PAIRS]:
        cut = cut_of_two(star, x, y)
        if cut is None or not len(cut.topics):
            continue
        left: Bools = np.any(np.delete(star.piece, [x, y], axis=0) >= 0, axis=0)
        alone = ~left[np.isin(star.topics, cut.topics)]  # topics in which u has no neighbour left
        nodes = state.subscribers(cut.topics)
        nodes = nodes[(degree[nodes] - np.isin(nodes, cut.others) < state.cap) & (nodes != u)]
        far = _in_pieces(state, u, nodes, cut)
        near = _wants(state, nodes, cut.topics) & ~far
        fit = np.flatnonzero(far[:, alone].all(axis=1) & ~np.isin(nodes, star.others))
        for w in fit[np.lexsort((state.keys[nodes[fit]], degree[nodes[fit]], -far[fit].sum(axis=1)))][:_TRIED].tolist():
            rest = ~far[w]
            other = np.arange(len(nodes)) != w
            one, end = (nodes[side[:, rest].all(axis=1) & other] for side in (near, far))
            if not rest.any():
                _replace(state, u, cut.others, [(u, int(nodes[w]))])
                return True
            if not rest.all() and len(one) and len(end):
                link = int(one[_fewest_links(state, one)]), int(end[_fewest_links(state, end)])
                _replace(state, u, cut.others, [(u, int(nodes[w])), link])
                return True
    return False


def _split(state: OverlayState, u: int, cuts: list[Cut]) -> bool:
    """Replace a link of a node by two between others, each of which joins the pieces of some of the topics."""
    for cut in cuts[:_SPLIT]:
        nodes = state.subscribers(cut.topics)
        degree = state.neighbours.ragged.length[nodes] - np.isin(nodes, cut.others)
        fit = np.flatnonzero((degree < state.cap) & (nodes != u))
        fit = np.sort(fit[np.argsort(degree[fit], kind="stable")][:_ENDS])
        nodes, degree = nodes[fit], degree[fit]
        far = _in_pieces(state, u, nodes, cut)
        near = _wants(state, nodes, cut.topics) & ~far
        if not (near.any(axis=0) & far.any(axis=0)).all():
            continue
        chosen = _two_links(near, far, degree, state.cap)
        if chosen is not None:
            _replace(state, u, cut.others, [(int(nodes[w]), int(nodes[x])) for w, x in chosen])
            return True
    return False


def _two_links(near: Bools, far: Bools, degree: Int32Array, cap: int) -> list[tuple[int, int]] | None:
    """Find at most two pairs (w, x) such that in each topic (column) one pair has w near and x far, or None.

    First the pair that does it for most topics, of these the one with the fewest links.
    """
    chosen: list[tuple[int, int]] = []
    left = np.ones(near.shape[1], bool)
    degree, near, far = degree.copy(), near.copy(), far.copy()
    while left.any() and len(chosen) < 2:
        joins = near[:, left].astype(np.float32) @ far[:, left].T.astype(np.float32)
        best = joins.max(initial=0)
        if best == 0:
            return None
        both = np.where(joins == best, degree[:, None] + degree, np.iinfo(degree.dtype).max)
        w, x = divmod(int(both.argmin()), len(degree))
        chosen.append((w, x))
        left &= ~(near[w] & far[x])
        degree[[w, x]] += 1
        full = degree >= cap
        near[full], far[full] = False, False
    return None if left.any() else chosen


def _fewest_links(state: OverlayState, nodes: Int32Array, without: int = -1) -> int:
    """Return the position of the node with the fewest links. The node ``without`` counts one link less."""
    degree = state.neighbours.ragged.length[nodes] - (nodes == without)
    return int(np.lexsort((state.keys[nodes], degree))[0])


def _wanting(state: OverlayState, topics: Int32Array) -> Int32Array:
    """Return the nodes that want all the topics, ascending."""
    nodes, count = np.unique(state.members.gather(topics.astype(np.int64)), return_counts=True)
    wanting: Int32Array = nodes[count == len(topics)]
    return wanting


def _wants(state: OverlayState, nodes: Int32Array, topics: Int32Array) -> Bools:
    node_ptr, topic = entries_of(state.rows.ragged, nodes, topics)
    wants = np.zeros((len(nodes), len(topics)), bool)
    wants[np.repeat(np.arange(len(nodes)), np.diff(node_ptr)), topic] = True
    return wants


def _in_pieces(state: OverlayState, u: int, nodes: Int32Array, cut: Cut) -> Bools:
    """Tell per node and topic of a cut whether it lies in the component that the links hold."""
    piece = _pieces_without(state, u, np.concatenate([nodes, cut.ends]), cut.topics)
    inside: Bools = piece[: len(nodes)] == np.diagonal(piece[len(nodes) :])
    return inside


def _pieces_without(state: OverlayState, u: int, nodes: Int32Array, topics: Int32Array) -> npt.NDArray[np.int64]:
    """Find the component of each node and topic when u is absent, -1 where the node does not want the topic."""
    seeds, row = np.unique(nodes, return_inverse=True)
    others = state.neighbours.of(u)
    ends = np.full(len(others), u, np.int32)
    one, other = np.concatenate([ends, others]), np.concatenate([others, ends])
    node_ptr, topic = entries_of(state.rows.ragged, seeds, topics)
    state.neighbours.remove(one, other)
    found = pieces(state.members.ragged, state.neighbours.ragged, seeds, topics, node_ptr, topic, state.scratch)
    state.neighbours.push(one, other)
    piece = np.full((len(seeds), len(topics)), -1, np.int64)
    piece[np.repeat(np.arange(len(seeds)), np.diff(node_ptr)), topic] = found
    by_node: npt.NDArray[np.int64] = piece[row]
    return by_node


def _replace(state: OverlayState, u: int, others: Int32Array, instead: list[tuple[int, int]]) -> None:
    state.remove_links(u, others)
    ends = np.array(instead, np.int32).reshape(-1, 2)
    state.add_links(ends[:, 0], ends[:, 1])


def _relieve_often(state: OverlayState, u: int, turn: int, k: int) -> bool:
    """`relieve` at k >= 2: one link of u, and a few replacements at its other end, by disjoint paths."""
    degree = state.neighbours.ragged.length
    others = np.sort(state.neighbours.of(u))
    v = int(others[turn % len(others)])
    weak = _weak_without(state, u, v, None, k)
    if not len(weak):
        _replace(state, u, np.array([v], np.int32), [])
        return True
    nodes = np.setdiff1d(_wanting(state, weak), np.append(state.neighbours.of(v), np.array([u, v], np.int32)))
    nodes = nodes[degree[nodes] + 1 < degree[u]]
    for w in nodes[np.lexsort((state.keys[nodes], degree[nodes]))][:_TRIED].tolist():
        if not len(_weak_without(state, u, v, (w, v), k)):
            _replace(state, u, np.array([v], np.int32), [(w, v)])
            return True
    return False


def _weak_without(state: OverlayState, u: int, v: int, instead: tuple[int, int] | None, k: int) -> Int32Array:
    """Find topics of the link (u, v) that it keeps k-connected and that another link does not keep so."""
    topics = np.intersect1d(state.rows.of(u), state.rows.of(v), assume_unique=True)
    nodes = state.subscribers(topics)
    node_ptr, topic = entries_of(state.rows.ragged, nodes, topics)
    slots = nodes.astype(np.int64)
    ends = np.repeat(nodes, state.neighbours.ragged.length[slots])
    links = np.stack([ends, state.neighbours.gather(slots)], axis=1)
    links = links[(links[:, 0] < links[:, 1]) & np.isin(links[:, 1], nodes)]
    if instead is not None:
        links = np.concatenate([links, np.array([instead], np.int32)])
    number = int(np.flatnonzero((links == np.sort([u, v])).all(axis=1))[0])
    weak: Int32Array = topics[topics_that_need(node_ptr, topic, np.searchsorted(nodes, links), number, k)]
    return weak
