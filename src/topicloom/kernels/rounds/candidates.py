"""Candidate links: for each node of a block, the partners in it with which a link has the highest contribution."""

from typing import NamedTuple

import numpy as np

from topicloom.kernels.jit import borrowing, serial

# A topic that more than 1 / COMMON of a block want is counted only for nodes whose other topics leave hope, and for all
# nodes of the block in a row: that takes less than going through its members.
COMMON = 8
NEVER = np.int32(2**31 - 1)
ABSENT, INSIDE, IN_A_ROW = np.int32(-1), np.int32(-2), np.int32(-3)


class Block(NamedTuple):
    """A block that is counted, in arrays that serve one block after the other.

    A node is *inside* a topic if it lies in the topic's largest component, else it is an outsider there. Nodes that are
    outsiders of some open topic stand first in ``place``: the others gain nothing among themselves.
    """

    node: np.ndarray  # int32: the nodes, without repeats, in the order of the block
    start: np.ndarray  # int32 per node: where its entries begin; one more at the end
    topic: np.ndarray  # int32 per entry: an open topic that the node wants
    own: np.ndarray  # int32 per entry: the node's component there, INSIDE for the largest
    left: np.ndarray  # int32 per entry: later members to count one by one, or IN_A_ROW
    members: np.ndarray  # int32 per topic: nodes that want it and have hope; 0 between blocks
    outsiders: np.ndarray  # int32 per topic: those of them outside; 0 between blocks
    used: np.ndarray  # int32: the topics that have members
    place: np.ndarray  # int32: positions in ``node`` of the nodes with hope, in the order of counting; then scratch
    out: np.ndarray  # int32 per topic: its first outsider in ``member`` that is still to come
    out_end: np.ndarray  # int32 per topic
    within: np.ndarray  # int32 per topic: its first member inside that is still to come
    within_end: np.ndarray  # int32 per topic
    member: np.ndarray  # int32: members of each topic by index in ``place``, ascending; outsiders before those inside
    home: np.ndarray  # int32: the component of each outsider there
    row: np.ndarray  # int32 per topic: its row if it is common, or -1
    rows: np.ndarray  # int32 (common topic, index in place): the component, ABSENT for a node that does not want it
    worth: np.ndarray  # int32 per index in place: what a link with the node in hand contributes; 0 between nodes
    bar: np.ndarray  # int32 per index: the least contribution that its best partners may be replaced for
    top: np.ndarray  # int64 (index, best): contribution of its best partners, with how soon they follow
    partner: np.ndarray  # int32 (index, best): those partners by their index, or -1


@serial
def block_candidates(s, order, block, best, floor):
    """Candidate links of an order that is cut into blocks, as ``u * nodes + v`` with u < v: int64, with repeats.

    For each node that lies outside of the largest component of some open topic, the ``best`` partners of its block by
    weighted contribution, if that is at least ``floor``. Of equal ones those that follow the node soonest in the block,
    the first after the last. A node that stands in a block several times counts once. Each pair of a block is counted
    once, topic by topic: O(sum over its topics of the square of their members there).
    """
    n_nodes = len(s.indptr) - 1
    found = np.empty(len(order) * best, np.int64)
    n_found = 0
    seen = np.full(n_nodes, -1, np.int64)
    many = min(block, len(order))
    b = _room(s, order, block, best)
    for first in range(0, len(order), block):
        length, n_used = _gather(s, b, order[first : first + block], first, seen)
        size, n_active = _arrange(s, b, length, floor)
        _list_members(b, size, n_active, n_used, many, floor)
        _pair(s.weight, b, size, n_active, length, floor)
        for i in range(n_active):
            u = b.node[b.place[i]]
            for y in range(best):
                if b.partner[i, y] >= 0:
                    v = b.node[b.place[b.partner[i, y]]]
                    found[n_found] = np.int64(min(u, v)) * n_nodes + max(u, v)
                    n_found += 1
    return found[:n_found]


