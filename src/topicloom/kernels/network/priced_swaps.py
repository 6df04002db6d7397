"""Swaps on price: a link is taken out, and of all that mend what breaks the best is put in.

A link scores ``pull`` times its price times the shares of its topics, minus its price, minus a penalty for the degrees
of its ends, plus noise. The shares of a mean link add up to 1, so that a dear link has to serve more than a cheap one.
"""

from typing import NamedTuple

import numpy as np

from topicloom.kernels.jit import borrowing, serial
from topicloom.kernels.network.expanded import NONE, entry_of, price_of
from topicloom.kernels.sorted_rows import shared
from topicloom.kernels.streams import below, draw_of
from topicloom.kernels.swaps.swaps import GUMBEL, NOISE_BITS

PARTNERS = 40  # partners kept for a node, of its own site and of others each
MOST_BROKEN, MOST_SAMPLED, SEARCH_LIMIT = 5, 12, 2000
LINKS, ARCS, SEARCHES, DRAWS = range(4)
ROOM = 3  # so many links below its cap a node begins to pay a penalty
_STEEP = 64
_UNIT = 1.0 / 1024  # of the quantiles
_MOST_NOISE = 8.0
_TOP_BITS = np.uint64(64 - NOISE_BITS)


class PricedSwaps(NamedTuple):
    """A design whose links can be taken out and put back in time linear in the topics that they serve."""

    share: np.ndarray  # float64 per virtual topic
    ends: np.ndarray  # int32 (links, 2)
    price: np.ndarray  # float64 per link
    value: np.ndarray  # float64 per link: shares of its topics
    arcs_at: np.ndarray  # int64 per link
    served: np.ndarray  # int64 per link: virtual topics
    settled: np.ndarray  # bool per link: its last visit found that it has to stay
    degree: np.ndarray  # int64 per node
    first: np.ndarray  # int32 per entry: its first arc
    head: np.ndarray  # int32 per arc: the entry that it leads to; arc a ^ 1 leads back
    after: np.ndarray  # int32 per arc
    before: np.ndarray  # int32 per arc
    queue: np.ndarray  # int32 per entry: the next one of a search
    seen: np.ndarray  # int64 per entry: the search that reached it last
    side: np.ndarray  # int64 per entry: the visit in which it was on the side of its cut that was found first
    chain: np.ndarray  # int32 per entry: the next one of that side
    broken: np.ndarray  # int32 (MOST_BROKEN, 3): virtual topic, first entry and size of a side
    on_side: np.ndarray  # bool per broken topic: scratch
    partner: np.ndarray  # int32 (nodes, 2 · PARTNERS)
    worth: np.ndarray  # float64 (nodes, 2 · PARTNERS)
    listed: np.ndarray  # bool per node
    sum: np.ndarray  # float64 per node: scratch, zero
    met: np.ndarray  # int32 per node: scratch
    penalty: np.ndarray  # float64: of one more link, by how many links a node has above ``cap - ROOM``
    counters: np.ndarray  # int64: links, arcs, searches, random numbers


def new_priced_swaps(x, links, penalty):
    """Make the state of a search by swaps.

    Parameters
    ----------
    x : Expanded
        As `carried` gives it.
    links : (m, 2) int32
        All virtual topics are whole with them.
    penalty : float64
        Of one more link, by how many a node has above its cap less `ROOM`; the last one holds for all above.

    Returns
    -------
    PricedSwaps

    Cost: O(entries + slots of both ends of each link).
    """
    n, m, entries = len(x.node_ptr) - 1, len(links), len(x.member)
    inside = np.zeros(len(x.base), np.int64)
    served = int(_count_inside(x, links, inside))
    room = 6 * served + 8 * int(np.diff(x.node_ptr).max(initial=0)) + 1024
    size = np.diff(x.topic_ptr)
    slack = np.maximum(inside / np.maximum(size - 1, 1), 1.0)
    share = np.sqrt(np.median(size) / np.maximum(size, 1)) / slack**3 if len(size) else np.zeros(0)
    share /= max(float((share * inside).sum()) / max(m, 1), 1e-9)
    s = PricedSwaps(
        share, links.astype(np.int32).copy(), np.zeros(m), np.zeros(m), np.zeros(m, np.int64), np.zeros(m, np.int64),
        np.zeros(m, np.bool_), np.zeros(n, np.int64), np.full(entries, NONE, np.int32), np.empty(room, np.int32),
        np.empty(room, np.int32), np.empty(room, np.int32), np.empty(entries, np.int32), np.zeros(entries, np.int64),
        np.zeros(entries, np.int64), np.empty(entries, np.int32), np.empty((MOST_BROKEN, 3), np.int32),
        np.empty(MOST_BROKEN, np.bool_), np.full((n, 2 * PARTNERS), NONE, np.int32), np.zeros((n, 2 * PARTNERS)),
        np.zeros(n, np.bool_), np.zeros(n), np.empty(n, np.int32), np.asarray(penalty, np.float64),
        np.array([m, 0, 0, 0], np.int64),
    )  # fmt: skip
    _repack(x, s)
    return s


