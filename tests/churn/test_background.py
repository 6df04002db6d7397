"""Backups that are built after an event has returned: nothing else changes, also not by a crash in between."""

import contextlib
import functools
import itertools
import os
import shutil
import signal
import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from topicloom.errors import InvalidOptionError, StateFormatError

TOPICS = list("pqrst")


def start():
    draw = tl.generate(nodes=14, topics=5, subscriptions=2, seed=3)
    pairs = [(f"n{v}", TOPICS[t]) for v in range(14) for t in draw.topics_of(v).tolist()]
    interest = tl.Interest.from_pairs(*map(list, zip(*pairs, strict=True)))
    return interest, tl.low_oda(interest)


@st.composite
def histories(draw):
    present, found = [f"n{v}" for v in range(14)], []
    for step in range(draw(st.integers(1, 8))):
        kind = draw(st.sampled_from(["join", "leave", "subscribe", "unsubscribe"]))
        topics = draw(st.lists(st.sampled_from(TOPICS), min_size=1, max_size=3, unique=True))
        node = f"new{step}" if kind == "join" else draw(st.sampled_from(present))
        if kind == "join":
            present.append(node)
        if kind == "leave":
            if len(present) < 4:
                continue
            present.remove(node)
        found.append({"event": kind, "node": node} | ({} if kind == "leave" else {"topics": topics}))
    return found


def whole(maintainer):
    names = sorted(maintainer.interest.node_labels.tolist())
    links = {tuple(maintainer.interest.node_label(v) for v in link) for link in maintainer.overlay.links.tolist()}
    return links, {name: maintainer.backups_of(name) for name in names}


@settings(max_examples=40)
@given(histories(), st.sampled_from(["shadow", "naive"]))
def test_states_are_those_of_a_maintainer_that_finishes_every_event(history, policy):
    interest, overlay = start()
    plain, later = (
        tl.Maintainer(interest, overlay, policy=policy, background=background) for background in (False, True)
    )
    for event in history:
        assert later.apply([event], strict=False).added == plain.apply([event], strict=False).added
        assert later.overlay == plain.overlay and later.overlay.verify().ok
    assert whole(later) == whole(plain)


def test_a_batch_leaves_only_its_last_step_for_later():
    interest, overlay = start()
    plain, later = (tl.Maintainer(interest, overlay, background=background) for background in (False, True))
    batch = [{"event": "leave", "node": "n1"}, {"event": "join", "node": "x", "topics": ["p"]},
             {"event": "leave", "node": "n2"}, {"event": "leave", "node": "n3"}]  # fmt: skip
    for maintainer in (plain, later):
        maintainer.apply(batch)
    assert whole(later) == whole(plain)


@pytest.mark.parametrize("event", [("leave", "n4"), ("unsubscribe", "n4")])
def test_a_crash_before_the_backups_are_built_loses_nothing(tmp_path, event):
    """The file is copied while the thread that would build them still waits: what a killed process leaves behind."""
    interest, overlay = start()
    plain = tl.Maintainer(interest, overlay)
    kind, node = event
    given_event = {"event": kind, "node": node}
    if kind == "unsubscribe":
        given_event["topics"] = [plain.interest.topics_of(node)[0]]
    plain.apply([given_event])
    with tl.Maintainer.open(tmp_path / "state", interest=interest, overlay=overlay, background=True) as m:
        with m._busy:
            m.apply([given_event])
            m._upkeep.store.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            shutil.copy(tmp_path / "state", tmp_path / "copy")
            assert len(m._upkeep.actions.later)
        m.finish()
        assert whole(m) == whole(plain)
    assert left_for_later(tmp_path / "copy")
    with tl.Maintainer.open(tmp_path / "copy") as reopened:
        assert whole(reopened) == whole(plain)
        follow = {"event": "leave", "node": "n5"}
        reopened.apply([follow])
        plain.apply([follow])
        assert whole(reopened) == whole(plain)
    with tl.Maintainer.open(tmp_path / "state") as reopened:
        reopened.apply([follow])
        assert whole(reopened) == whole(plain)


