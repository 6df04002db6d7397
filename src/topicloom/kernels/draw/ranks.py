"""Who goes into which partition: numbers that any task can compute for the rows it has."""

import numpy as np

from topicloom.kernels.jit import serial
from topicloom.kernels.streams import DIVIDE_STREAM, TIE_STREAM, draw


@serial
def shuffled_ranks(nodes, n_nodes, seed):
    """Find the rank of some nodes in a seeded shuffle of all nodes.

    A Feistel network of four rounds permutes the smallest square of a power of two that holds all nodes, and is
    repeated while it leads outside: a task needs no other node to know the rank of one.

    Parameters
    ----------
    nodes : integers below ``n_nodes``
    n_nodes, seed : int

    Returns
    -------
    int64, one per node given
        A permutation of ``range(n_nodes)`` over all nodes.

    Cost: O(1) on average for each node.
    """
    bits = 1
    while 1 << (2 * bits) < n_nodes:
        bits += 1
    mask = np.uint64((1 << bits) - 1)
    shift = np.uint64(bits)
    key = draw(seed, DIVIDE_STREAM, 0)
    ranks = np.empty(len(nodes), np.int64)
    for k in range(len(nodes)):
        x = np.uint64(nodes[k])
        while True:
            left, right = x >> shift, x & mask
            for turn in range(4):
                left, right = right, left ^ (draw(key, turn, right) & mask)
            x = (left << shift) | right
            if x < n_nodes:
                break
        ranks[k] = x
    return ranks


@serial
def leading_keys(nodes, indptr, topics, rank, seed):
    """Find a key for each node by which nodes of one leading topic come together.

    Parameters
    ----------
    nodes : integers
    indptr, topics
        Their topics, CSR by position in ``nodes``.
    rank : int64, one per topic
        A permutation of the topics.
    seed : int

    Returns
    -------
    int64, one per node given
        The lowest rank of its topics, then 32 random bits. A node without topics comes after all.

    Cost: O(subscriptions of the nodes).
    """
    key = draw(seed, DIVIDE_STREAM, 1)
    keys = np.empty(len(nodes), np.int64)
    for v in range(len(nodes)):
        lowest = len(rank)
        for k in range(indptr[v], indptr[v + 1]):
            lowest = min(lowest, rank[topics[k]])
        keys[v] = (lowest << 32) | np.int64(draw(key, 0, nodes[v]) >> np.uint64(32))
    return keys


@serial
def places_among(nodes, seed):
    """Find the place of each node on the circle of the tie rule when only these nodes sit on it.

    Parameters
    ----------
    nodes : integers
    seed : int

    Returns
    -------
    int32, one per node given
        For ``nodes = range(n)`` those of `places_on_circle`.

    Cost: O(nodes log nodes).
    """
    keys = np.empty(len(nodes), np.uint64)
    for k in range(len(nodes)):
        keys[k] = draw(seed, TIE_STREAM, nodes[k])
    places = np.empty(len(nodes), np.int32)
    order = np.argsort(keys, kind="mergesort")
    for place in range(len(nodes)):
        places[order[place]] = place
    return places
