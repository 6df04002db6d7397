"""Lists of integers that grow and shrink, side by side in one pool: adjacency that kernels read while it changes."""

from typing import NamedTuple

import numpy as np

from topicloom.kernels.jit import serial


class Ragged(NamedTuple):
    """List i is ``pool[start[i]:start[i] + length[i]]``, with space up to ``room[i]``."""

    start: np.ndarray  # int64
    length: np.ndarray  # int32
    room: np.ndarray  # int32
    pool: np.ndarray  # int32
    used: np.ndarray  # int64, one element: where the free end of the pool begins


def empty_ragged(n_lists, pool_size):
    """Make empty lists over a pool.

    Parameters
    ----------
    n_lists : int
    pool_size : int
        How many values the pool has room for.

    Returns
    -------
    Ragged

    Cost: O(lists + pool).
    """
    zeros = np.zeros(n_lists, np.int32)
    return Ragged(
        np.zeros(n_lists, np.int64), zeros, zeros.copy(), np.empty(pool_size, np.int32), np.zeros(1, np.int64)
    )


def with_room(lists, n_lists, pool_size):
    """Move lists together into a new pool.

    Parameters
    ----------
    lists : Ragged
    n_lists, pool_size : int
        At least this number of lists, and the size of the new pool.

    Returns
    -------
    Ragged

    Cost: O(lists + values).
    """
    wider = empty_ragged(max(n_lists, len(lists.start)), pool_size)
    _move(lists, wider)
    return wider


@serial
def _move(lists, wider):
    used = 0
    for i in range(len(lists.start)):
        n = lists.length[i]
        wider.start[i], wider.length[i], wider.room[i] = used, n, min(lists.room[i], 2 * n + 4)
        wider.pool[used : used + n] = lists.pool[lists.start[i] : lists.start[i] + n]
        used += wider.room[i]
    wider.used[0] = used


@serial
def row(lists, i):
    """Look at the values of one list.

    Parameters
    ----------
    lists : Ragged
    i : int
        Number of the list.

    Returns
    -------
    int32
        A view of the pool, which holds until the list moves.

    Cost: O(1).
    """
    return lists.pool[lists.start[i] : lists.start[i] + lists.length[i]]


@serial
def push_all(lists, ids, values, done):
    """Append values[k] to list ids[k], for k from ``done`` on.

    Parameters
    ----------
    lists : Ragged
        Changed in place.
    ids, values : integers, of one length
    done : int

    Returns
    -------
    int
        How far it came before the pool was full, ``len(ids)`` if it was not.

    Cost: O(1) on average for each value.
    """
    for k in range(done, len(ids)):
        i = ids[k]
        n = lists.length[i]
        if n == lists.room[i] and not _relocate(lists, i, max(4, 2 * n)):
            return k
        lists.pool[lists.start[i] + n] = values[k]
        lists.length[i] = n + 1
    return len(ids)


@serial
def put(lists, i, values):
    """Let one list hold these values, in this order.

    Parameters
    ----------
    lists : Ragged
        Changed in place.
    i : int
        Number of the list.
    values : integers

    Returns
    -------
    bool
        False if the pool is full. Then nothing is changed.

    Cost: O(values).
    """
    n = len(values)
    if n > lists.room[i] and not _relocate(lists, i, n):
        return False
    lists.pool[lists.start[i] : lists.start[i] + n] = values
    lists.length[i] = n
    return True


@serial
def _relocate(lists, i, room):
    """Move list i to the end of the pool, with more room. False if there is none."""
    at = lists.used[0]
    if at + room > len(lists.pool):
        return False
    n = lists.length[i]
    lists.pool[at : at + n] = lists.pool[lists.start[i] : lists.start[i] + n]
    lists.start[i], lists.room[i] = at, room
    lists.used[0] = at + room
    return True


@serial
def remove_all(lists, ids, values):
    """Remove values[k] from list ids[k], for all k. The last value of the list takes its place.

    Parameters
    ----------
    lists : Ragged
        Changed in place.
    ids, values : integers, of one length

    Cost: O(length of the list) for each value.
    """
    for k in range(len(ids)):
        i = ids[k]
        first, n = lists.start[i], lists.length[i]
        for at in range(first, first + n):
            if lists.pool[at] == values[k]:
                lists.pool[at] = lists.pool[first + n - 1]
                lists.length[i] = n - 1
                break


@serial
def gather(lists, ids):
    """Copy the values of some lists, one after the other.

    Parameters
    ----------
    lists : Ragged
    ids : integers
        Numbers of the lists.

    Returns
    -------
    int32

    Cost: O(lists asked for + their values).
    """
    total = 0
    for i in ids:
        total += lists.length[i]
    values = np.empty(total, np.int32)
    at = 0
    for i in ids:
        n = lists.length[i]
        values[at : at + n] = lists.pool[lists.start[i] : lists.start[i] + n]
        at += n
    return values