@serial
def _count_inside(x, links, inside):
    """Add the number of links that serve each virtual topic to ``inside``. Returns the sum."""
    total = 0
    for i in range(len(links)):
        for k, _ in shared(x.node_ptr, x.topic, links[i, 0], links[i, 1]):
            inside[x.topic[k]] += 1
            total += 1
    return total


@borrowing
def _enter(s, arc):
    e = s.head[arc ^ 1]
    s.after[arc], s.before[arc] = s.first[e], NONE
    if s.first[e] != NONE:
        s.before[s.first[e]] = arc
    s.first[e] = arc


@borrowing
def _put(x, s, i, u, v):
    """Write a link as number i, with new arcs."""
    s.ends[i, 0], s.ends[i, 1] = u, v
    arc = s.counters[ARCS]
    s.arcs_at[i] = arc
    value = 0.0
    for k, m in shared(x.node_ptr, x.topic, u, v):
        s.head[arc], s.head[arc + 1] = x.entry[m], x.entry[k]
        _enter(s, arc)
        _enter(s, arc + 1)
        arc += 2
        value += s.share[x.topic[k]]
    s.served[i] = (arc - s.counters[ARCS]) // 2
    s.counters[ARCS] = arc
    s.value[i], s.price[i] = value, price_of(x, u, v)
    s.degree[u] += 1
    s.degree[v] += 1


@borrowing
def _take_out(s, i):
    for arc in range(s.arcs_at[i], s.arcs_at[i] + 2 * s.served[i]):
        if s.before[arc] != NONE:
            s.after[s.before[arc]] = s.after[arc]
        else:
            s.first[s.head[arc ^ 1]] = s.after[arc]
        if s.after[arc] != NONE:
            s.before[s.after[arc]] = s.before[arc]
    s.degree[s.ends[i, 0]] -= 1
    s.degree[s.ends[i, 1]] -= 1


@borrowing
def _put_back(s, i):
    for arc in range(s.arcs_at[i], s.arcs_at[i] + 2 * s.served[i]):
        _enter(s, arc)
    s.degree[s.ends[i, 0]] += 1
    s.degree[s.ends[i, 1]] += 1


@serial
def _repack(x, s):
    """Write all arcs again, without gaps."""
    s.first[:] = NONE
    s.degree[:] = 0
    s.counters[ARCS] = 0
    for i in range(s.counters[LINKS]):
        _put(x, s, i, np.int64(s.ends[i, 0]), np.int64(s.ends[i, 1]))


@borrowing
def _forget(s, i):
    """Forget a link that is out. The last one takes its number."""
    last = s.counters[LINKS] - 1
    s.ends[i, 0], s.ends[i, 1] = s.ends[last, 0], s.ends[last, 1]
    s.price[i], s.value[i], s.arcs_at[i] = s.price[last], s.value[last], s.arcs_at[last]
    s.served[i], s.settled[i] = s.served[last], s.settled[last]
    s.counters[LINKS] = last


@borrowing
def _follow(s, one, tail, own, other):
    """Reach the neighbours of an entry. Returns the last entry of the queue, or NONE if the other search was met."""
    arc = s.first[one]
    while arc != NONE:
        f = s.head[arc]
        if s.seen[f] == other:
            return NONE
        if s.seen[f] != own:
            s.seen[f] = own
            s.queue[tail] = f
            s.queue[f] = NONE
            tail = f
        arc = s.after[arc]
    return tail


