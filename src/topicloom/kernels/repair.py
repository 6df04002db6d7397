"""Repair of an overlay after churn: the greedy engine over the few nodes of a shadow set.

Its cost is that of the shadow set's subscriptions in the topics concerned, and of walking those topics until it is
clear which of the shadows still reach each other; nothing here looks at the rest of the interest.
"""

from functools import cache

import numpy as np

from topicloom.kernels.components import build_components
from topicloom.kernels.greedy import NO_LINKS, SEARCHES, cheapest_search
from topicloom.kernels.greedy_loop import grow
from topicloom.kernels.jit import serial
from topicloom.kernels.tie_order import pair_ranks

NO_RANKS = np.empty(0, np.int64)


def links_between(node_ptr, topic, n_topics, start, degree, max_degree, rho, *, centre=-1):
    """Links that Low-ODA's rule adds between nodes given in circle order, and how many pairs were candidates.

    CSR of the nodes with topics ascending, ``start`` as in `build_components`; only links at ``centre`` if it is given.
    Returns ((m, 2) int32 positions, int).
    """
    n = len(node_ptr) - 1
    lengths = np.diff(node_ptr)
    pairs = NO_LINKS
    if centre >= 0:
        search = "listed"
        others = np.delete(np.arange(n, dtype=np.int32), centre)
        pairs = np.stack([np.full(n - 1, centre, np.int32), others], axis=1)
    else:
        search = cheapest_search(n, lengths, np.bincount(topic, minlength=n_topics))
        if search == "listed":
            pairs = np.stack(np.triu_indices(n, 1), axis=1).astype(np.int32)
    pairs = pairs[np.argsort(pair_ranks(n, pairs))]
    zero = np.zeros(1, np.uint8 if lengths.max(initial=0) <= 255 else np.uint16)
    links = grow(
        build_components(node_ptr, topic, n_topics, start),
        _nothing(),
        np.arange(n, dtype=np.int32),
        n,
        SEARCHES[search],
        zero,
        pairs,
        NO_RANKS,
        degree,
        int(max_degree),
        float(rho),
    )
    return links, n - 1 if centre >= 0 else n * (n - 1) // 2


@cache
def _nothing():
    """Components over nothing, for the searches that are not used."""
    return build_components(np.zeros(1, np.int64), np.empty(0, np.int32), 0, np.empty(0, np.int32))


@serial
def entries_of(rows, nodes, topics):
    """(node_ptr int64, position in ``topics`` int32) of what the nodes want among ``topics``, which must ascend."""
    node_ptr = np.zeros(len(nodes) + 1, np.int64)
    bound = 0
    for v in nodes:
        bound += min(rows.length[v], len(topics))
    topic = np.empty(bound, np.int32)
    at = 0
    for x in range(len(nodes)):
        k, end = rows.start[nodes[x]], rows.start[nodes[x]] + rows.length[nodes[x]]
        m = 0
        while k < end and m < len(topics):
            if rows.pool[k] < topics[m]:
                k += 1
            elif rows.pool[k] > topics[m]:
                m += 1
            else:
                topic[at] = m
                at += 1
                k += 1
                m += 1
        node_ptr[x + 1] = at
    return node_ptr, topic[:at]


@serial
def pieces(members, neighbours, nodes, topics, node_ptr, topic, scratch):
    """Which of the nodes still reach each other inside each topic: int32 per entry of `entries_of`, by the links alone.

    Walks a topic from all the nodes at once, and stops when no two unmet walks can go on: at most its subscribers and
    their links.
    """
    n_entries = len(topic)
    first = np.zeros(len(topics) + 1, np.int64)
    for m in topic:
        first[m + 1] += 1
    first = np.cumsum(first)
    place = first[:-1].copy()
    entry = np.empty(n_entries, np.int64)
    node = np.empty(n_entries, np.int32)
    for x in range(len(nodes)):
        for k in range(node_ptr[x], node_ptr[x + 1]):
            entry[place[topic[k]]] = k
            node[place[topic[k]]] = nodes[x]
            place[topic[k]] += 1
    piece = np.empty(n_entries, np.int32)
    parent = np.arange(n_entries).astype(np.int32)
    waiting = np.ones(n_entries, np.int64)
    for m in range(len(topics)):
        _walk(members, neighbours, topics[m], first[m], first[m + 1], node, parent, waiting, scratch)
        for e in range(first[m], first[m + 1]):
            piece[entry[e]] = _root(parent, e)
    return piece


@serial
def _walk(members, neighbours, t, first, last, node, parent, waiting, scratch):
    stamp, owner, queue = scratch.stamp, scratch.number, scratch.queue
    if last - first < 2:
        return
    scratch.clock[0] += 2
    now = scratch.clock[0]
    fresh = now - 1
    for at in range(members.start[t], members.start[t] + members.length[t]):
        stamp[members.pool[at]] = fresh
    head, tail = 0, 0
    for e in range(first, last):
        stamp[node[e]] = now
        owner[node[e]] = e
        queue[tail] = node[e]
        tail += 1
    walks = last - first  # that can go on
    while walks > 1:
        x = queue[head]
        head += 1
        a = _root(parent, owner[x])
        for at in range(neighbours.start[x], neighbours.start[x] + neighbours.length[x]):
            y = neighbours.pool[at]
            if stamp[y] == now:
                b = _root(parent, owner[y])
                if a != b:
                    parent[b] = a
                    walks -= waiting[b] > 0
                    waiting[a] += waiting[b]
            elif stamp[y] == fresh:
                stamp[y] = now
                owner[y] = a
                queue[tail] = y
                tail += 1
                waiting[a] += 1
        waiting[a] -= 1
        walks -= waiting[a] == 0


@serial
def _root(parent, e):
    while parent[e] != e:
        parent[e] = parent[parent[e]]
        e = parent[e]
    return e


@serial
def cut_topics(topic, piece, n_topics):
    """Which topics have entries in more than one piece: bool per topic."""
    first = np.full(n_topics, -1, np.int32)
    cut = np.zeros(n_topics, np.bool_)
    for k in range(len(topic)):
        if first[topic[k]] < 0:
            first[topic[k]] = piece[k]
        elif first[topic[k]] != piece[k]:
            cut[topic[k]] = True
    return cut


@serial
def open_entries(node_ptr, topic, start, kept):
    """The CSR cut down to topics kept, renumbered, and nodes that want one: (positions, node_ptr, topic, start)."""
    number = np.empty(len(kept), np.int32)
    n_kept = 0
    for t in range(len(kept)):
        number[t] = n_kept
        n_kept += kept[t]
    positions = np.empty(len(node_ptr) - 1, np.int64)
    out_ptr = np.zeros(len(node_ptr), np.int64)
    out_topic = np.empty(len(topic), np.int32)
    out_start = np.empty(len(topic), np.int32)
    n, at = 0, 0
    for x in range(len(node_ptr) - 1):
        for k in range(node_ptr[x], node_ptr[x + 1]):
            if kept[topic[k]]:
                out_topic[at], out_start[at] = number[topic[k]], start[k]
                at += 1
        if at > out_ptr[n]:
            positions[n] = x
            n += 1
            out_ptr[n] = at
    return positions[:n], out_ptr[: n + 1], out_topic[:at], out_start[:at]
