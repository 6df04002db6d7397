"""The loop of the greedy engine: find the next link by the rule, add it, until nothing is left to gain.

The loop asks four things of a search, whichever it is: `Dense`, `Sparse` or `Listed`. Numba compiles `find`, `pair_at`,
`note_change` and `go_back` for the kind of search that they are given: the loop holds one search, not all three. Their
``walk`` is where a sparse search stands; the others need no more than the cursor.
"""

from math import inf

import numpy as np
from numba.extending import overload

from topicloom.kernels.greedy.dense import Dense, dense_next, dense_pair, mirror
from topicloom.kernels.greedy.joining import link
from topicloom.kernels.greedy.listed import Listed, listed_next
from topicloom.kernels.greedy.sparse import Sparse, note_entered, restart, sparse_next, sparse_pair
from topicloom.kernels.greedy.vectors import GROUP
from topicloom.kernels.jit import borrowing, serial
from topicloom.kernels.sorted_rows import shared

# The rules, as values of rho: a link that spares the maximum degree is taken if it contributes at least
# 1 / rho of what the best one does.
GREEDY_MERGE = 0.0
MINMAX_ODA = inf

# What is asked of the search: the best link; the best that spares the maximum degree; the best, to be taken.
BEST, CALM, LAST = 0, 1, 2


def grown_links(c, s, walk, calm_walk, most, degree, max_degree, rho):
    """Add links by the rule until nothing is left to gain.

    Parameters
    ----------
    c : Components or Blocks
        The state to start from. Overwritten.
    s : Dense, Sparse or Listed
        A search over it. Overwritten.
    walk, calm_walk : Sweep or None
        Where a sparse search stands, for all pairs and for those below the maximum degree.
    most : int
        No contribution is above it.
    degree : int64, one per node
        Overwritten.
    max_degree : int
        At the start.
    rho : float
        0 for the best link always, infinity to spare the maximum degree first, Low-ODA's rho between.

    Returns
    -------
    (m, 2) int32
        Node numbers, in the order added.

    Cost: that of the search, and O(topics of both ends) for each link.
    """
    n = len(degree)
    links = np.empty((c.pending[0], 2), np.int32)
    capped, nobody = np.zeros((2, 2 * n + GROUP), np.uint8)
    best = np.array([most, 0], np.int64)
    calm = best.copy()  # the best link among those that leave the maximum degree as it is
    n_links = grow(c, s, walk, calm_walk, links, capped, nobody, best, calm, degree, max_degree, rho)
    return links[:n_links]


@serial
def grow_listed(c, pairs, degree, max_degree, rho):
    """Add links of a list by the rule, inside a kernel. See `grown_links`.

    Parameters
    ----------
    c : Components
        Overwritten.
    pairs : (m, 2) int32
        By rank.
    degree : int64, one per node
        Overwritten.
    max_degree : int
    rho : float

    Returns
    -------
    (m, 2) int32
        Node numbers, in the order added.

    Cost: O(pairs) for each level of contribution.
    """
    n = len(degree)
    links = np.empty((c.pending[0], 2), np.int32)
    capped, nobody = np.zeros(2 * n + GROUP, np.uint8), np.zeros(2 * n + GROUP, np.uint8)
    best, calm = np.zeros(2, np.int64), np.zeros(2, np.int64)
    for v in range(n):
        best[0] = max(best[0], c.node_ptr[v + 1] - c.node_ptr[v])
    calm[0] = best[0]
    s = Listed(pairs, np.full(len(pairs), best[0], np.int32))
    return links[: grow(c, s, None, None, links, capped, nobody, best, calm, degree, max_degree, rho)]


def find(c, s, walk, cursor, capped, floor):
    """Move a search on to the first pair, in (level, rank) order, that has the level of the cursor.

    Parameters
    ----------
    c : Components or Blocks
    s : Dense, Sparse or Listed
    walk : Sweep or None
    cursor, capped, floor
        As for `dense_next`.

    Returns
    -------
    bool
        False when no pair of level ``floor`` or more remains.

    Cost: that of `dense_next`, `sparse_next` or `listed_next`.
    """
    if isinstance(s, Dense):
        return dense_next(c, s, cursor, capped, floor)
    if isinstance(s, Sparse):
        return sparse_next(c, s, walk, cursor, capped, floor)
    return listed_next(c, s, cursor, capped, floor)


def pair_at(s, walk, cursor):
    """Read the pair that a search stopped at.

    Parameters
    ----------
    s : Dense, Sparse or Listed
    walk : Sweep or None
    cursor : int64: level, position

    Returns
    -------
    u, v : int64
        Node numbers.

    Cost: O(1).
    """
    if isinstance(s, Dense):
        return dense_pair(len(s.wants), cursor[1])
    if isinstance(s, Sparse):
        return sparse_pair(s, walk)
    return np.int64(s.pairs[cursor[1], 0]), np.int64(s.pairs[cursor[1], 1])