@borrowing
def _cut_off(s, e, f):
    """Search from two entries in turns.

    Returns e or f if all of its side is found without the other, -1 if they are connected, -2 if the search got far.
    """
    s.counters[SEARCHES] += 2
    one, other = s.counters[SEARCHES], s.counters[SEARCHES] + 1
    s.seen[e], s.seen[f] = one, other
    s.queue[e] = s.queue[f] = NONE
    at_e, tail_e, at_f, tail_f = e, e, f, f
    for _ in range(SEARCH_LIMIT):
        tail_e = _follow(s, at_e, tail_e, one, other)
        if tail_e == NONE:
            return -1
        at_e = s.queue[at_e]
        if at_e == NONE:
            return e
        tail_f = _follow(s, at_f, tail_f, other, one)
        if tail_f == NONE:
            return -1
        at_f = s.queue[at_f]
        if at_f == NONE:
            return f
    return -2


@serial
def _list_partners(x, s, u, pull):
    """List the partners of a node that score best, of its own site and of others."""
    count = 0
    for k in range(x.node_ptr[u], x.node_ptr[u + 1]):
        t = x.topic[k]
        for e in range(x.topic_ptr[t], x.topic_ptr[t + 1]):
            v = x.member[e]
            if v == u:
                continue
            if s.sum[v] == 0.0:
                s.met[count] = v
                count += 1
            s.sum[v] += s.share[t]
    worth = np.empty(count)
    for k in range(count):
        v = s.met[k]
        price = price_of(x, u, v)
        worth[k] = pull * price * s.sum[v] - price if price < np.inf else -np.inf
        s.sum[v] = 0.0
    near, far = 0, PARTNERS
    for k in np.argsort(-worth, kind="mergesort"):
        v = s.met[k]
        if worth[k] == -np.inf:
            break
        if x.site[v] == x.site[u]:
            if near < PARTNERS:
                s.partner[u, near], s.worth[u, near] = v, worth[k]
                near += 1
        elif far < 2 * PARTNERS:
            s.partner[u, far], s.worth[u, far] = v, worth[k]
            far += 1
    s.listed[u] = True


@borrowing
def _penalty(x, s, v):
    """What one more link at a node costs beside its price."""
    if x.cap[v] < 0:
        return 0.0
    over = s.degree[v] + 1 - x.cap[v] + ROOM
    return 0.0 if over <= 0 else s.penalty[min(over, len(s.penalty) - 1)]


@borrowing
def _random(s, key, limit):
    s.counters[DRAWS] += 1
    return below(draw_of(key, s.counters[DRAWS]), np.int64(limit))


@borrowing
def _noise(s, key):
    s.counters[DRAWS] += 1
    return _UNIT * np.float64(GUMBEL[draw_of(key, s.counters[DRAWS]) >> _TOP_BITS])


@serial
def _visit(x, s, i, temperature, pull, key):
    """Take out link i, and put in what mends best; drop it if nothing breaks. Returns whether it has to stay."""
    u, v = np.int64(s.ends[i, 0]), np.int64(s.ends[i, 1])
    first, last = s.arcs_at[i], s.arcs_at[i] + 2 * s.served[i]
    ends_at_u, ends_at_v = 0, 0
    for arc in range(first, last, 2):
        ends_at_u += s.after[s.first[s.head[arc + 1]]] == NONE
        ends_at_v += s.after[s.first[s.head[arc]]] == NONE
        if (ends_at_u and ends_at_v) or ends_at_u + ends_at_v > MOST_BROKEN:
            return True
    _take_out(s, i)
    count = 0
    for arc in range(first, last, 2):
        e, f = np.int64(s.head[arc + 1]), np.int64(s.head[arc])
        found = _cut_off(s, e, f)
        if found == -1:
            continue
        if found == -2 or count == MOST_BROKEN:
            _put_back(s, i)
            return True
        size, one = 0, found
        while one != NONE:
            s.chain[one] = s.queue[one]
            one = s.queue[one]
            size += 1
        s.broken[count, 0], s.broken[count, 1], s.broken[count, 2] = x.topic_of[e], found, size
        count += 1
    if count == 0:
        _forget(s, i)
        return False
    a, b, others = _best_mend(x, s, i, u, v, count, temperature, pull, key)
    if a == NONE:
        _put_back(s, i)
        return not others
    if s.counters[ARCS] + 2 * (x.node_ptr[a + 1] - x.node_ptr[a]) > len(s.head):
        s.ends[i, 0], s.ends[i, 1] = a, b
        _repack(x, s)
    else:
        _put(x, s, i, a, b)
    return False