def killed(path, event, statement=None):
    """Apply an event to a state in another process that is killed: before Step III, or at a statement of SQLite.

    Returns whether it was killed before all was done.
    """
    ready, tell = os.pipe()
    process = os.fork()
    if not process:
        try:
            m = tl.Maintainer.open(path, background=True)
            if statement is None:
                m._busy.acquire()  # the thread that would build the backups waits
                m.apply([event])
            else:
                left = itertools.count(-statement)
                kill = functools.partial(os.kill, os.getpid(), signal.SIGKILL)
                m._upkeep.store.database.set_trace_callback(lambda sql: next(left) or kill())
                m.apply([event])
                m.finish()
            os.write(tell, b"done")
            signal.pause()
        finally:
            os._exit(1)
    os.close(tell)
    done = os.read(ready, 4) == b"done"
    os.kill(process, signal.SIGKILL)
    assert os.WTERMSIG(os.waitpid(process, 0)[1]) == signal.SIGKILL
    os.close(ready)
    return not done


def left_for_later(path):
    """What a state says is left to do."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT value FROM meta WHERE key = 'later'").fetchone()[0]


def test_a_process_killed_between_links_and_backups_loses_nothing(tmp_path):
    interest, overlay = start()
    plain = tl.Maintainer(interest, overlay)
    tl.Maintainer.open(tmp_path / "state", interest=interest, overlay=overlay).close()
    for node in ("n4", "n9"):
        event = {"event": "leave", "node": node}
        assert not killed(tmp_path / "state", event)
        assert left_for_later(tmp_path / "state")
        before = whole(plain)[0]
        plain.apply([event])
        assert whole(plain)[0] != before
    with tl.Maintainer.open(tmp_path / "state") as reopened:
        assert whole(reopened) == whole(plain)


def test_a_process_killed_at_any_statement_leaves_the_state_before_or_after_the_event(tmp_path):
    """Every statement of Step II's transaction and of Step III's, one process each, until one lives to the end."""
    interest, overlay = start()
    plain = tl.Maintainer(interest, overlay)
    tl.Maintainer.open(tmp_path / "before", interest=interest, overlay=overlay).close()
    event = {"event": "leave", "node": "n4"}
    states, follow, seen = [whole(plain)], {"event": "leave", "node": "n5"}, []
    plain.apply([event])
    states.append(whole(plain))
    plain.apply([follow])
    for statement in itertools.count():
        for kept in tmp_path.glob("before*"):
            shutil.copy(kept, tmp_path / kept.name.replace("before", "state"))
        before_the_end = killed(tmp_path / "state", event, statement)
        waiting = bool(left_for_later(tmp_path / "state"))
        with tl.Maintainer.open(tmp_path / "state", background=True) as found:
            applied = whole(found) == states[1]
            assert applied or whole(found) == states[0]
            if not applied:
                found.apply([event])
            found.apply([follow])
            assert whole(found) == whole(plain)
        seen.append((applied, waiting))
        for made in tmp_path.glob("state*"):
            made.unlink()
        if not before_the_end:
            break
    assert seen == sorted(seen, key=[(False, False), (True, True), (True, False)].index)
    assert min(seen.count((False, False)), seen.count((True, True))) > 3 and seen[-1] == (True, False)


def test_what_was_left_for_later_must_be_nodes(tmp_path):
    interest, overlay = start()
    tl.Maintainer.open(tmp_path / "state", interest=interest, overlay=overlay).close()
    for wrong in ("99", "1 x", "-1"):
        database = sqlite3.connect(tmp_path / "state")
        database.execute("UPDATE meta SET value = ? WHERE key = 'later'", (wrong,))
        database.commit()
        database.close()
        with pytest.raises(StateFormatError):
            tl.Maintainer.open(tmp_path / "state")


def test_background_and_rebalance_exclude_each_other():
    interest, overlay = start()
    with pytest.raises(InvalidOptionError, match="rebalance"):
        tl.Maintainer(interest, overlay, background=True, rebalance=1.2)
