"""Draws by numpy, ranks of pairs and sorting inside kernels, against their plain twins."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from topicloom.kernels.sorting import FEW, sort_part, sort_ranks
from topicloom.kernels.streams import CYCLE_STREAM, draw, draw_all, draw_pairs
from topicloom.kernels.tie_order import arc, circle, pair_ranks, places_on_circle

SEEDS = st.integers(0, 2**63 - 1)


@settings(deadline=None)
@given(SEEDS, st.lists(st.integers(0, 2**62), max_size=20))
def test_arrays_of_draws_are_single_draws(seed: int, numbers: list[int]) -> None:
    array = np.array(numbers, np.int64)
    assert draw_all(seed, CYCLE_STREAM, array).tolist() == [int(draw(seed, CYCLE_STREAM, b)) for b in array]
    base = np.uint64(draw(seed, CYCLE_STREAM, 0))
    expected = [int(draw(base, a, b)) for a, b in zip(array, array[::-1])]
    assert draw_pairs(seed, CYCLE_STREAM, array, array[::-1]).tolist() == expected


@settings(deadline=None)
@given(st.integers(2, 40), SEEDS)
def test_ranks_follow_the_shorter_arc(n: int, seed: int) -> None:
    pairs = np.array([(p, q) for p in range(n) for q in range(n) if p != q], np.int32)
    expected = [length * n + start for length, start in (arc(n, int(p), int(q)) for p, q in pairs)]
    assert pair_ranks(n, pairs).tolist() == expected
    assert places_on_circle(n, seed)[circle(n, seed)].tolist() == list(range(n))


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**40), max_size=3 * FEW), st.integers(0, 5))
def test_ranks_are_sorted_and_what_follows_them_is_kept(ranks: list[int], extra: int) -> None:
    values = np.array(ranks + [7] * extra, np.int64)
    sort_ranks(values, len(ranks), np.empty(len(ranks), np.int64), np.zeros(257, np.int64))
    assert values.tolist() == sorted(ranks) + [7] * extra


@settings(deadline=None)
@given(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=200), st.integers(0, 5), st.integers(0, 5))
def test_a_part_is_sorted_and_the_rest_is_kept(numbers: list[int], before: int, after: int) -> None:
    values = np.array([9] * before + numbers + [3] * after, np.int32)
    sort_part(values, before, before + len(numbers))
    assert values.tolist() == [9] * before + sorted(numbers) + [3] * after
