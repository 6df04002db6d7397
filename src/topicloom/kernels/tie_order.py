"""The one tie rule: a total order of node pairs that depends on the seed and the number of nodes alone.

Nodes are placed on a circle in a seeded order. Pairs are ranked by their distance on the circle, then by the
place at which the shorter arc starts. Pairs of equal merit are thus taken all around the circle before
any node gets a second one: no hubs, unlike a lexicographic order.
"""

import numpy as np

from topicloom.kernels.jit import serial
from topicloom.kernels.streams import TIE_STREAM, TOPIC_TIE_STREAM, draw_all


def circle(n_nodes, seed):
    """Order the nodes around the circle of the tie rule.

    Parameters
    ----------
    n_nodes, seed : int

    Returns
    -------
    int32, one per place
        The node that sits there.

    Cost: O(nodes log nodes).
    """
    return np.argsort(draw_all(seed, TIE_STREAM, np.arange(n_nodes)), kind="stable").astype(np.int32)


@serial
def arc(n_nodes, p, q):
    """Rank a pair of nodes by the tie rule.

    Parameters
    ----------
    n_nodes : int
    p, q : int
        Their places on the circle, p != q.

    Returns
    -------
    length, start : int
        Length of the shorter arc between the two, and the place where that arc starts. Lower comes first.

    Cost: O(1).
    """
    if p > q:
        p, q = q, p
    forward = q - p
    if 2 * forward <= n_nodes:
        return forward, p
    return n_nodes - forward, q


def pair_ranks(n_nodes, pairs):
    """Rank pairs of nodes by the tie rule, each as one number.

    Parameters
    ----------
    n_nodes : int
    pairs : (m, 2) integers
        Places on the circle.

    Returns
    -------
    int64, one per pair
        The length of `arc` times ``n_nodes``, plus its start.

    Cost: O(pairs).
    """
    first, last = np.sort(pairs.astype(np.int64), axis=1).T
    forward = last - first
    shorter = 2 * forward <= n_nodes
    return np.where(shorter, forward, n_nodes - forward) * n_nodes + np.where(shorter, first, last)


def places_on_circle(n_nodes, seed):
    """Find the place of each node on the circle of the tie rule.

    Parameters
    ----------
    n_nodes, seed : int

    Returns
    -------
    int32, one per node
        The inverse of `circle`.

    Cost: O(nodes log nodes).
    """
    places = np.empty(n_nodes, np.int32)
    places[circle(n_nodes, seed)] = np.arange(n_nodes, dtype=np.int32)
    return places


def topic_places(n_topics, seed):
    """Find the place of each topic on a circle of topics, for methods that choose between topics.

    Parameters
    ----------
    n_topics, seed : int

    Returns
    -------
    int32, one per topic
        Independent of the places of the nodes.

    Cost: O(topics log topics).
    """
    return places_on_circle(n_topics, draw_all(seed, TOPIC_TIE_STREAM, np.zeros(1, np.int64))[0])
