"""Candidate links: for each node of a block, the partners in it with which a link has the highest contribution."""

import numpy as np

from topicloom.kernels.jit import borrowing, serial

# A topic that more than 1 / COMMON of a block want is counted only for nodes whose other topics leave hope, and for all
# nodes of the block in a row: that takes less than going through its members.
COMMON = 8


@serial
def block_candidates(s, order, block, best, floor):
    """Candidate links of an order that is cut into blocks, as ``u * nodes + v`` with u < v: int64, with repeats.

    For each node the ``best`` partners of its block by weighted contribution, if that is at least ``floor``. Of equal
    ones those that follow the node in the order. A node that stands in a block several times counts once. A block is
    counted topic by topic: O(sum over its topics of the square of their members there).
    """
    n_nodes = len(s.indptr) - 1
    n_topics = len(s.weight)
    found = np.empty(len(order) * best, np.int64)
    n_found = 0
    members = np.zeros(n_topics, np.int32)
    start, front, back = np.empty(n_topics, np.int32), np.empty(n_topics, np.int32), np.empty(n_topics, np.int32)
    used = np.empty(n_topics, np.int32)
    member, home = np.empty(0, np.int32), np.empty(0, np.int32)
    worth = np.zeros(block, np.int32)
    row, rows = np.empty(n_topics, np.int32), np.empty((0, block), np.int32)
    top, partner = np.empty(best, np.int32), np.empty(best, np.int32)
    here, seen = np.empty(block, np.int32), np.full(n_nodes, -1, np.int64)
    for first in range(0, len(order), block):
        size = 0
        for v in order[first : first + block]:
            if seen[v] < first:
                seen[v] = first
                here[size] = v
                size += 1
        n_used, n_entries = 0, 0
        for i in range(size):
            v = here[i]
            for e in range(s.indptr[v], s.indptr[v + 1]):
                t = s.topics[e]
                if s.outside[t] == 0:
                    continue
                if members[t] == 0:
                    used[n_used] = t
                    n_used += 1
                members[t] += 1
                n_entries += 1
        if n_entries > len(member):
            member, home = (
                np.empty(n_entries + n_entries // 4, np.int32),
                np.empty(n_entries + n_entries // 4, np.int32),
            )
        at, n_rows, many = 0, 0, size // COMMON
        for k in range(n_used):
            t = used[k]
            start[t] = front[t] = at
            at += members[t]
            back[t] = at
            row[t] = n_rows if members[t] > many else -1
            n_rows += members[t] > many
        if n_rows > len(rows):
            rows = np.empty((n_rows + n_rows // 4, block), np.int32)
        rows[:n_rows] = -1
        # members of the largest component at the back: one of them needs those in front only
        for i in range(size):
            v = here[i]
            for e in range(s.indptr[v], s.indptr[v + 1]):
                t = s.topics[e]
                if s.outside[t] == 0:
                    continue
                if s.label[e] == s.largest[t]:
                    back[t] -= 1
                    q = back[t]
                else:
                    q = front[t]
                    front[t] += 1
                member[q] = i
                home[q] = s.label[e]
                if row[t] >= 0:
                    rows[row[t], i] = s.label[e]
        for i in range(size):
            u = here[i]
            reach, hope = 0, 0
            for e in range(s.indptr[u], s.indptr[u + 1]):
                t = s.topics[e]
                if s.outside[t] == 0:
                    continue
                within = s.label[e] == s.largest[t]
                reach += 0 if within else s.weight[t]
                hope += s.weight[t] if (front[t] - start[t] if within else members[t] - 1) > 0 else 0
            if reach == 0 or hope < floor:  # a partner that gains by it will find it
                continue
            later = 0
            for e in range(s.indptr[u], s.indptr[u + 1]):
                t = s.topics[e]
                if s.outside[t] == 0:
                    continue
                within = s.label[e] == s.largest[t]
                if (front[t] - start[t] if within else members[t]) > many:
                    later += s.weight[t]
                else:
                    _count(member, home, start[t], front[t] if within else start[t] + members[t], s.label[e],
                           s.weight[t], worth)  # fmt: skip
            if _highest(worth, size) + later < floor:
                worth[:size] = 0
                continue
            for e in range(s.indptr[u], s.indptr[u + 1]):
                t = s.topics[e]
                if s.outside[t] == 0:
                    continue
                if (front[t] - start[t] if s.label[e] == s.largest[t] else members[t]) > many:
                    _count_row(rows[row[t]], size, s.label[e], s.weight[t], worth)
            if _highest(worth, size) < floor:
                worth[:size] = 0
                continue
            n_top, least, lowest = 0, floor - 1, 0
            for z in range(size):
                j = i + z
                if j >= size:
                    j -= size
                x = worth[j]
                worth[j] = 0
                if x > least:
                    if n_top < best:
                        lowest = n_top
                        n_top += 1
                    top[lowest] = x
                    partner[lowest] = j
                    if n_top == best:
                        lowest = 0
                        for y in range(1, best):
                            if top[y] < top[lowest]:
                                lowest = y
                        least = top[lowest]
            for y in range(n_top):
                v = here[partner[y]]
                found[n_found] = np.int64(min(u, v)) * n_nodes + max(u, v)
                n_found += 1
        for k in range(n_used):
            members[used[k]] = 0
    return found[:n_found]


@borrowing
def _count(member, home, first, last, own, weight, worth):
    """Add a topic's weight to what those of its members are worth that lie in another component than ``own``.

    Indices are unsigned: Numba looks whether a signed one is negative, which takes as long as the rest.
    """
    for q in range(np.uint64(first), np.uint64(last)):
        worth[np.uint32(member[q])] += weight if home[q] != own else np.int32(0)


@borrowing
def _count_row(home, size, own, weight, worth):
    """As `_count`, from the labels of all nodes of the block, -1 where a node does not want the topic."""
    for j in range(size):
        worth[j] += weight if (home[j] != own) & (home[j] >= 0) else np.int32(0)


@borrowing
def _highest(worth, size):
    highest = np.int32(0)
    for j in range(size):
        highest = max(highest, worth[j])
    return highest


@serial
def chain_candidates(s):
    """Candidates that suffice to connect all topics, as `block_candidates` gives them.

    For each open topic a chain of links through the first nodes of all its components.
    """
    n_nodes = len(s.indptr) - 1
    last = np.full(len(s.weight), -1, np.int64)
    found = np.empty(len(s.topics), np.int64)
    n_found = 0
    for v in range(n_nodes):
        for e in range(s.indptr[v], s.indptr[v + 1]):
            t = s.topics[e]
            if s.outside[t] == 0 or s.label[e] != e:
                continue
            if last[t] >= 0:
                found[n_found] = last[t] * n_nodes + v
                n_found += 1
            last[t] = v
    return found[:n_found].copy()
