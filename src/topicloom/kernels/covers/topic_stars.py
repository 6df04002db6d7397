"""A star per topic: 2D-ODA.

Each round takes the (node u, topic t) of the highest density w_u / m(u, t) and links u to all who want t; t leaves T.
w_u counts the other subscribers of u's topics still in T, once per topic; m(u, t) those who want t and are not yet
linked to u. Both are kept exact: w by subtraction when a topic leaves T, m by subtraction when a link is added. For a
given u the best topic is the one with the least m, so the heap holds one key a node.

A topic with m(u, t) = 0 costs no link: its star stands. All such topics of the chosen node leave T at once, which is
what taking them one by one would come to, as infinite densities precede all others and add nothing.
"""

import numpy as np

from topicloom.kernels.covers.ratio_heap import build_heap, restore
from topicloom.kernels.jit import serial


@serial
def topic_stars(indptr, topics, topic_indptr, topic_nodes, places, topic_places):
    """Build an overlay of topic diameter 2 from one star for each topic.

    Parameters
    ----------
    indptr, topics, topic_indptr, topic_nodes : int64, int32, int64, int32
        The interest by node and by topic, ascending. An entry is a position in ``topics``.
    places, topic_places : int32
        Of equal densities the node with the lowest place is taken, then its topic with the lowest place.

    Returns
    -------
    (m, 2) int32
        Links, u < v, in the order added, those of a star by ascending leaf.

    Cost: O(Σ_u topics(u)² + subscriptions log nodes) time at worst, O(subscriptions + links) memory.
    """
    n_nodes = len(indptr) - 1
    subscribers = np.diff(topic_indptr)
    in_t = subscribers > 1
    missing = np.empty(len(topics), np.int32)
    weight = np.zeros(n_nodes, np.int64)
    for u in range(n_nodes):
        for k in range(indptr[u], indptr[u + 1]):
            missing[k] = subscribers[topics[k]] - 1
            weight[u] += missing[k]
    best = np.empty(n_nodes, np.int64)
    fewest = np.ones(n_nodes, np.int64)
    for u in range(n_nodes):
        best[u] = _best_entry(indptr, topics, missing, in_t, topic_places, u)
        if best[u] >= 0:
            fewest[u] = missing[best[u]]
    heap, index = build_heap(weight, fewest, places)

    linked = set()
    linked.add(np.int64(-1))  # tells the compiler the type
    entry_at_centre = np.full(len(subscribers), -1, np.int64)
    touched = np.empty(n_nodes, np.int32)
    lost = np.zeros(n_nodes, np.int64)
    links = np.empty((np.maximum(subscribers - 1, 0).sum(), 2), np.int32)
    n_links = 0
    while n_nodes and weight[heap[0]] > 0:
        u = heap[0]
        if fewest[u] > 0:
            t = topics[best[u]]
            for k in range(indptr[u], indptr[u + 1]):
                entry_at_centre[topics[k]] = k
            for v in topic_nodes[topic_indptr[t] : topic_indptr[t + 1]]:
                pair = np.int64(min(u, v)) * n_nodes + max(u, v)
                if v == u or pair in linked:
                    continue
                linked.add(pair)
                links[n_links] = min(u, v), max(u, v)
                n_links += 1
                for k in range(indptr[v], indptr[v + 1]):
                    shared = entry_at_centre[topics[k]]
                    if shared >= 0:
                        missing[k] -= 1
                        missing[shared] -= 1
            for k in range(indptr[u], indptr[u + 1]):
                entry_at_centre[topics[k]] = -1

        n_touched = 0
        for k in range(indptr[u], indptr[u + 1]):
            t = topics[k]
            if in_t[t] and missing[k] == 0:
                in_t[t] = False
                for v in topic_nodes[topic_indptr[t] : topic_indptr[t + 1]]:
                    if lost[v] == 0:
                        touched[n_touched] = v
                        n_touched += 1
                    lost[v] += subscribers[t] - 1
        for v in touched[:n_touched]:
            weight[v] -= lost[v]
            lost[v] = 0
            best[v] = _best_entry(indptr, topics, missing, in_t, topic_places, v)
            fewest[v] = missing[best[v]] if best[v] >= 0 else 1
            restore(heap, index, weight, fewest, places, v)
    return links[:n_links].copy()


@serial
def _best_entry(indptr, topics, missing, in_t, topic_places, u):
    """Entry of u with the least missing links among topics in T, ties by topic place. Returns -1 when there is none."""
    best = np.int64(-1)
    for k in range(indptr[u], indptr[u + 1]):
        if in_t[topics[k]] and (
            best < 0
            or missing[k] < missing[best]
            or (missing[k] == missing[best] and topic_places[topics[k]] < topic_places[topics[best]])
        ):
            best = np.int64(k)
    return best
