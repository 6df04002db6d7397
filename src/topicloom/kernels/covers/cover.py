"""Covers: few nodes that together want given topics. Star sets, cores and churn's backups are covers."""

import numpy as np

from topicloom.kernels.covers.ratio_heap import build_heap, precedes, restore
from topicloom.kernels.jit import serial
from topicloom.kernels.repair.ragged import row
from topicloom.kernels.sorted_rows import meeting
from topicloom.kernels.streams import below, draw

FEW_TOPICS = 128  # up to which going through all nodes for each one taken costs less than a heap
NO_PRICE = (1 << 31) - 1  # above that of any node
MOST_SHARED = (1 << 12) - 1  # shared topics beyond which no difference is made


@serial
def greedy_cover(indptr, topics, need, weight, places, limit):
    """Choose few nodes that cover topics: each time the one with the most topics still needed per weight.

    Parameters
    ----------
    indptr, topics : int64, int32
        CSR of the nodes to choose from, topics without repeats in each row.
    need : integers, one per topic
        How many nodes are to cover it: 1 for a star set, the coverage factor for backups, 0 for topics that do not
        matter. A topic with fewer subscribers is covered by all of them. Not overwritten.
    weight : int64, one per node
        Price of a node, at least 1 and below 2^31; a node without topics that are needed is never taken.
    places : int32, one per node
        Of equal nodes the one with the lowest place is taken.
    limit : int
        Number of nodes to stop after. The cover may then be incomplete.

    Returns
    -------
    int32
        Nodes in the order taken.

    Notes
    -----
    Gains only fall, so a stored gain is an upper bound, and only nodes that it would put first are counted again: by a
    heap, or, where few topics are needed and so few nodes taken, by going through all nodes for each of them. The nodes
    are the same.

    Cost: O(subscriptions · log nodes) in practice.
    """
    needed = 0
    for t in range(len(need)):
        needed += max(need[t], 0)
    if needed <= FEW_TOPICS:
        return cover_by_scan(indptr, topics, need, weight, places, limit)
    return cover_by_heap(indptr, topics, need, weight, places, limit)


@serial
def cover_by_heap(indptr, topics, need, weight, places, limit):
    """`greedy_cover` for many topics."""
    n_nodes = len(indptr) - 1
    need = need.copy()
    gain = _gains(indptr, topics, need)
    heap, index = build_heap(gain, weight, places)
    taken = np.empty(n_nodes, np.int32)
    n_taken = 0
    while n_taken < min(limit, n_nodes) and gain[heap[0]] > 0:
        v = heap[0]
        now = _gain(indptr, topics, need, v)
        if now == gain[v]:
            _take(indptr, topics, need, v)
            taken[n_taken] = v
            n_taken += 1
            now = 0
        gain[v] = now
        restore(heap, index, gain, weight, places, v)
    return taken[:n_taken].copy()


@serial
def cover_by_scan(indptr, topics, need, weight, places, limit):
    """`greedy_cover` for few topics."""
    n_nodes = len(indptr) - 1
    need = need.copy()
    gain = _gains(indptr, topics, need)
    taken = np.empty(n_nodes, np.int32)
    n_taken = 0
    while n_taken < min(limit, n_nodes):
        best = -1
        for v in range(n_nodes):
            if gain[v] > 0 and (best < 0 or precedes(gain, weight, places, v, best)):
                gain[v] = _gain(indptr, topics, need, v)
                if gain[v] > 0 and (best < 0 or precedes(gain, weight, places, v, best)):
                    best = v
        if best < 0:
            break
        _take(indptr, topics, need, best)
        gain[best] = 0
        taken[n_taken] = best
        n_taken += 1
    return taken[:n_taken].copy()


@serial
def _gains(indptr, topics, need):
    gain = np.zeros(len(indptr) - 1, np.int64)
    for v in range(len(gain)):
        gain[v] = _gain(indptr, topics, need, v)
    return gain


@serial
def _gain(indptr, topics, need, v):
    """How many topics of a node are still needed."""
    now = 0
    for k in range(indptr[v], indptr[v + 1]):
        now += need[topics[k]] > 0
    return now


