"""GM2 with equals in lists, for experiments: Algorithm 1 of the kTCO paper, slow and plain.

`topicloom.gm2` breaks ties by a circle, so that links spread. Here pairs of nodes lie in a list for each estimate, the
newest first, as in `literal_greedy_merge` and `printed_low_oda`; the paper says nothing on ties.
"""

import numba
import numpy as np

from topicloom_papers.printed.literal_low_oda import best_pair, first_keys, highest_keys, lower_key

NONE = -1


@numba.njit(cache=True)
def printed_gm2(indptr, topics, n_topics):
    """Links (m, 2) int32 in the order added. Links · topics numbers and n² keys in memory."""
    n = len(indptr) - 1
    wants = np.zeros((n, n_topics), np.bool_)
    for v in range(n):
        wants[v, topics[indptr[v] : indptr[v + 1]]] = True
    key, clock = first_keys(indptr, topics, wants)
    bound, at = highest_keys(key)
    degree = np.zeros(n, np.int64)
    most = 2 * len(topics)  # a topic with s subscribers takes fewer than 2 s links
    links = np.empty((most, 2), np.int32)
    ways = np.empty((n, n), np.int32)  # the links of a node
    block = np.full((n_topics, most), NONE, np.int32)  # of a link, in each topic that both ends want
    place = np.full(most, NONE, np.int32)  # of a block on the path at hand
    m = 0
    while True:
        v, w = best_pair(key, bound, at, degree, n)  # no degree reaches n: any pair
        if v < 0:
            return links[:m]
        links[m, 0], links[m, 1] = v, w
        for t in topics[indptr[v] : indptr[v + 1]]:
            if wants[w, t]:
                path = _blocks_between(v, w, wants[:, t], links, ways, degree, block[t])
                clock = _merge(key, links[: m + 1], block[t], path, place, n, clock)
        key[v, w] = 0
        ways[v, degree[v]] = ways[w, degree[w]] = m
        degree[v] += 1
        degree[w] += 1
        m += 1


@numba.njit(cache=True)
def _blocks_between(v, w, wants, links, ways, degree, block):
    """List the blocks of a topic along a path from w to v. The list is empty if there is no path."""
    came = np.full(len(degree), NONE, np.int32)  # over which link
    queue = np.empty(len(degree), np.int32)
    queue[0] = v
    at, end = 0, 1
    while at < end and came[w] == NONE:
        x = queue[at]
        at += 1
        for e in ways[x, : degree[x]]:
            y = links[e, 0] + links[e, 1] - x
            if y != v and wants[y] and came[y] == NONE:
                came[y] = e
                queue[end] = y
                end += 1
    path = np.empty(len(degree), np.int32)
    count = 0
    x = w
    while x != v and came[x] != NONE:
        e = came[x]
        if count == 0 or path[count - 1] != block[e]:
            path[count] = block[e]
            count += 1
        x = links[e, 0] + links[e, 1] - x
    return path[:count]


@numba.njit(cache=True)
def _merge(key, links, block, path, place, n, clock):
    """Merge the blocks on the path, and the ends of the last link, into one. New pairs in it lose one estimate."""
    m = len(links) - 1
    v, w = links[m]
    block[m] = m
    if len(path) == 0:
        return lower_key(key, v, w, clock)
    if len(path) == 1:
        block[m] = path[0]
        return clock
    # Where on the path a node's blocks are: in one place, or in two that follow each other.
    first, last = np.full(n, NONE, np.int32), np.full(n, NONE, np.int32)
    for k in range(len(path)):
        place[path[k]] = k
    for e in range(m):
        if block[e] != NONE and place[block[e]] != NONE:
            k = place[block[e]]
            block[e] = m
            for x in links[e]:
                first[x] = k if first[x] == NONE else min(first[x], k)
                last[x] = max(last[x], k)
    place[path] = NONE
    members = np.flatnonzero(first != NONE)
    for a in range(len(members)):
        for b in range(a + 1, len(members)):
            p, q = members[a], members[b]
            if first[p] > last[q] or first[q] > last[p]:
                clock = lower_key(key, p, q, clock)
    return clock
