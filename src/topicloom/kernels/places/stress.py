"""Stress layout by stochastic gradient descent from a few pivots (Ortmann et al., 2017; Zheng et al., 2018)."""

import numpy as np

from topicloom.kernels.jit import serial


@serial
def reach(start, near, n, pivots, first):
    """Choose pivots far from each other, and count the hops from each to every node.

    Parameters
    ----------
    start, near : int64 arrays
        The links, CSR by node. All nodes are connected.
    n, pivots : int
        Numbers of nodes and of pivots.
    first : int
        The first pivot.

    Returns
    -------
    pivot : (pivots,) int64 array
    distance : (pivots, n) int32 array
        Hops.
    region : (n,) int64 array
        Number of the nearest pivot.

    Cost: O(pivots · (nodes + links)).
    """
    distance = np.full((pivots, n), -1, np.int32)
    queue = np.empty(n, np.int64)
    nearest = np.full(n, 1 << 30)
    region, pivot = np.zeros(n, np.int64), np.empty(pivots, np.int64)
    p = first
    for k in range(pivots):
        pivot[k] = p
        distance[k, p] = 0
        queue[0] = p
        head, tail = 0, 1
        while head < tail:
            v = queue[head]
            head += 1
            for e in range(start[v], start[v + 1]):
                w = near[e]
                if distance[k, w] < 0:
                    distance[k, w] = distance[k, v] + 1
                    queue[tail] = w
                    tail += 1
        for v in range(n):
            if distance[k, v] < nearest[v]:
                nearest[v] = distance[k, v]
                region[v] = k
        p = np.argmax(nearest)
    return pivot, distance, region


@serial
def terms(start, near, n, pivot, distance, region):
    """List the pairs whose distance in the picture should be their hops: links, and every node with every pivot.

    A pivot pulls as often as there are nodes of its region within half the way.

    Parameters
    ----------
    start, near : int64 arrays
        The links, CSR by node.
    n : int
    pivot, distance, region
        As `reach` returns them.

    Returns
    -------
    i, j : int64 arrays
        The pairs.
    hops, wi, wj : float64 arrays
        What their distance should be, and the weights with which either end is moved.

    Cost: O(pivots · nodes + links).
    """
    pivots = len(pivot)
    is_pivot = np.zeros(n, np.bool_)
    for p in pivot:
        is_pivot[p] = True
    deepest = 0
    for k in range(pivots):
        deepest = max(deepest, distance[k].max())
    within = np.zeros((pivots, deepest + 2))
    for v in range(n):
        within[region[v], distance[region[v], v]] += 1.0
    for k in range(pivots):
        for d in range(1, deepest + 2):
            within[k, d] += within[k, d - 1]
    room = len(near) // 2 + pivots * n
    i, j = np.empty(room, np.int64), np.empty(room, np.int64)
    hops, wi, wj = np.empty(room), np.empty(room), np.empty(room)
    c = 0
    for v in range(n):
        for e in range(start[v], start[v + 1]):
            if near[e] > v:
                i[c], j[c], hops[c], wi[c], wj[c] = v, near[e], 1.0, 1.0, 1.0
                c += 1
    for k in range(pivots):
        p = pivot[k]
        for v in range(n):
            d = distance[k, v]
            if d > 1 and not (is_pivot[v] and v < p):
                i[c], j[c], hops[c] = v, p, d
                wi[c] = within[k, d // 2] / (d * d)
                wj[c] = 1.0 / (d * d) if is_pivot[v] else 0.0
                c += 1
    return i[:c], j[:c], hops[:c], wi[:c], wj[:c]


@serial
def descend(x, i, j, hops, wi, wj, steps, keys):
    """Move the two ends of each pair towards their distance, in an order that is shuffled for every step.

    Parameters
    ----------
    x : (n, 2) float64 array
        Places; moved.
    i, j, hops, wi, wj
        As `terms` returns them.
    steps : float64 array
        How far the ends of a pair of weight 1 go in each round.
    keys : uint64 array
        A seed, not 0, for the order of each round.

    Cost: O(rounds · pairs).
    """
    count = len(i)
    order = np.arange(count)
    for r in range(len(steps)):
        state = keys[r]
        for k in range(count - 1, 0, -1):
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
            q = np.int64(state % np.uint64(k + 1))
            order[k], order[q] = order[q], order[k]
        for k in range(count):
            p = order[k]
            a, b = i[p], j[p]
            dx, dy = x[a, 0] - x[b, 0], x[a, 1] - x[b, 1]
            length = np.sqrt(dx * dx + dy * dy) + 1e-9
            s = (length - hops[p]) / (2.0 * length)
            sa, sb = min(wi[p] * steps[r], 1.0) * s, min(wj[p] * steps[r], 1.0) * s
            x[a, 0] -= sa * dx
            x[a, 1] -= sa * dy
            x[b, 0] += sb * dx
            x[b, 1] += sb * dy
