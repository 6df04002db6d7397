"""Shares of prices by which virtual topics pay for links and rows: a lower bound on what any design costs.

Every virtual topic pays a share of the price of each pair of its members, and of each row, such that the shares of a
pair, and of a row, add up to at most its price. A design then costs at least as much as the cheapest trees of all
virtual topics together, where a tree takes in all subscribers, and relays at the share of their row.
"""

import numpy as np

from topicloom.kernels.jit import borrowing, serial
from topicloom.kernels.network.expanded import NONE, price_of
from topicloom.kernels.sorted_rows import longest_row, shared

MOST_RELAYS = 10  # relays of a virtual topic of which all sets are tried
_LEAST = 1e-7  # of a price: what a share never falls below


@serial
def pair_starts(topic_ptr):
    """Where the pairs of each virtual topic begin: one place for every ordered pair of its members.

    Parameters
    ----------
    topic_ptr : int64

    Returns
    -------
    int64, one per virtual topic and one more

    Cost: O(virtual topics).
    """
    starts = np.zeros(len(topic_ptr), np.int64)
    for t in range(len(topic_ptr) - 1):
        starts[t + 1] = starts[t] + (topic_ptr[t + 1] - topic_ptr[t]) ** 2
    return starts


@serial
def first_shares(x, starts):
    """Split the price of each pair by one over the root of the virtual topics' sizes.

    Parameters
    ----------
    x : Expanded
    starts : int64
        As `pair_starts` gives them.

    Returns
    -------
    float64
        Symmetric; inf for pairs that may not be linked.

    Cost: O(slots of both) for each pair.
    """
    pays = np.full(starts[-1], np.inf)
    for t in range(len(x.topic_ptr) - 1):
        first, size = x.topic_ptr[t], x.topic_ptr[t + 1] - x.topic_ptr[t]
        for i in range(size):
            u = x.member[first + i]
            for j in range(i + 1, size):
                v = x.member[first + j]
                price = price_of(x, u, v)
                if price == np.inf:
                    continue
                total = 0.0
                for k, _ in shared(x.node_ptr, x.topic, u, v):
                    other = x.topic[k]
                    total += (x.topic_ptr[other + 1] - x.topic_ptr[other]) ** -0.5
                share = price * size**-0.5 / total
                pays[starts[t] + i * size + j] = pays[starts[t] + j * size + i] = share
    return pays


@borrowing
def _tree(pays, at, size, use, parent, key, done):
    """Cost of the cheapest tree over the members in use, by Prim's algorithm; inf if there is none."""
    current, count = NONE, 0
    for j in range(size):
        key[j], done[j], parent[j] = np.inf, not use[j], NONE
        count += use[j]
        if use[j] and current == NONE:
            current = j
    total = 0.0
    done[current] = True
    for _ in range(count - 1):
        following = NONE
        for j in range(size):
            if done[j]:
                continue
            price = pays[at + current * size + j]
            if price < key[j]:
                key[j], parent[j] = price, current
            if key[j] < np.inf and (following == NONE or key[j] < key[following]):
                following = j
        if following == NONE:
            return np.inf
        total += key[following]
        done[following] = True
        current = following
    return total


@serial
def cheapest_trees(x, starts, pays, row_pays, parent, used):
    """Find the cheapest tree of every virtual topic, with any set of its relays.

    Parameters
    ----------
    x : Expanded
        No virtual topic has more than `MOST_RELAYS` relays.
    starts, pays : arrays
        Shares of pairs.
    row_pays : float64, one per entry
        Shares of rows.
    parent : int64, one per entry
        Overwritten: the place of its neighbour on the way to the first member, or NONE.
    used : bool, one per entry
        Overwritten: whether the tree takes in this relay.

    Returns
    -------
    float
        Cost of all trees.

    Cost: O(members² · 2^relays) for each virtual topic.
    """
    most = longest_row(x.topic_ptr)
    key, done, use = np.empty(most), np.empty(most, np.bool_), np.empty(most, np.bool_)
    tree, best_tree, relay = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    total = 0.0
    for t in range(len(x.topic_ptr) - 1):
        first, size = x.topic_ptr[t], x.topic_ptr[t + 1] - x.topic_ptr[t]
        relays = 0
        for j in range(size):
            use[j] = x.wants[first + j]
            if not use[j]:
                relay[relays] = j
                relays += 1
        best, best_set = np.inf, np.int64(0)
        best_tree[:size] = NONE
        for chosen in range(np.int64(1) << relays):
            cost = 0.0
            for q in range(relays):
                use[relay[q]] = (chosen >> q) & 1
                if use[relay[q]]:
                    cost += row_pays[first + relay[q]]
            if cost >= best:
                continue
            cost += _tree(pays, starts[t], size, use, tree, key, done)
            if cost < best:
                best, best_set = cost, chosen
                best_tree[:size] = tree[:size]
        total += best
        parent[first : first + size] = best_tree[:size]
        used[first : first + size] = False
        for q in range(relays):
            used[first + relay[q]] = (best_set >> q) & 1
    return total


