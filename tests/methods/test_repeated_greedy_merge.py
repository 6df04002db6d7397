"""Repeated Greedy Merge: link-disjoint runs, the first of which is Greedy Merge."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.small_interests import EDGE_CASES, interests
from topicloom.errors import InvalidOptionError


@settings(max_examples=50, deadline=None)
@given(interests(), st.integers(1, 3), st.integers(0, 5))
def test_starts_with_greedy_merge_and_never_repeats_a_link(interest: tl.Interest, k: int, seed: int) -> None:
    overlay = tl.repeated_greedy_merge(interest, k=k, seed=seed)
    first = tl.greedy_merge(interest, seed=seed)
    assert np.array_equal(overlay.links[: first.n_links], first.links)
    assert tl.verify(interest, overlay.links).ok


@pytest.mark.parametrize("name", EDGE_CASES)
def test_edge_cases(name: str) -> None:
    assert tl.verify(EDGE_CASES[name], tl.repeated_greedy_merge(EDGE_CASES[name], k=3).links).ok


def test_promises_no_k() -> None:
    assert tl.METHODS["repeated-gm"].max_k == 1
    assert tl.METHODS["repeated-gm"].reference
    with pytest.raises(InvalidOptionError, match="k is 0"):
        tl.repeated_greedy_merge(EDGE_CASES["one topic"], k=0)
