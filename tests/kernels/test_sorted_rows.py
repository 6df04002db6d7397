"""What two ascending rows have in common is what sets say, and new kernels can read it in a later process."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core import config

from topicloom.kernels.disjoint_sets import join, root
from topicloom.kernels.sorted_rows import first_from, longest_row, meeting, shared

ROWS = st.sets(st.integers(0, 30)).map(sorted)


@given(ROWS, ROWS)
def test_rows_meet_where_sets_do(a, b):
    pairs = list(meeting(np.array(a, np.int32), np.array(b, np.int32)))
    assert [a[x] for x, _ in pairs] == [b[y] for _, y in pairs] == sorted({*a} & {*b})
    indptr = np.cumsum([0, len(a), len(b)])
    topics = np.array(a + b, np.int32)
    assert list(shared(indptr, topics, 0, 1)) == [(x, len(a) + y) for x, y in pairs]
    assert longest_row(indptr) == max(len(a), len(b))


@given(ROWS, st.integers(-1, 31), st.data())
def test_the_first_from_a_bound_is_where_a_search_puts_it(row, least, data):
    low = data.draw(st.integers(0, len(row)))
    high = data.draw(st.integers(low, len(row)))
    found = first_from(np.array(row, np.int32), low, high, least)
    assert found == low + sum(number < least for number in row[low:high])


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9))))
def test_joined_sets_are_the_components_of_the_pairs(pairs):
    parent, label = np.arange(10, dtype=np.int32), np.arange(10)
    for a, b in pairs:
        assert join(parent, a, b) == (label[a] != label[b])
        label[label == max(label[a], label[b])] = min(label[a], label[b])
        assert [root(parent, e) for e in range(10)] == label.tolist()


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("generator", [shared, meeting])
def test_generators_are_not_cached(generator):
    """Numba fails to compile a new reader of a generator that came from a cache."""
    assert type(generator._cache).__name__ == "NullCache"
