"""Refinement of overlays that survive failures: swaps that keep every topic k-connected.

Let G be k-connected, and let G' be G without the link (u, v) and with another link. G' is k-connected if k internally
disjoint paths join u and v in it: a set of fewer than k nodes that separates G' also separates G without (u, v),
where it leaves two components, one with u and one with v; so it would separate u from v in G'.
"""

import numpy as np

from topicloom.kernels.jit import serial
from topicloom.kernels.sorted_rows import longest_row
from topicloom.kernels.swaps.partners import list_partners, score_of
from topicloom.kernels.swaps.swap_state import FOLLOWED, LINKS, LISTED, MOST_BROKEN, NONE, VISITS
from topicloom.kernels.swaps.swaps import (
    ALONE,
    DROPPED,
    KEPT,
    LOCKED,
    MANY_BROKEN,
    STEPS_OF_VISIT,
    SWAPPED,
    entry_of,
    noise,
    random_below,
    steps_of,
)
from topicloom.kernels.trees.disjoint_paths import (
    add_link,
    disjoint_paths,
    empty_arcs,
    linked,
    new_search,
    shared_entries,
    shared_topic_counts,
)

_ENTRIES_OF_TEST = 50  # that could be followed in the time that it takes to count disjoint paths
_MOST_TESTED = 4  # candidates of a visit whose paths are counted


@serial
def robust_sweep(s, k, upto, temperature, most_read, key):
    """Visit links at random, as `sweep` does, and keep every topic k-connected.

    Parameters
    ----------
    s : Swaps
        Its links, partners and counters are used and written. Its arcs are out of date afterwards.
    k : int
        The topic-connectivity that the links have, and keep.
    upto : int
    temperature, most_read : int
    key : uint64
        As for `sweep`.

    Cost: at most O(k · arcs of a topic) for each topic that a link serves and each of 4 candidates tested.
    """
    n_links = s.counters[LINKS]
    visits = (upto - steps_of(s.counters)) // STEPS_OF_VISIT + 1
    links = np.empty((n_links + visits, 2), np.int32)
    links[:n_links, 0], links[:n_links, 1] = s.end_u[:n_links], s.end_v[:n_links]
    standing = np.arange(n_links)
    widest = max(longest_row(s.node_ptr), 1)
    pairs, candidate_pairs = np.empty((widest, 2), np.int64), np.empty((widest, 2), np.int64)
    n_shared = 2 * shared_topic_counts(s.node_ptr, s.topic, links[:n_links]).sum()
    arcs = empty_arcs(len(s.topic), 2 * n_shared + 4 * widest, n_links + visits)
    n_arcs = 0
    for x in range(n_links):
        shared = shared_entries(s.node_ptr, s.topic, links[x, 0], links[x, 1], pairs)
        n_arcs = add_link(arcs, n_arcs, x, pairs, shared)
    search = new_search(len(s.topic))
    next_number, n_standing = n_links, n_links
    while steps_of(s.counters) < upto and n_standing and n_arcs + 2 * widest <= len(arcs.head):
        s.counters[VISITS] += 1
        place = random_below(s, key, n_standing)
        x = standing[place]
        shared = shared_entries(s.node_ptr, s.topic, links[x, 0], links[x, 1], pairs)
        outcome = _must_stay(arcs, pairs, shared, k)
        if not outcome:
            _stand(arcs, x, pairs, shared, False)
            s.degree[links[x, 0]] -= 1
            s.degree[links[x, 1]] -= 1
            outcome, n_arcs = _replace(
                s, arcs, search, links, x, next_number, n_arcs, pairs, shared, candidate_pairs, k, temperature,
                most_read, key,
            )  # fmt: skip
            if outcome == DROPPED:
                n_standing -= 1
                standing[place] = standing[n_standing]
            else:
                if outcome == SWAPPED:
                    standing[place] = x = next_number
                    next_number += 1
                s.degree[links[x, 0]] += 1
                s.degree[links[x, 1]] += 1
        s.outcomes[outcome] += 1
    for place in range(n_standing):
        s.end_u[place], s.end_v[place] = links[standing[place], 0], links[standing[place], 1]
    s.counters[LINKS] = n_standing


