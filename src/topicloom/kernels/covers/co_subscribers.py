"""The graph of co-subscribers, which links all nodes that share a topic: walked row by row, never stored."""

import numpy as np

from topicloom.kernels.covers.ratio_heap import build_heap, restore
from topicloom.kernels.jit import serial


@serial
def count_co_subscribers(indptr, topics, topic_indptr, topic_nodes, limit):
    """Count for every node the others that share a topic with it.

    Parameters
    ----------
    indptr, topics, topic_indptr, topic_nodes
        The interest, CSR by node and by topic.
    limit : int
        Counting stops when more pairs of nodes have been found.

    Returns
    -------
    int64, one per node
        Twice the number of pairs that share a topic, in all.

    Cost: O(Σ over topics of subscribers²) time, O(nodes) memory.
    """
    n_pairs = np.int64(0)
    degree = np.zeros(len(indptr) - 1, np.int64)
    seen = np.full(len(indptr) - 1, -1, np.int32)
    for u in range(len(indptr) - 1):
        if n_pairs > limit:
            break
        for k in range(indptr[u], indptr[u + 1]):
            for v in topic_nodes[topic_indptr[topics[k]] : topic_indptr[topics[k] + 1]]:
                if v > u and seen[v] != u:
                    seen[v] = u
                    degree[u] += 1
                    degree[v] += 1
                    n_pairs += 1
    return degree


@serial
def list_co_subscribers(indptr, topics, topic_indptr, topic_nodes, n_pairs):
    """List the pairs of nodes that share a topic.

    Parameters
    ----------
    indptr, topics, topic_indptr, topic_nodes
        The interest, CSR by node and by topic.
    n_pairs : int
        Their number; see `count_co_subscribers`.

    Returns
    -------
    (n_pairs, 2) int32
        Ascending, u < v.

    Cost: O(Σ over topics of subscribers²) time, O(nodes + pairs) memory.
    """
    links = np.empty((n_pairs, 2), np.int32)
    seen = np.full(len(indptr) - 1, -1, np.int32)
    n = 0
    for u in range(len(indptr) - 1):
        start = n
        for k in range(indptr[u], indptr[u + 1]):
            for v in topic_nodes[topic_indptr[topics[k]] : topic_indptr[topics[k] + 1]]:
                if v > u and seen[v] != u:
                    seen[v] = u
                    links[n, 0] = u
                    links[n, 1] = v
                    n += 1
        links[start:n, 1] = np.sort(links[start:n, 1])
    return links


@serial
def heaviest_forest(indptr, topics, topic_indptr, topic_nodes, places):
    """Find the spanning forest of the co-subscribers whose links share the most topics.

    Prim's algorithm. A tree starts at the node with the lowest place that is in none. Nodes that share equally many
    topics follow their places, and between equally good parents the one that came first into the tree is taken.

    Parameters
    ----------
    indptr, topics, topic_indptr, topic_nodes
        The interest, CSR by node and by topic.
    places : int32, one per node
        On the circle of the tie rule.

    Returns
    -------
    (m, 2) int32
        Links, u < v.

    Cost: O(Σ over topics of subscribers² · log nodes) time, O(nodes) memory.
    """
    n_nodes = len(indptr) - 1
    shared = np.zeros(n_nodes, np.int64)  # most topics shared with a node in a tree; -1 in a tree
    ones = np.ones(n_nodes, np.int64)
    parent = np.full(n_nodes, -1, np.int32)
    heap, index = build_heap(shared, ones, places)
    count = np.zeros(n_nodes, np.int32)
    touched = np.empty(n_nodes, np.int32)
    links = np.empty((max(n_nodes - 1, 0), 2), np.int32)
    n_links = 0
    for _ in range(n_nodes):
        u = heap[0]
        if parent[u] >= 0:
            links[n_links] = min(u, parent[u]), max(u, parent[u])
            n_links += 1
        shared[u] = -1
        restore(heap, index, shared, ones, places, u)
        n_touched = 0
        for k in range(indptr[u], indptr[u + 1]):
            for v in topic_nodes[topic_indptr[topics[k]] : topic_indptr[topics[k] + 1]]:
                if shared[v] >= 0:
                    if count[v] == 0:
                        touched[n_touched] = v
                        n_touched += 1
                    count[v] += 1
        for v in touched[:n_touched]:
            if count[v] > shared[v]:
                shared[v] = count[v]
                parent[v] = u
                restore(heap, index, shared, ones, places, v)
            count[v] = 0
    return links[:n_links].copy()
