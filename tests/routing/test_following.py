"""Routes follow a maintained overlay and change little."""

from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.route_twins import row_names

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
