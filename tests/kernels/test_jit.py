"""Kernels that call each other are compiled once each."""

import numpy as np
import pytest
from numba.core import config, types

from topicloom.kernels.jit import serial


@serial
def _inner(x, wide, on):
    return x + wide if on else x


@serial
def _outer(values):
    total = _inner(values[0], 0, True)
    for value in values:
        total += _inner(np.int64(value), total, value > 1)
    return total


def test_a_kernel_takes_constants_and_integers_of_any_width_from_another():
    assert _outer(np.array([1, 2, 3], np.int32)) == 1 + 1 + (2 + 2) + (3 + 6)


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_constants_and_widths_of_integers_need_no_code_of_their_own():
    for given in (types.int32, types.literal(0), types.literal(True)), (types.int64, types.int64, types.boolean):
        _inner.get_call_template(given, {})
    assert len(_inner.signatures) == 1
