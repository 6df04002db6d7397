"""Refinement by link swaps: a heat bath over the links that could stand in for one that was taken out.

A visit takes one link out. If no topic falls apart it stays out. Otherwise every link at hand that mends all broken
topics, the old one among them, is scored by the weight of the topics that it serves, plus noise of a temperature, and
the best is put in. Arithmetic is in whole numbers, so that the same seed gives the same links on every machine.
"""

import numpy as np

from topicloom.kernels.jit import borrowing, serial
from topicloom.kernels.refinement.partners import list_partners
from topicloom.kernels.refinement.swap_state import (
    ARCS,
    CLOCK,
    FOLLOWED,
    LINKS,
    LISTED,
    MOST_BROKEN,
    NONE,
    RANDOM,
    VISIT,
    put,
    put_back,
    remove,
    repack,
    take_out,
)
from topicloom.kernels.sorted_rows import longest_row
from topicloom.kernels.streams import REFINE_STREAM, below, draw

KEPT, SWAPPED, DROPPED, LOCKED, MANY_BROKEN, FAR, ALONE = range(7)
SEARCH_LIMIT = 1000  # entries that a search follows from either end before it gives up
MOST_SAMPLED = 8  # nodes of the smaller side whose partners are looked at
NOISE_BITS = 12
# Quantiles of the Gumbel distribution, 1,024 for 1.
GUMBEL = np.rint(-1024 * np.log(-np.log((np.arange(1 << NOISE_BITS) + 0.5) / (1 << NOISE_BITS)))).astype(np.int64)
_PASSED_OVER = 5  # settled links are visited in one of this many turns


@serial
def sweep(s, visits, temperature, most_read, hot, seed):
    """Visit links at random, and replace each where another serves more.

    Parameters
    ----------
    s : Swaps
        Changed in place.
    visits : int
    temperature : int
        Of the noise on scores: 1,024 is the weight of a topic of median size, 0 takes the best.
    most_read : int
        As for `list_partners`.
    hot : int
        If above 0, links at nodes of that degree or more are preferred.
    seed : int

    Returns
    -------
    int
        How many visits there were: fewer than asked for if arcs have no room left.

    Cost: at most 2 · SEARCH_LIMIT entries followed for each topic that a visited link serves, and MOST_SAMPLED · LISTED
    candidates.
    """
    widest = longest_row(s.node_ptr)
    done = 0
    while done < visits and s.counters[LINKS]:
        if s.counters[ARCS] + 2 * widest > len(s.head):
            repack(s)
            if s.counters[ARCS] + 2 * widest > len(s.head):
                break
        x = random_below(s, seed, s.counters[LINKS])
        if s.settled[x] and random_below(s, seed, _PASSED_OVER):
            continue
        if hot and s.degree[s.end_u[x]] < hot and s.degree[s.end_v[x]] < hot and random_below(s, seed, 5) < 3:
            continue
        outcome = visit(s, x, temperature, most_read, seed)
        if outcome != DROPPED:
            s.settled[x] = outcome >= LOCKED
        s.outcomes[outcome] += 1
        done += 1
    return done


@borrowing
def random_below(s, seed, limit):
    """Draw the next random number of a refinement.

    Parameters
    ----------
    s : Swaps
        Counts the numbers drawn.
    seed : int
    limit : int

    Returns
    -------
    int64
        From 0 to ``limit - 1``.

    Cost: O(1).
    """
    s.counters[RANDOM] += 1
    return below(draw(seed, REFINE_STREAM, s.counters[RANDOM]), limit)


