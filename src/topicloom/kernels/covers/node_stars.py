"""Stars around nodes: CD-ODA, CD-ODA-I and CD-ODA-II.

Each round takes the node u with the highest key, links it to all its neighbours and drops all its topics. The keys
are made of two counts over the topics still in T: n_u, the other nodes that share one with u, and w_u, the same nodes
counted once per topic shared. w_u is a sum over topics and kept exact by subtraction. n_u is not, so it is counted
when it matters only: a key stands in the heap as an upper bound of itself, and only the node that reaches the top is
counted. As no bound is below its key, the first top that is exact is the one that counting all nodes would give.
"""

import numpy as np

from topicloom.kernels.covers.ratio_heap import build_heap, restore
from topicloom.kernels.jit import serial

NEIGHBOURS, WEIGHTED, DENSITY = 0, 1, 2


@serial
def node_stars(indptr, topics, topic_indptr, topic_nodes, places, rule):
    """Build an overlay of topic diameter 2 from stars around nodes.

    Parameters
    ----------
    indptr, topics, topic_indptr, topic_nodes : int64, int32, int64, int32
        The interest by node and by topic, ascending.
    places : int32, one per node
        Of nodes with equal keys the one with the lowest place is taken.
    rule : int
        The key: NEIGHBOURS n_u, WEIGHTED w_u, DENSITY w_u / n_u.

    Returns
    -------
    (m, 2) int32
        Links, u < v, in the order added, those of a star by ascending leaf.

    Cost: O(Σ_u topics(u) · w_u) time at worst, O(subscriptions log nodes) for WEIGHTED; O(subscriptions + links)
    memory.
    """
    n_nodes = len(indptr) - 1
    subscribers = np.diff(topic_indptr)
    in_t = subscribers > 1
    weight = np.zeros(n_nodes, np.int64)
    least = np.zeros(n_nodes, np.int64)  # lower bound of n_u
    for u in range(n_nodes):
        for k in range(indptr[u], indptr[u + 1]):
            others = subscribers[topics[k]] - 1
            weight[u] += others
            least[u] = max(least[u], others)
    numerator, denominator = weight.copy(), np.ones(n_nodes, np.int64)
    if rule == NEIGHBOURS:
        numerator = np.minimum(weight, n_nodes - 1)
    elif rule == DENSITY:
        denominator = np.maximum(least, 1)
    exact = np.full(n_nodes, rule == WEIGHTED)
    heap, index = build_heap(numerator, denominator, places)

    seen = np.full(n_nodes, -1, np.int64)
    leaves = np.empty(n_nodes, np.int32)
    touched = np.empty(n_nodes, np.int32)
    lost = np.zeros(n_nodes, np.int64)
    links = np.empty((1024, 2), np.int32)
    n_links = n_counts = 0
    while n_nodes and numerator[heap[0]] > 0:
        u = heap[0]
        if not exact[u]:
            n = _list_neighbours(indptr, topics, topic_indptr, topic_nodes, in_t, u, seen, n_counts, leaves)
            n_counts += 1
            if rule == NEIGHBOURS:
                numerator[u] = n
            else:
                denominator[u] = n
            exact[u] = True
            restore(heap, index, numerator, denominator, places, u)
            continue

        n = _list_neighbours(indptr, topics, topic_indptr, topic_nodes, in_t, u, seen, n_counts, leaves)
        n_counts += 1
        links = _with_room(links, n_links + n)
        # no pair is linked twice: every topic that u shared with anyone leaves T with this star
        for v in np.sort(leaves[:n]):
            links[n_links] = min(u, v), max(u, v)
            n_links += 1

        n_touched = 0
        for k in range(indptr[u], indptr[u + 1]):
            t = topics[k]
            if not in_t[t]:
                continue
            in_t[t] = False
            for v in topic_nodes[topic_indptr[t] : topic_indptr[t + 1]]:
                if lost[v] == 0:
                    touched[n_touched] = v
                    n_touched += 1
                lost[v] += subscribers[t] - 1
        for v in touched[:n_touched]:
            weight[v] -= lost[v]
            if rule == NEIGHBOURS:
                numerator[v] = min(numerator[v], weight[v])
                exact[v] = False
            else:
                numerator[v] = weight[v]
            if rule == DENSITY:
                largest = _largest_topic(indptr, topics, subscribers, in_t, v) - 1
                denominator[v] = max(1, largest, denominator[v] - lost[v])
                exact[v] = False
            lost[v] = 0
            restore(heap, index, numerator, denominator, places, v)
    return links[:n_links].copy()


@serial
def _list_neighbours(indptr, topics, topic_indptr, topic_nodes, in_t, u, seen, stamp, leaves):
    """Write the other nodes that share a topic of T with u to ``leaves``. Marks ``seen``. Returns their number."""
    n = 0
    seen[u] = stamp
    for k in range(indptr[u], indptr[u + 1]):
        t = topics[k]
        if in_t[t]:
            for v in topic_nodes[topic_indptr[t] : topic_indptr[t + 1]]:
                if seen[v] != stamp:
                    seen[v] = stamp
                    leaves[n] = v
                    n += 1
    return n


@serial
def _largest_topic(indptr, topics, subscribers, in_t, v):
    largest = 0
    for k in range(indptr[v], indptr[v + 1]):
        if in_t[topics[k]]:
            largest = max(largest, subscribers[topics[k]])
    return largest


@serial
def _with_room(links, n):
    """The links in an array of at least n rows."""
    if n <= len(links):
        return links
    larger = np.empty((max(n, 2 * len(links)), 2), np.int32)
    larger[: len(links)] = links
    return larger
