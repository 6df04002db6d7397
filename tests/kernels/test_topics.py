"""The drawing kernels against their slow, obvious twin on the same integers: identical, not alike.

The twin uses plain Python integers, scans all weights at every draw and keeps nothing between draws.
"""

import os
import subprocess
import sys
import textwrap
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topicloom.datasets.tables import tables_of
from topicloom.datasets.workload import Workload
from topicloom.kernels.draw.topics import draw_distinct, draw_independent
from topicloom.kernels.streams import below, draw

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
SIZE_STREAM, TOPIC_STREAM = 20, 21


def slow_mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def slow_draw(seed, a, b):
    z = slow_mix((seed + GOLDEN) & MASK)
    z = slow_mix((z + a * GOLDEN + 1) & MASK)
    return slow_mix((z + b * GOLDEN + 1) & MASK)


def pick(number, weights):
    """Find the key whose share of the total weight ``number`` / 2^64 falls on, keys in ascending order."""
    mark = number * sum(weights.values()) >> 64
    for key in sorted(weights):
        if mark < weights[key]:
            return key
        mark -= weights[key]
    raise AssertionError("the mark lies beyond the total weight")


def distinct_topics(node, seed, weights, size_weights):
    """Topics of one node: each draw is among the topics that the node does not have yet."""
    size = pick(slow_draw(slow_draw(seed, SIZE_STREAM, 0), node, 0), dict(enumerate(map(int, size_weights))))
    left = dict(enumerate(map(int, weights)))
    base = slow_draw(seed, TOPIC_STREAM, 0)
    chosen = []
    for counter in range(size):
        chosen.append(pick(slow_draw(base, node, counter), left))
        del left[chosen[-1]]
    return sorted(chosen)


def independent_topics(node, seed, certain, thresholds):
    """Topics of one node: every topic is a coin of its own."""
    base = slow_draw(seed, TOPIC_STREAM, 0)
    return [t for t in range(len(thresholds)) if t < certain or slow_draw(base, node, t) < int(thresholds[t])]


def rows(indptr, topics):
    return [topics[a:b].tolist() for a, b in pairwise(indptr)]


weight_lists = st.lists(st.integers(1, 2**40) | st.just(1), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None)
@given(weight_lists, st.integers(0, 2**63 - 1), st.integers(0, 2**31 - 10), st.data())
def test_distinct_topics_equal_the_slow_twin(weights, seed, first_node, data):
    size_weights = data.draw(
        st.lists(st.integers(0, 2**30), min_size=1, max_size=len(weights) + 1).filter(any),
        label="size weights",
    )
    drawn = draw_distinct(first_node, first_node + 5, seed, np.array(weights), np.array(size_weights))
    expected = [distinct_topics(node, seed, weights, size_weights) for node in range(first_node, first_node + 5)]
    assert rows(*drawn) == expected


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=40),
    st.integers(0, 2**63 - 1),
    st.integers(0, 2**31 - 10),
    st.integers(0, 40),
)
def test_independent_topics_equal_the_slow_twin(thresholds, seed, first_node, certain):
    table = np.array(thresholds, np.uint64)
    drawn = draw_independent(first_node, first_node + 5, seed, certain, table)
    expected = [independent_topics(node, seed, certain, thresholds) for node in range(first_node, first_node + 5)]
    assert rows(*drawn) == expected


@given(st.integers(0, 2**64 - 1), st.integers(1, 2**63 - 1))
def test_below_is_the_high_half_of_the_product(number, limit):
    assert below(np.uint64(number), limit) == number * limit >> 64


@given(st.integers(0, 2**63 - 1), st.integers(0, 2**31), st.integers(0, 2**31))
def test_slow_draw_is_the_same_hash(seed, a, b):
    assert int(draw(seed, a, b)) == slow_draw(seed, a, b)


@pytest.mark.parametrize("sizes", ["fixed", "mean", "power-law"])
@pytest.mark.parametrize("popularity", ["uniform", "zipf", "exponential"])
def test_blocks_of_nodes_put_together_are_the_whole(sizes, popularity):
    tables = tables_of(Workload(100, 120, 20, popularity, sizes=sizes, seed=5))
    whole = rows(*tables.draw_topics(0, 100))
    cuts = [0, 1, 1, 40, 99, 100]
    assert [row for a, b in pairwise(cuts) for row in rows(*tables.draw_topics(a, b))] == whole


def test_half_of_the_topics_under_a_steep_zipf_need_no_more_draws_than_topics():
    tables = tables_of(Workload(50, 200, 100, "zipf", alpha=2.0))
    expected = [distinct_topics(v, 0, tables.weights, tables.size_weights) for v in range(50)]
    assert rows(*tables.draw_topics(0, 50)) == expected


def test_kernels_draw_the_same_without_the_jit():
    script = """
        import topicloom as tl
        for sizes in ("fixed", "mean", "power-law"):
            print(tl.generate(4, 30, 6, "zipf", sizes=sizes, seed=2**63 - 1).topics.tolist())
    """
    outputs = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", textwrap.dedent(script)],
            env={**os.environ, "NUMBA_DISABLE_JIT": disabled},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for disabled in ("0", "1")
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].count("\n") == 3
