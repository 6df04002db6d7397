"""Which topics each node of a range wants: weighted draws in integers alone.

Every random number is a hash of (seed, node, counter), so a node gets the same topics whatever range it is
drawn in, on whatever machine. `draw_distinct` and `draw_independent` return CSR of the nodes ``first_node``
to ``last_node - 1``: ``indptr`` (int64, from 0) and ``topics`` (int32, ascending per node).
"""

import numpy as np
import numpy.typing as npt

from topicloom.kernels.jit import borrowing, serial
from topicloom.kernels.sorting import sort_part
from topicloom.kernels.streams import SIZE_STREAM, TOPIC_STREAM, below, draw, draw_all, draw_pairs

Weights = npt.NDArray[np.int64]
Thresholds = npt.NDArray[np.uint64]
_scaled = getattr(below, "py_func", below)  # `below` of whole arrays, by numpy
Subscriptions = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]


def draw_sizes(first_node, last_node, seed, size_weights):
    """Draw the number of topics of each node.

    Parameters
    ----------
    first_node, last_node : int
        The range of nodes.
    seed : int
    size_weights : int64
        The probability of k is proportional to ``size_weights[k]``. Their sum is below 2^63.

    Returns
    -------
    int64, one per node of the range

    Cost: O(nodes · log sizes).
    """
    bounds = np.cumsum(size_weights)
    nodes = np.arange(first_node, last_node)
    marks = _scaled(draw_pairs(seed, SIZE_STREAM, nodes, np.zeros_like(nodes)), bounds[-1])
    return np.searchsorted(bounds, marks, side="right")


def draw_distinct(first_node: int, last_node: int, seed: int, weights: Weights, size_weights: Weights) -> Subscriptions:
    """Draw topics by weight until every node has as many distinct ones as `draw_sizes` gives it.

    Drawing again whenever a topic repeats comes to the same as drawing from the weight of the topics not yet drawn.
    That is done here, so that no draw is wasted however skewed the weights.

    Parameters
    ----------
    first_node, last_node : int
        The range of nodes.
    seed : int
    weights : int64, one per topic
        Positive, with a sum below 2^63.
    size_weights : int64
        Weight of each number of topics; as in `draw_sizes`. No size may exceed the number of topics.

    Returns
    -------
    indptr : int64, topics : int32
        CSR of the range, topics ascending in each row.

    Cost: O(log topics) for each subscription, by a Fenwick tree over the weights.
    """
    indptr = np.zeros(last_node - first_node + 1, np.int64)
    np.cumsum(draw_sizes(first_node, last_node, seed, size_weights), out=indptr[1:])
    topics = np.empty(indptr[-1], np.int32)
    tree = np.zeros(len(weights) + 1, np.int64)
    base = draw_all(seed, TOPIC_STREAM, np.zeros(1, np.int64))[0]
    _draw_rows(first_node, base, weights, tree, weights.sum(), indptr, topics)
    return indptr, topics


@borrowing
def _draw_rows(first_node, base, weights, tree, total, indptr, topics):
    """Fill ``topics`` row by row. ``tree`` (int64, all 0, one more than weights) becomes the Fenwick tree."""
    for topic in range(len(weights)):
        _add(tree, topic, weights[topic])
    top = 1
    while 2 * top <= len(weights):
        top *= 2
    for row in range(len(indptr) - 1):
        first, last = indptr[row], indptr[row + 1]
        left = total
        for k in range(first, last):
            topic = _find(tree, top, below(draw(base, first_node + row, k - first), left))
            topics[k] = topic
            left -= weights[topic]
            _add(tree, topic, -weights[topic])
        for k in range(first, last):
            _add(tree, np.int64(topics[k]), weights[topics[k]])
        sort_part(topics, first, last)


@serial
def draw_independent(first_node: int, last_node: int, seed: int, certain: int, thresholds: Thresholds) -> Subscriptions:
    """Draw each topic of each node with a probability of its own.

    Parameters
    ----------
    first_node, last_node : int
        The range of nodes.
    seed : int
    certain : int
        The first topics, which every node wants.
    thresholds : uint64, one per topic
        The probability times 2^64.

    Returns
    -------
    indptr : int64, topics : int32
        CSR of the range, topics ascending in each row.

    Cost: O(nodes · topics).
    """
    n_topics = len(thresholds)
    indptr = np.zeros(last_node - first_node + 1, np.int64)
    topics = np.empty(max(16, n_topics), np.int32)
    base = draw(seed, TOPIC_STREAM, 0)
    filled = 0
    for node in range(first_node, last_node):
        if filled + n_topics > len(topics):
            grown = np.empty(2 * len(topics) + n_topics, np.int32)
            grown[:filled] = topics[:filled]
            topics = grown
        for topic in range(n_topics):
            if topic < certain or draw(base, node, topic) < thresholds[topic]:
                topics[filled] = topic
                filled += 1
        indptr[node - first_node + 1] = filled
    return indptr, topics[:filled].copy()


@borrowing
def _find(tree, top, mark):
    """Find the weight that ``mark`` falls on, all laid end to end. ``top`` is the largest power of 2 in range."""
    place = 0
    step = top
    while step > 0:
        after = place + step
        if after < len(tree) and tree[after] <= mark:
            place = after
            mark -= tree[after]
        step >>= 1
    return place


@borrowing
def _add(tree, place, weight):
    i = place + 1
    while i < len(tree):
        tree[i] += weight
        i += i & -i
