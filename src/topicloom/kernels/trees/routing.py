"""Distances between subscribers: through the whole overlay, or within one topic's sub-overlay."""

import numpy as np

from topicloom.kernels.jit import serial
from topicloom.kernels.trees.diameter import search


@serial
def overlay_diameters(link_indptr, neighbours, indptr, topics, topic_indptr, topic_nodes):
    """Find for every topic the largest distance, in the whole overlay, of two of its subscribers.

    Parameters
    ----------
    link_indptr, neighbours
        The overlay in CSR form, every link in both rows.
    indptr, topics, topic_indptr, topic_nodes
        The interest, CSR by node and by topic.

    Returns
    -------
    int64, one per topic
        -1 where two subscribers do not reach each other.

    Cost: O(nodes × links + Σ over topics of subscribers²) time, O(nodes) memory.
    """
    n = len(indptr) - 1
    largest = np.zeros(len(topic_indptr) - 1, np.int64)
    distance = np.empty(n, np.int32)
    queue = np.empty(n, np.int32)
    for v in range(n):
        if indptr[v] == indptr[v + 1]:
            continue
        search(link_indptr, neighbours, v, distance, queue)
        for i in range(indptr[v], indptr[v + 1]):
            t = topics[i]
            if largest[t] < 0:
                continue
            # Subscribers ascend: those before v have looked at v already.
            for j in range(topic_indptr[t + 1] - 1, topic_indptr[t] - 1, -1):
                w = topic_nodes[j]
                if w <= v:
                    break
                if distance[w] < 0:
                    largest[t] = -1
                    break
                largest[t] = max(largest[t], distance[w])
    return largest


@serial
def distance_sums(indptr, neighbours, sources):
    """Sum the distances from some nodes to all nodes of a connected graph.

    Parameters
    ----------
    indptr, neighbours
        The graph in CSR form, every edge in both rows.
    sources : integers

    Returns
    -------
    int64, one per source

    Cost: O(nodes + edges) for each source.
    """
    n = len(indptr) - 1
    distance = np.empty(n, np.int32)
    queue = np.empty(n, np.int32)
    sums = np.zeros(len(sources), np.int64)
    if len(sources) == 0:
        return sums
    search(indptr, neighbours, sources[0], distance, queue)
    indptr, neighbours, rank = _renumbered(indptr, neighbours, queue)
    for i in range(len(sources)):
        search(indptr, neighbours, rank[sources[i]], distance, queue)
        for w in range(n):
            sums[i] += distance[w]
    return sums


@serial
def _renumbered(indptr, neighbours, order):
    """The graph with its nodes numbered in the given order, and the number of each node.

    In the order of a search neighbours get near numbers: further searches stay in the cache.
    """
    n = len(order)
    rank = np.empty(n, np.int32)
    for i in range(n):
        rank[order[i]] = i
    starts = np.empty(n + 1, np.int64)
    ends = np.empty(len(neighbours), np.int32)
    starts[0], at = 0, 0
    for i in range(n):
        for e in range(indptr[order[i]], indptr[order[i] + 1]):
            ends[at] = rank[neighbours[e]]
            at += 1
        starts[i + 1] = at
    return starts, ends, rank