def note_change(c, s, t, n_changed):
    """Tell a search that entries entered the giant of a topic, or left it.

    Parameters
    ----------
    c : Components or Blocks
        The first ``n_changed`` of ``c.changed`` are the entries.
    s : Dense, Sparse or Listed
        Changed in place.
    t : int
        The topic.
    n_changed : int

    Cost: O(n_changed); with the sparse search now and then O(subscribers of t).
    """
    if isinstance(s, Dense):
        mirror(s, c.member, c.changed, n_changed, t)
    elif isinstance(s, Sparse):
        note_entered(c, s, t, n_changed)


def go_back(s, walk):
    """Send a walk past capped nodes back to the top, because others are capped now.

    Parameters
    ----------
    s : Dense, Sparse or Listed
    walk : Sweep or None
        Changed in place.

    Cost: O(nodes) with the sparse search, else O(1).
    """
    if isinstance(s, Sparse):
        restart(s, walk)


# What numba compiles in the place of the four, by type; it wants plain functions here.


@overload(find, inline="always")
def _compiled_find(c, s, walk, cursor, capped, floor):
    def in_table(c, s, walk, cursor, capped, floor):
        return dense_next(c, s, cursor, capped, floor)

    def by_rows(c, s, walk, cursor, capped, floor):
        return sparse_next(c, s, walk, cursor, capped, floor)

    def in_list(c, s, walk, cursor, capped, floor):
        return listed_next(c, s, cursor, capped, floor)

    return {Dense: in_table, Sparse: by_rows}.get(s.instance_class, in_list)


@overload(pair_at, inline="always")
def _compiled_pair_at(s, walk, cursor):
    def in_table(s, walk, cursor):
        return dense_pair(len(s.wants), cursor[1])

    def by_rows(s, walk, cursor):
        return sparse_pair(s, walk)

    def in_list(s, walk, cursor):
        return np.int64(s.pairs[cursor[1], 0]), np.int64(s.pairs[cursor[1], 1])

    return {Dense: in_table, Sparse: by_rows}.get(s.instance_class, in_list)


@overload(note_change, inline="always")
def _compiled_note_change(c, s, t, n_changed):
    def in_table(c, s, t, n_changed):
        mirror(s, c.member, c.changed, n_changed, t)

    def by_rows(c, s, t, n_changed):
        note_entered(c, s, t, n_changed)

    def in_list(c, s, t, n_changed):
        pass

    return {Dense: in_table, Sparse: by_rows}.get(s.instance_class, in_list)


@overload(go_back, inline="always")
def _compiled_go_back(s, walk):
    def by_rows(s, walk):
        restart(s, walk)

    def by_cursor(s, walk):
        pass

    return by_rows if s.instance_class is Sparse else by_cursor


@borrowing
def grow(c, s, walk, calm_walk, links, capped, nobody, best, calm, degree, max_degree, rho):
    """Write the links that the rule adds to ``links``. Returns how many there are.

    ``best`` and ``calm`` (int64: level, position) are the two places in the walk through all pairs; ``capped`` and
    ``nobody`` (uint8, the circle twice) are zero. The rest as in `grown_links`.
    """
    n = len(degree)
    n_links = 0
    one = np.int64(1)
    if rho > 0:
        _cap(capped, degree, max_degree)
    while c.pending[0] > 0:
        # One call of the search in the text, because each would be compiled apart.
        ask = LAST if rho == 0 else CALM if rho == inf else BEST
        least = one
        while True:
            spares = ask == CALM
            at = calm if spares else best
            found = find(c, s, calm_walk if spares else walk, at, capped if spares else nobody, least)
            if ask == LAST or (found and spares) or (not found and not spares):
                break
            ask, least = (LAST, one) if spares else (CALM, _least_worth(best[0], rho))
        if not found:
            break
        u, v = pair_at(s, calm_walk if spares else walk, at)
        links[n_links, 0], links[n_links, 1] = u, v
        n_links += 1
        _add(c, s, u, v)
        if rho > 0:
            degree[u] += 1
            degree[v] += 1
            if max(degree[u], degree[v]) > max_degree:
                max_degree += 1
                _cap(capped, degree, max_degree)
                calm[0], calm[1] = best[0], 0
                go_back(s, calm_walk)
            else:
                for x in (u, v):
                    if degree[x] == max_degree:
                        capped[x] = 1
                        capped[x + n] = 1
    return n_links


@borrowing
def _least_worth(best, rho):
    """The smallest contribution w with w * rho >= best."""
    least = max(np.int64(best / rho) - 1, 1)
    while least * rho < best:
        least += 1
    return least


@borrowing
def _cap(capped, degree, max_degree):
    n = len(degree)
    for v in range(n):
        capped[v] = degree[v] >= max_degree
        capped[v + n] = capped[v]


@borrowing
def _add(c, s, u, v):
    """Add a link between u and v in every topic that both want."""
    for k, m in shared(c.node_ptr, c.topic, u, v):
        t = c.topic[k]
        n_changed = link(c, t, c.entry[k], c.entry[m])
        if n_changed:
            note_change(c, s, t, n_changed)
