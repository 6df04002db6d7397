"""Do prices prove a lower bound? Answered in whole numbers, by other code than the one that searches for prices.

An overlay contains a spanning tree of every topic. Let every topic pay a price for every pair of its subscribers, such
that the topics of a pair pay at most `SCALE` together. A link then earns at most `SCALE`, and the tree of a topic costs
at least as much as the cheapest one: SCALE · links ≥ Σ over topics of the cheapest spanning tree. All arithmetic is in
int64 and exact.

Where links *stand* already, only further links are to be paid for: two subscribers that standing links connect within a
topic pay nothing there, whatever a certificate says, and the standing links are added to what is proved.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.judge.compiled import compiled
from topicloom.judge.connected import component_labels, join_entries
from topicloom.model.arrays import Int32Array, Int64Array
from topicloom.model.interest import Interest

Ints = npt.NDArray[Any]
SCALE = 1 << 20
HIGHEST_POTENTIAL = 1 << 15
_NO_LINKS: Int32Array = np.empty((0, 2), np.int32)


def proved_by_potentials(interest: Interest, potentials: Ints, standing: Int32Array = _NO_LINKS) -> int:
    """Fewest links that potentials prove: one whole number from 0 to 2^15 for every subscription (by node, then topic).

    The price of a pair in a topic is SCALE times the product of both potentials, divided by the sum of such products
    over the shared topics, rounded down: whatever the potentials, the prices of a pair add up to at most SCALE. Topics
    whose potentials are all 0 pay nothing. Returns 0 for potentials of another shape or range.
    """
    shape_fits = potentials.shape == interest.topics.shape and np.issubdtype(potentials.dtype, np.integer)
    if not shape_fits or potentials.min(initial=0) < 0 or potentials.max(initial=0) > HIGHEST_POTENTIAL:
        return 0
    pays = np.bincount(interest.topics, potentials, interest.n_topics) > 0
    topic_ptr, nodes = interest.topic_indptr, interest.topic_nodes
    paid = _paid_by_potentials(
        interest.indptr,
        interest.topics,
        topic_ptr,
        nodes,
        _connected_parts(interest, standing),
        potentials.astype(np.int64),
        np.flatnonzero(pays),
    )
    return -(-int(paid) // SCALE) + len(standing)


def proved_by_pairs(interest: Interest, prices: Ints, standing: Int32Array = _NO_LINKS) -> int:
    """Fewest links that prices of pairs prove: a whole number for every topic and pair of its subscribers.

    Topics are in order, pairs of a topic as (first, second), (first, third) … by rising node. Returns 0 if a price is
    negative, or the topics of a pair pay more than SCALE, or the number of prices is another.
    """
    size = np.diff(interest.topic_indptr).astype(np.int64)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(size * (size - 1) // 2)])
    if prices.shape != (starts[-1],) or not np.issubdtype(prices.dtype, np.integer) or prices.min(initial=0) < 0:
        return 0
    if prices.max(initial=0) > SCALE:
        return 0
    topic_ptr, nodes = interest.topic_indptr, interest.topic_nodes
    if _most_paid(interest.indptr, interest.topics, topic_ptr, nodes, starts, prices) > SCALE:
        return 0
    paid = _paid_by_pairs(topic_ptr, starts, _connected_parts(interest, standing), prices)
    return -(-int(paid) // SCALE) + len(standing)


def proved_by_components(interest: Interest, standing: Int32Array = _NO_LINKS) -> int:
    """Fewest links because nodes that share topics, directly or over others, end up connected: nodes - components.

    A further link joins two components of the nodes at most, so that standing links only leave fewer to join.
    """
    n = interest.n_nodes
    nodes = np.repeat(np.arange(n), np.diff(interest.indptr))
    before = component_labels(standing[:, 0], standing[:, 1], n)
    after = component_labels(
        np.concatenate([nodes, standing[:, 0]]),
        np.concatenate([interest.topics + n, standing[:, 1]]),
        n + interest.n_topics,
    )
    return len(np.unique(before)) - len(np.unique(after[:n])) + len(standing)


def _connected_parts(interest: Interest, standing: Int32Array) -> Int64Array:
    """Number what standing links connect within a topic: equal numbers for subscribers of one component.

    In the order of ``topic_nodes``.
    """
    parent = np.arange(interest.n_subscriptions)
    join_entries(interest.indptr, interest.topics, standing, parent, np.zeros(len(standing), bool))
    while not np.array_equal(parent, parent[parent]):
        parent = parent[parent]
    return parent[np.argsort(interest.topics, kind="stable")]


@compiled
def _paid_by_potentials(
    indptr: Ints, topics: Ints, topic_ptr: Ints, nodes: Ints, part: Int64Array, potentials: Ints, paying: Ints
) -> Any:
    """Σ over topics of the cheapest spanning tree, by Prim's algorithm."""
    own = np.zeros(len(topic_ptr) - 1, np.int64)
    cheapest = np.empty(len(nodes), np.int64)
    done = np.zeros(len(nodes), np.bool_)
    total: Any = np.int64(0)
    for t in paying:
        first, last = topic_ptr[t], topic_ptr[t + 1]
        cheapest[first:last] = SCALE + 1
        current: Any = first
        for _ in range(last - first - 1):
            done[current] = True
            u = nodes[current]
            own[topics[indptr[u] : indptr[u + 1]]] = potentials[indptr[u] : indptr[u + 1]]
            following: Any = np.int64(-1)
            for e in range(first, last):
                if done[e]:
                    continue
                v = nodes[e]
                product: Any = np.int64(0)
                products: Any = np.int64(0)
                for x in range(indptr[v], indptr[v + 1]):
                    value = own[topics[x]] * potentials[x]
                    products += value
                    if topics[x] == t:
                        product = value
                price = product * SCALE // products if products > 0 and part[e] != part[current] else np.int64(0)
                cheapest[e] = min(cheapest[e], price)
                if following < 0 or cheapest[e] < cheapest[following]:
                    following = e
            own[topics[indptr[u] : indptr[u + 1]]] = 0
            total += cheapest[following]
            current = following
    return total


