"""Options are checked at the door, and the sentence says what is wrong."""

import math

import numpy as np
import pytest

import topicloom as tl
from topicloom.datasets import Workload
from topicloom.errors import InvalidOptionError


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"nodes": -1}, "nodes is -1"),
        ({"nodes": 1.5}, "nodes is 1.5; a whole number from 0"),
        ({"nodes": True}, "nodes is True"),
        ({"nodes": 2**31}, "nodes is 2147483648"),
        ({"topics": 0}, "topics is 0"),
        ({"subscriptions": 0}, "subscriptions is 0"),
        ({"subscriptions": 101}, "subscriptions is 101, but there are 100 topics"),
        ({"subscriptions": 101, "sizes": "mean"}, "subscriptions is 101, but there are 100 topics"),
        ({"popularity": "pareto"}, "popularity is 'pareto'; one of uniform, zipf, exponential is accepted"),
        ({"popularity": ["zipf"]}, "popularity is"),
        ({"sizes": "random"}, "sizes is 'random'; one of fixed, mean, power-law is accepted"),
        ({"alpha": -0.1}, "alpha is -0.1; a finite number"),
        ({"alpha": math.nan}, "alpha is nan"),
        ({"alpha": math.inf}, "alpha is inf"),
        ({"alpha": "2"}, "alpha is '2'"),
        ({"alpha": 10**400}, "alpha is 1000"),
        ({"size_exponent": -1}, "size_exponent is -1"),
        ({"min_size": 5}, "min_size is for sizes='power-law' only, and sizes is 'fixed'"),
        ({"max_size": 5, "sizes": "mean"}, "max_size is for sizes='power-law' only"),
        ({"sizes": "power-law", "min_size": 9, "max_size": 8}, "min_size is 9, above max_size, which is 8"),
        ({"sizes": "power-law", "min_size": 0}, "min_size is 0"),
        ({"sizes": "power-law", "max_size": 101}, "max_size is 101, but there are 100 topics"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 2**63}, "seed is 9223372036854775808"),
        ({"seed": None}, "seed is None"),
    ],
)
def test_refused(options, sentence):
    with pytest.raises(InvalidOptionError) as refusal:
        tl.generate(**options)
    assert str(refusal.value).startswith(sentence)


def test_numpy_numbers_are_numbers():
    plain = tl.generate(5, 10, 3, "zipf", alpha=0.5, seed=7)
    numpy_ones = tl.generate(np.int32(5), np.int64(10), np.uint8(3), "zipf", alpha=np.float64(0.5), seed=np.uint64(7))
    assert plain.topics.tolist() == numpy_ones.topics.tolist()


def test_power_law_sizes_default_to_those_of_the_paper():
    assert (
        Workload(topics=200, sizes="power-law").min_size,
        Workload(topics=200, sizes="power-law").max_size,
    ) == (10, 90)
    small = Workload(topics=7, sizes="power-law")
    assert (small.min_size, small.max_size) == (7, 7)


def test_options_are_frozen_and_comparable():
    assert Workload(seed=1) == Workload(seed=1) != Workload(seed=2)
    with pytest.raises(AttributeError):
        Workload().seed = 3
