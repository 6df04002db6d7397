"""Refinement by link swaps: a heat bath over the links that could stand in for one that was taken out.

A visit takes one link out. If no topic falls apart it stays out. Otherwise every link at hand that mends all broken
topics, the old one among them, is scored by the weight of the topics that it serves, plus noise of a temperature, and
the best is put in. Arithmetic is in whole numbers, so that the same seed gives the same links on every machine.
"""

import numpy as np

from topicloom.kernels.jit import borrowing, serial
from topicloom.kernels.sorted_rows import first_from, longest_row
from topicloom.kernels.streams import below, draw_of
from topicloom.kernels.swaps.partners import list_partners
from topicloom.kernels.swaps.swap_state import (
    ARCS,
    CLOCK,
    FOLLOWED,
    LINKS,
    LISTED,
    LISTS,
    LOOKED,
    MOST_BROKEN,
    NONE,
    RANDOM,
    READ,
    SERVED,
    STANDING,
    VISITS,
    lay,
    make_tree_arc,
    put_in,
    remove,
    repack,
    take_out,
)

KEPT, SWAPPED, DROPPED, LOCKED, MANY_BROKEN, FAR, ALONE = range(7)
SEARCH_LIMIT = 1000  # entries that a search follows from either end before it gives up
MOST_SAMPLED = 8  # nodes of the smaller side whose partners are looked at
NOISE_BITS = 12
_TOP_BITS = np.uint64(64 - NOISE_BITS)
# Quantiles of the Gumbel distribution, 1,024 for 1.
GUMBEL = np.rint(-1024 * np.log(-np.log((np.arange(1 << NOISE_BITS) + 0.5) / (1 << NOISE_BITS)))).astype(np.int64)
STEPS_OF_VISIT, STEPS_OF_LIST, STEPS_OF_READING = 400, 10_000, 3
_PASSED_OVER = 5  # settled links are visited in one of this many turns


@serial
def sweep(s, upto, temperature, most_read, hot, key):
    """Visit links at random, and replace each where another serves more.

    Parameters
    ----------
    s : Swaps
        Changed in place. As many of its first links as ``counters[STANDING]`` says are never visited.
    upto : int
        The visits go on until so much work has been done, in steps.
    temperature : int
        Of the noise on scores: 1,024 is the weight of a topic of median size, 0 takes the best.
    most_read : int
        As for `list_partners`.
    hot : int
        If above 0, links at nodes of that degree or more are preferred.
    key : uint64
        Of the stream of random numbers.

    Returns
    -------
    bool
        Whether arcs have no room left.

    Cost: one visit more than asked for at most. At most 2 · SEARCH_LIMIT entries followed for each topic that a visited
    link serves, and MOST_SAMPLED · LISTED candidates.
    """
    widest = longest_row(s.node_ptr)
    stay = s.counters[STANDING]
    while s.counters[LINKS] > stay and steps_of(s.counters) < upto:
        if s.counters[ARCS] + 2 * widest > len(s.head):
            repack(s)
            if s.counters[ARCS] + 2 * widest > len(s.head):
                return True
        x = stay + random_below(s, key, s.counters[LINKS] - stay)
        if s.settled[x] and random_below(s, key, _PASSED_OVER):
            continue
        if hot and s.degree[s.end_u[x]] < hot and s.degree[s.end_v[x]] < hot and random_below(s, key, 5) < 3:
            continue
        outcome = visit(s, x, temperature, most_read, key)
        if outcome != DROPPED:
            s.settled[x] = outcome >= LOCKED
        s.outcomes[outcome] += 1
        s.counters[VISITS] += 1
    return False


@borrowing
def steps_of(counters):
    """Add up the work of a refinement so far, in steps that take about as long as each other.

    Parameters
    ----------
    counters : int64
        Of a `Swaps`.

    Returns
    -------
    int64

    Cost: O(1).
    """
    return (
        STEPS_OF_VISIT * counters[VISITS]
        + 20 * counters[SERVED]
        + 48 * counters[FOLLOWED]
        + 10 * counters[LOOKED]
        + STEPS_OF_LIST * counters[LISTS]
        + STEPS_OF_READING * counters[READ]
    )


