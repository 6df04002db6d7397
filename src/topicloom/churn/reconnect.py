"""Reconnect topics by the greedy rule between a few nodes, at k = 1 and above."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.churn.forbidding import Fence
from topicloom.churn.state import OverlayState
from topicloom.kernels.greedy.engine import NO_LINKS, greedy_links
from topicloom.kernels.repair.repair import cut_topics, entries_of, links_between, open_entries, partners, pieces
from topicloom.kernels.repair.spare_links import links_at, spare_link
from topicloom.kernels.trees.disjoint_paths import needed_links, redundant_links
from topicloom.model import Interest
from topicloom.model.arrays import Int32Array

NOBODY = np.empty(0, np.int32)


class Repair(NamedTuple):
    """What a repair looked at (nodes of the shadow set, candidate links) and the ends of the links that it added."""

    shadows: int
    candidates: int
    linked: Int32Array = NOBODY


def fresh_links(interest: Interest, *, rho: float, k: int, seed: int, barred: Int32Array = NO_LINKS) -> Int32Array:
    """Design from scratch, to rebuild with or to compare with, by Low-ODA, or by GM2 at k = 2. Returns the links.

    None of them is ``barred``.
    """
    links: Int32Array = greedy_links(
        interest.indptr, interest.topics, interest.n_topics, rho=rho, blocks=k == 2, barred_links=barred, seed=seed
    )
    return links


def connect_pieces(
    state: OverlayState, shadows: Int32Array, topics: Int32Array, rho: float, fence: Fence | None = None
) -> Repair:
    """Add links between shadows until each topic that they reach is in one piece again (Alg. 7, Step II).

    Where links are forbidden it ends when no link that is allowed joins two pieces any more.
    """
    nodes = _on_circle(state, shadows)
    node_ptr, topic, piece = _pieces(state, nodes, topics)
    cut = cut_topics(topic, piece, len(topics))
    if not cut.any():
        return Repair(len(shadows), 0)
    positions, node_ptr, topic, piece = open_entries(node_ptr, topic, piece, cut)
    nodes = nodes[positions]
    degree = state.neighbours.ragged.length[nodes].astype(np.int64)
    if fence:
        links = greedy_links(
            node_ptr,
            topic,
            int(cut.sum()),
            rho=rho,
            components=piece,
            degree=degree.astype(np.int32),
            max_degree=state.max_degree,
            places=np.arange(len(nodes), dtype=np.int32),
            barred_links=fence.pairs(nodes),
            seed=0,
        )
    else:
        links = links_between(
            state.rows.ragged, nodes, node_ptr, topic, int(cut.sum()), piece, degree, state.max_degree, rho
        )
    state.add_links(nodes[links[:, 0]], nodes[links[:, 1]])
    return Repair(len(shadows), math.comb(len(nodes), 2), nodes[np.unique(links)])


def release_links(state: OverlayState, nodes: Int32Array, most: int) -> None:
    """Release at most ``most`` links of the nodes that no topic needs to be connected, at the highest degrees first.

    New links close circles in topics that were not cut, and each makes some older link superfluous sooner or later.
    """
    if not most:
        return
    pairs = links_at(state.neighbours.ragged, state.keys, nodes)
    done = 0
    for _ in range(most):
        done = spare_link(state.rows.ragged, state.members.ragged, state.neighbours.ragged, pairs, done, state.scratch)
        if done == len(pairs):
            break
        state.remove_links(int(pairs[done, 0]), pairs[done, 1:])
        done += 1


def cut_among(state: OverlayState, nodes: Int32Array, topics: Int32Array) -> Int32Array:
    """Return the topics in which some of the nodes do not reach each other."""
    _, topic, piece = _pieces(state, nodes, topics)
    cut: Int32Array = topics[cut_topics(topic, piece, len(topics))]
    return cut


def connect_node(state: OverlayState, node: int, shadows: Int32Array, topics: Int32Array, rho: float) -> Repair:
    """Add links between a node and shadows until it is connected in each of the topics (Alg. 10, Step II)."""
    others = partners(
        state.rows.ragged, state.neighbours.ragged, state.keys, node, shadows, topics, state.max_degree, rho
    )
    state.add_links(np.full(len(others), node, np.int32), others)
    return Repair(len(shadows) + 1, len(shadows))


def connect_node_often(
    state: OverlayState, node: int, shadows: Int32Array, topics: Int32Array, need: npt.NDArray[np.int64], rho: float
) -> Repair:
    """Add links between a node and shadows until it has ``need[i]`` more neighbours in topic i.

    A node with k neighbours in a k-connected graph, or with all of a clique, leaves it k-connected. The contribution of
    a link is the number of topics in which the node lacks neighbours; Low-ODA's rule chooses. At k = 2 that is GM2's
    estimate.
    """
    nodes = _on_circle(state, np.setdiff1d(shadows, state.neighbours.of(node)))
    node_ptr, topic = entries_of(state.rows.ragged, nodes, topics)
    wants = np.zeros((len(nodes), len(topics)), np.int64)
    wants[np.repeat(np.arange(len(nodes)), np.diff(node_ptr)), topic] = 1
    need = need.copy()
    free = np.ones(len(nodes), bool)
    chosen = []
    degree = state.neighbours.ragged.length[nodes].astype(np.int64)
    own, top = state.neighbours.length(node), state.max_degree
    while True:
        gain = (wants @ (need > 0)) * free
        best = gain.max(initial=0)
        if best == 0:
            break
        calm = gain * (np.maximum(degree, own) < top)
        pick = int(np.argmax(calm if calm.max() * rho >= best else gain))
        chosen.append(nodes[pick])
        free[pick] = False
        need -= wants[pick]
        degree[pick] += 1
        own += 1
        top = max(top, own, int(degree[pick]))
    partners = np.array(chosen, np.int32)
    state.add_links(np.full(len(partners), node, np.int32), partners)
    return Repair(len(shadows) + 1, len(nodes))


def reconnect(state: OverlayState, shadows: Int32Array, topics: Int32Array, rho: float, k: int) -> Repair:
    """Add links between shadows until each topic is k-connected again, for k >= 2.

    At k = 2 by the engine's rule over blocks. Above, every pair of shadows, those that share most topics first, that
    fewer than k disjoint paths join in some topic is linked, and those links dropped again that later ones made
    superfluous. With a clique of the neighbours of what went all topics would be k-connected, and a graph is if k
    disjoint paths, or a link, join the ends of every link of one that is (`kernels/trees/disjoint_paths.py`).
    """
    nodes = state.subscribers(topics)
    node_ptr, topic = entries_of(state.rows.ragged, nodes, topics)
    interest = Interest.from_csr(node_ptr, topic, len(topics))
    position = np.full(len(state.nodes.labels), -1, np.int32)
    position[nodes] = np.arange(len(nodes), dtype=np.int32)
    links = _links_among(state, nodes, position)
    degree = state.neighbours.ragged.length[nodes].astype(np.int32)
    among = position[shadows[position[shadows] >= 0]]
    pairs = np.stack([among[ends] for ends in np.triu_indices(len(among), 1)], axis=1)
    if k == 2:
        added = greedy_links(
            interest.indptr,
            interest.topics,
            len(topics),
            rho=rho,
            blocks=True,
            start_links=links,
            degree=degree,
            max_degree=state.max_degree,
            candidate_links=pairs,
            places=_ranks(state.keys[nodes]),
            seed=0,
        )
    else:
        added = _mend(interest, links, pairs, degree, k)
    state.add_links(nodes[added[:, 0]], nodes[added[:, 1]])
    return Repair(len(shadows), len(pairs))


def _mend(
    interest: Interest, links: Int32Array, pairs: Int32Array, degree: npt.NDArray[np.int32], k: int
) -> Int32Array:
    """Choose few of the pairs that make every topic k-connected. None of those chosen is superfluous."""
    wants = np.zeros((interest.n_nodes, interest.n_topics), bool)
    wants[interest.nodes, interest.topics] = True
    both = wants[pairs[:, 0]] & wants[pairs[:, 1]]
    order = np.lexsort((degree[pairs].max(axis=1), -both.sum(axis=1)))
    turn, topic = np.nonzero(both[order])
    candidates = pairs[order][turn]
    added = candidates[needed_links(interest.indptr, interest.topics, links, candidates, topic, k)]
    latest_first = np.arange(len(links) + len(added) - 1, len(links) - 1, -1)
    spare = redundant_links(interest.indptr, interest.topics, np.concatenate([links, added]), latest_first, k)
    chosen: Int32Array = added[~spare[len(links) :]]
    return chosen


def _links_among(state: OverlayState, nodes: Int32Array, position: Int32Array) -> Int32Array:
    slots = nodes.astype(np.int64)
    others = position[state.neighbours.gather(slots)]
    own = np.repeat(np.arange(len(nodes), dtype=np.int32), state.neighbours.ragged.length[slots])
    once = others > own
    return np.stack([own[once], others[once]], axis=1)


def neighbours_in(state: OverlayState, node: int, topics: Int32Array) -> npt.NDArray[np.int64]:
    """Count the neighbours of a node that want each of the topics."""
    if state.neighbours.length(node) == 0:
        return np.zeros(len(topics), np.int64)
    _, topic = entries_of(state.rows.ragged, state.neighbours.of(node), topics)
    return np.bincount(topic, minlength=len(topics))


def shares_topic(state: OverlayState, node: int, others: Int32Array) -> npt.NDArray[np.bool_]:
    """Tell which of the others share a topic with the node."""
    node_ptr, _ = entries_of(state.rows.ragged, others, state.rows.of(node))
    shares: npt.NDArray[np.bool_] = np.diff(node_ptr) > 0
    return shares


def _pieces(state: OverlayState, nodes: Int32Array, topics: Int32Array) -> tuple[Int32Array, Int32Array, Int32Array]:
    node_ptr, topic = entries_of(state.rows.ragged, nodes, topics)
    piece = pieces(state.members.ragged, state.neighbours.ragged, nodes, topics, node_ptr, topic, state.scratch)
    return node_ptr, topic, piece


def _on_circle(state: OverlayState, nodes: Int32Array) -> Int32Array:
    """Sort nodes by their keys, the order of the tie circle."""
    ordered: Int32Array = nodes[np.argsort(state.keys[nodes], kind="stable")]
    return ordered


def _ranks(keys: npt.NDArray[np.uint64]) -> Int32Array:
    places = np.empty(len(keys), np.int32)
    places[np.argsort(keys, kind="stable")] = np.arange(len(keys), dtype=np.int32)
    return places
