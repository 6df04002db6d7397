"""Obvious, slow twins of the kernels of refinement: what a state must hold, and what a visit must have done."""

from collections.abc import Iterator
from itertools import combinations

import networkx as nx
import numpy as np

import topicloom as tl
from support.small_interests import sub_overlay
from topicloom.kernels.streams import REFINE_STREAM, draw_all
from topicloom.kernels.swaps.swap_state import ARCS, LINKS, MOST_BROKEN, NONE, RANDOM, Swaps
from topicloom.kernels.swaps.swaps import ALONE, DROPPED, FAR, KEPT, LOCKED, MANY_BROKEN, SWAPPED

Pair = tuple[int, int]


def pairs_of(s: Swaps) -> list[Pair]:
    """The links in the order of their numbers, lower node first."""
    ends = zip(s.end_u[: s.counters[LINKS]].tolist(), s.end_v[: s.counters[LINKS]].tolist())
    return [(min(pair), max(pair)) for pair in ends]


def score(s: Swaps, u: int, v: int) -> int:
    return sum(int(s.weight[t]) for t in topics_of(s, u) & topics_of(s, v))


def topics_of(s: Swaps, v: int) -> set[int]:
    return set(s.topic[s.node_ptr[v] : s.node_ptr[v + 1]].tolist())


def subscribers_of(s: Swaps, t: int) -> list[int]:
    return s.member[s.topic_ptr[t] : s.topic_ptr[t + 1]].tolist()


def check_numbering(s: Swaps, interest: tl.Interest) -> None:
    """Topics of two and more are numbered by rising subscribers, entries topic by topic, rows of nodes ascend."""
    wanted = [interest.subscribers(t).tolist() for t in range(interest.n_topics)]
    rising = sorted((t for t in range(interest.n_topics) if len(wanted[t]) > 1), key=lambda t: len(wanted[t]))
    assert [subscribers_of(s, t) for t in range(len(s.weight))] == [wanted[t] for t in rising]
    for v in range(interest.n_nodes):
        row = range(s.node_ptr[v], s.node_ptr[v + 1])
        assert [int(s.topic[k]) for k in row] == [t for t in range(len(rising)) if v in wanted[rising[t]]]
        assert all(s.member[s.entry[k]] == v and s.topic_of[s.entry[k]] == s.topic[k] for k in row)
        assert int(s.bits[v]) & (2**64 - 1) == sum({1 << (t & 63) for t in topics_of(s, v)})


def check_links(s: Swaps) -> None:
    """Scores, degrees, arcs and lists are those of the links, and tree arcs are a spanning forest of each topic."""
    links = pairs_of(s)
    standing: dict[int, bool] = {}
    for x in range(len(links)):
        u, v = int(s.end_u[x]), int(s.end_v[x])
        assert s.score[x] == score(s, u, v)
        arcs = range(s.arcs_at[x], s.arcs_at[x] + 2 * s.shared[x])
        joined = [(int(s.head[a ^ 1]), int(s.head[a])) for a in arcs[::2]]
        assert [int(s.topic_of[e]) for e, _ in joined] == sorted(topics_of(s, u) & topics_of(s, v))
        assert all((s.member[e], s.member[f]) == (u, v) and s.topic_of[e] == s.topic_of[f] for e, f in joined)
        assert all(s.in_tree[a] == s.in_tree[a ^ 1] for a in arcs)
        standing.update((a, bool(s.in_tree[a])) for a in arcs)
    listed = [(a, in_tree) for in_tree, lists in ((True, s.first), (False, s.spare)) for a in _listed(s, lists)]
    assert len(listed) == len(standing) and dict(listed) == standing
    assert s.counters[ARCS] <= len(s.head)
    assert s.degree.tolist() == [sum(v in link for link in links) for v in range(len(s.degree))]
    for t in range(len(s.weight)):
        tree, everything = nx.Graph(), nx.Graph()
        for graph in (tree, everything):
            graph.add_nodes_from(range(s.topic_ptr[t], s.topic_ptr[t + 1]))
        for a in (a for a in standing if s.topic_of[s.head[a]] == t):
            everything.add_edge(int(s.head[a]), int(s.head[a ^ 1]))
            if standing[a]:
                tree.add_edge(int(s.head[a]), int(s.head[a ^ 1]))
        assert nx.is_forest(tree)
        assert nx.number_connected_components(tree) == nx.number_connected_components(everything)


