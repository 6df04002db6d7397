"""Single points of failure: the nodes whose failure alone cuts topics, worst first."""

import numpy as np
import numpy.typing as npt

from topicloom.judge.compiled import compiled
from topicloom.judge.k_connected import symmetric
from topicloom.judge.sub_overlays import topic_batches
from topicloom.model.arrays import Int32Array, Int64Array, normalized_links
from topicloom.model.checks import checked_whole
from topicloom.model.interest import Interest
from topicloom.model.results import WeakNode


def weak_nodes(interest: Interest, links: npt.ArrayLike, *, top: int | None = 10) -> tuple[WeakNode, ...]:
    """Nodes that are articulation points of topics, by topics cut, then pairs of subscribers lost.

    Exact, by one linear search over all sub-overlays (Hopcroft and Tarjan, 1973). A 2-topic-connected overlay
    has none.

    Parameters
    ----------
    interest : Interest
    links : (m, 2) array-like of node ids
    top : int or None
        How many to return at most; None for all.

    Raises
    ------
    InvalidOptionError
        ``top`` is negative or no whole number.
    InvalidLinksError
        A link joins a node with itself or with one that does not exist.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcdeabc"), ["news"] * 5 + ["sport"] * 3)
    >>> tl.weak_nodes(interest, [(0, 1), (1, 2), (2, 3), (3, 4)], top=2)
    (WeakNode(node=1, topics_cut=2, lost_pairs=4), WeakNode(node=2, topics_cut=1, lost_pairs=4))
    """
    top = None if top is None else checked_whole("top", top, 0)
    topics_cut = np.zeros(interest.n_nodes, np.int64)
    lost_pairs = np.zeros(interest.n_nodes, np.int64)
    for batch in topic_batches(interest, normalized_links(links, interest.n_nodes)):
        rows = symmetric(batch)
        lost = pairs_lost(rows.indptr.astype(np.int64), rows.indices.astype(np.int32))
        nodes = interest.topic_nodes[batch.first : batch.first + batch.size]
        np.add.at(topics_cut, nodes[lost > 0], 1)
        np.add.at(lost_pairs, nodes, lost)
    weak = np.flatnonzero(topics_cut)
    ranked = weak[np.lexsort((weak, -lost_pairs[weak], -topics_cut[weak]))][:top]
    return tuple(WeakNode(v, int(topics_cut[v]), int(lost_pairs[v])) for v in ranked.tolist())


@compiled
def pairs_lost(indptr: Int64Array, neighbours: Int32Array) -> Int64Array:
    """For every node of a graph, the pairs of others in its component that are separated when it goes.

    Depth-first search with low points: the subtree of a child c of v is cut off by v unless some node in it
    has an edge to above v. Positive exactly at articulation points.
    """
    n = len(indptr) - 1
    lost = np.zeros(n, np.int64)
    number = np.full(n, -1, np.int64)  # when v was met
    low = np.empty(n, np.int64)  # the earliest met that the subtree of v has an edge to
    size = np.empty(n, np.int64)  # nodes in the subtree of v
    severed = np.empty(n, np.int64)  # nodes in subtrees that v cuts off
    kept = np.empty(n, np.int64)  # pairs inside those subtrees
    parent = np.empty(n, np.int64)
    position = np.empty(n, np.int64)
    order = np.empty(n, np.int64)
    for root in range(n):
        if number[root] >= 0:
            continue
        met = 0
        parent[root] = -1
        v = root
        while v >= 0:
            if number[v] < 0:
                number[v] = met
                low[v] = met
                order[met] = v
                met += 1
                size[v] = 1
                severed[v] = 0
                kept[v] = 0
                position[v] = indptr[v]
            if position[v] < indptr[v + 1]:
                w = neighbours[position[v]]
                position[v] += 1
                if number[w] < 0:
                    parent[w] = v
                    v = w
                elif w != parent[v]:
                    low[v] = min(low[v], number[w])
            else:
                u = parent[v]
                if u >= 0:
                    size[u] += size[v]
                    low[u] = min(low[u], low[v])
                    if low[v] >= number[u]:
                        severed[u] += size[v]
                        kept[u] += size[v] * (size[v] - 1) // 2
                v = u
        for i in range(met):
            v = order[i]
            others = met - 1
            rest = others - severed[v]
            lost[v] = others * (others - 1) // 2 - kept[v] - rest * (rest - 1) // 2
    return lost
