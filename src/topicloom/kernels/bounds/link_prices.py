"""Prices by which links must be paid: every topic needs a spanning tree, and a link is paid once for all its topics.

Any prices w_t(u, v) of at least 0, whose sum over the topics of every pair of nodes is at most 1, prove that an overlay
has at least Σ over topics of the cheapest spanning tree of the topic. Here they are searched for in floating point;
what is found is rounded and then checked by `topicloom.judge.prices`, with which this shares no code.
"""

import numpy as np

from topicloom.kernels.jit import borrowing, serial
from topicloom.kernels.sorted_rows import longest_row, shared


@serial
def potential_trees(node_ptr, topic, topic_ptr, member, paying, potential, parent):
    """Cheapest spanning trees under prices potential · potential / (their sum over shared topics). Returns their cost.

    ``potential`` is float64 per subscription (CSR by node), above 0 in the topics ``paying``; ``parent`` receives for
    every entry (by topic) its neighbour's place in the topic, or -1. Takes a product for each pair
    of subscribers of a topic and each topic of one of the two.
    """
    row = np.zeros(len(topic_ptr) - 1)
    largest = longest_row(topic_ptr)
    price, key, outside = np.empty(largest), np.empty(largest), np.empty(largest, np.int64)
    total = 0.0
    parent[:] = -1
    for t in paying:
        start, end = topic_ptr[t], topic_ptr[t + 1]
        at = _begin(key, outside, end - start)
        for left in range(end - start - 1, 0, -1):
            u = member[start + at]
            for k in range(node_ptr[u], node_ptr[u + 1]):
                row[topic[k]] = potential[k]
            for x in range(left):
                here, both = _products(node_ptr, topic, potential, row, t, member[start + outside[x]])
                price[x] = here / both
            for k in range(node_ptr[u], node_ptr[u + 1]):
                row[topic[k]] = 0.0
            at, cost = _attach(price, key, outside, left, parent, start, at)
            total += cost
    return total


@borrowing
def _begin(key, outside, size):
    """Let a tree of Prim's algorithm hold the first member of a topic alone. Returns the place of that member: 0."""
    for x in range(size - 1):
        outside[x] = x + 1
        key[x] = np.inf
    return np.int64(0)


@borrowing
def _attach(price, key, outside, left, parent, start, at):
    """Offer links to member ``at`` at these prices, and take the cheapest of the ``left`` members outside.

    Returns its place in the topic, and what its link costs.
    """
    chosen = 0
    for x in range(left):
        if price[x] < key[x]:
            key[x] = price[x]
            parent[start + outside[x]] = at
        if key[x] < key[chosen]:
            chosen = x
    taken, cost = outside[chosen], key[chosen]
    outside[chosen], key[chosen] = outside[left - 1], key[left - 1]
    return taken, cost


@borrowing
def _products(node_ptr, topic, potential, row, t, v):
    """Products of v's potentials with those in ``row``: that of topic t, and the sum over all topics of v."""
    here, both = 0.0, 0.0
    for m in range(node_ptr[v], node_ptr[v + 1]):
        product = row[topic[m]] * potential[m]
        both += product
        if topic[m] == t:
            here = product
    return here, both


@serial
def potential_gradient(node_ptr, topic, topic_ptr, member, potential, parent, gradient):
    """Write how the cost of the trees changes with the logarithm of every potential: float64 per subscription."""
    gradient[:] = 0.0
    for t in range(len(topic_ptr) - 1):
        for e in range(topic_ptr[t], topic_ptr[t + 1]):
            if parent[e] >= 0:
                _add_gradient(
                    node_ptr, topic, potential, gradient, t, member[e], member[topic_ptr[t] + parent[e]]
                )  # fmt: skip


@borrowing
def _add_gradient(node_ptr, topic, potential, gradient, t, u, v):
    both, here = 0.0, 0.0
    for again in range(2):  # first the sum over shared topics, then their part in it
        for k, m in shared(node_ptr, topic, u, v):
            product = potential[k] * potential[m]
            if again:
                change = here / both * ((1.0 if topic[k] == t else 0.0) - product / both)
                gradient[k] += change
                gradient[m] += change
            else:
                both += product
                here += product if topic[k] == t else 0.0


@borrowing
def triangle(size, i, j):
    """Place of the pair of members i and j among the size · (size - 1) / 2 pairs of a topic."""
    low, high = min(i, j), max(i, j)
    return low * (2 * size - low - 1) // 2 + high - low - 1


@serial
def pair_prices(node_ptr, topic, topic_ptr, member, pair_ptr, potential):
    """Prices (float32, one per topic and pair of its members) that the potentials give."""
    prices = np.empty(pair_ptr[-1], np.float32)
    row = np.zeros(len(topic_ptr) - 1)
    for t in range(len(topic_ptr) - 1):
        size = topic_ptr[t + 1] - topic_ptr[t]
        for i in range(size):
            u = member[topic_ptr[t] + i]
            for k in range(node_ptr[u], node_ptr[u + 1]):
                row[topic[k]] = potential[k]
            for j in range(i + 1, size):
                here, both = _products(node_ptr, topic, potential, row, t, member[topic_ptr[t] + j])
                prices[pair_ptr[t] + triangle(size, i, j)] = here / both if both > 0 else 0.0
            for k in range(node_ptr[u], node_ptr[u + 1]):
                row[topic[k]] = 0.0
    return prices


@serial
def pair_trees(topic_ptr, pair_ptr, prices, parent):
    """Cheapest spanning trees under prices of pairs. Returns their cost; ``parent`` as in `potential_trees`."""
    largest = longest_row(topic_ptr)
    price, key, outside = np.empty(largest, np.float32), np.empty(largest, np.float32), np.empty(largest, np.int64)
    total = 0.0
    parent[:] = -1
    for t in range(len(topic_ptr) - 1):
        start, size = topic_ptr[t], topic_ptr[t + 1] - topic_ptr[t]
        at = _begin(key, outside, size)
        for left in range(size - 1, 0, -1):
            for x in range(left):
                price[x] = prices[pair_ptr[t] + triangle(size, at, outside[x])]
            at, cost = _attach(price, key, outside, left, parent, start, at)
            total += cost
    return total


@serial
def raise_prices(node_ptr, topic, place, topic_ptr, member, pair_ptr, prices, parent, factor):
    """Multiply the prices that trees pay, and scale the prices of each such pair to a sum of 1.

    Multiplicative weights: pairs that several trees use are paid by those that need them most.
    """
    for t in range(len(topic_ptr) - 1):
        size = topic_ptr[t + 1] - topic_ptr[t]
        for i in range(size):
            if parent[topic_ptr[t] + i] >= 0:
                prices[pair_ptr[t] + triangle(size, i, parent[topic_ptr[t] + i])] *= factor
    for t in range(len(topic_ptr) - 1):
        for e in range(topic_ptr[t], topic_ptr[t + 1]):
            if parent[e] >= 0:
                _scale(
                    node_ptr, topic, place, topic_ptr, pair_ptr, prices, member[e], member[topic_ptr[t] + parent[e]]
                )  # fmt: skip


@borrowing
def _scale(node_ptr, topic, place, topic_ptr, pair_ptr, prices, u, v):
    total = 0.0
    for again in range(2):
        for k, m in shared(node_ptr, topic, u, v):
            t = topic[k]
            at = pair_ptr[t] + triangle(topic_ptr[t + 1] - topic_ptr[t], place[k], place[m])
            if again:
                prices[at] = max(prices[at] / total, np.float32(1e-7))
            else:
                total += prices[at]
