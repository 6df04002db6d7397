"""Low-ODA with equals in lists, for experiments: Algorithm 2 of the shadows paper, slow and plain.

`topicloom.low_oda` breaks ties by a circle, so that links spread. The paper says nothing on ties. Here pairs of nodes
lie in a list for each contribution, the newest first, as in `literal_greedy_merge`: a pair that moves is put in front.
"""

import numba
import numpy as np

# A pair's key: its contribution above, its time in the list below. Keys only ever fall.
SHIFT = 40


@numba.njit(cache=True)
def printed_low_oda(indptr, topics, n_topics, rho):
    """Links (m, 2) int32 in the order added. O(links · nodes) and more, n² keys in memory."""
    n = len(indptr) - 1
    wants = np.zeros((n, n_topics), np.bool_)
    # Each topic's components as chains of members: first (the label), next, last.
    first = np.full((n, n_topics), -1, np.int32)
    following = np.full((n, n_topics), -1, np.int32)
    last = np.full((n, n_topics), -1, np.int32)
    for v in range(n):
        for t in topics[indptr[v] : indptr[v + 1]]:
            wants[v, t] = True
            first[v, t] = last[v, t] = v
    key, clock = first_keys(indptr, topics, wants)
    # No key in a row exceeds its bound, and `at` is where it was found: of all pairs, and of those that do not raise
    # the maximum degree.
    bound, at = highest_keys(key)
    low_bound, low_at = bound.copy(), at.copy()
    degree = np.zeros(n, np.int64)
    highest = 0
    links = np.empty((len(topics), 2), np.int32)
    m = 0
    while True:
        v, w = best_pair(key, bound, at, degree, n)  # no degree reaches n: any pair
        if v < 0:
            return links[:m]
        x, y = best_pair(key, low_bound, low_at, degree, highest)
        if x >= 0 and (key[x, y] >> SHIFT) * rho >= key[v, w] >> SHIFT:
            v, w = x, y
        links[m, 0], links[m, 1] = v, w
        m += 1
        degree[v] += 1
        degree[w] += 1
        if max(degree[v], degree[w]) > highest:
            highest = max(degree[v], degree[w])
            low_bound[:], low_at[:] = bound, at
        key[v, w] = 0
        for t in topics[indptr[v] : indptr[v + 1]]:
            if wants[w, t] and first[v, t] != first[w, t]:
                clock = _merge(key, first[:, t], following[:, t], last[:, t], first[v, t], first[w, t], clock)


@numba.njit(cache=True)
def first_keys(indptr, topics, wants):
    """The keys of all pairs at the start, and the time after."""
    n = len(indptr) - 1
    key = np.zeros((n, n), np.int64)
    clock = 0
    for v in range(n):
        for w in range(v + 1, n):
            shared = 0
            for t in topics[indptr[v] : indptr[v + 1]]:
                shared += wants[w, t]
            if shared:
                clock += 1
                key[v, w] = (shared << SHIFT) + clock
    return key, clock


@numba.njit(cache=True)
def highest_keys(key):
    """The highest key in each row, and where it is."""
    n = len(key)
    highest, at = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for v in range(n):
        at[v] = key[v].argmax()
        highest[v] = key[v, at[v]]
    return highest, at


@numba.njit(cache=True)
def best_pair(key, bound, at, degree, limit):
    """The pair with the highest key whose ends have degrees below the limit. Returns (-1, -1) if there is none."""
    n = len(key)
    best, v, w = 0, -1, -1
    for x in range(n):
        if degree[x] >= limit or bound[x] <= best:
            continue
        if key[x, at[x]] != bound[x] or degree[at[x]] >= limit:
            bound[x] = 0
            for y in range(x + 1, n):
                if key[x, y] > bound[x] and degree[y] < limit:
                    bound[x], at[x] = key[x, y], y
        if bound[x] > best:
            best, v, w = bound[x], x, at[x]
    return v, w


@numba.njit(cache=True)
def lower_key(key, x, y, clock):
    """A pair loses one contribution, and comes to the front of another list. Returns the time after."""
    p, q = min(x, y), max(x, y)
    if key[p, q]:
        clock += 1
        left = (key[p, q] >> SHIFT) - 1
        key[p, q] = (left << SHIFT) + clock if left else 0
    return clock


@numba.njit(cache=True)
def _merge(key, first, following, last, a, b, clock):
    """Two components of a topic become one: pairs between them lose one contribution, and move to another list."""
    x = a
    while x >= 0:
        y = b
        while y >= 0:
            clock = lower_key(key, x, y, clock)
            y = following[y]
        x = following[x]
    y = b
    while y >= 0:
        first[y] = a
        y = following[y]
    following[last[a]] = b
    last[a] = last[b]
    return clock
