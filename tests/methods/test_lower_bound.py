"""Lower bounds never exceed the fewest links possible, and a certificate that was tampered with proves nothing."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.fewest_links import fewest_links
from support.small_interests import EDGE_CASES, cases, interests, one_topic
from topicloom.errors import InvalidOptionError, NoTruthValueError
from topicloom.judge.prices import SCALE, proved_by_components, proved_by_pairs, proved_by_potentials
from topicloom.methods.bounds import LowerBound
from topicloom.methods.bounds.search import found_pair_prices, found_potentials


@settings(max_examples=300, deadline=None)
@given(interests(max_nodes=6, max_topics=5))
def test_a_bound_never_exceeds_the_fewest_links_possible(interest):
    bound = tl.lower_bound(interest, effort=0.3)
    assert bound.check(interest)
    assert bound.links <= fewest_links(interest)


@settings(max_examples=200, deadline=None)
@given(cases(max_nodes=6, max_topics=5, max_links=6), st.integers(0, 10**6))
def test_no_certificate_proves_more_than_the_fewest_links_beside_those_that_stand(case, seed):
    interest, standing = case
    fewest = fewest_links(interest, standing)
    bound = tl.lower_bound(interest, effort=0.3, standing=standing)
    assert bound.check(interest)
    assert len(standing) <= bound.links <= fewest
    rng, size = np.random.default_rng(seed), np.diff(interest.topic_indptr)
    prices = rng.integers(0, SCALE // 2, int((size * (size - 1) // 2).sum()))
    potentials = rng.integers(0, 2**15, len(interest.topics))
    proofs = {"components": np.empty(0, np.int64), "potentials": potentials, "pair prices": prices}
    for kind, proof in proofs.items():
        assert not LowerBound(fewest + 1, kind, proof, bound.standing).check(interest)


@settings(max_examples=100, deadline=None)
@given(interests(max_nodes=6, max_topics=5), st.data())
def test_whatever_the_potentials_what_they_prove_is_true(interest, data):
    values = st.integers(0, 2**15)
    potentials = np.array(data.draw(st.lists(values, min_size=len(interest.topics), max_size=len(interest.topics))))
    assert proved_by_potentials(interest, potentials.astype(np.int64)) <= fewest_links(interest)


@settings(max_examples=100, deadline=None)
@given(interests(max_nodes=6, max_topics=4), st.integers(0, 10**6))
def test_whatever_the_prices_what_they_prove_is_true(interest, seed):
    size = np.diff(interest.topic_indptr)
    prices = np.random.default_rng(seed).integers(0, SCALE // 2, int((size * (size - 1) // 2).sum()))
    assert proved_by_pairs(interest, prices) <= fewest_links(interest)


@pytest.mark.parametrize("popularity", ["uniform", "zipf", "exponential"])
def test_bounds_hold_for_every_overlay_found_and_are_near_them(popularity):
    interest = tl.generate(nodes=60, topics=15, subscriptions=5, popularity=popularity, seed=1)
    found = tl.refine(tl.weighted_greedy_merge(interest), effort=100).n_links
    bound = tl.lower_bound(interest)
    assert 0.9 * found <= bound.links <= found


def test_pair_prices_prove_more_than_the_potentials_that_they_start_from():
    interest = tl.generate(nodes=80, topics=20, subscriptions=6, popularity="zipf", seed=1)
    potentials, rounded = found_potentials(interest, 0.2)
    prices = found_pair_prices(interest, potentials, 1)
    assert proved_by_pairs(interest, prices) > proved_by_potentials(interest, rounded) > proved_by_components(interest)


def test_potentials_of_some_topics_alone_prove_something():
    interest = tl.generate(nodes=40, topics=10, subscriptions=4, seed=1)
    _, all_pay = found_potentials(interest, 1)
    some = np.where(interest.topics < 5, all_pay, 0)
    assert 0 < proved_by_potentials(interest, some) < proved_by_potentials(interest, all_pay)


def test_a_certificate_that_was_tampered_with_is_rejected():
    interest = tl.generate(nodes=40, topics=10, subscriptions=4, popularity="zipf", seed=1)
    potentials, rounded = found_potentials(interest, 1)
    prices = found_pair_prices(interest, potentials, 1)
    by_pairs = LowerBound(proved_by_pairs(interest, prices), "pair prices", prices)
    by_potentials = LowerBound(proved_by_potentials(interest, rounded), "potentials", rounded)
    for bound in (by_pairs, by_potentials):
        assert bound.check(interest)
        assert not replace(bound, links=bound.links + 1).check(interest)
        assert not replace(bound, certificate=bound.certificate[1:]).check(interest)
        assert not replace(bound, certificate=-bound.certificate).check(interest)
        assert not replace(bound, certificate=bound.certificate * 1.0).check(interest)
        assert not replace(bound, certificate=np.zeros_like(bound.certificate)).check(interest)
        assert not replace(bound, kind="faith").check(interest)
    assert not replace(by_pairs, certificate=prices + SCALE // 50).check(interest)
    assert not replace(by_potentials, certificate=rounded + 2**15).check(interest)


def test_a_pair_that_pays_more_than_a_link_earns_proves_nothing():
    interest = tl.Interest.from_pairs(list("aabb"), list("xyxy"))
    assert tl.design(interest).n_links == 1
    for excess in (0, 1, SCALE // 64):
        prices = np.array([SCALE // 2, SCALE // 2 + excess])
        for certificate in (prices, prices[::-1]):
            assert LowerBound(1, "pair prices", certificate).check(interest) == (excess == 0)
            assert not LowerBound(2, "pair prices", certificate).check(interest)


def test_a_part_of_a_link_is_a_whole_link():
    three = one_topic(3)
    for price, links in ((SCALE // 2, 1), (SCALE // 2 + 1, 2), (SCALE * 3 // 4, 2), (SCALE, 2)):
        bound = LowerBound(links, "pair prices", np.array([price] * 3))
        assert bound.check(three)
        assert not replace(bound, links=links + 1).check(three)
    twice = tl.Interest.from_pairs(list("aabbcc"), list("xyxyxy"))
    parts = LowerBound(2, "potentials", np.array([1, 1, 1, 2, 1, 1]))  # 1/3 + 1/3 for x and 1/2 + 2/3 for y
    assert parts.check(twice)
    assert not replace(parts, links=3).check(twice)


def test_a_price_of_one_topic_above_a_link_proves_nothing():
    for excess in (0, 1, SCALE // 64):
        bound = LowerBound(1, "pair prices", np.array([SCALE + excess]))
        assert bound.check(one_topic(2)) == (excess == 0)


@settings(max_examples=60, deadline=None)
@given(interests(max_nodes=6, max_topics=4), st.integers(0, 10**6), st.integers(1, SCALE // 32), st.data())
def test_prices_are_accepted_up_to_what_a_link_earns_and_no_further(interest, seed, excess, data):
    """Whichever pair pays one part too much, and in whichever of its topics, the certificate proves nothing."""
    size = np.diff(interest.topic_indptr)
    prices = np.random.default_rng(seed).integers(0, SCALE // 8, int((size * (size - 1) // 2).sum()))
    if not len(prices):
        return
    owner = [pair for t in range(interest.n_topics) for pair in combinations(interest.subscribers(t).tolist(), 2)]
    raised = data.draw(st.integers(0, len(prices) - 1))
    of_pair = [at for at, pair in enumerate(owner) if pair == owner[raised]]
    prices[raised] += SCALE - prices[of_pair].sum()
    exact = LowerBound(1, "pair prices", prices.copy())
    assert exact.check(interest)
    prices[raised] += excess
    assert not replace(exact, certificate=prices).check(interest)


def test_standing_links_of_a_certificate_are_looked_at():
    interest = tl.generate(nodes=30, topics=8, subscriptions=4, seed=1)
    ring, standing = tl.ring_per_topic(interest), tl.ring_per_topic(interest).links[:20]
    assert tl.lower_bound(interest, standing=ring).links == ring.n_links
    bound = tl.lower_bound(interest, standing=standing)
    assert bound.check(interest)
    assert bound.links > tl.lower_bound(interest).links
    assert not replace(bound, standing=standing[:0]).check(interest)
    assert not replace(bound, standing=np.array([[0, 99]])).check(interest)
    repeated = replace(bound, standing=np.concatenate([standing, standing]), links=bound.links + 1)
    assert not repeated.check(interest)


def test_a_certificate_for_another_interest_proves_nothing_of_this_one():
    one, other = (tl.generate(nodes=40, topics=10, subscriptions=s, seed=1) for s in (4, 3))
    assert not tl.lower_bound(one).check(other)


@pytest.mark.parametrize("name", EDGE_CASES)
def test_bounds_of_edge_cases(name):
    interest = EDGE_CASES[name]
    bound = tl.lower_bound(interest, effort=0.1)
    assert bound.links <= tl.design(interest, "gm").n_links
    assert bound.check(interest)


def test_one_topic_needs_a_tree():
    assert tl.lower_bound(one_topic(12)).links == 11


def test_prices_prove_that_greedy_is_optimal_on_the_example():
    interest = tl.datasets.example()
    bound = tl.lower_bound(interest)
    assert bound.sentence(tl.design(interest).n_links) == "the fewest links possible (certified)"


def test_what_the_bound_says_of_an_overlay():
    bound = LowerBound(1000, "components", np.empty(0, np.int64))
    assert bound.sentence(1034) == "at most 3.4 % above the fewest links possible (certified)"
    assert bound.excess(1000) == 0
    with pytest.raises(NoTruthValueError):
        bool(bound)


@pytest.mark.parametrize("effort", [0, -1, float("inf"), True, "much"])
def test_an_effort_that_is_no_number_above_zero_is_refused(effort):
    with pytest.raises(InvalidOptionError, match="a number above 0 is accepted"):
        tl.lower_bound(one_topic(3), effort=effort)


def test_all_pairs_are_priced_once():
    interest = tl.generate(nodes=30, topics=6, subscriptions=3, seed=2)
    prices = found_pair_prices(interest, found_potentials(interest, 1)[0], 1)
    paid: dict[tuple[int, int], int] = {}
    at = 0
    for t in range(interest.n_topics):
        for pair in combinations(interest.subscribers(t).tolist(), 2):
            paid[pair] = paid.get(pair, 0) + int(prices[at])
            at += 1
    assert at == len(prices)
    assert 0.9 * SCALE < max(paid.values()) <= SCALE
