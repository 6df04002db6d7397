"""The loop of the greedy engine: find the next link by the rule, add it, until nothing is left to gain."""

from math import inf

import numpy as np

from topicloom.kernels.greedy.dense import bar_dense, build_dense, dense_next, dense_pair, mirror
from topicloom.kernels.greedy.joining import link
from topicloom.kernels.greedy.listed import build_listed, listed_next
from topicloom.kernels.greedy.sparse import build_sparse, build_sweep, note_entered, restart, sparse_next, sparse_pair
from topicloom.kernels.greedy.vectors import GROUP
from topicloom.kernels.jit import borrowing, serial

# The rules, as values of rho: a link that spares the maximum degree is taken if it contributes at least
# 1 / rho of what the best one does.
GREEDY_MERGE = 0.0
MINMAX_ODA = inf

DENSE, SPARSE, LISTED = 0, 1, 2


@serial
def grow(c, none, place, n_places, search, zero, pairs, barred, degree, max_degree, rho):
    """Links that the rule adds, as pairs of node numbers (m, 2) int32 in order.

    ``c`` is the state to start from, `Components` or `Blocks`; ``none`` is one of the same kind over nothing. Nodes are
    numbered along the circle, ``place`` (int32) says where on it; with the dense search they are the whole circle.
    ``pairs`` (int32, by rank) are the candidates of the listed search, ``barred`` (int64 ranks, ascending) links that
    the other two may not add; ``zero`` gives the dtype of the dense search's bounds. Overwrites ``c`` and ``degree``.
    """
    n = len(place)
    # The search that is not used is built over nothing.
    dense = build_dense(c if search == DENSE else none, zero)
    bar_dense(dense, barred)
    sparse = build_sparse(c if search == SPARSE else none, place if search == SPARSE else place[:0], n_places, barred)
    listed = build_listed(c, pairs)
    sweep = build_sweep(c if search == SPARSE else none, sparse, sparse.bound)
    calm_sweep = build_sweep(c if search == SPARSE and rho > 0 else none, sparse, sparse.bound.copy())

    links = np.empty((c.pending[0], 2), np.int32)
    n_links = 0
    capped = np.zeros(2 * n + GROUP, np.uint8)
    nobody = np.zeros(2 * n + GROUP, np.uint8)
    if rho > 0:
        _cap(capped, degree, max_degree)
    best = np.zeros(2, np.int64)
    for v in range(n):
        best[0] = max(best[0], c.node_ptr[v + 1] - c.node_ptr[v])
    calm = best.copy()  # the best link among those that leave the maximum degree as it is
    while c.pending[0] > 0:
        found = 0
        if rho > 0:
            least = 1
            if rho < inf:
                if not _next(search, c, dense, sparse, listed, sweep, best, nobody, 1):
                    break
                least = _least_worth(best[0], rho)
            found = _next(search, c, dense, sparse, listed, calm_sweep, calm, capped, least)
        if found:
            u, v = _pair(search, n, dense, sparse, listed, calm_sweep, calm)
        else:
            if not _next(search, c, dense, sparse, listed, sweep, best, nobody, 1):
                break
            u, v = _pair(search, n, dense, sparse, listed, sweep, best)
        links[n_links, 0], links[n_links, 1] = u, v
        n_links += 1
        _add(search, c, dense, sparse, u, v)
        if rho > 0:
            degree[u] += 1
            degree[v] += 1
            if max(degree[u], degree[v]) > max_degree:
                max_degree += 1
                _cap(capped, degree, max_degree)
                calm[0], calm[1] = best[0], 0
                restart(sparse, calm_sweep)
            else:
                for x in (u, v):
                    if degree[x] == max_degree:
                        capped[x] = 1
                        capped[x + n] = 1
    return links[:n_links]


@serial
def _least_worth(best, rho):
    """The smallest contribution w with w * rho >= best."""
    least = max(int(best / rho) - 1, 1)
    while least * rho < best:
        least += 1
    return least


@borrowing
def _cap(capped, degree, max_degree):
    n = len(degree)
    for v in range(n):
        capped[v] = degree[v] >= max_degree
        capped[v + n] = capped[v]


@serial
def _next(search, c, dense, sparse, listed, sweep, cursor, capped, floor):
    if search == DENSE:
        return dense_next(c, dense, cursor, capped, floor)
    if search == SPARSE:
        return sparse_next(c, sparse, sweep, cursor, capped, floor)
    return listed_next(c, listed, cursor, capped, floor)


@borrowing
def _pair(search, n, dense, sparse, listed, sweep, cursor):
    """Node numbers of the pair that a search stopped at."""
    if search == DENSE:
        return dense_pair(n, cursor[1])
    if search == SPARSE:
        u, v = sparse_pair(sparse, sweep)
        return np.int64(u), np.int64(v)
    return np.int64(listed.pairs[cursor[1], 0]), np.int64(listed.pairs[cursor[1], 1])


@borrowing
def _add(search, c, dense, sparse, u, v):
    """Add a link between u and v in every topic that both want."""
    k, k_end = c.node_ptr[u], c.node_ptr[u + 1]
    m, m_end = c.node_ptr[v], c.node_ptr[v + 1]
    while k < k_end and m < m_end:
        t = c.topic[k]
        if t < c.topic[m]:
            k += 1
        elif t > c.topic[m]:
            m += 1
        else:
            n_changed = link(c, t, c.entry[k], c.entry[m])
            if search == DENSE:
                mirror(dense, c.member, c.changed, n_changed, t)
            elif search == SPARSE and n_changed:
                note_entered(c, sparse, t, n_changed)
            k += 1
            m += 1