@borrowing
def random_below(s, key, limit):
    """Draw the next random number of a refinement.

    Parameters
    ----------
    s : Swaps
        Counts the numbers drawn.
    key : uint64
        Of the stream of random numbers.
    limit : int

    Returns
    -------
    int64
        From 0 to ``limit - 1``.

    Cost: O(1).
    """
    s.counters[RANDOM] += 1
    return below(draw_of(key, s.counters[RANDOM]), limit)


@borrowing
def visit(s, x, temperature, most_read, key):
    """Take a link out and put the best one in, if any is needed.

    Parameters
    ----------
    s : Swaps
        Changed in place.
    x : int
        Number of the link.
    temperature, most_read : int
    key : uint64
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
    s.counters[SERVED] += s.shared[x]
    take_out(s, x)
    n_broken = _break(s, x)
    if n_broken < 0:
        put_in(s, x)
        return -n_broken
    if n_broken == 0:
        remove(s, x)
        return DROPPED
    u, v, found = _best(s, x, n_broken, temperature, most_read, key)
    if u == s.end_u[x] and v == s.end_v[x]:
        put_in(s, x)
        return KEPT if found else ALONE
    lay(s, x, u, v)
    _let_mend(s, x, n_broken)
    put_in(s, x)
    return SWAPPED


@borrowing
def _must_stay(s, x):
    """Whether no other link can stand in for x, told without a search: LOCKED, MANY_BROKEN, or 0."""
    leaves_u, leaves_v = 0, 0
    for arc in range(s.arcs_at[x], s.arcs_at[x] + 2 * s.shared[x], 2):
        if s.in_tree[arc]:
            leaves_u += _is_leaf(s, s.head[arc + 1])
            leaves_v += _is_leaf(s, s.head[arc])
        if leaves_u and leaves_v:
            return LOCKED  # whatever mends the one topic must end at u, and at v to mend the other
    return MANY_BROKEN if leaves_u + leaves_v > MOST_BROKEN else 0


@borrowing
def _is_leaf(s, e):
    """Whether an entry with a tree arc has no other arc."""
    return s.spare[e] == NONE and s.after[s.first[e]] == NONE


@borrowing
def _break(s, x):
    """Find the topics that fall apart without link x, which is out, and their smaller sides. Returns how many.

    Returns -MANY_BROKEN or -FAR if that is more than `MOST_BROKEN`, or if a search gave up.
    """
    s.counters[CLOCK] += 1
    n_broken = 0
    for arc in range(s.arcs_at[x], s.arcs_at[x] + 2 * s.shared[x], 2):
        if not s.in_tree[arc]:
            continue
        e = s.head[arc + 1]
        start, size = _smaller_side(s, e, s.head[arc])
        if size == 0:
            return -FAR
        mend = _spare_across(s, start)
        if mend != NONE:
            make_tree_arc(s, mend)
            s.in_tree[arc] = s.in_tree[arc + 1] = False
            continue
        if n_broken == MOST_BROKEN:
            return -MANY_BROKEN
        s.broken[n_broken, 0], s.broken[n_broken, 1], s.broken[n_broken, 2] = s.topic_of[e], start, size
        n_broken += 1
    return n_broken


@borrowing
def _smaller_side(s, e, f):
    """Follow tree arcs from entries e and f in turns. Returns the end whose side ends first, and its number of entries.

    That is 0 if neither ends within `SEARCH_LIMIT` steps. The side is chained by `queue`.
    """
    first, head, after, queue, origin = s.first, s.head, s.after, s.queue, s.origin
    queue[e], queue[f], origin[e], origin[f] = NONE, NONE, NONE, NONE
    start, at, last, size = e, e, e, 1
    other_start, other_at, other_last, other_size = f, f, f, 1
    for step in range(2 * SEARCH_LIMIT):
        arc, came = first[at], origin[at]
        while arc != NONE:
            y = head[arc]
            if y != came:
                origin[y] = at
                queue[last], queue[y] = y, NONE
                last = y
                size += 1
            arc = after[arc]
        at = queue[at]
        if at == NONE:
            s.counters[FOLLOWED] += step
            return start, size
        start, at, last, size, other_start, other_at, other_last, other_size = (
            other_start, other_at, other_last, other_size, start, at, last, size,
        )  # fmt: skip
    s.counters[FOLLOWED] += 2 * SEARCH_LIMIT
    return NONE, 0


@borrowing
def _spare_across(s, start):
    """Mark the side that begins with an entry. Returns a spare arc that leads out of it, or NONE."""
    clock = s.counters[CLOCK]
    y = start
    while y != NONE:
        s.side[y] = clock
        y = s.queue[y]
    y = start
    while y != NONE:
        arc = s.spare[y]
        while arc != NONE:
            if s.side[s.head[arc]] != clock:
                return arc
            arc = s.after[arc]
        y = s.queue[y]
    return NONE


@borrowing
def _let_mend(s, x, n_broken):
    """Let the arcs of link x be tree arcs in the broken topics."""
    for arc in range(s.arcs_at[x], s.arcs_at[x] + 2 * s.shared[x], 2):
        t = s.topic_of[s.head[arc]]
        for q in range(n_broken):
            if s.broken[q, 0] == t:
                s.in_tree[arc] = s.in_tree[arc + 1] = True


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
    end = s.node_ptr[v + 1]
    at = first_from(s.topic, s.node_ptr[v], end, t)
    return s.entry[at] if at < end and s.topic[at] == t else NONE


@borrowing
def _best(s, x, n_broken, temperature, most_read, key):
    """(u, v) of the link that takes the place of x, and whether there was a choice."""
    u, v = s.end_u[x], s.end_v[x]
    smallest, needed = 0, np.int64(0)
    for q in range(n_broken):
        needed |= np.int64(1) << (s.broken[q, 0] & 63)
        if s.broken[q, 2] < s.broken[smallest, 2]:
            smallest = q
    size = s.broken[smallest, 2]
    stride = max(1, size // MOST_SAMPLED)
    skip = random_below(s, key, stride)
    best_u, best_v = u, v
    _locate(s, u, n_broken)
    best = s.score[x] - s.penalty[s.degree[u]] - s.penalty[s.degree[v]]
    best += noise(s, key, temperature) - _distance(s, v, n_broken)
    found = False
    y = s.broken[smallest, 1]
    place = 0
    while y != NONE:
        if place % stride == skip:
            a = s.member[y]
            if (s.bits[a] & needed) == needed and _locate(s, a, n_broken):
                if not s.listed[a]:
                    list_partners(s, a, most_read)
                b, best, found = _best_partner(s, a, x, n_broken, needed, best, found, temperature, key)
                if b != NONE:
                    best_u, best_v = a, b
        y = s.queue[y]
        place += 1
    return best_u, best_v, found


@borrowing
def _best_partner(s, a, x, n_broken, needed, best, found, temperature, key):
    """(b, score, whether any mends): the partner of a, if any, whose link with a mends all topics and is the best.

    A partner that would not win is not looked at closely, unless none that mends is known yet.
    """
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
        s.counters[LOOKED] += 1
        if (s.bits[b] & needed) != needed:
            continue
        score += noise(s, key, temperature) - s.penalty[s.degree[b]]
        if (found and score <= best) or not _mends(s, b, n_broken):
            continue
        if (a == s.end_u[x] and b == s.end_v[x]) or (a == s.end_v[x] and b == s.end_u[x]):
            continue
        found = True
        score -= _distance(s, b, n_broken)
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
    clock = s.counters[CLOCK]
    for q in range(n_broken):
        e = entry_of(s, b, s.broken[q, 0])
        if e == NONE or (s.side[e] == clock) == (s.side[s.broken[q, 3]] == clock):
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
def noise(s, key, temperature):
    """Draw the noise of a temperature.

    Parameters
    ----------
    s : Swaps
        Counts the numbers drawn.
    key : uint64
        Of the stream of random numbers.
    temperature : int
        As for `sweep`.

    Returns
    -------
    int64
        From a Gumbel distribution; at temperature 0 a grain that decides between equals.

    Cost: O(1).
    """
    s.counters[RANDOM] += 1
    grain = np.int64(draw_of(key, s.counters[RANDOM]) >> _TOP_BITS)
    return (temperature * GUMBEL[grain]) >> 10 if temperature else grain & 1
