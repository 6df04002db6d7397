"""Which topics each node of a range wants: weighted draws in integers alone.

Every random number is a hash of (seed, node, counter), so a node gets the same topics whatever range it is
drawn in, on whatever machine. `draw_distinct` and `draw_independent` return CSR of the nodes ``first_node``
to ``last_node - 1``: ``indptr`` (int64, from 0) and ``topics`` (int32, ascending per node).
"""

import numpy as np
import numpy.typing as npt

from topicloom.kernels.jit import serial
from topicloom.kernels.streams import SIZE_STREAM, TOPIC_STREAM, below, draw

Weights = npt.NDArray[np.int64]
Thresholds = npt.NDArray[np.uint64]
Subscriptions = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]


@serial
def draw_sizes(first_node, last_node, seed, size_weights):
    """Draw a size per node (int64): k with a probability proportional to ``size_weights[k]`` (sum < 2^63)."""
    sizes = np.empty(last_node - first_node, np.int64)
    bounds = np.cumsum(size_weights)
    base = draw(seed, SIZE_STREAM, 0)
    for node in range(first_node, last_node):
        mark = below(draw(base, node, 0), bounds[-1])
        sizes[node - first_node] = np.searchsorted(bounds, mark, side="right")
    return sizes


@serial
def draw_distinct(first_node: int, last_node: int, seed: int, weights: Weights, size_weights: Weights) -> Subscriptions:
    """Draw topics by weight until every node has as many distinct ones as `draw_sizes` gives it.

    Drawing again whenever a topic repeats comes to the same as drawing from the weight of the topics not
    yet drawn: done here, so that no draw is wasted however skewed the weights. A Fenwick tree over
    ``weights`` (int64, positive, sum < 2^63) finds and removes a topic in O(log topics). No size may exceed
    the number of topics.
    """
    n_topics = len(weights)
    indptr = np.zeros(last_node - first_node + 1, np.int64)
    indptr[1:] = np.cumsum(draw_sizes(first_node, last_node, seed, size_weights))
    topics = np.empty(indptr[-1], np.int32)
    total = weights.sum()
    tree = _fenwick(weights)
    top = 1
    while 2 * top <= n_topics:
        top *= 2
    base = draw(seed, TOPIC_STREAM, 0)
    for node in range(first_node, last_node):
        chosen = topics[indptr[node - first_node] : indptr[node - first_node + 1]]
        left = total
        for counter in range(len(chosen)):
            topic = _find(tree, top, below(draw(base, node, counter), left))
            chosen[counter] = topic
            left -= weights[topic]
            _add(tree, topic, -weights[topic])
        for topic in chosen:
            _add(tree, topic, weights[topic])
        chosen.sort()
    return indptr, topics


@serial
def draw_independent(first_node: int, last_node: int, seed: int, certain: int, thresholds: Thresholds) -> Subscriptions:
    """Give every node topic t with probability ``thresholds[t]`` / 2^64, the first ``certain`` always."""
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


@serial
def _fenwick(weights):
    """Build the tree: entry i holds the sum of the (i & -i) weights that end at place i - 1."""
    tree = np.zeros(len(weights) + 1, np.int64)
    tree[1:] = weights
    for i in range(1, len(tree)):
        parent = i + (i & -i)
        if parent < len(tree):
            tree[parent] += tree[i]
    return tree


@serial
def _find(tree, top, mark):
    """Find the weight that ``mark`` falls on, all laid end to end; ``top``: largest power of 2 in range."""
    place = 0
    step = top
    while step > 0:
        after = place + step
        if after < len(tree) and tree[after] <= mark:
            place = after
            mark -= tree[after]
        step >>= 1
    return place


@serial
def _add(tree, place, weight):
    i = place + 1
    while i < len(tree):
        tree[i] += weight
        i += i & -i
