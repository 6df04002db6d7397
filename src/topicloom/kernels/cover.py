"""Greedy cover: few nodes that together want given topics. Star sets, cores and churn's backups are covers."""

import numpy as np

from topicloom.kernels.jit import serial
from topicloom.kernels.ratio_heap import build_heap, restore


@serial
def greedy_cover(indptr, topics, need, weight, places, limit):
    """Nodes in the order taken: each has the most still needed topics per weight at that moment; int32.

    Gains only fall, so a stored gain is an upper bound and only the node at the top of a heap is counted anew:
    O(subscriptions · log nodes) in practice.

    Parameters
    ----------
    indptr, topics : int64, int32 arrays
        CSR of the nodes to choose from, topics without repeats in each row.
    need : int array, per topic
        How many nodes shall cover it: 1 for a star set, the coverage factor for backups, 0 for topics that do not
        matter. A topic with fewer subscribers is covered by all of them. Not overwritten.
    weight : int64 array, per node
        Price of a node, at least 1 and below 2^31; a node without topics that are needed is never taken.
    places : int32 array, per node
        Of equal nodes the one with the lowest place is taken.
    limit : int
        Stop after so many nodes; the cover may then be incomplete.
    """
    n_nodes = len(indptr) - 1
    need = need.copy()
    gain = np.zeros(n_nodes, np.int64)
    for v in range(n_nodes):
        for k in range(indptr[v], indptr[v + 1]):
            gain[v] += need[topics[k]] > 0
    heap, index = build_heap(gain, weight, places)
    taken = np.empty(n_nodes, np.int32)
    n_taken = 0
    while n_taken < min(limit, n_nodes) and gain[heap[0]] > 0:
        v = heap[0]
        now = 0
        for k in range(indptr[v], indptr[v + 1]):
            now += need[topics[k]] > 0
        if now == gain[v]:
            for k in range(indptr[v], indptr[v + 1]):
                need[topics[k]] -= need[topics[k]] > 0
            taken[n_taken] = v
            n_taken += 1
            now = 0
        gain[v] = now
        restore(heap, index, gain, weight, places, v)
    return taken[:n_taken].copy()
