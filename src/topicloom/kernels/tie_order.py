"""The one tie rule: a total order of node pairs that depends on the seed and the number of nodes alone.

Nodes are placed on a circle in a seeded order. Pairs are ranked by their distance on the circle, then by the
place at which the shorter arc starts. Pairs of equal merit are thus taken all around the circle before
any node gets a second one: no hubs, unlike a lexicographic order.
"""

import numpy as np

from topicloom.kernels.jit import serial
from topicloom.kernels.streams import TIE_STREAM, TOPIC_TIE_STREAM, draw_all


def circle(n_nodes, seed):
    """Node ids (int32) in the order in which they sit on the circle."""
    return np.argsort(draw_all(seed, TIE_STREAM, np.arange(n_nodes)), kind="stable").astype(np.int32)


@serial
def arc(n_nodes, p, q):
    """Rank of the pair at places p != q: (length of the shorter arc, place where that arc starts)."""
    if p > q:
        p, q = q, p
    forward = q - p
    if 2 * forward <= n_nodes:
        return forward, p
    return n_nodes - forward, q


def pair_ranks(n_nodes, pairs):
    """Rank of each pair of places (m, 2) as one integer: arc length times n_nodes plus start; int64."""
    first, last = np.sort(pairs.astype(np.int64), axis=1).T
    forward = last - first
    shorter = 2 * forward <= n_nodes
    return np.where(shorter, forward, n_nodes - forward) * n_nodes + np.where(shorter, first, last)


def places_on_circle(n_nodes, seed):
    """Place of each node on the circle: int32, the inverse of `circle`."""
    places = np.empty(n_nodes, np.int32)
    places[circle(n_nodes, seed)] = np.arange(n_nodes, dtype=np.int32)
    return places


def topic_places(n_topics, seed):
    """Place of each topic on a seeded circle of its own, for methods that choose between topics: int32."""
    return places_on_circle(n_topics, draw_all(seed, TOPIC_TIE_STREAM, np.zeros(1, np.int64))[0])