@borrowing
def visit(s, x, temperature, most_read, seed):
    """Take a link out and put the best one in, if any is needed.

    Parameters
    ----------
    s : Swaps
        Changed in place.
    x : int
        Number of the link.
    temperature, most_read, seed : int
        As for `sweep`.

    Returns
    -------
    int
        The outcome, such as KEPT, SWAPPED or DROPPED.

    Cost: as for one visit of `sweep`.
    """
    stuck = _must_stay(s, x)
    if stuck:
        return stuck
    take_out(s, x)
    n_broken = _break(s, x)
    if n_broken < 0:
        put_back(s, x)
        return -n_broken
    if n_broken == 0:
        remove(s, x)
        return DROPPED
    u, v, found = _best(s, x, n_broken, temperature, most_read, seed)
    if u == s.end_u[x] and v == s.end_v[x]:
        put_back(s, x)
        return KEPT if found else ALONE
    put(s, x, u, v)
    return SWAPPED


@borrowing
def _must_stay(s, x):
    """Whether no other link can stand in for x, told without a search: LOCKED, MANY_BROKEN, or 0."""
    leaves_u, leaves_v = 0, 0
    for arc in range(s.arcs_at[x], s.arcs_at[x] + 2 * s.shared[x], 2):
        leaves_u += s.after[s.first[s.head[arc + 1]]] == NONE
        leaves_v += s.after[s.first[s.head[arc]]] == NONE
        if leaves_u and leaves_v:
            return LOCKED  # whatever mends the one topic must end at u, and at v to mend the other
    return MANY_BROKEN if leaves_u + leaves_v > MOST_BROKEN else 0


@borrowing
def _break(s, x):
    """Find the topics that fall apart without link x, which is out, and their smaller sides. Returns how many.

    Returns -MANY_BROKEN or -FAR if that is more than `MOST_BROKEN`, or if a search gave up.
    """
    s.counters[CLOCK] += 1
    s.counters[VISIT] = s.counters[CLOCK]
    n_broken = 0
    for arc in range(s.arcs_at[x], s.arcs_at[x] + 2 * s.shared[x], 2):
        e, f = s.head[arc + 1], s.head[arc]
        start, size = _smaller_side(s, e, f)
        if size < 0:
            return -FAR
        if size == 0:
            continue
        if n_broken == MOST_BROKEN:
            return -MANY_BROKEN
        s.broken[n_broken, 0], s.broken[n_broken, 1], s.broken[n_broken, 2] = s.topic_of[e], start, size
        n_broken += 1
        y = start
        while y != NONE:
            s.side[y] = s.counters[VISIT]
            s.beside[y] = s.queue[y]
            y = s.queue[y]
    return n_broken


@borrowing
def _smaller_side(s, e, f):
    """Search from entries e and f in turns. Returns the end whose side is complete first and how many entries that has.

    Size 0: they meet. Size -1: neither happened within `SEARCH_LIMIT` steps. The side is chained by `queue`.
    """
    first, head, after, stamp, queue = s.first, s.head, s.after, s.stamp, s.queue
    clock = s.counters[CLOCK] + 1
    s.counters[CLOCK] += 2
    stamp[e], stamp[f] = clock, clock + 1
    queue[e], queue[f] = NONE, NONE
    start, at, last, size, own = e, e, e, 1, clock
    other_start, other_at, other_last, other_size, other = f, f, f, 1, clock + 1
    for step in range(2 * SEARCH_LIMIT):
        arc = first[at]
        while arc != NONE:
            y = head[arc]
            if stamp[y] == other:
                s.counters[FOLLOWED] += step
                return NONE, 0
            if stamp[y] != own:
                stamp[y] = own
                queue[last], queue[y] = y, NONE
                last = y
                size += 1
            arc = after[arc]
        at = queue[at]
        if at == NONE:
            s.counters[FOLLOWED] += step
            return start, size
        start, at, last, size, own, other_start, other_at, other_last, other_size, other = (
            other_start, other_at, other_last, other_size, other, start, at, last, size, own,
        )  # fmt: skip
    s.counters[FOLLOWED] += 2 * SEARCH_LIMIT
    return NONE, -1


