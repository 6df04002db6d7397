"""Instances that the papers prove something about; lemmas of docs/methods/hardness.md against brute force."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings

import topicloom as tl
from support.paper_instances import cuboid, pairs_and_v_all, with_guard
from support.small_interests import interests, sub_overlay, survives


def fewest_links(interest: tl.Interest, k: int) -> int:
    """Size of the smallest k-topic-connected set of links (k is 1 or 2): all sets are tried, small ones first."""
    pairs = [
        pair
        for pair in combinations(range(interest.n_nodes), 2)
        if set(interest.topics_of(pair[0]).tolist()) & set(interest.topics_of(pair[1]).tolist())
    ]
    return next(
        size
        for size in range(len(pairs) + 1)
        for links in combinations(pairs, size)
        if all(survives(interest, links, one) for one in range(1, k + 1))
    )


@pytest.mark.parametrize(("k", "m"), [(2, 3), (3, 4), (4, 4), (3, 8), (5, 5)])
def test_lemma_6_6_greedy_merge_takes_2k_plus_km_links_of_the_cuboid(k, m):
    interest = cuboid(k, m)
    assert (interest.n_nodes, interest.n_topics) == (2 + k + m, 2 * (2**k - 1) * m)
    best = [(plane, other) for plane in (0, 1) for other in range(2, 2 + k + m)]
    assert tl.verify(interest, best).ok and len(best) == 2 * k + 2 * m
    for seed in range(3):
        overlay = tl.greedy_merge(interest, seed=seed)
        assert overlay.n_links == 2 * k + k * m
        columns, slices = range(2, 2 + k), range(2 + k, 2 + k + m)
        expected = {(plane, column) for plane in (0, 1) for column in columns}
        expected |= {(column, one) for column in columns for one in slices}
        assert {tuple(link) for link in overlay.links.tolist()} == expected


def test_gm_5_the_planes_are_not_linked_first():
    """The last column shares 2^k = 8 topics with each slice, a plane only m = 4 with the first column."""
    links = tl.greedy_merge(cuboid(3, 4)).links.tolist()
    assert max(links.index([plane, 2]) for plane in (0, 1)) >= 2 * 3


@pytest.mark.parametrize("n", [4, 9])
def test_star_merge_section_iv_v_all_joins_a_clique_that_it_makes_needless(n):
    interest, star = pairs_and_v_all(n)
    others, newcomer = interest.restrict(range(n)), interest.restrict([n])
    clique = tl.greedy_merge(others)
    assert clique.n_links == n * (n - 1) // 2  # every pair has a topic of its own
    for method in tl.JOIN_METHODS:
        joined = tl.join([(others, clique), (newcomer, [])], method=method)
        assert tl.verify(joined.interest, joined.links).ok
        assert joined.n_links == clique.n_links + n - 1  # v_all needs all nodes but one to meet every topic
    assert tl.greedy_merge(interest).n_links == len(star) == n


@settings(max_examples=25)
@given(interests(max_nodes=4, max_topics=4))
def test_theorem_a_1_a_guard_adds_one_link_for_each_node(interest):
    assert fewest_links(with_guard(interest), 2) == fewest_links(interest, 1) + interest.n_nodes


def test_theorem_a_1_by_our_own_methods():
    interest = tl.generate(nodes=30, topics=8, subscriptions=3, seed=2)
    guarded, links = with_guard(interest), tl.greedy_merge(interest).links.tolist()
    spokes = [(v, interest.n_nodes) for v in range(interest.n_nodes)]
    assert tl.verify(guarded, links + spokes, k=2).ok
    assert not tl.verify(guarded, links + spokes[1:], k=2).ok
    kept = tl.gm2(guarded).links.tolist()
    assert all(list(spoke) in kept for spoke in spokes)
    assert tl.verify(interest, [link for link in kept if interest.n_nodes not in link]).ok


@settings(max_examples=60)
@given(interests(max_nodes=5, max_topics=6))
def test_greedy_merge_is_within_the_harmonic_number_of_the_most_shared_topics(interest):
    rows = [set(interest.topics_of(v).tolist()) for v in range(interest.n_nodes)]
    shared = max((len(a & b) for a, b in combinations(rows, 2)), default=0)
    bound = sum(Fraction(1, i) for i in range(1, shared + 1))
    assert tl.greedy_merge(interest).n_links <= bound * fewest_links(interest, 1)


def test_greedy_merge_takes_a_tree_per_topic_where_no_two_nodes_share_two():
    interest, _ = pairs_and_v_all(5)
    others = interest.restrict(range(5))
    overlay = tl.greedy_merge(others)
    assert all(sub_overlay(others, overlay.links, t).number_of_edges() == 1 for t in range(others.n_topics))