@serial
def _must_stay(arcs, pairs, shared, k):
    """Whether no other link can stand in for this one, told by degrees: LOCKED, MANY_BROKEN, or 0."""
    bare_u, bare_v = 0, 0
    for y in range(shared):
        bare_u += arcs.degree[pairs[y, 0]] <= k
        bare_v += arcs.degree[pairs[y, 1]] <= k
    if bare_u and bare_v:
        return LOCKED
    return MANY_BROKEN if bare_u + bare_v > MOST_BROKEN else 0


@serial
def _stand(arcs, x, pairs, shared, stands):
    arcs.stands[x] = stands
    change = 1 if stands else -1
    for y in range(shared):
        arcs.degree[pairs[y, 0]] += change
        arcs.degree[pairs[y, 1]] += change


@serial
def _replace(s, arcs, search, links, x, number, n_arcs, pairs, shared, candidate_pairs, k, temperature, most_read, key):
    """Leave link x out, put link ``number`` in its place, or put x back. Returns the outcome and the number of arcs."""
    broken = np.empty((MOST_BROKEN, 3), np.int64)  # the entries of both ends, and the topic
    n_broken = 0
    for y in range(shared):
        s.counters[FOLLOWED] += _ENTRIES_OF_TEST
        if disjoint_paths(arcs, search, pairs[y, 0], pairs[y, 1], k) < k:
            if n_broken == MOST_BROKEN:
                _stand(arcs, x, pairs, shared, True)
                return MANY_BROKEN, n_arcs
            broken[n_broken, 0], broken[n_broken, 1] = pairs[y, 0], pairs[y, 1]
            broken[n_broken, 2] = s.topic[pairs[y, 0]]
            n_broken += 1
    if n_broken == 0:
        return DROPPED, n_arcs
    u, v = links[x, 0], links[x, 1]
    ends, others, n_candidates = _candidates(s, u, v, broken, n_broken, temperature, most_read, key)
    for place in range(min(n_candidates, _MOST_TESTED)):
        a, b = ends[place], others[place]
        candidate_shared = shared_entries(s.node_ptr, s.topic, a, b, candidate_pairs)
        if _linked_already(arcs, candidate_pairs, candidate_shared):
            continue
        more = add_link(arcs, n_arcs, number, candidate_pairs, candidate_shared)
        mended = True
        for q in range(n_broken):
            s.counters[FOLLOWED] += _ENTRIES_OF_TEST
            mended = mended and disjoint_paths(arcs, search, broken[q, 0], broken[q, 1], k) >= k
        if mended:
            links[number, 0], links[number, 1] = a, b
            return SWAPPED, more
        _take_back(arcs, n_arcs, more, number)
    _stand(arcs, x, pairs, shared, True)
    return KEPT if n_candidates else ALONE, n_arcs


@serial
def _candidates(s, u, v, broken, n_broken, temperature, most_read, key):
    """(ends, others, how many): links from u or v that beat the old one with noise, the best first."""
    ends, others = np.empty(2 * LISTED, np.int32), np.empty(2 * LISTED, np.int32)
    scores = np.empty(2 * LISTED, np.int64)
    least = score_of(s, u, v) - s.penalty[s.degree[u]] - s.penalty[s.degree[v]] + noise(s, key, temperature)
    found = 0
    for a in (u, v):
        if not s.listed[a]:
            list_partners(s, a, most_read)
        for q in range(LISTED):
            b = s.partners[a, q]
            if b == NONE:
                break
            if b in (u, v) or not _wants_all(s, b, broken, n_broken):
                continue
            score = s.partner_score[a, q] - s.penalty[s.degree[a]] - s.penalty[s.degree[b]]
            score += noise(s, key, temperature)
            if score > least:
                ends[found], others[found], scores[found] = a, b, score
                found += 1
    falling = np.argsort(-scores[:found], kind="mergesort")
    return ends[:found][falling], others[:found][falling], found


@serial
def _wants_all(s, b, broken, n_broken):
    wants = True
    for q in range(n_broken):
        wants = wants and entry_of(s, b, broken[q, 2]) != NONE
    return wants


@serial
def _linked_already(arcs, pairs, shared):
    """Whether a link between the two nodes stands."""
    return shared > 0 and linked(arcs, pairs[0, 0], pairs[0, 1])


@serial
def _take_back(arcs, n_arcs, more, number):
    """Undo the last `add_link`, which made arcs ``n_arcs`` to ``more``."""
    arcs.stands[number] = False
    for a in range(more - 1, n_arcs - 1, -1):
        e = arcs.head[a ^ 1]
        arcs.first[e] = arcs.after[a]
        arcs.degree[e] -= 1
