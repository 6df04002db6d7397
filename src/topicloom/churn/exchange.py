"""Single moves that lower degrees and keep every topic connected: release, merge, exchange or split links of a node.

Each looks at one node and its links. A link between u and v holds together, in some of the topics that both want, what
would otherwise fall into two pieces; these topics are its *cut*. A link whose cut is empty can go. Any other can be
exchanged for one, or split into two, that join the same pieces of the topics in its cut.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.churn.state import OverlayState
from topicloom.judge import verify
from topicloom.kernels.repair import entries_of, pieces
from topicloom.model import Interest
from topicloom.model.arrays import Int32Array

_PAIRS = 12  # of links that `merge` tries, those with the smallest cuts
_WIDEST = 4  # topics: hardly a node wants more than so many that two cuts name
_SPLIT = 3  # links that `split` tries, those with the smallest cuts
_TRIED = 4  # replacements that the judge is asked about at k >= 2


class Cut(NamedTuple):
    """Topics that fall apart without some links of a node."""

    others: Int32Array  # the other ends
    topics: Int32Array
    in_two: bool  # no topic falls into three


def relieve(state: OverlayState, turn: int, k: int, limit: float, *, spare: bool) -> bool:
    """Take a link from one of the nodes that have more than ``limit``, if there is a move; whether there was one.

    No other node comes to have as many. With ``spare`` there may be one link more in all.
    """
    busy = np.flatnonzero(state.neighbours.ragged.length > limit)
    if not len(busy):
        return False
    u = int(busy[turn % len(busy)])
    if k > 1:
        return _relieve_judged(state, u, turn, k)
    cuts = _cuts(state, u)
    moved = _release(state, u, cuts) or _merge(state, u, cuts, limit) or _exchange(state, u, cuts)
    return moved or (spare and _split(state, u, cuts, limit))


def thin_out(state: OverlayState, turn: int, k: int, limit: float) -> bool:
    """Let there be a link less at the node whose turn it is, if there is a move; whether there was one.

    No node comes to have more than ``limit`` links.
    """
    slots = np.flatnonzero(state.neighbours.ragged.length > 1)
    if not len(slots):
        return False
    u = int(slots[turn % len(slots)])
    if k == 1:
        cuts = _cuts(state, u)
        return _release(state, u, cuts) or _merge(state, u, cuts, limit)
    for v in np.sort(state.neighbours.of(u)).tolist():
        if _judged(state, u, v, None, k)[0]:
            _replace(state, u, np.array([v], np.int32), [])
            return True
    return False


def cut_without(state: OverlayState, u: int, others: Int32Array) -> Cut:
    """What the links between u and the others hold together (k = 1)."""
    shared = np.unique(np.concatenate([_shared(state, u, v) for v in others.tolist()]))
    sides = _sides(state, u, others, np.append(others, np.int32(u)), shared)
    apart = (sides != sides[-1]) & (sides >= 0)
    far = np.where(apart, sides, -1).max(axis=0, initial=-1)
    return Cut(others, shared[far >= 0], bool(((sides == far) | ~apart).all()))


def _cuts(state: OverlayState, u: int) -> list[Cut]:
    """The cut of each link of a node, the smallest first."""
    cuts = [cut_without(state, u, np.array([v], np.int32)) for v in np.sort(state.neighbours.of(u)).tolist()]
    return sorted(cuts, key=lambda cut: (len(cut.topics), int(cut.others[0])))


def _release(state: OverlayState, u: int, cuts: list[Cut]) -> bool:
    """Remove a link that no topic needs."""
    if not cuts or len(cuts[0].topics):
        return False
    _replace(state, u, cuts[0].others, [])
    return True


def _merge(state: OverlayState, u: int, cuts: list[Cut], limit: float) -> bool:
    """Replace two links of a node by one to a node that wants all they were needed for."""
    pairs = [pair for pair in combinations(cuts, 2) if len(pair[0].topics) + len(pair[1].topics) <= _WIDEST]
    pairs.sort(key=lambda pair: len(pair[0].topics) + len(pair[1].topics))
    for one, other in pairs[:_PAIRS]:
        cut = cut_without(state, u, np.concatenate([one.others, other.others]))
        if not cut.in_two or not len(cut.topics) or len(cut.topics) > _WIDEST:
            continue
        nodes = np.setdiff1d(_wanting(state, cut.topics), state.neighbours.of(u))
        nodes = nodes[state.neighbours.ragged.length[nodes] + 1 <= limit]
        sides = _sides(state, u, cut.others, np.append(nodes[nodes != u], np.int32(u)), cut.topics)
        far = nodes[nodes != u][(sides[:-1] != sides[-1]).all(axis=1)]
        if len(far):
            _replace(state, u, cut.others, [(u, int(far[_fewest_links(state, far)]))])
            return True
    return False


def _exchange(state: OverlayState, u: int, cuts: list[Cut]) -> bool:
    """Replace a link of a node by one between nodes with fewer links."""
    degree = state.neighbours.ragged.length
    for cut in cuts:
        v = int(cut.others[0])
        nodes = _wanting(state, cut.topics)
        sides = _sides(state, u, cut.others, nodes, cut.topics)
        near = (sides == sides[np.searchsorted(nodes, u)]).all(axis=1)
        far = (sides != sides[np.searchsorted(nodes, u)]).all(axis=1)
        lower = degree[nodes] + 1 < degree[u]
        near_nodes, far_nodes = nodes[near & lower & (nodes != u)], nodes[far & (lower | (nodes == v))]
        if len(near_nodes) and len(far_nodes):
            w = int(near_nodes[_fewest_links(state, near_nodes)])
            x = int(far_nodes[_fewest_links(state, far_nodes, without=v)])
            _replace(state, u, cut.others, [(w, x)])
            return True
    return False


def _split(state: OverlayState, u: int, cuts: list[Cut], limit: float) -> bool:
    """Replace a link of a node by two between others, each of which joins the pieces of some of the topics cut."""
    for cut in cuts[:_SPLIT]:
        nodes = np.unique(state.members.gather(cut.topics.astype(np.int64)))
        degree = state.neighbours.ragged.length[nodes] - np.isin(nodes, cut.others)
        fit = (degree + 1 <= limit) & (nodes != u)
        nodes, degree = nodes[fit], degree[fit]
        sides = _sides(state, u, cut.others, np.append(nodes, np.int32(u)), cut.topics)
        near = sides[:-1] == sides[-1]
        far = (sides[:-1] >= 0) & ~near
        chosen: list[tuple[int, int]] = []
        left = np.ones(len(cut.topics), bool)
        while left.any() and len(chosen) < 2:
            joins = near[:, left].astype(np.float32) @ far[:, left].T.astype(np.float32)
            best = joins.max(initial=0)
            if best == 0:
                break
            both = np.where(joins == best, degree[:, None] + degree, np.iinfo(degree.dtype).max)
            w, x = divmod(int(both.argmin()), len(nodes))
            chosen.append((int(nodes[w]), int(nodes[x])))
            left &= ~(near[w] & far[x])
            degree[[w, x]] += 1
            used = degree + 1 > limit
            near[used], far[used] = False, False
        if not left.any():
            _replace(state, u, cut.others, chosen)
            return True
    return False


def _fewest_links(state: OverlayState, nodes: Int32Array, without: int = -1) -> int:
    """Position of the node with the fewest links, one of which does not count for the node ``without``."""
    degree = state.neighbours.ragged.length[nodes] - (nodes == without)
    return int(np.lexsort((state.keys[nodes], degree))[0])


def _wanting(state: OverlayState, topics: Int32Array) -> Int32Array:
    """Nodes that want all the topics, ascending."""
    nodes = np.sort(state.members.of(int(topics[0])))
    for topic in topics[1:].tolist():
        nodes = np.intersect1d(nodes, state.members.of(topic), assume_unique=True)
    return nodes


def _sides(
    state: OverlayState, u: int, others: Int32Array, nodes: Int32Array, topics: Int32Array
) -> npt.NDArray[np.int64]:
    """For each node and topic the piece that it lies in without the links between u and the others; -1: not wanted."""
    ends = np.full(len(others), u, np.int32)
    one, other = np.concatenate([ends, others]), np.concatenate([others, ends])
    node_ptr, topic = entries_of(state.rows.ragged, nodes, topics)
    state.neighbours.remove(one, other)
    piece = pieces(state.members.ragged, state.neighbours.ragged, nodes, topics, node_ptr, topic, state.scratch)
    state.neighbours.push(one, other)
    sides = np.full((len(nodes), len(topics)), -1, np.int64)
    sides[np.repeat(np.arange(len(nodes)), np.diff(node_ptr)), topic] = piece
    return sides


def _shared(state: OverlayState, u: int, v: int) -> Int32Array:
    shared: Int32Array = np.intersect1d(state.rows.of(u), state.rows.of(v), assume_unique=True)
    return shared


def _replace(state: OverlayState, u: int, others: Int32Array, instead: list[tuple[int, int]]) -> None:
    state.remove_links(u, others)
    ends = np.array(instead, np.int32).reshape(-1, 2)
    state.add_links(ends[:, 0], ends[:, 1])


def _relieve_judged(state: OverlayState, u: int, turn: int, k: int) -> bool:
    """`relieve` at k >= 2: one link of u, and a few replacements at its other end, each put before the judge."""
    degree = state.neighbours.ragged.length
    others = np.sort(state.neighbours.of(u))
    v = int(others[turn % len(others)])
    holds, weak = _judged(state, u, v, None, k)
    if holds:
        _replace(state, u, np.array([v], np.int32), [])
        return True
    nodes = np.setdiff1d(_wanting(state, weak), np.append(state.neighbours.of(v), np.array([u, v], np.int32)))
    nodes = nodes[degree[nodes] + 1 < degree[u]]
    for w in nodes[np.lexsort((state.keys[nodes], degree[nodes]))][:_TRIED].tolist():
        if _judged(state, u, v, (w, v), k)[0]:
            _replace(state, u, np.array([v], np.int32), [(w, v)])
            return True
    return False


def _judged(state: OverlayState, u: int, v: int, instead: tuple[int, int] | None, k: int) -> tuple[bool, Int32Array]:
    """Whether every topic of the link (u, v) is k-connected without it (and with another), and those that are not."""
    topics = _shared(state, u, v)
    nodes = np.unique(state.members.gather(topics.astype(np.int64)))
    node_ptr, topic = entries_of(state.rows.ragged, nodes, topics)
    interest = Interest.from_csr(node_ptr, topic, len(topics))
    slots = nodes.astype(np.int64)
    ends = np.repeat(nodes, state.neighbours.ragged.length[slots])
    links = np.stack([ends, state.neighbours.gather(slots)], axis=1)
    links = links[(links[:, 0] < links[:, 1]) & np.isin(links[:, 1], nodes)]
    links = links[~(np.sort([u, v]) == links).all(axis=1)]
    if instead is not None:
        links = np.concatenate([links, np.array([instead], np.int32)])
    verdict = verify(interest, np.searchsorted(nodes, links), k)
    return verdict.ok, topics[[broken.topic for broken in verdict.broken]]