@borrowing
def entry_of(s, v, t):
    """Find the entry of a node in a topic.

    Parameters
    ----------
    s : Swaps
    v : int
        Node.
    t : int
        Topic.

    Returns
    -------
    int32
        NONE if the node does not want it.

    Cost: O(log topics of v).
    """
    low, high = s.node_ptr[v], s.node_ptr[v + 1]
    end = high
    while low < high:
        middle = (low + high) >> 1
        if s.topic[middle] < t:
            low = middle + 1
        else:
            high = middle
    return s.entry[low] if low < end and s.topic[low] == t else NONE


@borrowing
def _best(s, x, n_broken, temperature, most_read, seed):
    """(u, v) of the link that takes the place of x, and whether there was a choice."""
    u, v = s.end_u[x], s.end_v[x]
    smallest = 0
    for q in range(n_broken):
        if s.broken[q, 2] < s.broken[smallest, 2]:
            smallest = q
    size = s.broken[smallest, 2]
    stride = max(1, size // MOST_SAMPLED)
    skip = random_below(s, seed, stride)
    best_u, best_v = u, v
    _locate(s, u, n_broken)
    best = s.score[x] - s.penalty[s.degree[u]] - s.penalty[s.degree[v]]
    best += noise(s, seed, temperature) - _distance(s, v, n_broken)
    found = False
    y = s.broken[smallest, 1]
    place = 0
    while y != NONE:
        if place % stride == skip:
            a = s.member[y]
            if _locate(s, a, n_broken):
                if not s.listed[a]:
                    list_partners(s, a, most_read)
                b, best, found = _best_partner(s, a, x, n_broken, best, found, temperature, seed)
                if b != NONE:
                    best_u, best_v = a, b
        y = s.beside[y]
        place += 1
    return best_u, best_v, found


@borrowing
def _best_partner(s, a, x, n_broken, best, found, temperature, seed):
    """(b, score, whether any mends): the partner of a, if any, whose link with a mends all topics and is the best."""
    chosen = NONE
    highest = (temperature * GUMBEL[-1]) >> 10
    cost = s.penalty[s.degree[a]]
    for q in range(LISTED):
        b = s.partners[a, q]
        if b == NONE:
            break
        score = s.partner_score[a, q] - cost
        if score + highest <= best:
            break
        score -= s.penalty[s.degree[b]]
        if score + highest <= best or not _mends(s, b, n_broken):
            continue
        if (a == s.end_u[x] and b == s.end_v[x]) or (a == s.end_v[x] and b == s.end_u[x]):
            continue
        found = True
        score += noise(s, seed, temperature) - _distance(s, b, n_broken)
        if score > best:
            best = score
            chosen = b
    return chosen, best, found


@borrowing
def _locate(s, a, n_broken):
    """Note the entries of node a in the broken topics. Returns whether it wants them all."""
    for q in range(n_broken):
        s.broken[q, 3] = entry_of(s, a, s.broken[q, 0])
        if s.broken[q, 3] == NONE:
            return False
    return True


@borrowing
def _mends(s, b, n_broken):
    """Whether a link from the node that was located to b crosses every broken topic from side to side."""
    visit_clock = s.counters[VISIT]
    for q in range(n_broken):
        e = entry_of(s, b, s.broken[q, 0])
        if e == NONE or (s.side[e] == visit_clock) == (s.side[s.broken[q, 3]] == visit_clock):
            return False
    return True


@borrowing
def _distance(s, b, n_broken):
    """What the distances from the centres of the broken topics cost, of the node that was located and of b."""
    cost = np.int64(0)
    if len(s.depth):
        for q in range(n_broken):
            cost += s.depth[s.broken[q, 3]] + s.depth[entry_of(s, b, s.broken[q, 0])]
    return cost


@borrowing
def noise(s, seed, temperature):
    """Draw the noise of a temperature.

    Parameters
    ----------
    s : Swaps
        Counts the numbers drawn.
    seed : int
    temperature : int
        As for `sweep`.

    Returns
    -------
    int64
        From a Gumbel distribution; at temperature 0 a grain that decides between equals.

    Cost: O(1).
    """
    grain = random_below(s, seed, 1 << NOISE_BITS)
    return (temperature * GUMBEL[grain]) >> 10 if temperature else grain & 1
