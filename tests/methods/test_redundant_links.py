"""Trimming keeps k and nothing that is not needed."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.small_interests import EDGE_CASES, interests, survives
from topicloom.errors import InvalidOptionError


def every_pair(interest: tl.Interest) -> np.ndarray:
    return np.array(list(combinations(range(interest.n_nodes), 2)), int).reshape(-1, 2)


@settings(max_examples=80, deadline=None)
@given(interests(max_nodes=8), st.integers(1, 5))
def test_what_remains_is_minimal(interest: tl.Interest, k: int) -> None:
    left = tl.drop_redundant_links(interest, every_pair(interest), k)
    assert tl.verify(interest, left, k).ok
    for gone in range(len(left)):
        assert not tl.verify(interest, np.delete(left, gone, axis=0), k).ok


@settings(max_examples=60, deadline=None)
@given(interests(max_nodes=10), st.integers(1, 4), st.data())
def test_no_topic_gets_worse(interest: tl.Interest, k: int, data: st.DataObject) -> None:
    pairs = every_pair(interest).tolist()
    links = data.draw(st.lists(st.sampled_from(pairs), unique_by=tuple)) if pairs else []
    left = tl.drop_redundant_links(interest, links, k)
    before = {broken.topic for broken in tl.verify(interest, links, k).broken}
    assert {broken.topic for broken in tl.verify(interest, left, k).broken} == before
    kept = [sorted(link) for link in links if sorted(link) in left.tolist()]
    assert left.tolist() == kept


@settings(max_examples=60, deadline=None)
@given(interests(max_nodes=10), st.integers(1, 5), st.integers(0, 9))
def test_stacked_greedy_merge_survives_k_minus_one_failures(interest: tl.Interest, k: int, seed: int) -> None:
    overlay = tl.stacked_greedy_merge(interest, k=k, seed=seed)
    assert tl.verify(interest, overlay.links, k).ok
    assert survives(interest, overlay.links, k)


@pytest.mark.parametrize("popularity", ["exponential", "zipf", "uniform"])
@pytest.mark.parametrize("k", [3, 4])
def test_stacked_greedy_merge_has_fewer_links_than_harary(popularity: str, k: int) -> None:
    interest = tl.generate(nodes=200, topics=50, subscriptions=10, popularity=popularity, seed=2)
    stacked = tl.design(interest, "stacked-gm", k=k)
    assert tl.verify(interest, stacked.links, k).ok
    assert stacked.n_links < 0.75 * tl.harary_per_topic(interest, k=k).n_links


@pytest.mark.parametrize("name", EDGE_CASES)
@pytest.mark.parametrize("k", [1, 2, 3, 50])
def test_edge_cases(name: str, k: int) -> None:
    interest = EDGE_CASES[name]
    assert tl.verify(interest, tl.stacked_greedy_merge(interest, k=k).links, k).ok
    assert tl.verify(interest, tl.drop_redundant_links(interest, every_pair(interest), k), k).ok


def test_refuses_a_k_of_nothing() -> None:
    with pytest.raises(InvalidOptionError, match="k is 0"):
        tl.drop_redundant_links(EDGE_CASES["one topic"], [(0, 1)], 0)
    with pytest.raises(InvalidOptionError, match="k is 0"):
        tl.stacked_greedy_merge(EDGE_CASES["one topic"], k=0)
