"""Greedy growth of a design: always the link with the most gain for its price.

The gain of a link counts, for each virtual topic, whether it joins two components that both hold a subscriber. Where
one of the two holds relays only, a relay is reached: that counts ``stake`` times as much, and the rows that it takes
are added to the price of the link. The gain per price falls as the design grows, except where a row is bought or a
component of relays meets its first subscriber: the relays in question are then counted again.
"""

from typing import NamedTuple

import numpy as np

from topicloom.kernels.jit import borrowing, serial
from topicloom.kernels.network.expanded import NONE, entry_of, price_of
from topicloom.kernels.sorted_rows import shared
from topicloom.kernels.streams import draw_of

NO_LINKS = np.empty((0, 2), np.int32)
LISTED = 12  # partners kept for a node
LINKS, MISSING = range(2)
_UNKNOWN = 1e300
_FREE = 1e12  # gain per price of a link that costs nothing, for a gain of 1
_TIES = 1e-6  # equal gains per price are told apart by up to so much
_FRACTION = 2.0**-24
_SHIFT = np.uint64(40)


class Growth(NamedTuple):
    """A design that grows: components of every virtual topic, bought rows, and links."""

    label: np.ndarray  # int32 per entry: an entry that stands for its component
    following: np.ndarray  # int32 per entry: the next one of its component, in a ring
    size: np.ndarray  # int32 per label: entries of the component
    subscribers: np.ndarray  # int32 per label: how many of them want the topic
    missing: np.ndarray  # int64 per virtual topic: joins of components with subscribers that it still needs
    bought: np.ndarray  # bool per row
    stale: np.ndarray  # bool per node: its gains may have risen
    degree: np.ndarray  # int64 per node
    first: np.ndarray  # int32 per node: its first arc
    after: np.ndarray  # int32 per arc: the next one of the same node
    links: np.ndarray  # int32 (room, 2); the arcs of link k are 2k, away from its first end, and 2k + 1
    counters: np.ndarray  # int64: links, and joins missing in all virtual topics


