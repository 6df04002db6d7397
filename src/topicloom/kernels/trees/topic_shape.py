"""Shape of a topic's sub-overlay (links, components, diameter), of one topic or of all in an overlay."""

from typing import NamedTuple

import numpy as np

from topicloom.kernels.jit import borrowing, serial
from topicloom.kernels.trees.diameter import UNBOUNDED, adjacency, bounded_diameter

_SEARCHES = 16


@serial
def topic_shape(n, src, dst, searches):
    """Count the components of a graph and find its diameter.

    Parameters
    ----------
    n : int
        Nodes are 0 … n-1.
    src, dst : integers
        The ends of each edge; each edge once, no loops. Nothing is overwritten.
    searches : int
        At most this number of searches for the diameter, as in `bounded_diameter`.

    Returns
    -------
    components : int
    diameter : int
        -1 when the graph is not connected, 0 when it has at most one node.
    exact : bool
        False where the diameter is a lower bound.

    Cost: O(n + edges) for each search.
    """
    if n <= 1:
        return n, 0, True
    indptr, neighbours = adjacency(n, src, dst)
    order = np.empty(n, np.int32)
    components = _sweep(indptr, neighbours, order)
    if components > 1:
        return components, -1, True
    # Neighbours get near ids: the many searches of a hard case then stay in the cache.
    rank = np.empty(n, np.int32)
    for i in range(n):
        rank[order[i]] = i
    indptr, neighbours = adjacency(n, rank[src], rank[dst])
    longest, exact = bounded_diameter(indptr, neighbours, searches)
    return 1, longest, exact


@serial
def _sweep(indptr, neighbours, order):
    """Count components. ``order`` (int32) is filled with all nodes, a component at a time, breadth first."""
    n = len(indptr) - 1
    met = np.zeros(n, np.bool_)
    components = 0
    head, tail = 0, 0
    for v in range(n):
        if met[v]:
            continue
        components += 1
        met[v] = True
        order[tail] = v
        tail += 1
        while head < tail:
            u = order[head]
            head += 1
            for e in range(indptr[u], indptr[u + 1]):
                w = neighbours[e]
                if not met[w]:
                    met[w] = True
                    order[tail] = w
                    tail += 1
    return components


class EdgeFinder(NamedTuple):
    """The links of an overlay, and room for the edges of one topic at a time."""

    starts: np.ndarray  # int64 per node and one more: row starts of `ends`
    ends: np.ndarray  # int32 per link: its other end, in the row of the end with fewer topics
    place: np.ndarray  # int32 per node: all -1 between the calls of `topic_edges`
    src: np.ndarray  # int32: local ids of the edges found last, from the start
    dst: np.ndarray  # int32
    entry: np.ndarray  # int64: where each of them stands in `ends`


@serial
def edge_finder(indptr, links):
    """Sort the links of an overlay by one end, so that `topic_edges` finds those inside a topic.

    A link stands in the row of that end which wants fewer topics: over all topics it is met that number of times.

    Parameters
    ----------
    indptr : int64
        Row starts of the interest, by node.
    links : (m, 2) int32

    Returns
    -------
    EdgeFinder

    Cost: O(nodes + links).
    """
    n = len(indptr) - 1
    starts = np.zeros(n + 1, np.int64)
    for i in range(len(links)):
        starts[_fewer(indptr, links[i, 0], links[i, 1]) + 1] += 1
    for v in range(n):
        starts[v + 1] += starts[v]
    fill = starts[:-1].copy()
    ends = np.empty(len(links), np.int32)
    for i in range(len(links)):
        u = _fewer(indptr, links[i, 0], links[i, 1])
        ends[fill[u]] = links[i, 0] + links[i, 1] - u
        fill[u] += 1
    place = np.full(n, -1, np.int32)
    src, dst = np.empty(len(ends), np.int32), np.empty(len(ends), np.int32)
    return EdgeFinder(starts, ends, place, src, dst, np.empty(len(ends), np.int64))


@serial
def _fewer(indptr, u, v):
    return u if indptr[u + 1] - indptr[u] <= indptr[v + 1] - indptr[v] else v


@borrowing
def topic_edges(finder, subscribers):
    """Write the edges of one topic's sub-overlay, in local ids.

    Parameters
    ----------
    finder : EdgeFinder
        Its ``src``, ``dst`` and ``entry`` are overwritten from the start.
    subscribers : int32
        Nodes of the topic. Their positions are the local ids.

    Returns
    -------
    int
        The number of edges.

    Cost: O(subscribers + links that start at them).
    """
    starts, ends, place = finder.starts, finder.ends, finder.place
    for i in range(len(subscribers)):
        place[subscribers[i]] = i
    count = 0
    for i in range(len(subscribers)):
        v = subscribers[i]
        for e in range(starts[v], starts[v + 1]):
            j = place[ends[e]]
            if j >= 0:
                finder.src[count], finder.dst[count], finder.entry[count] = i, j, e
                count += 1
    for i in range(len(subscribers)):
        place[subscribers[i]] = -1
    return count


@serial
def topic_shapes(indptr, topic_indptr, topic_nodes, links, exact_up_to):
    """Find links, components and diameter of every topic's sub-overlay.

    Parameters
    ----------
    indptr, topic_indptr, topic_nodes
        The interest: CSR by node (only its row starts), CSR by topic.
    links : (m, 2) int32
    exact_up_to : int
        Only diameters of topics with more subscribers may be lower bounds.

    Returns
    -------
    links, components, diameters : int64, one per topic
        As in `topic_shape`.
    sampled : bool, one per topic
        Whether the diameter is a lower bound.
    idle : int
        Links whose ends share no topic.

    Cost: O(Σ over links of the topics of that end which has fewer) time besides the diameters, O(nodes + links) memory.
    """
    n_topics = len(topic_indptr) - 1
    n_links = np.zeros(n_topics, np.int64)
    components = np.zeros(n_topics, np.int64)
    diameters = np.zeros(n_topics, np.int64)
    sampled = np.zeros(n_topics, np.bool_)
    finder = edge_finder(indptr, links)
    src, dst = finder.src, finder.dst
    used = np.zeros(len(src), np.bool_)
    for t in range(n_topics):
        subscribers = topic_nodes[topic_indptr[t] : topic_indptr[t + 1]]
        count = topic_edges(finder, subscribers)
        for e in finder.entry[:count]:
            used[e] = True
        n_links[t] = count
        searches = UNBOUNDED if len(subscribers) <= exact_up_to else _SEARCHES
        components[t], diameters[t], exact = topic_shape(len(subscribers), src[:count], dst[:count], searches)
        sampled[t] = not exact
    return n_links, components, diameters, sampled, len(used) - used.sum()
