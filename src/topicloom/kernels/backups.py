"""Backup sets of a node (shadows-churn §V-G): nodes that between them want each of its topics several times.

A set is the union of ``rounds`` covers of the node's topics, each without the backups that earlier ones chose, so a
topic is covered ``rounds`` times, or by all its other subscribers where they are fewer. The weight of a candidate is
its number of links and primaries. Ties go by the candidates' keys, mixed with the random base of the call, so they do
not depend on how the lists lie in memory.
"""

from typing import NamedTuple

import numpy as np

from topicloom.kernels.jit import serial
from topicloom.kernels.ragged import push_all, put, remove_all
from topicloom.kernels.random import BACKUP_STREAM, below, draw


class Scratch(NamedTuple):
    """Memory that the kernels of churn share between calls; stamps tell what is of this call."""

    stamp: np.ndarray  # int64 per node
    chosen: np.ndarray  # int64 per node
    number: np.ndarray  # int64 per node
    queue: np.ndarray  # int32 per node
    topic_stamp: np.ndarray  # int64 per topic
    place: np.ndarray  # int32 per topic: where it stands among those that are left to cover
    clock: np.ndarray  # int64, one element: the last stamp that was used


PRIMAL_DUAL, GREEDY = 0, 1
BARRED = 1 << 62  # more than any weight


@serial
def rebuild_backups(
    rows, members, neighbours, backups, primaries, nodes, done, builder, rounds, keys, scratch, seed, builds
):
    """Build the backups of nodes[done:] anew, one after the other, primaries along with them.

    Returns how far it came before a pool was full, and the room that the next node wants in it; ``builds`` is how many
    sets were built before nodes[0], and numbers the random numbers.
    """
    for k in range(done, len(nodes)):
        node = nodes[k]
        first = backups.start[node]
        old = backups.pool[first : first + backups.length[node]].copy()
        remove_all(primaries, old, np.full(len(old), node, np.int32))
        base = draw(seed, BACKUP_STREAM, builds + k + 1)
        if builder == GREEDY:
            chosen = greedy_backups(rows, members, neighbours, primaries, node, rounds, keys, scratch, base)
        else:
            chosen = primal_dual_backups(rows, members, neighbours, primaries, node, rounds, keys, scratch, base)
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
    return len(nodes), 0


@serial
def primal_dual_backups(rows, members, neighbours, primaries, node, rounds, keys, scratch, base):
    """Alg. 12: a random uncovered topic takes its lightest subscriber, whose weight all its others then lose; int32.

    ``base`` (uint64) is the source of the random topics. O(backups · mean subscribers of a topic).
    """
    n_topics = np.int64(rows.length[node])
    backups = np.empty(rounds * n_topics, np.int32)
    n_backups = 0
    stamp, number = scratch.stamp, scratch.number
    rest = np.empty(n_topics, np.int32)
    for r in range(rounds):
        scratch.clock[0] += 1
        now = scratch.clock[0]
        stamp[node], number[node] = now, BARRED
        for k in range(n_backups):
            stamp[backups[k]], number[backups[k]] = now, BARRED
        n_rest = n_topics
        _list_topics(rest, rows, node, scratch, now)
        while n_rest > 0:
            k = below(draw(base, r, n_rest), n_rest)
            t = rest[k]
            best, least = -1, np.int64(BARRED // 2)
            for at in range(members.start[t], members.start[t] + members.length[t]):
                u = members.pool[at]
                if stamp[u] != now:
                    stamp[u] = now
                    weight = np.int64(neighbours.length[u]) + primaries.length[u]
                    number[u] = (weight << 32) + np.int64((keys[u] ^ base) >> np.uint64(32))  # ties by the lower half
                if number[u] < least:
                    best, least = u, number[u]
            if best < 0:  # nobody else wants it
                n_rest -= 1
                rest[k] = rest[n_rest]
                scratch.place[rest[k]], scratch.place[t] = k, n_rest
                continue
            least = (least >> 32) << 32
            if least > 0:
                for at in range(members.start[t], members.start[t] + members.length[t]):
                    number[members.pool[at]] -= least
            backups[n_backups] = best
            n_backups += 1
            n_rest = _without_row(rest, n_rest, rows, best, scratch, now)
    return backups[:n_backups]


@serial
def greedy_backups(rows, members, neighbours, primaries, node, rounds, keys, scratch, base):
    """Alg. 11: the candidate with the least weight per topic that it newly covers, again and again; int32.

    O(Σ subscribers of the node's topics + backups · candidates).
    """
    n_topics = np.int64(rows.length[node])
    backups = np.empty(rounds * n_topics, np.int32)
    n_backups = 0
    scratch.clock[0] += 1
    call = scratch.clock[0]
    scratch.chosen[node] = call
    rest = np.empty(n_topics, np.int32)
    for _ in range(rounds):
        scratch.clock[0] += 1
        now = scratch.clock[0]
        n_rest = n_topics
        n_candidates = 0
        _list_topics(rest, rows, node, scratch, now)
        for k in range(n_topics):
            t = rest[k]
            for at in range(members.start[t], members.start[t] + members.length[t]):
                u = members.pool[at]
                if scratch.chosen[u] != call:
                    if scratch.stamp[u] != now:
                        scratch.stamp[u] = now
                        scratch.number[u] = 0
                        scratch.queue[n_candidates] = u
                        n_candidates += 1
                    scratch.number[u] += 1  # topics that it would newly cover
        while n_rest > 0:
            best, weight, covers = -1, np.int64(0), np.int64(0)
            for x in range(n_candidates):
                u = scratch.queue[x]
                gain = np.int64(scratch.number[u])
                if gain == 0:
                    continue
                own = np.int64(neighbours.length[u]) + primaries.length[u]
                left, right = own * covers, weight * gain
                better = best < 0 or left < right
                if not better and left == right:  # no weight at all: the one that covers more
                    better = gain > covers or (gain == covers and keys[u] ^ base < keys[best] ^ base)
                if better:
                    best, weight, covers = u, own, gain
            if best < 0:
                break
            scratch.chosen[best] = call
            backups[n_backups] = best
            n_backups += 1
            before = n_rest
            n_rest = _without_row(rest, n_rest, rows, best, scratch, now)
            for k in range(n_rest, before):  # the topics just covered are behind the rest
                t = rest[k]
                for at in range(members.start[t], members.start[t] + members.length[t]):
                    u = members.pool[at]
                    if scratch.stamp[u] == now:
                        scratch.number[u] -= 1
    return backups[:n_backups]


@serial
def _list_topics(rest, rows, node, scratch, now):
    """Write the topics of a node to ``rest``, and where each of them stands."""
    for k in range(rows.length[node]):
        t = rows.pool[rows.start[node] + k]
        rest[k] = t
        scratch.topic_stamp[t] = now
        scratch.place[t] = k


@serial
def _without_row(rest, n_rest, rows, node, scratch, now):
    """Move the topics that a node wants behind the others. Returns how many others there are."""
    topic_stamp, place, pool = scratch.topic_stamp, scratch.place, rows.pool
    for at in range(rows.start[node], rows.start[node] + rows.length[node]):
        t = pool[at]
        if topic_stamp[t] == now and place[t] < n_rest:
            n_rest -= 1
            k, other = place[t], rest[n_rest]
            rest[k], rest[n_rest] = other, t
            place[other], place[t] = k, n_rest
    return n_rest
