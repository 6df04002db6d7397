"""The one tie rule: a total order of node pairs that depends on the seed and the number of nodes alone.

Nodes are placed on a circle in a seeded order. Pairs are ranked by their distance on the circle, then by the
place at which the shorter arc starts. Pairs of equal merit are thus taken all around the circle before
any node gets a second one: no hubs, unlike a lexicographic order.
"""

import numpy as np

from topicloom.kernels.jit import serial
from topicloom.kernels.streams import TIE_STREAM, TOPIC_TIE_STREAM, draw


@serial
def circle(n_nodes, seed):
    """Node ids (int32) in the order in which they sit on the circle."""
    keys = np.empty(n_nodes, np.uint64)
    for v in range(n_nodes):
        keys[v] = draw(seed, TIE_STREAM, v)
    return np.argsort(keys, kind="mergesort").astype(np.int32)


@serial
def arc(n_nodes, p, q):
    """Rank of the pair at places p != q: (length of the shorter arc, place where that arc starts)."""
    if p > q:
        p, q = q, p
    forward = q - p
    if 2 * forward <= n_nodes:
        return forward, p
    return n_nodes - forward, q


@serial
def pair_ranks(n_nodes, pairs):
    """Rank of each pair of places (m, 2) as one integer: arc length times n_nodes plus start; int64."""
    ranks = np.empty(len(pairs), np.int64)
    for k in range(len(pairs)):
        length, start = arc(n_nodes, np.int64(pairs[k, 0]), np.int64(pairs[k, 1]))
        ranks[k] = length * n_nodes + start
    return ranks


@serial
def places_on_circle(n_nodes, seed):
    """Place of each node on the circle: int32, the inverse of `circle`."""
    places = np.empty(n_nodes, np.int32)
    order = circle(n_nodes, seed)
    for p in range(n_nodes):
        places[order[p]] = p
    return places


@serial
def topic_places(n_topics, seed):
    """Place of each topic on a seeded circle of its own, for methods that choose between topics: int32."""
    return places_on_circle(n_topics, draw(seed, TOPIC_TIE_STREAM, 0))
