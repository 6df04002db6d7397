"""Backup sets of a node (shadows-churn §V-G): nodes that between them want each of its topics several times.

A set is the union of ``rounds`` covers of the node's topics, each without the backups that earlier ones chose, so a
topic is covered ``rounds`` times, or by all its other subscribers where they are fewer. The weight of a candidate is
its number of links and primaries. Of equal weights the one that shares most topics with the node comes first, then by
their keys, mixed with the random base of the call: nothing depends on how the lists lie in memory.
"""

from typing import NamedTuple

import numpy as np

from topicloom.kernels.covers.cover import greedy_cover, primal_dual_cover, tie_of
from topicloom.kernels.greedy.components import number_entries
from topicloom.kernels.jit import serial
from topicloom.kernels.repair.ragged import push_all, put, remove_all
from topicloom.kernels.streams import BACKUP_STREAM, draw


class Scratch(NamedTuple):
    """Memory that the kernels of churn share between calls. Stamps mark what the current call has written."""

    stamp: np.ndarray  # int64 per node
    number: np.ndarray  # int64 per node
    queue: np.ndarray  # int32 per node
    clock: np.ndarray  # int64, one element: the last stamp that was used


class Candidates(NamedTuple):
    """Who may become a node's backup: all who share one of its topics, in no particular order."""

    nodes: np.ndarray  # int32
    weight: np.ndarray  # int64: links and primaries
    tie: np.ndarray  # int64 below 2^32: which of two of equal weight comes first
    topic_ptr: np.ndarray  # int64
    member: np.ndarray  # int32 per topic of the node: positions in ``nodes``


PRIMAL_DUAL, GREEDY = 0, 1


@serial
def rebuild_backups(
    rows, members, neighbours, backups, primaries, nodes, done, builder, rounds, keys, scratch, seed, builds
):
    """Rebuild the backup sets of some nodes, one after the other, and the primaries along with them.

    The primaries of a node are those whose backup it is.

    Parameters
    ----------
    rows, members, neighbours : Ragged
        Topics of all nodes, subscribers of all topics, neighbours of all nodes.
    backups, primaries : Ragged
        Changed in place.
    nodes : int32
        ``nodes[done:]`` are rebuilt.
    done : int
    builder : int
        PRIMAL_DUAL or GREEDY.
    rounds : int
        How often each topic is covered.
    keys : uint64, one per node
        Random keys that decide between equal candidates.
    scratch : Scratch
        Overwritten.
    seed : int
    builds : int
        How many sets were built before ``nodes[0]``. It numbers the random numbers.

    Returns
    -------
    done, wanted : int
        How far it came before a pool was full, and the room that the next node wants there. ``len(nodes)`` and 0 if it
        came to the end.

    Cost: O(Σ subscribers of a node's topics) for each node at most.
    """
    weight = neighbours.length + primaries.length
    barred = np.zeros(len(weight), np.bool_)
    shared = np.zeros(len(weight), np.int32)
    for k in range(done, len(nodes)):
        node = nodes[k]
        first = backups.start[node]
        old = backups.pool[first : first + backups.length[node]].copy()
        remove_all(primaries, old, np.full(len(old), node, np.int32))
        weight[old] -= 1
        base = draw(seed, BACKUP_STREAM, builds + k + 1)
        if builder == GREEDY:
            chosen = greedy_backups(candidates(rows, members, weight, node, keys, scratch, base), rounds)
        else:
            chosen = primal_dual_backups(rows, members, node, weight, barred, shared, rounds, keys, base)
        wanted = len(chosen)
        for u in chosen:
            if primaries.length[u] == primaries.room[u]:
                wanted += max(4, 2 * primaries.length[u])
        room = min(len(primaries.pool) - primaries.used[0], len(backups.pool) - backups.used[0])
        if room < wanted:
            push_all(primaries, old, np.full(len(old), node, np.int32), 0)  # they were there: there is room
            return k, wanted
        put(backups, node, chosen)
        push_all(primaries, chosen, np.full(len(chosen), node, np.int32), 0)
        weight[chosen] += 1
    return len(nodes), 0


