"""Prices by which links must be paid: every topic needs a spanning tree, and a link is paid once for all its topics.

Any prices w_t(u, v) of at least 0, whose sum over the topics of every pair of nodes is at most 1, prove that an overlay
has at least Σ over topics of the cheapest spanning tree of the topic. Here they are searched for in floating point;
what is found is rounded and then checked by `topicloom.judge.prices`, with which this shares no code.
"""

import numpy as np

from topicloom.kernels.jit import borrowing, serial
from topicloom.kernels.sorted_rows import longest_row, shared


@serial
def potential_trees(node_ptr, topic, topic_ptr, member, paying, potential, sums, parent):
    """Find the cheapest spanning tree of each topic under prices that potentials give.

    The price of a pair in a topic is the product of its two potentials there, divided by the sum of such products over
    all topics that the two share: the prices of every pair add up to 1.

    Parameters
    ----------
    node_ptr, topic : int64, integers
        The interest by node, topics ascending in each row.
    topic_ptr, member : int64, integers
        The interest by topic. A position in ``member`` is an entry.
    paying : integers
        Topics that pay. The others have no tree.
    potential : float64, one per subscription, by node
        Above 0 in the topics that pay.
    sums : float64 (nodes, nodes)
        Overwritten: the sums of products of all pairs, so that they are added up once and not for each topic. With no
        rows they are added up when they are asked for.
    parent : int32, one per entry
        Overwritten: the neighbour's place in the topic on the way to its first member, -1 at that one and elsewhere.

    Returns
    -------
    float
        Cost of all trees.

    Cost: a product for each pair of subscribers of a topic, and each topic of one of the two where there are no sums;
    O(subscriptions) memory.
    """
    row = np.zeros(len(topic_ptr) - 1)
    largest = longest_row(topic_ptr)
    price, key, outside = np.empty(largest), np.empty(largest), np.empty(largest, np.int64)
    by_entry = np.empty(len(member))
    if len(sums):
        _add_up(node_ptr, topic, topic_ptr, member, potential, topic_ptr[:-1].copy(), by_entry, sums)
    total = 0.0
    parent[:] = -1
    for t in paying:
        start, end = topic_ptr[t], topic_ptr[t + 1]
        at = _begin(key, outside, end - start)
        for left in range(end - start - 1, 0, -1):
            u = member[start + at]
            if len(sums):
                own, both_with = by_entry[start + at], sums[u]
                for x in range(left):
                    e = start + outside[x]
                    price[x] = own * by_entry[e] / both_with[member[e]]
            else:
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
def _add_up(node_ptr, topic, topic_ptr, member, potential, place, by_entry, sums):
    """Write the potentials by entry, and for every pair of nodes the sum of products over the topics that they share.

    ``place`` holds where each topic begins, and is overwritten.
    """
    n_nodes = len(node_ptr) - 1
    for v in range(n_nodes):
        for k in range(node_ptr[v], node_ptr[v + 1]):
            by_entry[place[topic[k]]] = potential[k]
            place[topic[k]] += 1
    for u in range(n_nodes):
        row = sums[u]
        row[:] = 0.0
        for k in range(node_ptr[u], node_ptr[u + 1]):
            own = potential[k]
            if own > 0.0:
                for e in range(topic_ptr[topic[k]], topic_ptr[topic[k] + 1]):
                    row[member[e]] += own * by_entry[e]


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
    """Find how the cost of the trees changes with the logarithm of every potential.

    Parameters
    ----------
    node_ptr, topic : int64, integers
        The interest by node, topics ascending in each row.
    topic_ptr, member : int64, integers
        The interest by topic. A position in ``member`` is an entry.
    potential : float64, one per subscription, by node
    parent : int32, one per entry
        The trees, as `potential_trees` writes them.
    gradient : float64, one per subscription, by node
        Overwritten.

    Cost: O(topics of both ends) for each link of a tree.
    """
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
    """Number the pair of two members of a topic.

    Parameters
    ----------
    size : int
        Members of the topic.
    i, j : int
        Places of the two, i != j.

    Returns
    -------
    int
        Its place among the size · (size - 1) / 2 pairs.

    Cost: O(1).
    """
    low, high = min(i, j), max(i, j)
    return low * (2 * size - low - 1) // 2 + high - low - 1


@serial
def pair_prices(node_ptr, topic, topic_ptr, member, pair_ptr, potential):
    """Compute the prices that potentials give, for every topic and pair of its members.

    Parameters
    ----------
    node_ptr, topic : int64, integers
        The interest by node, topics ascending in each row.
    topic_ptr, member : int64, integers
        The interest by topic. A position in ``member`` is an entry.
    pair_ptr : int64, one per topic and one more
        Where the pairs of a topic begin. `triangle` says which comes where.
    potential : float64, one per subscription, by node

    Returns
    -------
    float32, one per topic and pair
        0 where the two have no potential in common.

    Cost: a product for each pair of subscribers of a topic and each topic of one of the two.
    """
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
    """Find the cheapest spanning tree of each topic under prices of pairs.

    Parameters
    ----------
    topic_ptr : int64
        Where the members of each topic begin.
    pair_ptr : int64
        Where the pairs of each topic begin, as in `pair_prices`.
    prices : float32, one per topic and pair
    parent : int32, one per entry
        Overwritten, as by `potential_trees`.

    Returns
    -------
    float
        Cost of all trees.

    Cost: O(pairs) time, by Prim's algorithm.
    """
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

    These are multiplicative weights: pairs that several trees use are paid by those that need them most.

    Parameters
    ----------
    node_ptr, topic : int64, integers
        The interest by node, topics ascending in each row.
    place : int64, one per subscription, by node
        Place of the node among the members of the topic.
    topic_ptr, member : int64, integers
        The interest by topic.
    pair_ptr : int64
        Where the pairs of each topic begin.
    prices : float32, one per topic and pair
        Changed in place.
    parent : int32, one per entry
        The trees, as `pair_trees` writes them.
    factor : float32
        Above 1.

    Cost: O(topics of both ends) for each link of a tree.
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