@compiled
def _most_paid(indptr: Ints, topics: Ints, topic_ptr: Ints, nodes: Ints, starts: Ints, prices: Ints) -> Any:
    """The most that the topics of one pair of nodes pay together."""
    paid = np.zeros(len(indptr) - 1, np.int64)
    most: Any = np.int64(0)
    for u in range(len(indptr) - 1):
        for x in range(indptr[u], indptr[u + 1]):
            t = topics[x]
            members = nodes[topic_ptr[t] : topic_ptr[t + 1]]
            i = np.searchsorted(members, u)
            row = starts[t] + i * (2 * len(members) - i - 1) // 2 - i - 1
            for j in range(i + 1, len(members)):
                paid[members[j]] += prices[row + j]
                most = max(most, paid[members[j]])
        for x in range(indptr[u], indptr[u + 1]):
            paid[nodes[topic_ptr[topics[x]] : topic_ptr[topics[x] + 1]]] = 0
    return most


@compiled
def _paid_by_pairs(topic_ptr: Ints, starts: Ints, part: Int64Array, prices: Ints) -> Any:
    """Σ over topics of the cheapest spanning tree, by Prim's algorithm."""
    total: Any = np.int64(0)
    for t in range(len(topic_ptr) - 1):
        size = topic_ptr[t + 1] - topic_ptr[t]
        cheapest = np.full(size, SCALE + 1, np.int64)
        done = np.zeros(size, np.bool_)
        current: Any = np.int64(0)
        for _ in range(size - 1):
            done[current] = True
            following: Any = np.int64(-1)
            for j in range(size):
                if done[j]:
                    continue
                low, high = min(current, j), max(current, j)
                price = np.int64(prices[starts[t] + low * (2 * size - low - 1) // 2 + high - low - 1])
                if part[topic_ptr[t] + low] == part[topic_ptr[t] + high]:
                    price = np.int64(0)
                cheapest[j] = min(cheapest[j], price)
                if following < 0 or cheapest[j] < cheapest[following]:
                    following = j
            total += cheapest[following]
            current = following
    return total