@serial
def grow(x, given, given_rows, stake, noise, key):
    """Add links and rows until every virtual topic is whole, or nothing admissible is left to gain.

    Parameters
    ----------
    x : Expanded
    given : (m, 2) int32
        Links to begin with. They cost nothing, and count for the caps.
    given_rows : bool, one per row
        Rows that are bought already.
    stake : float
        What it counts to reach a relay, in joins of subscribers.
    noise : float
        Up to this share the gains per price are raised at random; 0 for the plain greedy rule.
    key : uint64
        Decides between equal gains.

    Returns
    -------
    links : (m, 2) int32
        Those given, then the others in the order in which they were added.
    bought : bool, one per row
    missing : int64, one per virtual topic
        0 where it is whole.

    Cost: O(entries of the topics of a node) each time a node is counted again; about once per link.
    """
    n = len(x.node_ptr) - 1
    g = _begin(x, given, given_rows)
    partner = np.full((n, LISTED), NONE, np.int32)
    worth = np.zeros((n, LISTED))
    rest = np.full(n, _UNKNOWN)  # the most that a partner not listed is worth
    most = np.full(n, _UNKNOWN)
    heap = np.arange(n).astype(np.int32)
    full, half, rows = np.zeros(n), np.zeros(n), np.zeros(n)
    last_row, state = np.empty(n, np.int32), np.zeros(n, np.int8)
    touched = np.empty(n, np.int32)
    g.stale[:] = False
    while n > 0 and g.counters[MISSING] > 0 and most[heap[0]] > 0.0:
        u = np.int64(heap[0])
        at = NONE
        if rest[u] < _UNKNOWN:
            at = _best_listed(x, g, u, partner[u], worth[u], stake, noise, key)
        if at == NONE or worth[u, at] < rest[u]:
            rest[u] = _count_again(
                x, g, u, partner[u], worth[u], stake, noise, key, full, half, rows, last_row, state, touched
            )
            at = _best_of(partner[u], worth[u])
        best = worth[u, at] if at != NONE else 0.0
        if best < most[u]:
            most[u] = best
            _sink(heap, most, 0)
            if heap[0] != u or best <= 0.0:
                continue
        _take(x, g, u, np.int64(partner[u, at]), stake)
        if np.any(g.stale):
            for v in range(n):
                if g.stale[v]:
                    g.stale[v] = False
                    most[v] = rest[v] = _UNKNOWN
            for v in range(n // 2, -1, -1):
                _sink(heap, most, v)
    return g.links[: g.counters[LINKS]].copy(), g.bought, g.missing


@serial
def _begin(x, given, given_rows):
    """Make a design of the links and rows that are given."""
    n, entries = len(x.node_ptr) - 1, len(x.member)
    room = len(given) + entries - (len(x.topic_ptr) - 1) + 1
    g = Growth(
        np.arange(entries).astype(np.int32), np.arange(entries).astype(np.int32), np.ones(entries, np.int32),
        x.wants.astype(np.int32), np.zeros(len(x.topic_ptr) - 1, np.int64), given_rows.copy(), np.zeros(n, np.bool_),
        np.zeros(n, np.int64), np.full(n, NONE, np.int32), np.empty(2 * room, np.int32), np.empty((room, 2), np.int32),
        np.zeros(2, np.int64),
    )  # fmt: skip
    for t in range(len(g.missing)):
        g.missing[t] = np.int64(-1)
    for e in range(entries):
        g.missing[x.topic_of[e]] += x.wants[e]
    g.counters[MISSING] = g.missing.sum()
    for k in range(len(given)):
        _add_link(x, g, np.int64(given[k, 0]), np.int64(given[k, 1]))
    return g


@borrowing
def _gain(x, g, u, v, stake):
    """Joins of subscribers, what relays that are reached count for, and the price of the rows that these take."""
    full, half, rows = 0.0, 0.0, 0.0
    last = NONE
    for k, m in shared(x.node_ptr, x.topic, u, v):
        t = x.topic[k]
        if g.missing[t] == 0:
            continue
        e, f = x.entry[k], x.entry[m]
        a, b = g.label[e], g.label[f]
        if a == b:
            continue
        here, there = g.subscribers[a] > 0, g.subscribers[b] > 0
        if here and there:
            full += x.weight[t]
        elif here or there:
            row = x.row[f] if here else x.row[e]
            if g.bought[row] or row == NONE:
                full += stake * x.weight[t]
            else:
                half += stake * x.weight[t]
                if row != last:
                    rows += x.row_price[row]
                    last = row
    return full, half, rows


@borrowing
def _per_price(full, half, rows, price):
    """Gain per price, with the rows bought or without, whichever is more; and whether that is with them."""
    without = full / price if price > 0.0 else _FREE * full
    if half <= 0.0:
        return without, False
    cost = price + rows
    bought = (full + half) / cost if cost > 0.0 else _FREE * (full + half)
    return max(without, bought), bought > without


@borrowing
def _told_apart(value, u, v, noise, key):
    """A gain per price with its noise, and with what decides between equal ones."""
    pair = np.int64(min(u, v)) << 32 | np.int64(max(u, v))
    value *= 1.0 + _TIES * np.float64(draw_of(key, pair) >> _SHIFT) * _FRACTION
    if noise > 0.0:
        value *= 1.0 + noise * np.float64(draw_of(~key, pair) >> _SHIFT) * _FRACTION
    return value


@borrowing
def _has_room(x, g, u):
    return x.cap[u] < 0 or g.degree[u] < x.cap[u]


@borrowing
def _linked(g, u, v):
    arc = g.first[u]
    while arc != NONE:
        if g.links[arc >> 1, 1 - (arc & 1)] == v:
            return True
        arc = g.after[arc]
    return False


@borrowing
def _link_price(x, g, u, v):
    """What it takes to have a link: nothing if it is there, inf if it may not be or the caps are reached."""
    if len(x.row_price) and _linked(g, u, v):
        return 0.0
    if not (_has_room(x, g, u) and _has_room(x, g, v)):
        return np.inf
    return price_of(x, u, v)


@borrowing
def _best_listed(x, g, u, partner, worth, stake, noise, key):
    """Place of the listed partner that is worth most now, or NONE. Those that were worth less are not looked at."""
    best = 0.0
    found = NONE
    for k in range(LISTED):
        v = np.int64(partner[k])
        if v == NONE:
            break
        if worth[k] <= best:
            continue
        price = _link_price(x, g, u, v)
        worth[k] = 0.0
        if price < np.inf:
            full, half, rows = _gain(x, g, u, v, stake)
            worth[k] = _told_apart(_per_price(full, half, rows, price)[0], u, v, noise, key)
        if worth[k] > best:
            best = worth[k]
            found = k
    return found


@borrowing
def _best_of(partner, worth):
    found = NONE
    for k in range(LISTED):
        if partner[k] != NONE and worth[k] > 0.0 and (found == NONE or worth[k] > worth[found]):
            found = k
    return found


@borrowing
def _count_again(x, g, u, partner, worth, stake, noise, key, full, half, rows, last_row, state, touched):
    """Count the gains of all links of a node and list the best partners. Returns the most that another is worth."""
    count = 0
    for k in range(x.node_ptr[u], x.node_ptr[u + 1]):
        t = x.topic[k]
        if g.missing[t] == 0:
            continue
        own = g.label[x.entry[k]]
        here = g.subscribers[own] > 0
        for f in range(x.topic_ptr[t], x.topic_ptr[t + 1]):
            other = g.label[f]
            there = g.subscribers[other] > 0
            if other == own or not (here or there):
                continue
            v = x.member[f]
            if state[v] == 0:
                state[v] = 1
                touched[count] = v
                count += 1
                last_row[v] = NONE
            if here and there:
                full[v] += x.weight[t]
                continue
            row = x.row[f] if here else x.row[x.entry[k]]
            if row == NONE or g.bought[row]:
                full[v] += stake * x.weight[t]
                continue
            half[v] += stake * x.weight[t]
            if last_row[v] != row:
                rows[v] += x.row_price[row]
                last_row[v] = row
    partner[:] = NONE
    listed, least, rest = 0, 0, 0.0
    for k in range(count):
        v = np.int64(touched[k])
        price = _link_price(x, g, u, v)
        value = 0.0
        if price < np.inf:
            value = _told_apart(_per_price(full[v], half[v], rows[v], price)[0], u, v, noise, key)
        state[v] = 0
        full[v] = half[v] = rows[v] = 0.0
        if value <= 0.0:
            continue
        if listed < LISTED:
            partner[listed], worth[listed] = v, value
            listed += 1
        elif value > worth[least]:
            rest = max(rest, worth[least])
            partner[least], worth[least] = v, value
        else:
            rest = max(rest, value)
            continue
        if listed == LISTED:
            least = np.argmin(worth)
    return rest


@borrowing
def _take(x, g, u, v, stake):
    """Add the link of two nodes, if it is not there, and buy the rows that were counted with it."""
    full, half, rows = _gain(x, g, u, v, stake)
    price = _link_price(x, g, u, v)
    buys = _per_price(full, half, rows, price)[1]
    is_new = not (len(x.row_price) and _linked(g, u, v))
    if buys:
        for k, m in shared(x.node_ptr, x.topic, u, v):
            t = x.topic[k]
            a, b = g.label[x.entry[k]], g.label[x.entry[m]]
            here, there = g.subscribers[a] > 0, g.subscribers[b] > 0
            if g.missing[t] == 0 or a == b or here == there:
                continue
            row = x.row[x.entry[m]] if here else x.row[x.entry[k]]
            if row != NONE and not g.bought[row]:
                _buy(x, g, row)
    if is_new:
        _add_link(x, g, u, v)
    g.stale[u] = g.stale[u] or _relays(x, u)
    g.stale[v] = g.stale[v] or _relays(x, v)


@borrowing
def _relays(x, u):
    """Whether a node has rows to buy."""
    for k in range(x.node_ptr[u], x.node_ptr[u + 1]):  # noqa: SIM110 (numba has no generator expressions)
        if x.row[x.entry[k]] != NONE:
            return True
    return False


@borrowing
def carries(x, bought, e):
    """Tell whether the node of an entry carries its topic.

    Parameters
    ----------
    x : Expanded
    bought : bool, one per row
    e : int
        Entry.

    Returns
    -------
    bool
        It is a subscriber, or a relay whose row is bought.

    Cost: O(1).
    """
    return x.wants[e] or bought[x.row[e]]


@borrowing
def _add_link(x, g, u, v):
    """Write a link down, and join what it connects."""
    k = g.counters[LINKS]
    g.links[k, 0], g.links[k, 1] = u, v
    g.after[2 * k], g.after[2 * k + 1] = g.first[u], g.first[v]
    g.first[u], g.first[v] = 2 * k, 2 * k + 1
    g.degree[u] += 1
    g.degree[v] += 1
    g.counters[LINKS] = k + 1
    for i, m in shared(x.node_ptr, x.topic, u, v):
        e, f = x.entry[i], x.entry[m]
        if carries(x, g.bought, e) and carries(x, g.bought, f):
            _join(x, g, e, f)


@borrowing
def _buy(x, g, row):
    """Let a relay carry a topic over the links that it has."""
    g.bought[row] = True
    u = x.row_node[row]
    g.stale[u] = True
    for k in range(x.row_ptr[row], x.row_ptr[row + 1]):
        e = x.row_entry[k]
        arc = g.first[u]
        while arc != NONE:
            f = entry_of(x, g.links[arc >> 1, 1 - (arc & 1)], x.topic_of[e])
            if f != NONE and carries(x, g.bought, f):
                _join(x, g, e, f)
            arc = g.after[arc]


@borrowing
def _join(x, g, e, f):
    """Make one component of those of two entries."""
    a, b = g.label[e], g.label[f]
    if a == b:
        return
    if g.size[a] < g.size[b]:
        a, b = b, a
    here, there = g.subscribers[a], g.subscribers[b]
    if here and there:
        g.missing[x.topic_of[e]] -= 1
        g.counters[MISSING] -= 1
    elif here or there:
        reached = b if here else a
        one = reached
        while True:
            g.stale[x.member[one]] = True
            one = g.following[one]
            if one == reached:
                break
    one = b
    while True:
        g.label[one] = a
        one = g.following[one]
        if one == b:
            break
    g.following[a], g.following[b] = g.following[b], g.following[a]
    g.size[a] += g.size[b]
    g.subscribers[a] = here + there


@borrowing
def _sink(heap, key, at):
    """Move a node down a heap of falling keys to where it belongs."""
    while 2 * at + 1 < len(heap):
        child = 2 * at + 1
        if child + 1 < len(heap) and key[heap[child + 1]] > key[heap[child]]:
            child += 1
        if key[heap[child]] <= key[heap[at]]:
            return
        heap[at], heap[child] = heap[child], heap[at]
        at = child
