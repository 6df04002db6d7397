"""GM2: every link is the best of its moment by the definition, every design 2-topic-connected."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.small_interests import EDGE_CASES, interest_of, interests, one_topic, sub_overlay, survives
from topicloom.kernels.greedy.engine import greedy_links
from topicloom.kernels.tie_order import arc, places_on_circle

Pair = tuple[int, int]


def estimates(interest: tl.Interest, links: list[Pair]) -> dict[Pair, int]:
    """Line 5 of Algorithm 1, from networkx's biconnected components."""
    count = dict.fromkeys(combinations(range(interest.n_nodes), 2), 0)
    for t in range(interest.n_topics):
        graph = sub_overlay(interest, links, t)
        together = {pair for block in nx.biconnected_components(graph) for pair in combinations(sorted(block), 2)}
        for pair in combinations(sorted(graph), 2):
            count[pair] += pair not in together
    return count


def replay(interest: tl.Interest, seed: int, start: list[Pair], barred: set[Pair]) -> list[Pair]:
    """GM2 by brute force."""
    places = places_on_circle(interest.n_nodes, seed)
    links: list[Pair] = []
    while True:
        count = {pair: worth for pair, worth in estimates(interest, start + links).items() if pair not in barred}
        best = max(count.values(), default=0)
        if best == 0:
            return links
        equal = [pair for pair, worth in count.items() if worth == best]
        links.append(min(equal, key=lambda pair: arc(interest.n_nodes, *(int(places[v]) for v in pair))))


def engine(interest: tl.Interest, seed: int, **options: object) -> list[Pair]:
    links = greedy_links(interest.indptr, interest.topics, interest.n_topics, blocks=True, seed=seed, **options)
    return [(int(u), int(v)) for u, v in links]


@pytest.mark.parametrize("search", ["dense", "sparse", "listed"])
@settings(max_examples=100, deadline=None)
@given(interests(max_nodes=8, max_topics=5), st.integers(0, 99))
def test_each_link_is_the_first_of_the_best(search: str, interest: tl.Interest, seed: int) -> None:
    assert engine(interest, seed, search=search) == replay(interest, seed, [], set())


@pytest.mark.parametrize("search", ["dense", "sparse", "listed"])
@settings(max_examples=60, deadline=None)
@given(interests(max_nodes=8, max_topics=4), st.data())
def test_from_standing_links_without_barred_ones(search: str, interest: tl.Interest, data: st.DataObject) -> None:
    pairs = list(combinations(range(interest.n_nodes), 2))
    some = st.lists(st.sampled_from(pairs), unique=True, max_size=10) if pairs else st.just([])
    start, barred = data.draw(some), data.draw(some)
    found = engine(interest, 1, search=search, start_links=np.array(start), barred_links=np.array(barred))
    assert found == replay(interest, 1, start, set(barred))


@settings(max_examples=60, deadline=None)
@given(interests(max_nodes=8, max_topics=4), st.data())
def test_candidates_are_all_that_may_be_added(interest: tl.Interest, data: st.DataObject) -> None:
    pairs = list(combinations(range(interest.n_nodes), 2))
    nodes = sorted(data.draw(st.sets(st.integers(0, max(interest.n_nodes - 1, 0)))))
    outside = {pair for pair in pairs if not set(pair) <= set(nodes)}
    start = data.draw(st.lists(st.sampled_from(pairs), unique=True, max_size=6)) if pairs else []
    found = engine(interest, 1, candidate_nodes=np.array(nodes, int), start_links=np.array(start))
    assert found == replay(interest, 1, start, outside)


@settings(max_examples=60, deadline=None)
@given(interests(max_nodes=8, max_topics=3), st.data())
def test_groups_that_begin_as_one_block(interest: tl.Interest, data: st.DataObject) -> None:
    """Equal numbers of a topic stand for a clique among those subscriptions that no link shows."""
    group = np.array([data.draw(st.integers(0, 2)) for _ in interest.topics], np.int32)
    node_of = np.repeat(np.arange(interest.n_nodes), np.diff(interest.indptr))
    links = engine(interest, 1, components=group)
    for t in range(interest.n_topics):
        graph = sub_overlay(interest, links, t)
        members = [(int(v), int(g)) for v, g, topic in zip(node_of, group, interest.topics) if topic == t]
        graph.add_edges_from((u, v) for (u, g), (v, h) in combinations(members, 2) if g == h)
        assert len(graph) < 3 or nx.is_biconnected(graph)


@settings(max_examples=100, deadline=None)
@given(interests(max_nodes=12), st.integers(0, 99))
def test_any_one_node_may_fail(interest: tl.Interest, seed: int) -> None:
    overlay = tl.gm2(interest, seed=seed)
    assert tl.verify(interest, overlay.links, 2).ok
    assert survives(interest, overlay.links, 2)


@pytest.mark.parametrize("popularity", ["uniform", "zipf", "exponential"])
def test_searches_agree_at_size(popularity: str) -> None:
    interest = tl.generate(nodes=300, topics=60, subscriptions=9, popularity=popularity, seed=5)
    dense = engine(interest, 5, search="dense")
    assert dense == engine(interest, 5, search="sparse")
    assert tl.verify(interest, dense, 2).ok
    assert len(dense) < tl.repeated_greedy_merge(interest, k=2).n_links


@pytest.mark.parametrize("name", EDGE_CASES)
def test_edge_cases(name: str) -> None:
    overlay = tl.design(EDGE_CASES[name], "gm2")
    assert tl.verify(overlay.interest, overlay.links, 2).ok


def test_small_topics() -> None:
    assert [tl.gm2(one_topic(n)).n_links for n in (0, 1, 2, 3)] == [0, 0, 1, 3]
    crowd = tl.gm2(one_topic(200))
    assert tl.verify(crowd.interest, crowd.links, 2).ok
    two_pairs = interest_of([{0, 1}, {0, 1}, {1}], 2)
    assert tl.gm2(two_pairs).n_links == 3
