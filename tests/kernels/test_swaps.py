"""The kernels of refinement do what their slow twins do."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.small_interests import cases, interest_of, interests, sub_overlay, survives
from support.swap_twins import check_links, check_numbering, check_visit, next_visited, pairs_of, score
from topicloom.kernels.streams import REFINE_STREAM, stream_key
from topicloom.kernels.swaps.depths import price_depths
from topicloom.kernels.swaps.partners import FIRST_SEEN, list_partners
from topicloom.kernels.swaps.robust import robust_sweep
from topicloom.kernels.swaps.swap_state import (
    FOLLOWED,
    LINKS,
    LISTED,
    LISTS,
    LOOKED,
    NONE,
    READ,
    VISITS,
    Swaps,
    new_swaps,
    repack,
    with_more_room,
)
from topicloom.kernels.swaps.swaps import (
    DROPPED,
    LOCKED,
    STEPS_OF_LIST,
    STEPS_OF_READING,
    STEPS_OF_VISIT,
    SWAPPED,
    steps_of,
    sweep,
)
from topicloom.methods.refinement.refine import swap_weights

ALL = 10**6  # more members than are there to read, and a temperature that gives every candidate a chance


def state_of(interest: tl.Interest, links: list[tuple[int, int]]) -> Swaps:
    ordered = np.array(sorted((min(pair), max(pair)) for pair in links), np.int32).reshape(-1, 2)
    return new_swaps(interest, ordered, swap_weights)


def one_visit(s: Swaps, temperature: int, seed: int) -> int:
    before = s.outcomes.copy()
    key = np.uint64(stream_key(np.int64(seed), REFINE_STREAM))
    assert not sweep(s, int(steps_of(s.counters)) + 1, temperature, ALL, 0, key)
    return int(np.flatnonzero(s.outcomes - before)[0])


def survives_up_to(interest: tl.Interest, links: list[tuple[int, int]], k: int) -> bool:
    """Whichever nodes fail, fewer than k of them."""
    return all(survives(interest, links, most) for most in range(1, k + 1))


@settings(max_examples=100, deadline=None)
@given(cases(max_nodes=10, max_topics=5))
def test_a_new_state_holds_the_interest_and_the_links(case):
    interest, links = case
    s = state_of(interest, links)
    check_numbering(s, interest)
    check_links(s)
    for t in range(len(s.weight)):
        inside = sum(s.weight[t] > 0 and {u, v} <= set(s.member[s.topic_ptr[t] : s.topic_ptr[t + 1]]) for u, v in links)
        size = int(s.topic_ptr[t + 1] - s.topic_ptr[t])
        slack = max(inside / (size - 1), 1)
        median = float(np.median(np.diff(s.topic_ptr)))
        assert s.weight[t] == max(1, round(1024 * (median / size) ** 0.5 / slack**3))


@settings(max_examples=100, deadline=None)
@given(interests(max_nodes=9, max_topics=6, min_nodes=2), st.sampled_from([0, ALL]), st.integers(0, 999), st.data())
def test_every_visit_does_what_the_slow_twin_says(interest, temperature, seed, data):
    more = data.draw(st.lists(st.sampled_from(list(combinations(range(interest.n_nodes), 2)))))
    start = tl.design(interest, data.draw(st.sampled_from(["gm", "ring-pt"]))).links.tolist()
    s = state_of(interest, list({(u, v) for u, v in [*start, *more]}))
    for turn in range(12):
        if not s.counters[LINKS]:
            break
        x, before = next_visited(s, seed), pairs_of(s)
        ends = int(s.end_u[x]), int(s.end_v[x])
        outcome = one_visit(s, temperature, seed)
        check_links(s)
        check_visit(s, interest, before, ends, outcome, temperature)
        assert s.counters[VISITS] == turn + 1 == s.outcomes.sum()


def test_what_a_state_holds_survives_many_visits_and_arcs_written_again():
    interest = tl.generate(nodes=60, topics=10, subscriptions=4, popularity="zipf", seed=1)
    s = state_of(interest, tl.design(interest, "ring-pt").links.tolist())
    key = np.uint64(stream_key(np.int64(3), REFINE_STREAM))
    for _ in range(6):
        while sweep(s, int(steps_of(s.counters)) + 100 * STEPS_OF_VISIT, 500, 300, 0, key):
            s = with_more_room(s)
        check_links(s)
        repack(s)
        check_links(s)
    assert s.outcomes[SWAPPED] > 5


def test_work_is_counted():
    interest = tl.generate(nodes=60, topics=10, subscriptions=4, seed=1)
    s = state_of(interest, tl.design(interest, "gm").links.tolist())
    key = np.uint64(stream_key(np.int64(3), REFINE_STREAM))
    before = 0
    for _ in range(30):
        sweep(s, int(steps_of(s.counters)) + 1, 500, ALL, 0, key)
        assert steps_of(s.counters) >= before + STEPS_OF_VISIT
        before = steps_of(s.counters)
    assert s.counters[LISTS] == s.listed.sum() > 0
    read = 0
    for v in np.flatnonzero(s.listed):
        members = [set(interest.subscribers(t).tolist()) for t in interest.topics_of(v)]
        read += sum(map(len, members)) + FIRST_SEEN * len(set().union(*members) - {v})
    assert s.counters[READ] == read
    assert s.counters[FOLLOWED] > 0 and s.counters[LOOKED] > 0
    least = STEPS_OF_VISIT * 30 + STEPS_OF_LIST * s.counters[LISTS] + STEPS_OF_READING * s.counters[READ]
    assert steps_of(s.counters) > least


@pytest.mark.parametrize("most_read", [20, 200, ALL])
@pytest.mark.parametrize("popularity", ["uniform", "zipf"])
def test_partners_are_the_nodes_that_share_most(popularity, most_read):
    interest = tl.generate(nodes=150, topics=30, subscriptions=6, popularity=popularity, seed=2)
    s = state_of(interest, tl.design(interest, "gm").links.tolist())
    for u in range(0, 150, 7):
        read = s.counters[READ]
        list_partners(s, u, most_read)
        listed = [int(b) for b in s.partners[u]]
        listed = listed[: listed.index(NONE)] if NONE in listed else listed
        scores = s.partner_score[u, : len(listed)].tolist()
        assert scores == [score(s, u, b) for b in listed] == sorted(scores, reverse=True)
        assert u not in listed and len(set(listed)) == len(listed)
        everybody = sorted((score(s, u, b) for b in range(150) if b != u), reverse=True)
        best = [value for value in everybody if value][:LISTED]
        assert (
            scores == best
            if most_read == ALL
            else len(scores) > 0 and s.counters[READ] - read <= (1 + FIRST_SEEN) * most_read
        )
        assert not s.sharing.any()


@settings(max_examples=60, deadline=None)
@given(cases(max_nodes=10, max_topics=4))
def test_depths_are_distances_from_a_centre(case):
    check_depths(*case)


def test_depths_take_links_beside_the_spanning_forest():
    interest = tl.generate(nodes=40, topics=4, subscriptions=2, seed=1)
    rings = {(u, v) for u, v in tl.design(interest, "ring-pt").links.tolist()}
    check_depths(interest, list(rings | {(u, v) for u, v in combinations(range(40), 2) if (u * u + 3 * v) % 7 == 0}))


def check_depths(interest: tl.Interest, links: list[tuple[int, int]]) -> None:
    s = state_of(interest, links)._replace(depth=np.full(10**3, 77, np.int64))
    price_depths(s, np.int64(3))
    for t in range(len(s.weight)):
        entries = range(s.topic_ptr[t], s.topic_ptr[t + 1])
        members = s.member[s.topic_ptr[t] : s.topic_ptr[t + 1]].tolist()
        topic = next(t for t in range(interest.n_topics) if interest.subscribers(t).tolist() == members)
        graph = sub_overlay(interest, links, topic)
        reached = nx.node_connected_component(graph, members[0])
        depth = {int(s.member[e]): int(s.depth[e]) for e in entries}
        assert all(depth[v] == 0 for v in members if v not in reached)
        part = graph.subgraph(reached)
        steps = {v: depth[v] / 3 for v in reached}
        centres = [v for v in reached if dict(nx.shortest_path_length(part, v)) == steps]
        assert centres
        if nx.is_tree(part):
            assert set(centres) <= set(nx.center(part))


@settings(max_examples=60, deadline=None)
@given(interests(max_nodes=8, max_topics=4, min_nodes=3), st.integers(2, 3), st.booleans(), st.integers(0, 99))
def test_a_robust_visit_keeps_k_connectivity_and_drops_what_it_does_not_need(interest, k, sparse, seed):
    pairs = list(combinations(range(interest.n_nodes), 2))
    start = tl.design(interest, k=2).links.tolist() if sparse and k == 2 else pairs
    s = state_of(interest, start)
    key = np.uint64(stream_key(np.int64(seed), REFINE_STREAM))
    for _ in range(12):
        if not s.counters[LINKS]:
            break
        s.settled[:] = False
        x, before, outcomes = next_visited(s, seed), pairs_of(s), s.outcomes.copy()
        robust_sweep(s, k, int(steps_of(s.counters)) + 1, ALL, ALL, key)
        (outcome,) = np.flatnonzero(s.outcomes - outcomes)
        after, others = pairs_of(s), before[:x] + before[x + 1 :]
        assert (outcome == DROPPED) == survives_up_to(interest, others, k)
        assert survives_up_to(interest, after, k)
        assert len(after) == len(before) - (outcome == DROPPED)
        assert (set(after) == set(before)) == (outcome not in (DROPPED, SWAPPED))
        if outcome == LOCKED:
            assert not any(survives_up_to(interest, [*others, pair], k) for pair in pairs if pair not in before)


def test_a_state_without_topics_to_connect():
    s = state_of(interest_of([{0}, {1}], 2), [(0, 1)])
    check_links(s)
    assert one_visit(s, 0, 1) == DROPPED and not s.counters[LINKS]