@serial
def candidates(rows, members, price, node, keys, scratch, base):
    """Candidates for the greedy backups of a node, ``price`` by node: O(Σ subscribers of its topics)."""
    # The stamp of a node is the clock plus its position: one look says whether it is numbered, and how.
    stamp, clock = scratch.stamp, scratch.clock[0] + 1
    first, n_topics = rows.start[node], rows.length[node]
    topic_ptr = np.zeros(n_topics + 1, np.int64)
    for m in range(n_topics):
        topic_ptr[m + 1] = topic_ptr[m] + members.length[rows.pool[first + m]] - 1  # without the node itself
    member = np.empty(topic_ptr[-1], np.int32)
    n_most = min(topic_ptr[-1], len(keys))
    nodes = np.empty(n_most, np.int32)
    shared = np.zeros(n_most, np.int32)
    n, at = 0, 0
    for m in range(n_topics):
        t = rows.pool[first + m]
        for k in range(members.start[t], members.start[t] + members.length[t]):
            u = members.pool[k]
            x = stamp[u] - clock
            if x < 0:
                if u == node:
                    continue
                x = np.int64(n)
                stamp[u] = clock + x
                nodes[n] = u
                n += 1
            shared[x] += 1
            member[at] = x
            at += 1
    scratch.clock[0] = clock + n
    weight = np.empty(n, np.int64)
    tie = np.empty(n, np.int64)
    for x in range(n):
        u = nodes[x]
        weight[x] = price[u]
        tie[x] = tie_of(shared[x], keys[u], base)
    return Candidates(nodes[:n], weight, tie, topic_ptr, member)


@serial
def primal_dual_backups(rows, members, node, weight, barred, shared, rounds, keys, base):
    """Build the backups of a node as a union of primal-dual covers (Algorithm 12 of [shadows]).

    Parameters
    ----------
    rows, members : Ragged
        Topics of each node, and subscribers of each topic.
    node : int
        Whose backups are built.
    weight : int64, one per node
        Price of each node.
    barred : bool, one per node
        All False; written to, and all False again at the end.
    shared : int32, one per node
        All 0; written to, and all 0 again at the end.
    rounds : int
        Covers that are united: backups of each topic.
    keys, base : uint64
        What decides between equal prices: keys of the nodes, and a number drawn for this build.

    Returns
    -------
    int32
        The backups, those of one cover after the other.

    Cost: O(backups · mean subscribers of a topic).
    """
    chosen = np.empty(rounds * rows.length[node], np.int32)
    n_chosen = 0
    barred[node] = True
    _count_shared(rows, members, node, shared, 1)
    for r in range(rounds):
        taken = primal_dual_cover(rows, members, node, weight, barred, shared, keys, base, draw(base, r, 0))
        chosen[n_chosen : n_chosen + len(taken)] = taken
        n_chosen += len(taken)
        barred[taken] = True
    _count_shared(rows, members, node, shared, -1)
    barred[node] = False
    barred[chosen[:n_chosen]] = False
    return chosen[:n_chosen]


@serial
def _count_shared(rows, members, node, shared, step):
    """Count a topic of the node for each of its subscribers. A step of -1 takes it back."""
    for k in range(rows.start[node], rows.start[node] + rows.length[node]):
        t = rows.pool[k]
        for at in range(members.start[t], members.start[t] + members.length[t]):
            shared[members.pool[at]] += step


@serial
def greedy_backups(c, rounds):
    """Build the backups of a node (int32) as a union of greedy covers (Algorithm 11 of [shadows]).

    Cost: O(Σ subscribers of the topics · log candidates).
    """
    n_topics = len(c.topic_ptr) - 1
    node_ptr, _, topic = number_entries(c.topic_ptr, c.member, len(c.nodes))
    need = np.ones(n_topics, np.int32)
    # A node without weight comes before all others, and of those the one that covers most: a price below any other.
    price = np.maximum(c.weight << 20, 1)
    chosen = np.empty(rounds * n_topics, np.int32)
    n_chosen = 0
    for _ in range(rounds):
        taken = greedy_cover(node_ptr, topic, need, price, c.tie, n_topics)
        chosen[n_chosen : n_chosen + len(taken)] = taken
        n_chosen += len(taken)
        node_ptr, topic = _without(node_ptr, topic, taken)
    return c.nodes[chosen[:n_chosen]]


@serial
def _without(node_ptr, topic, gone):
    """The CSR with the rows of some nodes emptied."""
    kept = np.ones(len(node_ptr) - 1, np.bool_)
    kept[gone] = False
    left = np.empty(len(topic), np.int32)
    left_ptr = np.zeros(len(node_ptr), np.int64)
    at = 0
    for x in range(len(kept)):
        if kept[x]:
            n = node_ptr[x + 1] - node_ptr[x]
            left[at : at + n] = topic[node_ptr[x] : node_ptr[x + 1]]
            at += n
        left_ptr[x + 1] = at
    return left_ptr, left[:at]
