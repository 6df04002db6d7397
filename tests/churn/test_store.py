"""Durable state: acknowledged is durable, whenever the process dies."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

import topicloom as tl
from support.churn_checks import check, link_labels, maintained, model_of
from topicloom.errors import (
    InputNotFoundError,
    InvalidOptionError,
    OutputExistsError,
    StateFormatError,
    StateInUseError,
)

WRITER = """
import random, sys
import topicloom as tl
path, seed = sys.argv[1], int(sys.argv[2])
draw = random.Random(seed)
m = tl.Maintainer.open(path, sync=["full", "normal"][seed % 2])
print("open", flush=True)
present = sorted(m.interest.node_labels.tolist())
for number in range(100_000):
    if draw.random() < 0.5 or len(present) < 5:
        node, topics = f"j{seed}-{number}", sorted(draw.sample([f"t{i:02}" for i in range(15)], 4))
        m.join(node, topics)
        present.append(node)
        print("join", node, *topics, flush=True)
    else:
        node = present.pop(draw.randrange(len(present)))
        m.leave(node)
        print("leave", node, flush=True)
"""
RUNS = int(os.environ.get("TOPICLOOM_KILL_RUNS", "6"))


def created(path, **options):
    interest = tl.generate(nodes=60, topics=15, subscriptions=5, seed=1)
    overlay = tl.gm2(interest) if options.get("k", 1) == 2 else tl.low_oda(interest)
    return tl.Maintainer.open(path, interest=interest, overlay=overlay, **options), model_of(interest)


@pytest.mark.parametrize("options", [{}, {"k": 2, "backups": "greedy"}, {"policy": "naive"}])
def test_a_reopened_state_goes_on_as_if_never_closed(tmp_path, options):
    durable, model = created(tmp_path / "state.db", **options)
    memory, _ = maintained(**options)
    events = [
        ("leave", "n05", []), ("join", "x", ["t01", "t02", "new"]), ("leave", "n17", []), ("leave", "x", []),
        ("join", "y", ["t03"]), ("subscribe", "y", ["t04", "t05"]), ("unsubscribe", "n20", None), ("leave", "n30", []),
        ("join", "x", ["t09", "t01", "t11"]), ("leave", "n31", []), ("leave", "n00", []),
    ]  # fmt: skip
    for kind, node, topics in events:
        event = {"event": kind, "node": node, "topics": sorted(model[node])[:2] if topics is None else topics}
        one, other = durable.apply([event]), memory.apply([event])
        assert (one.added, one.removed) == (other.added, other.removed)
        durable.close()
        durable = tl.Maintainer.open(tmp_path / "state.db")
        assert durable.overlay.links.tolist() == memory.overlay.links.tolist()
        assert durable.options == memory.options
        for label in memory.interest.node_labels.tolist():
            assert durable.backups_of(label) == memory.backups_of(label)
            assert durable.primaries_of(label) == memory.primaries_of(label)
    assert durable.events_applied == len(events)
    durable.close()


def test_a_second_writer_is_refused(tmp_path):
    first, _ = created(tmp_path / "state.db")
    with pytest.raises(StateInUseError, match="open for writing"):
        tl.Maintainer.open(tmp_path / "state.db")
    first.close()
    with pytest.raises(StateInUseError, match="closed"):
        first.leave("n01")
    with tl.Maintainer.open(tmp_path / "state.db") as again:
        again.leave("n01")


def test_opening_says_what_is_wrong(tmp_path):
    with pytest.raises(InputNotFoundError, match="does not exist"):
        tl.Maintainer.open(tmp_path / "none.db")
    with pytest.raises(InputNotFoundError, match="not a directory"):
        created(tmp_path / "nowhere" / "state.db")
    (tmp_path / "junk.db").write_bytes(b"this is not a database, and long enough to be looked at" * 30)
    with pytest.raises(StateFormatError):
        tl.Maintainer.open(tmp_path / "junk.db")
    m, _ = created(tmp_path / "state.db")
    m.close()
    with pytest.raises(OutputExistsError, match="holds a state"):
        created(tmp_path / "state.db")
    with pytest.raises(InvalidOptionError, match="seed is 5"):
        tl.Maintainer.open(tmp_path / "state.db", seed=5)
    with pytest.raises(InvalidOptionError, match="sync is 'maybe'"):
        tl.Maintainer.open(tmp_path / "state.db", sync="maybe")
    with pytest.raises(InvalidOptionError, match="together"):
        tl.Maintainer.open(tmp_path / "state.db", interest=m.interest)


def test_killed_at_any_moment_nothing_acknowledged_is_lost(tmp_path):
    path = tmp_path / "state.db"
    m, model = created(path)
    m.close()
    draw = random.Random(5)
    before = 0
    for run in range(RUNS):
        log = tmp_path / f"log{run}"
        with log.open("wb") as out:
            writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(run)], stdout=out)
            while b"leave" not in log.read_bytes():
                assert writer.poll() is None
                time.sleep(0.02)
            time.sleep(draw.random() * 0.2)
            writer.send_signal(signal.SIGKILL)
            writer.wait()
        lines = log.read_text().split("\n")
        lines = lines[1:-1]  # after the last newline nothing was acknowledged
        for line in lines:
            kind, node, *topics = line.split()
            if kind == "join":
                model[node] = set(topics)
            else:
                del model[node]
        with tl.Maintainer.open(path) as m:
            extra = m.events_applied - len(lines) - before
            assert extra in (0, 1)  # the one that was committed and not yet acknowledged
            now = model_of(m.interest)
            gone, new = set(model) - set(now), set(now) - set(model)
            assert len(gone) + len(new) == extra
            model = now
            check(m, model)
            before = m.events_applied
            assert link_labels(m)
