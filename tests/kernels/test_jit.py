"""Kernels that call each other are compiled once each."""

import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numba.core import config, event, types

from topicloom.kernels import jit
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


@pytest.fixture
def fresh_kernel(monkeypatch):
    """A kernel that no cache holds, and a listener of numba's that is told when its compilation begins."""
    monkeypatch.setattr(jit, "_ON_DISK", False)
    begun = []

    class Listener(event.Listener):
        def on_start(self, found):
            if found.data["dispatcher"] is kernel:
                begun.append(threading.current_thread())
                if len(begun) == 1:
                    signal.raise_signal(signal.SIGINT)

        def on_end(self, found):
            pass

    kernel = serial(lambda x: x + 1)
    listener = Listener()
    event.register("numba:compile", listener)
    yield kernel, begun
    event.unregister("numba:compile", listener)


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_ctrl_c_waits_until_a_kernel_is_compiled(fresh_kernel):
    kernel, begun = fresh_kernel
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        kernel(1)
    assert len(begun) == len(kernel.signatures) == 1 and kernel(1) == 2
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_a_handler_of_the_callers_gets_the_signal_that_waited(fresh_kernel):
    kernel, _ = fresh_kernel
    told = []
    before = signal.signal(signal.SIGINT, lambda number, _: told.append((number, len(kernel.signatures))))
    try:
        assert kernel(1) == 2
    finally:
        signal.signal(signal.SIGINT, before)
    assert told == [(signal.SIGINT, 1)]


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_threads_compile_without_a_look_at_signals(fresh_kernel):
    kernel, begun = fresh_kernel
    begun.append(None)  # nothing is raised
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(kernel, 1).result() == 2
    assert begun[1] is not threading.main_thread()


@pytest.mark.parametrize("usual", [signal.SIG_IGN, signal.SIG_DFL])
def test_signals_that_python_does_not_handle_stay_as_they_are(usual):
    before = signal.signal(signal.SIGINT, usual)
    try:
        with jit.interrupts_held():
            assert signal.getsignal(signal.SIGINT) is usual
    finally:
        signal.signal(signal.SIGINT, before)
