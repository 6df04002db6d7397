import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.small_interests import interests
from topicloom.kernels.covers.cover import cover_by_heap, cover_by_scan, greedy_cover
from topicloom.kernels.draw.ranks import places_among, shuffled_ranks
from topicloom.kernels.tie_order import places_on_circle


def slow_cover(interest, need, weight, places, limit):
    """The definition: count everyone before every choice."""
    need, taken = need.copy(), []
    while len(taken) < limit:
        gains = {
            v: (need[interest.topics_of(v)] > 0).sum() / weight[v] for v in range(interest.n_nodes) if v not in taken
        }
        best = max(gains, key=lambda v: (gains[v], -places[v]), default=None)
        if best is None or not gains[best]:
            break
        taken.append(best)
        wanted = interest.topics_of(best)
        need[wanted[need[wanted] > 0]] -= 1
    return taken


@given(interests(), st.integers(0, 5), st.integers(1, 3), st.sampled_from([1, 1000]), st.booleans())
def test_each_node_taken_is_the_best_at_that_moment(interest, seed, coverage, limit, weighted):
    n = interest.n_nodes
    need = np.random.default_rng(seed).integers(0, coverage + 1, interest.n_topics).astype(np.int32)
    weight = np.arange(1, n + 1) if weighted else np.ones(n, np.int64)
    places = places_on_circle(n, seed)
    expected = slow_cover(interest, need, weight, places, limit)
    for cover in (greedy_cover, cover_by_heap, cover_by_scan):
        found = cover(interest.indptr, interest.topics, need, weight, places, limit)
        assert found.tolist() == expected
    if limit > 1:
        covered = np.bincount(interest.restrict(found).topics, minlength=interest.n_topics)
        assert (covered >= np.minimum(np.diff(interest.topic_indptr), need)).all()


@pytest.mark.parametrize("n", [1, 2, 5, 64, 1000])
def test_ranks_are_a_permutation_that_the_seed_decides(n):
    ranks = shuffled_ranks(np.arange(n), n, 7)
    assert sorted(ranks.tolist()) == list(range(n))
    assert shuffled_ranks(np.array([n - 1]), n, 7)[0] == ranks[-1]
    if n > 5:
        assert (ranks != shuffled_ranks(np.arange(n), n, 8)).any()


def test_places_of_some_nodes_keep_the_order_of_the_circle():
    everyone = places_on_circle(50, 3)
    assert (places_among(np.arange(50), 3) == everyone).all()
    some = np.array([4, 8, 15, 16, 23, 42])
    assert np.argsort(everyone[some]).tolist() == np.argsort(places_among(some, 3)).tolist()
