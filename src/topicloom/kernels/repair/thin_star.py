"""One link less at a node: a link that no topic needs goes, or two go for one to a node that stands in for both.

Without the node u each of its topics falls into pieces. A link of u is needed where no other neighbour lies in the
piece that it holds; a new neighbour that lies in all those pieces stands in for it.
"""

from typing import NamedTuple

import numpy as np

from topicloom.kernels.jit import serial
from topicloom.kernels.repair.ragged import row

STAND_INS = 8  # nodes tried, those that could take the place of most links first
MOST_HITS = 1 << 24  # candidates times links above which a node only releases links: memory


class Star(NamedTuple):
    """A node's neighbours, ascending, and the pieces into which its topics fall without it.

    A piece goes by the position of its lowest neighbour; every piece of a connected topic holds one.
    """

    others: np.ndarray  # int32
    piece: np.ndarray  # int32 per topic of the node and neighbour; -1: not wanted
    held: np.ndarray  # int32 per topic and piece: neighbours in it
    nodes: np.ndarray  # int32: who else wants one of the topics and has room for a link
    entries: np.ndarray  # (m, 3) int32: number of a topic and of one of ``nodes`` that wants it, and its piece


@serial
def thin_star(rows, members, neighbours, keys, u, cap, scratch):
    """Find a way to have one link less at a node.

    Either one link that no topic needs goes, or two go and one to another node, which stands in for both, comes. The
    answer does not depend on how the lists lie in memory.

    Parameters
    ----------
    rows, members, neighbours : Ragged
        Topics of all nodes, subscribers of all topics, neighbours of all nodes.
    keys : uint64, one per node
        Decide between nodes of equal degree.
    u : int
        The node.
    cap : int
        A new neighbour has fewer links than this.
    scratch : Scratch
        Overwritten.

    Returns
    -------
    gone : int32
        Neighbours whose link goes: none, one or two.
    node : int32
        The new neighbour, -1 for none.

    Cost: O(subscribers of u's topics and their links).
    """
    star = _star(rows, members, neighbours, u, cap, scratch)
    needed = _needed(star)
    spare = -1
    for x in range(len(star.others)):
        if needed[x] == 0 and (spare < 0 or _fuller(neighbours, keys, star.others[x], star.others[spare])):
            spare = x
    if spare >= 0:
        return star.others[spare : spare + 1], np.int32(-1)
    if len(star.nodes) * len(star.others) > MOST_HITS:
        return star.others[:0], np.int32(-1)
    frees = _links_freed(star, needed)
    for _ in range(STAND_INS):
        best = -1
        for c in range(len(star.nodes)):
            if frees[c] < 2 or (best >= 0 and frees[c] < frees[best]):
                continue
            if best < 0 or frees[c] > frees[best] or _fuller(neighbours, keys, star.nodes[best], star.nodes[c]):
                best = c
        if best < 0:
            break
        two = _two_freed(star, best, neighbours)
        if len(two) == 2:
            return two, star.nodes[best]
        frees[best] = 0
    return star.others[:0], np.int32(-1)


@serial
def _fuller(neighbours, keys, v, w):
    """Compare v with w. Returns whether v has more links, or as many and the higher key."""
    return neighbours.length[v] > neighbours.length[w] or (
        neighbours.length[v] == neighbours.length[w] and keys[v] > keys[w]
    )


@serial
def _star(rows, members, neighbours, u, cap, scratch):
    others = np.sort(row(neighbours, u))
    topics = row(rows, u)
    most = 0
    for t in topics:
        most += members.length[t]
    piece = np.full((len(topics), len(others)), -1, np.int32)
    held = np.zeros((len(topics), len(others)), np.int32)
    nodes = np.empty(min(most, len(scratch.stamp)), np.int32)
    entries = np.empty((most, 3), np.int32)
    number = np.full(len(scratch.stamp), -1, np.int32)
    number[others] = -2
    n, n_entries = 0, 0
    stamp, owner, queue = scratch.stamp, scratch.number, scratch.queue
    for m in range(len(topics)):
        scratch.clock[0] += 2
        now = scratch.clock[0]
        for k in range(members.start[topics[m]], members.start[topics[m]] + members.length[topics[m]]):
            stamp[members.pool[k]] = now - 1
        stamp[u] = 0
        tail = 0
        for x in range(len(others)):
            v = others[x]
            if stamp[v] == now - 1:
                tail = _walk(neighbours, v, x, stamp, owner, queue, tail, now)
            if stamp[v] == now:
                piece[m, x] = owner[v]
                held[m, owner[v]] += 1
        for k in range(tail):
            w = queue[k]
            if number[w] == -1 and neighbours.length[w] < cap:
                number[w] = n
                nodes[n] = w
                n += 1
            if number[w] >= 0:
                entries[n_entries, 0], entries[n_entries, 1], entries[n_entries, 2] = m, number[w], owner[w]
                n_entries += 1
    return Star(others, piece, held, nodes[:n], entries[:n_entries])


@serial
def _walk(neighbours, v, x, stamp, owner, queue, tail, now):
    """Give neighbour x all that v reaches among those stamped ``now - 1``. Returns the new end of queue."""
    head = tail
    stamp[v], owner[v], queue[tail] = now, x, v
    tail += 1
    while head < tail:
        y = queue[head]
        head += 1
        for k in range(neighbours.start[y], neighbours.start[y] + neighbours.length[y]):
            z = neighbours.pool[k]
            if stamp[z] == now - 1:
                stamp[z], owner[z], queue[tail] = now, x, z
                tail += 1
    return tail


@serial
def _needed(star):
    """In how many topics each link is the only one to its piece."""
    needed = np.zeros(len(star.others), np.int64)
    for m in range(len(star.piece)):
        for x in range(len(star.others)):
            needed[x] += star.piece[m, x] >= 0 and star.held[m, star.piece[m, x]] == 1
    return needed


@serial
def _links_freed(star, needed):
    """How many links each of the nodes stands in for, taken one by one."""
    hits = np.zeros((len(star.nodes), len(star.others)), np.int32)
    for k in range(len(star.entries)):
        m, c, p = star.entries[k, 0], star.entries[k, 1], star.entries[k, 2]
        hits[c, p] += star.held[m, p] == 1
    frees = np.zeros(len(star.nodes), np.int64)
    for c in range(len(star.nodes)):
        for x in range(len(star.others)):
            frees[c] += hits[c, x] == needed[x]
    return frees


@serial
def _two_freed(star, c, neighbours):
    """Choose up to two neighbours that node number c can stand in for together, those with many links first."""
    held = star.held.copy()
    at = np.full(len(held), -1, np.int32)
    for k in range(len(star.entries)):
        if star.entries[k, 1] == c:
            at[star.entries[k, 0]] = star.entries[k, 2]
    order = np.argsort(-neighbours.length[star.others].astype(np.int64), kind="mergesort")
    two = np.empty(2, np.int32)
    n = 0
    for x in order:
        fine = True
        for m in range(len(star.piece)):
            p = star.piece[m, x]
            fine = fine and (p < 0 or held[m, p] > 1 or at[m] == p)
        if fine:
            two[n] = star.others[x]
            n += 1
            if n == 2:
                break
            for m in range(len(star.piece)):
                if star.piece[m, x] >= 0:
                    held[m, star.piece[m, x]] -= 1
    return two[:n]
