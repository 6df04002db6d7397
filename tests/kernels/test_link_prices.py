"""The kernels that search for prices do what their slow twins do."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.price_twins import check_trees, in_order, potential_of, prices_of, shared_topics, tree_links
from support.small_interests import interests
from topicloom.kernels.prices.link_prices import (
    pair_prices,
    pair_trees,
    potential_gradient,
    potential_trees,
    raise_prices,
)
from topicloom.methods.bounds.search import _places
from topicloom.model.interest import both_ways

NO_SUMS = np.empty((0, 0))
SMALL = settings(max_examples=60, deadline=None)
seeds = st.integers(0, 10**6)


def potentials(interest: tl.Interest, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.1, 1, len(interest.topics))


def pair_ptr(interest: tl.Interest) -> np.ndarray:
    size = np.diff(interest.topic_indptr).astype(np.int64)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(size * (size - 1) // 2)])


@SMALL
@given(interests(max_nodes=8, max_topics=5), seeds, st.data())
def test_trees_under_potentials_are_the_cheapest(interest, seed, data):
    several = [t for t in range(interest.n_topics) if len(interest.subscribers(t)) > 1]
    paying = sorted(data.draw(st.sets(st.sampled_from(several)))) if several else []
    potential = potentials(interest, seed)
    parent = np.full(len(interest.topics), 99, np.int32)
    total = potential_trees(*both_ways(interest), np.array(paying, np.int64), potential, NO_SUMS, parent)
    check_trees(interest, parent, prices_of(interest, potential), paying, total)


@SMALL
@given(interests(max_nodes=8, max_topics=5), seeds, st.data())
def test_sums_of_all_pairs_change_nothing(interest, seed, data):
    several = [t for t in range(interest.n_topics) if len(interest.subscribers(t)) > 1]
    paying = np.array(sorted(data.draw(st.sets(st.sampled_from(several)))) if several else [], np.int64)
    potential = np.where(np.isin(interest.topics, paying), potentials(interest, seed), 0.0)
    found = []
    for sums in (NO_SUMS, np.full((interest.n_nodes, interest.n_nodes), 99.0)):
        parent = np.full(len(interest.topics), 99, np.int32)
        total = potential_trees(*both_ways(interest), paying, potential, sums, parent)
        found.append((total, parent.tolist()))
    assert found[0] == found[1]


@SMALL
@given(interests(max_nodes=8, max_topics=5), seeds)
def test_prices_of_pairs_are_those_of_the_potentials_and_their_trees_the_cheapest(interest, seed):
    potential = potentials(interest, seed)
    prices = prices_of(interest, potential)
    kept = pair_prices(*both_ways(interest), pair_ptr(interest), potential)
    assert np.allclose(kept, in_order(interest, prices))
    parent = np.full(len(interest.topics), 99, np.int32)
    total = pair_trees(interest.topic_indptr, pair_ptr(interest), kept, parent)
    several = [t for t in range(interest.n_topics) if len(interest.subscribers(t)) > 0]
    check_trees(interest, parent, prices, several, total)


@SMALL
@given(interests(max_nodes=8, max_topics=5), seeds)
def test_the_gradient_is_how_the_cost_of_the_trees_changes(interest, seed):
    potential = potentials(interest, seed)
    paying = np.array([t for t in range(interest.n_topics) if len(interest.subscribers(t)) > 1], np.int64)
    parent, slope = np.empty(len(potential), np.int32), np.full(len(potential), 99.0)
    potential_trees(*both_ways(interest), paying, potential, NO_SUMS, parent)
    potential_gradient(*both_ways(interest), potential, parent, slope)
    links = tree_links(interest, parent)

    def cost(changed: np.ndarray) -> float:
        prices = prices_of(interest, changed)
        return sum(prices[link] for link in links)

    for k in range(len(potential)):
        up, down = potential.copy(), potential.copy()
        up[k] *= np.exp(1e-5)
        down[k] *= np.exp(-1e-5)
        assert np.isclose(slope[k], (cost(up) - cost(down)) / 2e-5, atol=1e-6)


@SMALL
@given(interests(max_nodes=8, max_topics=5), seeds, st.floats(1.01, 2))
def test_raised_prices_are_those_of_the_trees_scaled_to_one_for_each_of_their_pairs(interest, seed, factor):
    prices = prices_of(interest, potentials(interest, seed))
    kept = np.array(in_order(interest, prices), np.float32)
    parent = np.empty(len(interest.topics), np.int32)
    pair_trees(interest.topic_indptr, pair_ptr(interest), kept, parent)
    args = interest.indptr, interest.topics, _places(interest), interest.topic_indptr, interest.topic_nodes
    raise_prices(*args, pair_ptr(interest), kept, parent, np.float32(factor))
    links = tree_links(interest, parent)
    for link in links:
        prices[link] *= factor
    for u, v in {(u, v) for _, u, v in links}:
        total = sum(prices[t, u, v] for t in shared_topics(interest, u, v))
        for t in shared_topics(interest, u, v):
            prices[t, u, v] = max(prices[t, u, v] / total, 1e-7)
    assert np.allclose(kept, in_order(interest, prices), rtol=1e-4)


def test_the_twin_of_prices_on_two_nodes():
    interest = tl.Interest.from_pairs(["a", "a", "b", "b"], ["x", "y", "x", "y"])
    potential = np.array([1.0, 2.0, 3.0, 0.5])
    assert potential_of(interest, potential) == {(0, 0): 1.0, (0, 1): 2.0, (1, 0): 3.0, (1, 1): 0.5}
    assert prices_of(interest, potential) == {(0, 0, 1): 0.75, (1, 0, 1): 0.25}
