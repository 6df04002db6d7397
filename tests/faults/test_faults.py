"""The short form of ``make test-faults``."""

import os
import signal
import time

import pytest

import faults.__main__  # noqa: F401 - registers all cases
from faults.harness import CASES, Tally, in_child, run


@pytest.mark.parametrize("one", [one for one in CASES if one.short], ids=lambda one: one.name)
def test_nothing_is_lost_or_wrong(one, tmp_path):
    tally = Tally()
    run(one, one.short, tally, tmp_path / one.name)
    assert not tally.failures, "\n".join(tally.failures)
    assert tally.kills + tally.damaged + tally.interrupts >= one.short


def test_the_harness_notices_signals_hangs_and_exceptions():
    tally = Tally()
    assert tally.judge(in_child(lambda: 7), "fine") == 7
    assert not tally.failures
    tally.judge(in_child(lambda: os.kill(os.getpid(), signal.SIGSEGV)), "crash")
    tally.judge(in_child(time.sleep, 30, patience=0.2), "sleep")
    tally.judge(in_child(lambda: {}["x"]), "broken", accept=ValueError)
    tally.judge(in_child(lambda: int("x")), "said", accept=ValueError)
    assert [len(tally.signals), len(tally.hangs), len(tally.wrong), len(tally.lost)] == [1, 1, 1, 0]
    assert "SIGSEGV" in tally.signals[0] and "KeyError" in tally.wrong[0]
    assert tally.line() == "kills=0 (spark 0) damaged=0 interrupts=0 lost=0 wrong=1 signals=1 hangs=1"
