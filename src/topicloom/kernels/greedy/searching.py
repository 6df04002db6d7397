"""What the loop of the greedy engine asks of a search, whichever it is: `Dense`, `Sparse` or `Listed`.

Numba compiles the three functions for the kind of search that they are given: the loop holds one search, not all three.
``walk`` is where a sparse search stands; the others need no more than the cursor.
"""

import numpy as np
from numba.extending import overload

from topicloom.kernels.greedy.dense import Dense, dense_next, dense_pair, mirror
from topicloom.kernels.greedy.listed import listed_next
from topicloom.kernels.greedy.sparse import Sparse, note_entered, restart, sparse_next, sparse_pair


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
