"""The baseline: Greedy Merge as Algorithms 1-3 of the paper print it (Chockler et al., PODC'07), in numba.

Every pair of nodes that share a topic is an entry of LINKCONTRIB, doubly linked in the bucket of its present
contribution. Adding a link moves, at once, every pair whose contribution falls. Nothing is lazy here.

One line is mended. Line 6 of Algorithm 3 goes through all topics that both ends want; here, topics in which the ends
are connected already are skipped. As printed, the line lowers contributions that such a topic no longer makes, and
some overlays come out not topic-connected (docs/errata.md, GM-1). An entry is three
int32 side by side (next, previous, bucket), so that moving it touches one cache line: 12 bytes per pair of nodes.

It is what the studies and the bench measure against, not a method: ties are as they fall, which makes hubs.
"""

import numba
import numpy as np

ABSENT = -1
NEXT, PREVIOUS, BUCKET = 0, 1, 2


@numba.njit(cache=True)
def pair_index(n, v, w):
    """Number of the pair v < w among the n (n - 1) / 2 pairs."""
    return v * (2 * n - v - 1) // 2 + w - v - 1


@numba.njit(cache=True)
def _push(head, entries, pair, i):
    entries[pair, NEXT] = head[i]
    entries[pair, PREVIOUS] = ABSENT
    entries[pair, BUCKET] = i
    if head[i] != ABSENT:
        entries[head[i], PREVIOUS] = pair
    head[i] = pair


@numba.njit(cache=True)
def _unlink(head, entries, pair):
    following, previous = entries[pair, NEXT], entries[pair, PREVIOUS]
    if previous == ABSENT:
        head[entries[pair, BUCKET]] = following
    else:
        entries[previous, NEXT] = following
    if following != ABSENT:
        entries[following, PREVIOUS] = previous


def literal_greedy_merge(indptr, topics, n_topics):
    """Links (m, 2) int32 in the order added."""
    return counted_greedy_merge(indptr, topics, n_topics)[0]


@numba.njit(cache=True)
def counted_greedy_merge(indptr, topics, n_topics):
    """Run GM. Returns links (m, 2) in the order added, contributions counted (Alg. 2) and lowered (Alg. 3)."""
    counted, lowered = 0, 0
    n = len(indptr) - 1
    n_pairs = n * (n - 1) // 2
    largest = 0
    for v in range(n):
        largest = max(largest, indptr[v + 1] - indptr[v])

    # Algorithm 1: NODES[v][t] as a number per subscription, and the list of members that it stands for.
    topic_ptr = np.zeros(n_topics + 1, np.int64)
    for t in topics:
        topic_ptr[t + 1] += 1
    topic_ptr = np.cumsum(topic_ptr)
    member = np.empty(len(topics), np.int32)
    entry = np.empty(len(topics), np.int32)
    at = topic_ptr[:-1].copy()
    for v in range(n):
        for k in range(indptr[v], indptr[v + 1]):
            entry[k] = at[topics[k]]
            member[entry[k]] = v
            at[topics[k]] += 1
    nodes = np.arange(len(topics)).astype(np.int32)
    next_member = np.full(len(topics), ABSENT, np.int32)
    last_member = np.arange(len(topics)).astype(np.int32)

    # Algorithm 2.
    head = np.full(largest + 1, ABSENT, np.int32)
    entries = np.empty((n_pairs, 3), np.int32)
    shared = np.zeros(n, np.int32)
    for v in range(n):
        for k in range(indptr[v], indptr[v + 1]):
            for e in range(entry[k] + 1, topic_ptr[topics[k] + 1]):
                shared[member[e]] += 1
                counted += 1
        first = pair_index(n, v, v + 1)
        for w in range(v + 1, n):
            if shared[w] > 0:
                _push(head, entries, first + w - v - 1, shared[w])
            shared[w] = 0
    highest = largest

    # Algorithm 3.
    links = np.empty((len(topics), 2), np.int32)
    n_links = 0
    left = np.empty(n, np.int32)
    right = np.empty(n, np.int32)
    row_of = np.empty(n, np.int64)
    for v in range(n):
        row_of[v] = pair_index(n, v, v + 1) - v - 1
    while highest > 0 and head[highest] == ABSENT:
        highest -= 1
    while highest > 0:
        link = head[highest]
        v = _row(n, row_of, link)
        w = link - row_of[v]
        links[n_links, 0], links[n_links, 1] = v, w
        n_links += 1
        _unlink(head, entries, link)
        k, m = indptr[v], indptr[w]
        while k < indptr[v + 1] and m < indptr[w + 1]:
            if topics[k] < topics[m]:
                k += 1
                continue
            if topics[k] > topics[m]:
                m += 1
                continue
            a, b = nodes[entry[k]], nodes[entry[m]]
            k += 1
            m += 1
            if a == b:  # the line that is mended
                continue
            n_left, n_right = 0, 0
            e = a
            while e != ABSENT:
                left[n_left] = member[e]
                n_left += 1
                e = next_member[e]
            e = b
            while e != ABSENT:
                right[n_right] = member[e]
                n_right += 1
                nodes[e] = a
                e = next_member[e]
            lowered += n_left * n_right
            for x in range(n_left):
                for y in range(n_right):
                    p, q = left[x], right[y]
                    if p > q:
                        p, q = q, p
                    pair = row_of[p] + q
                    if pair != link:
                        i = entries[pair, BUCKET]
                        _unlink(head, entries, pair)
                        if i > 1:
                            _push(head, entries, pair, i - 1)
            next_member[last_member[a]] = b
            last_member[a] = last_member[b]
        while highest > 0 and head[highest] == ABSENT:
            highest -= 1
    return links[:n_links], counted, lowered


@numba.njit(cache=True)
def _row(n, row_of, pair):
    """The v of a pair number."""
    low, high = 0, n - 2
    while low < high:
        middle = (low + high + 1) // 2
        if row_of[middle] + middle + 1 <= pair:
            low = middle
        else:
            high = middle - 1
    return low