@serial
def _take(indptr, topics, need, v):
    for k in range(indptr[v], indptr[v + 1]):
        need[topics[k]] -= need[topics[k]] > 0


@serial
def primal_dual_cover(rows, members, node, price, barred, shared, keys, base, mixed):
    """Choose nodes that cover the topics of a node: a random uncovered topic takes its cheapest subscriber.

    The other subscribers of that topic lose the price that was paid. The choice is random where the greedy cover's is
    not, so it spares the few nodes that want most. A topic whose every subscriber is barred is skipped.

    Parameters
    ----------
    rows, members : Ragged
        Topics of each node, ascending; nodes of each topic.
    node : int
        Whose topics to cover.
    price : int32, one per node
        Of equal price the one that shares most topics with ``node`` comes first, then by keys. As before on return.
    barred : bool, one per node
        Who may not be taken.
    shared : int32, one per node
        How many topics it shares with ``node``.
    keys, base : uint64 array, uint64
        What tells nodes apart that are equal otherwise, and what it is mixed with.
    mixed : uint64
        Where the random numbers come from.

    Returns
    -------
    int32
        Nodes in the order taken.

    References
    ----------
    [shadows-churn] Algorithm 12, after Hochbaum; docs/papers.md.

    Cost: O(nodes taken · mean subscribers of a topic). The lists are read where they lie.
    """
    topics = row(rows, node)
    n_rest = len(topics)
    rest = np.arange(n_rest)
    place = np.arange(n_rest)
    taken = np.empty(n_rest, np.int32)
    lowered = np.empty(n_rest, np.int32)  # topics whose subscribers lost price, and how much
    loss = np.empty(n_rest, np.int32)
    n_taken, n_lowered = 0, 0
    while n_rest > 0:
        t = rest[below(draw(mixed, 0, n_rest), n_rest)]
        able = row(members, topics[t])
        best = _cheapest(able, price, barred, shared, keys, base)
        if best < 0:
            n_rest = _set_aside(rest, place, n_rest, t)
            continue
        least = price[best]
        if least > 0:
            for u in able:
                price[u] -= least
            lowered[n_lowered], loss[n_lowered] = topics[t], least
            n_lowered += 1
        taken[n_taken] = best
        n_taken += 1
        for _, m in meeting(row(rows, best), topics):
            n_rest = _set_aside(rest, place, n_rest, m)
    for x in range(n_lowered):
        t = lowered[x]
        for at in range(members.start[t], members.start[t] + members.length[t]):
            price[members.pool[at]] += loss[x]
    return taken[:n_taken]


@serial
def _cheapest(able, price, barred, shared, keys, base):
    """Find the lowest price, the first by `tie_of` among equal ones. Returns its candidate, -1 if all are barred."""
    best, least, tie = np.int32(-1), np.int32(NO_PRICE), np.int64(-1)
    for u in able:
        if price[u] > least or barred[u]:
            continue
        if price[u] < least:
            best, least, tie = u, price[u], np.int64(-1)
            continue
        if tie < 0:
            tie = tie_of(shared[best], keys[best], base)
        other = tie_of(shared[u], keys[u], base)
        if other < tie:
            best, tie = u, other
    return best


@serial
def tie_of(shared, key, base):
    """Order two candidates of equal price: the one that shares most topics first, then by its mixed key.

    Parameters
    ----------
    shared : int
        Topics that the candidate shares with the node. Beyond `MOST_SHARED` no difference is made.
    key : uint64
        The candidate's own random key.
    base : uint64
        The random number of the call, which is mixed in.

    Returns
    -------
    int64
        Below 2^32; the lowest comes first.

    Cost: O(1).
    """
    return (np.int64(MOST_SHARED - min(shared, MOST_SHARED)) << 20) + np.int64((key ^ base) >> np.uint64(44))


@serial
def _set_aside(rest, place, n_rest, t):
    """Move a topic behind those that are left, unless it is there. Returns how many are left."""
    k = place[t]
    if k >= n_rest:
        return n_rest
    n_rest -= 1
    other = rest[n_rest]
    rest[k], rest[n_rest] = other, t
    place[other], place[t] = k, n_rest
    return n_rest
