"""Distances between subscribers: through the whole overlay, or within one topic's sub-overlay."""

import numpy as np

from topicloom.kernels.jit import serial
from topicloom.kernels.paths.diameter import search


@serial
def overlay_diameters(link_indptr, neighbours, indptr, topics, topic_indptr, topic_nodes):
    """For every topic the largest distance in the whole overlay of two subscribers (int64; -1 when infinite).

    ``link_indptr`` and ``neighbours`` are the overlay in CSR form, every link in both rows. One search from
    every node that has a topic: O(nodes × links + Σ over topics of subscribers²) time, O(nodes) memory.
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
    """For each source the sum of its distances to all nodes of a connected graph in CSR form (int64)."""
    n = len(indptr) - 1
    distance = np.empty(n, np.int32)
    queue = np.empty(n, np.int32)
    sums = np.zeros(len(sources), np.int64)
    for i in range(len(sources)):
        search(indptr, neighbours, sources[i], distance, queue)
        for w in range(n):
            sums[i] += distance[w]
    return sums