@serial
def _best_mend(x, s, i, u, v, count, temperature, pull, key):
    """The link that mends all broken topics and scores best, or NONE if that is the one that was there."""
    s.counters[SEARCHES] += 2
    clock = s.counters[SEARCHES]
    small = 0
    for k in range(count):
        one = np.int64(s.broken[k, 1])
        while one != NONE:
            s.side[one] = clock
            one = np.int64(s.chain[one])
        if s.broken[k, 2] < s.broken[small, 2]:
            small = k
    spread = temperature * s.price[i]
    ahead = _MOST_NOISE * spread
    best = pull * s.price[i] * s.value[i] - s.price[i] - _penalty(x, s, u) - _penalty(x, s, v)
    best += spread * _noise(s, key)
    best_a, best_b, others = NONE, NONE, False
    size = np.int64(s.broken[small, 2])
    stride = max(size // MOST_SAMPLED, 1)
    skip = _random(s, key, stride)
    one = np.int64(s.broken[small, 1])
    place = 0
    while one != NONE:
        if place % stride == skip and _stands_at_all(x, s, x.member[one], count, clock):
            a = np.int64(x.member[one])
            if not s.listed[a]:
                _list_partners(x, s, a, pull)
            own = _penalty(x, s, a)
            for k in range(2 * PARTNERS):
                b = np.int64(s.partner[a, k])
                if b == NONE or (a == u and b == v) or (a == v and b == u):
                    continue
                score = s.worth[a, k] - own - _penalty(x, s, b)
                if score + ahead <= best or not _mends(x, s, b, count, clock):
                    continue
                others = True
                if spread > 0.0:
                    score += spread * _noise(s, key)
                if score > best:
                    best, best_a, best_b = score, a, b
        one = np.int64(s.chain[one])
        place += 1
    return best_a, best_b, others


@borrowing
def _stands_at_all(x, s, a, count, clock):
    """Whether a node has all broken topics. Notes on which side it is."""
    for k in range(count):
        e = entry_of(x, a, s.broken[k, 0])
        if e == NONE:
            return False
        s.on_side[k] = s.side[e] == clock
    return True


@borrowing
def _mends(x, s, b, count, clock):
    """Whether a node stands on the other side of every cut."""
    for k in range(count):
        f = entry_of(x, b, s.broken[k, 0])
        if f == NONE or (s.side[f] == clock) == s.on_side[k]:
            return False
    return True


@serial
def priced_sweep(x, s, visits, temperature, pull, stays, hot, key):
    """Visit links at random, dear ones more often.

    Parameters
    ----------
    x : Expanded
        As for `new_priced_swaps`.
    s : PricedSwaps
        Changed in place.
    visits : int
    temperature : float
        Of the noise, in prices of the link that is out; 0 for none.
    pull : float
        What sharing topics counts for.
    stays : int
        So many of the first links are never taken out.
    hot : bool
        Visit mostly links at nodes above their cap.
    key : uint64
        Of the random numbers.

    Cost: a search in each virtual topic of a link, and the partners of up to twelve nodes, for each visit.
    """
    for visit in range(visits):
        m = s.counters[LINKS] - stays
        if m <= 0:
            return
        i = stays + _random(s, key, m)
        if hot:
            if not (_over(x, s, s.ends[i, 0]) or _over(x, s, s.ends[i, 1])) and _random(s, key, 10) < 7:
                continue
        elif visit & 1:
            for _ in range(3):
                other = stays + _random(s, key, m)
                if s.price[other] > s.price[i]:
                    i = other
        if s.settled[i] and _random(s, key, 5):
            continue
        before = s.counters[LINKS]
        stuck = _visit(x, s, i, temperature, pull, key)
        if s.counters[LINKS] == before:
            s.settled[i] = stuck


@borrowing
def _over(x, s, v):
    return x.cap[v] >= 0 and s.degree[v] > x.cap[v]