@serial
def _room(s, order, block, best):
    """The arrays of a `Block`, large enough for every block of the order."""
    n_topics = len(s.weight)
    n_entries = 0
    for first in range(0, len(order), block):
        size = 0
        for v in order[first : first + block]:
            size += s.indptr[v + 1] - s.indptr[v]
        n_entries = max(n_entries, size)
    return Block(
        np.empty(block, np.int32),
        np.empty(block + 1, np.int32),
        np.empty(n_entries, np.int32),
        np.empty(n_entries, np.int32),
        np.empty(n_entries, np.int32),
        np.zeros(n_topics, np.int32),
        np.zeros(n_topics, np.int32),
        np.empty(n_topics, np.int32),
        np.empty(2 * block, np.int32),
        np.empty(n_topics, np.int32),
        np.empty(n_topics, np.int32),
        np.empty(n_topics, np.int32),
        np.empty(n_topics, np.int32),
        np.empty(n_entries, np.int32),
        np.empty(n_entries, np.int32),
        np.empty(n_topics, np.int32),
        np.empty((COMMON * n_entries // max(min(block, len(order)), 1) + 1, block), np.int32),
        np.zeros(block, np.int32),
        np.empty(block, np.int32),
        np.empty((block, best), np.int64),
        np.empty((block, best), np.int32),
    )


@borrowing
def _gather(s, b, order, mark, seen):
    """Take the nodes of a block and their open topics. Returns how many nodes there are, and how many topics."""
    length, at, n_used = 0, 0, 0
    for v in order:
        if seen[v] >= mark:
            continue
        seen[v] = mark
        b.node[length] = v
        b.start[length] = at
        length += 1
        for e in range(s.indptr[v], s.indptr[v + 1]):
            t = s.topics[e]
            if s.outside[t] == 0:
                continue
            inside = s.label[e] == s.largest[t]
            b.topic[at] = t
            b.own[at] = INSIDE if inside else s.label[e]
            at += 1
            if b.members[t] == 0:
                b.used[n_used] = t
                n_used += 1
            b.members[t] += 1
            b.outsiders[t] += not inside
    b.start[length] = at
    return length, n_used


@borrowing
def _arrange(s, b, length, floor):
    """Put the nodes in the order of counting. Returns how many have hope, and how many of these are active.

    Active ones, which are outsiders somewhere, come first. A node of which no partner is worth ``floor`` is left out.
    """
    n_active, n_passive = 0, 0
    for z in range(length):
        gains, hope = 0, 0
        for k in range(b.start[z], b.start[z + 1]):
            t = b.topic[k]
            inside = b.own[k] == INSIDE
            gains += 0 if inside else s.weight[t]
            hope += s.weight[t] if (b.outsiders[t] if inside else b.members[t] - 1) > 0 else 0
        if hope < floor:
            for k in range(b.start[z], b.start[z + 1]):
                b.members[b.topic[k]] -= 1
                b.outsiders[b.topic[k]] -= b.own[k] != INSIDE
        elif gains > 0:
            b.place[n_active] = z
            n_active += 1
        else:
            b.place[length + n_passive] = z
            n_passive += 1
    for y in range(n_passive):
        b.place[n_active + y] = b.place[length + y]
    return n_active + n_passive, n_active


@borrowing
def _list_members(b, size, n_active, n_used, many, floor):
    """List the members of each topic, and its row if it is common among ``many``; forget the last block's partners."""
    at, n_rows = 0, 0
    for k in range(n_used):
        t = b.used[k]
        b.out[t] = b.out_end[t] = at
        b.within[t] = b.within_end[t] = at + b.outsiders[t]
        at += b.members[t]
        b.row[t] = ABSENT
        if b.members[t] * COMMON > many:
            b.row[t] = n_rows
            for j in range(size):
                b.rows[n_rows, j] = ABSENT
            n_rows += 1
        b.members[t], b.outsiders[t] = 0, 0
    for i in range(size):
        z = b.place[i]
        for k in range(b.start[z], b.start[z + 1]):
            t = b.topic[k]
            if b.own[k] == INSIDE:
                b.member[b.within_end[t]] = i
                b.within_end[t] += 1
            else:
                b.member[b.out_end[t]] = i
                b.home[b.out_end[t]] = b.own[k]
                b.out_end[t] += 1
            if b.row[t] >= 0:
                b.rows[b.row[t], i] = b.own[k]
        b.bar[i] = floor if i < n_active else NEVER
        for y in range(b.top.shape[1]):
            b.top[i, y] = np.int64(floor) * len(b.bar)
            b.partner[i, y] = -1


@borrowing
def _pair(weight, b, size, n_active, length, floor):
    """Count what each pair of the block contributes, and offer it to both its nodes as one of their best partners."""
    left, row, own, topic, worth = b.left, b.row, b.own, b.topic, b.worth
    for i in range(n_active):
        begin, end, rest = b.start[b.place[i]], b.start[b.place[i] + 1], size - i - 1
        hope, later = 0, 0
        for k in range(begin, end):
            t = topic[k]
            inside = own[k] == INSIDE
            b.within[t] += inside
            b.out[t] += not inside
            left[k] = b.out_end[t] - b.out[t] + (0 if inside else b.within_end[t] - b.within[t])
            hope += weight[t] if left[k] > 0 else 0
            if row[t] >= 0 and left[k] * COMMON > rest:
                left[k] = IN_A_ROW
                later += weight[t]
        if hope < floor:
            continue
        for k in range(begin, end):
            t = topic[k]
            if left[k] <= 0:
                continue
            if own[k] == INSIDE:
                _count(b.member, b.out[t], b.out_end[t], weight[t], worth)
            else:
                _count_others(b.member, b.home, b.out[t], b.out_end[t], own[k], weight[t], worth)
                _count(b.member, b.within[t], b.within_end[t], weight[t], worth)
        if later > 0 and _highest(worth, i + 1, size) + later >= floor:
            for k in range(begin, end):
                if left[k] == IN_A_ROW:
                    _count_row(b.rows, row[topic[k]], i + 1, size, own[k], weight[topic[k]], worth)
        _offer(i, size, length, worth, b.place, b.bar, b.top, b.partner)
        _clear(worth, i + 1, size)


# Indices of the next two are unsigned: Numba looks whether a signed one is negative, which takes as long as the rest.
@borrowing
def _count(member, first, last, weight, worth):
    """Add a topic's weight to what the members from ``first`` to ``last`` are worth."""
    for q in range(np.uint64(first), np.uint64(last)):
        worth[np.uint32(member[q])] += weight


@borrowing
def _count_others(member, home, first, last, own, weight, worth):
    """As `_count`, for those members alone that lie in another component than ``own``."""
    for q in range(np.uint64(first), np.uint64(last)):
        worth[np.uint32(member[q])] += weight if home[q] != own else np.int32(0)


@borrowing
def _count_row(rows, row, first, size, own, weight, worth):
    """As `_count_others`, from the components of all nodes: ABSENT for a node that does not want the topic."""
    for j in range(np.uint64(first), np.uint64(size)):
        worth[j] += weight if (rows[row, j] != own) & (rows[row, j] != ABSENT) else np.int32(0)


@borrowing
def _clear(worth, first, size):
    for j in range(np.uint64(first), np.uint64(size)):
        worth[j] = 0


@borrowing
def _highest(worth, first, size):
    highest = np.int32(0)
    for j in range(np.uint64(first), np.uint64(size)):
        highest = max(highest, worth[j])
    return highest


@borrowing
def _offer(i, size, length, worth, place, bar, top, partner):
    """Offer the links of node ``i`` with later ones to the best partners of both."""
    wanted, low = np.int32(0), bar[i]
    for j in range(np.uint64(i + 1), np.uint64(size)):
        wanted += np.int32(worth[j] >= min(low, bar[j]))
    if wanted == 0:
        return
    for j in range(np.uint64(i + 1), np.uint64(size)):
        if worth[j] >= bar[i]:
            _take(i, j, worth[j], length, place, bar, top, partner)
        if worth[j] >= bar[j]:
            _take(j, i, worth[j], length, place, bar, top, partner)


@borrowing
def _take(i, j, value, length, place, bar, top, partner):
    """Put ``j`` in the place of the least of the best partners of ``i``, if it is better: the sooner of equal ones."""
    block, best = top.shape
    ahead = place[j] - place[i] + (length if place[j] < place[i] else 0)
    key = np.int64(value) * block + block - ahead
    lowest = 0
    for y in range(1, best):
        if top[i, y] < top[i, lowest]:
            lowest = y
    if key <= top[i, lowest]:
        return
    top[i, lowest] = key
    partner[i, lowest] = j
    least = top[i, 0]
    for y in range(1, best):
        least = min(least, top[i, y])
    bar[i] = least // block


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
