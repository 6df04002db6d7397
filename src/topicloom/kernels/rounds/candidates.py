"""Candidate links: for each node of a block, the partners in it with which a link has the highest contribution."""

import numpy as np

from topicloom.kernels.jit import borrowing, serial

# A topic that more than 1 / COMMON of a block want is counted only for nodes whose other topics leave hope, and for all
# nodes of the block in a row: that takes less than going through its members.
COMMON = 8
NEVER = np.int32(2**31 - 1)
ABSENT, INSIDE = np.int32(-1), np.int32(-2)


@serial
def block_candidates(s, order, block, best, floor):
    """Candidate links of an order that is cut into blocks, as ``u * nodes + v`` with u < v: int64, with repeats.

    For each node that lies outside of the largest component of some open topic, the ``best`` partners of its block by
    weighted contribution, if that is at least ``floor``. Of equal ones those that follow the node soonest in the block,
    the first after the last. A node that stands in a block several times counts once. Each pair of a block is counted
    once, topic by topic: O(sum over its topics of the square of their members there).
    """
    n_nodes, n_topics = len(s.indptr) - 1, len(s.weight)
    found = np.empty(len(order) * best, np.int64)
    n_found = 0
    used = np.empty(n_topics, np.int32)
    members, outsiders = np.zeros(n_topics, np.int32), np.zeros(n_topics, np.int32)
    # of the members of a topic: the next outsider and the next insider, where both end, and the row if there is one
    out, out_end = np.empty(n_topics, np.int32), np.empty(n_topics, np.int32)
    within, within_end = np.empty(n_topics, np.int32), np.empty(n_topics, np.int32)
    row, rows = np.empty(n_topics, np.int32), np.empty((0, block), np.int32)
    member, home = np.empty(0, np.int32), np.empty(0, np.int32)
    # the open topics of the nodes of a block, and their components there: INSIDE for the largest one
    ptr, topic, own = np.empty(block + 1, np.int32), np.empty(0, np.int32), np.empty(0, np.int32)
    here, seen = np.empty(block, np.int32), np.full(n_nodes, -1, np.int64)
    place, passive = np.empty(block, np.int32), np.empty(block, np.int32)
    worth, bar = np.zeros(block, np.int32), np.empty(block, np.int32)
    top, partner = np.empty((block, best), np.int64), np.empty((block, best), np.int32)
    for first in range(0, len(order), block):
        length, n_entries = 0, 0
        for v in order[first : first + block]:
            if seen[v] < first:
                seen[v] = first
                here[length] = v
                length += 1
                n_entries += s.indptr[v + 1] - s.indptr[v]
        if n_entries > len(topic):
            n_entries += n_entries // 4
            topic, own = np.empty(n_entries, np.int32), np.empty(n_entries, np.int32)
            member, home = np.empty(n_entries, np.int32), np.empty(n_entries, np.int32)
        n_used, at = 0, 0
        for z in range(length):
            v = here[z]
            ptr[z] = at
            for e in range(s.indptr[v], s.indptr[v + 1]):
                t = s.topics[e]
                if s.outside[t] == 0:
                    continue
                topic[at] = t
                inside = s.label[e] == s.largest[t]
                own[at] = INSIDE if inside else s.label[e]
                at += 1
                if members[t] == 0:
                    used[n_used] = t
                    n_used += 1
                members[t] += 1
                outsiders[t] += not inside
        ptr[length] = at
        size, n_passive = 0, 0
        for z in range(length):
            gains = _gains_if_hopeful(topic, own, ptr[z], ptr[z + 1], s.weight, members, outsiders, floor)
            if gains > 0:
                place[size] = z
                size += 1
            elif gains == 0:
                passive[n_passive] = z
                n_passive += 1
        n_active = size
        for z in range(n_passive):
            place[size] = passive[z]
            size += 1
        at, n_rows = 0, 0
        for k in range(n_used):
            t = used[k]
            out[t] = out_end[t] = at
            within[t] = within_end[t] = at + outsiders[t]
            at += members[t]
            row[t] = n_rows if members[t] * COMMON > size else -1
            n_rows += row[t] >= 0
            members[t], outsiders[t] = 0, 0
        if n_rows > len(rows):
            rows = np.empty((n_rows + n_rows // 4, block), np.int32)
        rows[:n_rows] = ABSENT
        for i in range(size):
            z = place[i]
            for k in range(ptr[z], ptr[z + 1]):
                t = topic[k]
                if own[k] == INSIDE:
                    member[within_end[t]] = i
                    within_end[t] += 1
                else:
                    member[out_end[t]] = i
                    home[out_end[t]] = own[k]
                    out_end[t] += 1
                if row[t] >= 0:
                    rows[row[t], i] = own[k]
            bar[i] = floor if i < n_active else NEVER
            for y in range(best):
                top[i, y] = np.int64(floor) * block
                partner[i, y] = -1
        for i in range(n_active):
            z = place[i]
            rest = size - i - 1
            hope, later = 0, 0
            for k in range(ptr[z], ptr[z + 1]):
                t = topic[k]
                left = out_end[t] - out[t]
                if own[k] == INSIDE:
                    within[t] += 1
                else:
                    out[t] += 1
                    left += within_end[t] - within[t] - 1
                if left > 0:
                    hope += s.weight[t]
                    if row[t] >= 0 and left * COMMON > rest:
                        later += s.weight[t]
            if hope < floor:
                continue
            for k in range(ptr[z], ptr[z + 1]):
                t = topic[k]
                inside = own[k] == INSIDE
                left = out_end[t] - out[t] + (0 if inside else within_end[t] - within[t])
                if row[t] >= 0 and left * COMMON > rest:
                    continue
                if inside:
                    _count(member, out[t], out_end[t], s.weight[t], worth)
                else:
                    _count_others(member, home, out[t], out_end[t], own[k], s.weight[t], worth)
                    _count(member, within[t], within_end[t], s.weight[t], worth)
            if later > 0 and _highest(worth, i + 1, size) + later >= floor:
                for k in range(ptr[z], ptr[z + 1]):
                    t = topic[k]
                    left = out_end[t] - out[t] + (0 if own[k] == INSIDE else within_end[t] - within[t])
                    if row[t] >= 0 and left * COMMON > rest:
                        _count_row(rows[row[t]], i + 1, size, own[k], s.weight[t], worth)
            _offer(i, size, length, worth, place, bar, top, partner)
            _clear(worth, i + 1, size)
        for i in range(n_active):
            u = here[place[i]]
            for y in range(best):
                if partner[i, y] >= 0:
                    v = here[place[partner[i, y]]]
                    found[n_found] = np.int64(min(u, v)) * n_nodes + max(u, v)
                    n_found += 1
    return found[:n_found]


@borrowing
def _gains_if_hopeful(topic, own, first, last, weight, members, outsiders, floor):
    """Weight of the topics in which a node lies outside of the largest component, or -1 if no partner is worth floor.

    Such a node leaves the counts of its topics: no pair of the block needs it.
    """
    gains, hope = 0, 0
    for k in range(first, last):
        t = topic[k]
        gains += 0 if own[k] == INSIDE else weight[t]
        hope += weight[t] if (outsiders[t] if own[k] == INSIDE else members[t] - 1) > 0 else 0
    if hope >= floor:
        return gains
    for k in range(first, last):
        members[topic[k]] -= 1
        outsiders[topic[k]] -= own[k] != INSIDE
    return -1


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
def _count_row(home, first, size, own, weight, worth):
    """As `_count_others`, from the labels of all nodes of the block, -1 where a node does not want the topic."""
    for j in range(np.uint64(first), np.uint64(size)):
        worth[j] += weight if (home[j] != own) & (home[j] != ABSENT) else np.int32(0)


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
    """Offer the pairs of node ``i`` with those after it to the best partners of both."""
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
    block, best = len(bar), top.shape[1]
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