@serial
def raise_shares(x, starts, pays, row_pays, parent, used, factor):
    """Multiply the shares that trees pay, and scale those of each such pair and row to its price.

    Parameters
    ----------
    x : Expanded
    starts, pays, row_pays : arrays
        Shares, changed in place.
    parent, used : arrays
        The trees, as `cheapest_trees` writes them.
    factor : float
        Above 1.

    Cost: O(slots of both ends) for each link of a tree.
    """
    links = np.empty(len(parent), np.int64)
    count = 0
    for e in range(len(parent)):
        if parent[e] != NONE:
            u, v = np.int64(x.member[e]), np.int64(x.member[x.topic_ptr[x.topic_of[e]] + parent[e]])
            links[count] = min(u, v) << 32 | max(u, v)
            count += 1
    links = np.sort(links[:count])
    for i in range(count):
        if i == 0 or links[i] != links[i - 1]:
            _scale_pair(x, starts, pays, parent, links[i] >> 32, links[i] & 0xFFFFFFFF, factor)
    for row in range(len(x.row_price)):
        total = 0.0
        for k in range(x.row_ptr[row], x.row_ptr[row + 1]):
            e = x.row_entry[k]
            row_pays[e] = max(row_pays[e], _LEAST * x.row_price[row]) * (factor if used[e] else 1.0)
            total += row_pays[e]
        if total > 0.0:
            for k in range(x.row_ptr[row], x.row_ptr[row + 1]):
                row_pays[x.row_entry[k]] *= x.row_price[row] / total


@borrowing
def _scale_pair(x, starts, pays, parent, u, v, factor):
    price = price_of(x, u, v)
    total = 0.0
    for again in range(2):
        for k, m in shared(x.node_ptr, x.topic, u, v):
            t = x.topic[k]
            first, size = x.topic_ptr[t], x.topic_ptr[t + 1] - x.topic_ptr[t]
            i, j = x.entry[k] - first, x.entry[m] - first
            here, there = starts[t] + i * size + j, starts[t] + j * size + i
            if again:
                if total > 0.0:
                    pays[here] = pays[there] = pays[here] * (price / total)
            else:
                in_tree = parent[first + i] == j or parent[first + j] == i
                pays[here] = max(pays[here], _LEAST * price) * (factor if in_tree else 1.0)
                total += pays[here]


@serial
def write_shares(x, starts, pays, row_pays, scale):
    """Round shares down to whole numbers: parts of ``scale`` of the price of the pair or row.

    Parameters
    ----------
    x : Expanded
    starts, pays, row_pays : arrays
    scale : int

    Returns
    -------
    pairs : int32
        For each virtual topic its pairs of members as (first, second), (first, third) …
    rows : int32, one per entry
        0 for subscribers.

    Cost: O(pairs).
    """
    pairs = np.zeros((starts[-1] - len(x.member)) // 2, np.int32)
    rows = np.zeros(len(x.member), np.int32)
    at = 0
    for t in range(len(x.topic_ptr) - 1):
        first, size = x.topic_ptr[t], x.topic_ptr[t + 1] - x.topic_ptr[t]
        for i in range(size):
            for j in range(i + 1, size):
                price = price_of(x, x.member[first + i], x.member[first + j])
                if 0.0 < price < np.inf:
                    pairs[at] = np.int32(np.floor(pays[starts[t] + i * size + j] / price * scale))
                at += 1
    for e in range(len(x.member)):
        if not x.wants[e] and x.row_price[x.row[e]] > 0.0:
            rows[e] = np.int32(np.floor(row_pays[e] / x.row_price[x.row[e]] * scale))
    return pairs, rows