def _listed(s: Swaps, lists: np.ndarray) -> Iterator[int]:
    """The arcs in the lists of all entries."""
    for e in range(len(lists)):
        last, a = NONE, int(lists[e])
        while a != NONE:
            assert s.before[a] == last and s.head[a ^ 1] == e
            yield a
            last, a = a, int(s.after[a])


def next_visited(s: Swaps, seed: int) -> int:
    """The link that the next visit of a sweep takes: settled ones are passed over four times in five."""
    numbers = draw_all(seed, REFINE_STREAM, np.arange(int(s.counters[RANDOM]) + 1, int(s.counters[RANDOM]) + 9999))
    draws = iter(numbers.tolist())
    while True:
        x = next(draws) * int(s.counters[LINKS]) >> 64
        if not s.settled[x] or not next(draws) * 5 >> 64:
            return x


def cuts(interest: tl.Interest, links: list[Pair], link: Pair) -> list[tuple[set[int], set[int]]]:
    """Both sides, that of the lower node first, of every topic that falls apart without a link."""
    u, v = link
    found = []
    for t in range(interest.n_topics):
        others = [other for other in links if other != link]
        with_it, without = (sub_overlay(interest, one, t) for one in (links, others))
        if nx.number_connected_components(without) > nx.number_connected_components(with_it):
            found.append((nx.node_connected_component(without, u), nx.node_connected_component(without, v)))
    return found


def check_visit(
    s: Swaps, interest: tl.Interest, before: list[Pair], ends: Pair, outcome: int, temperature: int
) -> None:
    """What one visit did to the link between ``ends``, first end first, of the links before it.

    All co-subscribers must be partners. Noise must be 0, or so high that every candidate has a chance.
    """
    link = min(ends), max(ends)
    after = pairs_of(s)
    others = [pair for pair in before if pair != link]
    broken = cuts(interest, before, link)
    assert (outcome == DROPPED) == (not broken) or outcome == MANY_BROKEN
    assert outcome != FAR
    if outcome == DROPPED:
        assert sorted(after) == sorted(others)
        return
    if outcome != SWAPPED:
        assert after == before
    mending = [pair for pair in combinations(range(interest.n_nodes), 2) if _mends(pair, broken)]
    if outcome == LOCKED:
        assert mending == [link]
        return
    assert (outcome == MANY_BROKEN) == (len(broken) > MOST_BROKEN)
    if outcome == MANY_BROKEN:
        return
    smaller = [_smaller(sides, first=0 if ends == link else 1) for sides in broken]
    size = min(len(side) for side in smaller)
    runs_over = [side for side in smaller if len(side) == size]  # equally small ones: any of them
    possible = [pair for pair in mending if pair != link and any(side & set(pair) for side in runs_over)]
    scores = [score(s, *pair) for pair in possible]
    old = score(s, *link)
    if outcome == SWAPPED:
        (new,) = set(after) - set(others)
        assert len(after) == len(before) and new in possible
        assert temperature or score(s, *new) + 1 >= max([old, *scores])
    elif temperature:
        assert (outcome == KEPT) == bool(possible)
    else:
        assert outcome in (KEPT, ALONE) and max([old, *scores]) <= old + 1


def _mends(pair: Pair, broken: list[tuple[set[int], set[int]]]) -> bool:
    u, v = pair
    return all((u in one and v in other) or (v in one and u in other) for one, other in broken)


def _smaller(sides: tuple[set[int], set[int]], first: int) -> set[int]:
    one, other = sides[first], sides[1 - first]
    return one if len(one) <= len(other) else other
