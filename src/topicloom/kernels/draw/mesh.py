"""Random regular graphs from seeded cycles: the same on every machine."""

import numpy as np

from topicloom.kernels.jit import serial
from topicloom.kernels.streams import MESH_STREAM, below, draw

_TRIES = 200


@serial
def random_mesh(n, degree, seed):
    """Draw a random graph in which all nodes have the same degree.

    It is the union of degree // 2 random cycles through all nodes, and of a random matching if the degree is odd. Steps
    that would repeat a link are exchanged with others. Where that finds no way, which happens in small dense graphs
    only, a ring lattice over a random order is returned, which is regular as well.

    Parameters
    ----------
    n : int
        Number of nodes.
    degree : int
        From 2 to n - 1. If n · degree is odd, one node lacks a link.
    seed : int

    Returns
    -------
    (m, 2) int32
        Links, u < v.

    Cost: O(n · degree) on average.
    """
    links = np.empty((n * degree // 2, 2), np.int32)
    n_links = 0
    linked = set()
    linked.add(np.int64(-1))
    for cycle in range((degree + 1) // 2):
        matching = 2 * cycle + 1 == degree
        order = _shuffled(n, seed, cycle)
        step = 2 if matching else 1
        length = n - n % 2 if matching else n
        if not _repair(order, length, step, linked, seed, cycle):
            return _ring_lattice(n, degree, seed)
        for i in range(0, length, step):
            u, v = order[i], order[(i + 1) % n]
            linked.add(_pair(n, u, v))
            links[n_links] = min(u, v), max(u, v)
            n_links += 1
    return links[:n_links].copy()


@serial
def _pair(n, u, v):
    return np.int64(min(u, v)) * n + max(u, v)


@serial
def _shuffled(n, seed, cycle):
    keys = np.empty(n, np.uint64)
    for v in range(n):
        keys[v] = draw(draw(seed, MESH_STREAM, cycle), 0, v)
    return np.argsort(keys, kind="mergesort").astype(np.int32)


@serial
def _repair(order, length, step, linked, seed, cycle):
    """Exchange nodes of an order until none of its steps repeats a link. Returns whether that succeeded.

    An exchange is kept if none of the steps that it touches repeats a link, so steps already passed stay good.
    """
    n = len(order)
    draws = np.int64(0)
    for i in range(0, length, step):
        tries = 0
        while _pair(n, order[i], order[(i + 1) % n]) in linked:
            if tries == _TRIES:
                return False
            a, b = (i + 1) % n, below(draw(draw(seed, MESH_STREAM, cycle), 1, draws), length)
            order[a], order[b] = order[b], order[a]
            if _repeats_link(order, length, step, linked, a) or _repeats_link(order, length, step, linked, b):
                order[a], order[b] = order[b], order[a]
            draws += 1
            tries += 1
    return True


@serial
def _repeats_link(order, length, step, linked, at):
    """Whether one of the steps to and from a position repeats a link."""
    n = len(order)
    for shift in range(2):
        i = (at - shift) % n
        if i < length and i % step == 0 and _pair(n, order[i], order[(i + 1) % n]) in linked:
            return True
    return False


@serial
def _ring_lattice(n, degree, seed):
    order = _shuffled(n, seed, 0)
    links = np.empty((n * degree // 2, 2), np.int32)
    n_links = 0
    for distance in range(1, degree // 2 + 1):
        for i in range(n):
            links[n_links] = order[i], order[(i + distance) % n]
            n_links += 1
    if degree % 2:
        for i in range(n // 2):
            links[n_links] = order[i], order[i + n // 2]
            n_links += 1
    for i in range(n_links):
        links[i] = links[i].min(), links[i].max()
    return links[:n_links].copy()
