"""Routes follow a maintained overlay and change little."""

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.route_twins import row_names
from topicloom.churn import read_state
from topicloom.errors import InvalidOptionError, StateFormatError

TOPICS = "vwxyz"


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sets(st.sampled_from(TOPICS), min_size=1)), max_size=12))
def test_after_every_event_the_routes_hold_and_only_what_must_go_goes(events):
    interest = tl.Interest.from_pairs(list("abcd") * 2, list("vvvv") + list("wwxx"))
    m = tl.Maintainer(interest, tl.ring_per_topic(interest))
    follower = tl.RouteFollower(m)
    for node, topics in events:
        before = row_names(follower.routes)
        (m.leave(node) if node in m.interest.node_labels.tolist() else m.join(node, sorted(topics)))
        change = follower.update()
        after = row_names(follower.routes)
        assert follower.routes.verify().ok
        assert (set(change.removed), set(change.added)) == (before - after, after - before)
        assert follower.routes.links.tolist() == m.overlay.links.tolist()


def test_a_subscription_to_a_topic_next_door_adds_one_row_and_removes_none():
    interest = tl.Interest.from_pairs(list("abcde"), list("xxxyy"))
    m = tl.Maintainer(interest, tl.Overlay(interest, [(0, 1), (1, 2), (2, 3), (3, 4)]))
    follower = tl.RouteFollower(m, tl.Plan(tl.routes(m.overlay)))
    m.subscribe("d", ["x"])
    assert follower.update() == ((), (("x", "c", "d"),))


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sets(st.sampled_from(TOPICS), min_size=1)), max_size=12))
def test_a_maintainer_tells_with_every_event_the_rows_that_move(events):
    interest = tl.Interest.from_pairs(list("abcd") * 2, list("vvvv") + list("wwxx"))
    m = tl.Maintainer(interest, tl.ring_per_topic(interest))
    assert m.plan is None and m.join("z", ["v"]).rows is None
    assert m.follow_routes(tl.routes(m.overlay)) == ((), ())
    for node, topics in events:
        before = row_names(m.routes)
        there = node in m.interest.node_labels.tolist()
        change = m.leave(node) if there else m.join(node, sorted(topics))
        assert m.routes.verify().ok and m.routes.links.tolist() == m.overlay.links.tolist()
        assert row_names(m.routes) == (before - set(change.rows.removed)) | set(change.rows.added)
        assert set(change.rows.removed) <= before and not set(change.rows.added) & before


@pytest.mark.parametrize("made", [{}, {"standby": 1}, {"forests": True}])
def test_a_reopened_state_goes_on_with_the_same_trees(tmp_path, made):
    interest = tl.generate(nodes=40, topics=12, subscriptions=4, seed=3)
    overlay = tl.greedy_merge(interest)
    plan = tl.Plan(tl.routes(overlay, **made), "nats")
    memory = tl.Maintainer(interest, overlay)
    memory.follow_routes(plan)
    tl.Maintainer.open(tmp_path / "state.db", interest=interest, overlay=overlay, plan=plan).close()
    for number, node in enumerate(interest.node_labels[::6].tolist()):
        topics = memory.interest.topics_of(node)
        for event in ({"event": "leave", "node": node}, {"event": "join", "node": f"new{number}", "topics": topics}):
            with tl.Maintainer.open(tmp_path / "state.db") as durable:
                assert durable.apply([event]).rows == memory.apply([event]).rows
                assert durable.plan.generation == memory.plan.generation
    kept = read_state(tmp_path / "state.db").plan
    assert kept.generation == memory.plan.generation and kept.target == "nats"
    standing = kept.routes.n_rows < len(kept.routes.topic)
    assert (standing, kept.routes.n_forests > 0) == ("standby" in made, "forests" in made)


def test_routes_in_a_state_that_were_changed_or_do_not_fit_are_refused(tmp_path):
    interest = tl.Interest.from_pairs(list("abcd"), ["x"] * 4)
    ring, path = tl.ring_per_topic(interest), tl.Overlay(interest, [(0, 2), (1, 2), (1, 3)])
    other = tl.Plan(tl.routes(path))
    with pytest.raises(InvalidOptionError, match="not one of this overlay"):
        tl.Maintainer.open(tmp_path / "state.db", interest=interest, overlay=ring, plan=other)
    assert not (tmp_path / "state.db").exists()
    with tl.Maintainer.open(tmp_path / "state.db", interest=interest, overlay=ring) as m:
        moved = m.follow_routes(other)
        assert row_names(other.routes) - set(moved.removed) | set(moved.added) == row_names(m.routes)
    with pytest.raises(InvalidOptionError, match="keeps its own"):
        tl.Maintainer.open(tmp_path / "state.db", plan=other)
    with closing(sqlite3.connect(tmp_path / "state.db")) as database, database:
        database.execute("UPDATE plan SET content = ?", (other.to_bytes(),))
    with pytest.raises(StateFormatError, match="routes are not those"):
        tl.Maintainer.open(tmp_path / "state.db")


def test_a_maintainer_shows_routes_whose_trees_stay():
    interest = tl.Interest.from_pairs(list("abcde"), ["x"] * 5)
    m = tl.Maintainer(interest, tl.ring_per_topic(interest))
    before = row_names(m.routes)
    m.join("f", ["x"])
    assert before < row_names(m.routes)
    assert m.routes.verify().ok
    assert len(row_names(m.routes)) == 5


def test_a_node_that_leaves_or_joins_moves_no_more_rows_than_it_must():
    m = tl.Maintainer(interest := tl.generate(nodes=40, topics=12, subscriptions=4, seed=3), tl.greedy_merge(interest))
    follower = tl.RouteFollower(m)
    for node in interest.node_labels[::5].tolist():
        topics = m.interest.topics_of(node)
        ends = [row[0] for row in row_names(follower.routes) if node in row[1:]]
        m.leave(node)
        gone, came = follower.update()
        assert len(gone) == len(ends)
        assert len(came) == len(ends) - len(set(ends))  # a node with d rows in a tree leaves d parts
        m.join(node, topics)
        gone, came = follower.update()
        assert gone == () and sorted(row[0] for row in came) == sorted(set(ends))
