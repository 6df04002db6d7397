"""Integer weight tables: the right shares, the same on every machine, fast for many topics."""

import time
from decimal import ROUND_UP, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topicloom.datasets.tables import (
    EXPONENTIAL_RATE,
    UNIT,
    exponential_weights,
    inclusion_thresholds,
    power_weights,
    uniform_weights,
)


def test_exponential_rate_solves_its_equation():
    with localcontext() as context:
        context.prec = 40
        tenth = (1 - (-EXPONENTIAL_RATE / 10).exp()) / (1 - (-EXPONENTIAL_RATE).exp())
    assert abs(tenth - Decimal("0.55")) < Decimal("1e-28")


@pytest.mark.parametrize("count", [10, 100, 1000, 20000])
def test_a_tenth_of_the_topics_has_55_percent_of_the_exponential_mass(count):
    weights = exponential_weights(count)
    assert int(weights[: count // 10].sum()) / int(weights.sum()) == pytest.approx(0.55, abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 60), st.integers(0, 60), st.floats(0, 4))
def test_power_weights_follow_the_power(first, extra, exponent):
    weights = power_weights(first, first + extra, exponent)
    reference = np.arange(first, first + extra + 1, dtype=float) ** -exponent
    assert np.allclose(weights / float(weights.sum()), reference / reference.sum(), rtol=1e-9, atol=1e-18)


@pytest.mark.parametrize("alpha", [1.0, 2.0])
def test_whole_exponents_give_exactly_rounded_shares(alpha):
    shares = [Fraction(1, i ** int(alpha)) for i in range(1, 201)]
    assert power_weights(1, 200, alpha).tolist() == [int(UNIT * share / sum(shares)) for share in shares]


def test_extreme_exponents_leave_every_topic_possible():
    weights = power_weights(1, 100, 1e300)
    assert weights[0] == UNIT
    assert (weights[1:] == 1).all()
    assert len(set(power_weights(1, 7, 0.0).tolist())) == 1


def test_the_decimal_context_of_the_caller_changes_nothing():
    expected = power_weights(1, 30, 0.8).tolist(), exponential_weights(30).tolist()
    with localcontext() as context:
        context.prec = 3
        context.rounding = ROUND_UP
        assert (power_weights(1, 30, 0.8).tolist(), exponential_weights(30).tolist()) == expected


def test_totals_fit_and_weights_do_not_rise():
    for weights in (uniform_weights(999), exponential_weights(999), power_weights(1, 999, 0.5)):
        assert UNIT - 999 <= weights.sum() <= UNIT + 999
        assert (np.diff(weights) <= 0).all()
        assert not weights.flags.writeable


def test_many_topics_take_less_than_seconds():
    started = time.process_time()
    power_weights(1, 100_000, 0.8)
    exponential_weights(100_000)
    assert time.process_time() - started < 5  # about 0.7 s on an idle core


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=30), st.data())
def test_inclusion_probabilities_sum_to_the_mean_size(weights, data):
    weights = np.sort(np.array(weights))[::-1]
    mean_size = data.draw(st.integers(1, len(weights)))
    certain, thresholds = inclusion_thresholds(weights, mean_size)
    uncertain = [int(t) for t in thresholds[certain:]]
    assert certain + sum(uncertain) / 2**64 == pytest.approx(mean_size, abs=1e-9)
    if uncertain and uncertain[0]:
        ratio = uncertain[-1] / uncertain[0]
        assert ratio == pytest.approx(weights[-1] / weights[certain], rel=1e-9)
