"""The judge of routes notices every promise that is broken."""

from dataclasses import replace

import numpy as np
import pytest

import topicloom as tl

INTEREST = tl.Interest.from_pairs(list("abcdab"), ["x", "x", "x", "x", "y", "y"])
RING = tl.Overlay(INTEREST, [(0, 1), (1, 2), (2, 3), (0, 3)])


def kinds(routes: tl.Routes) -> set[str]:
    verdict = routes.verify()
    assert verdict.ok == (not verdict.broken)
    return {broken.kind for broken in verdict.broken}


def with_rows(routes: tl.Routes, rows: list[tuple[int, int, int]], **columns: object) -> tl.Routes:
    topic, src, dst = (np.array(column, np.int32) for column in zip(*rows))
    later = np.where(routes.order.argsort()[src] > routes.order.argsort()[dst], src, dst)
    given = {
        "topic": topic, "src": src, "dst": dst, "owner": later, "parent": src, "active": np.ones(len(src), bool),
        "forest": np.full(len(src), -1), **columns,
    }  # fmt: skip
    return replace(routes, **given)


TREE = [(0, 0, 1), (0, 1, 2), (0, 2, 3), (1, 0, 1)]


def test_good_routes_pass():
    routes = tl.routes(RING)
    assert kinds(routes) == set()
    assert kinds(with_rows(routes, TREE)) == set()
    assert routes.verify().to_dict() == {"ok": True, "topics": 2, "rows": 4, "broken": []}


def test_a_missing_row_cuts_and_says_whom():
    (broken,) = with_rows(tl.routes(RING), [TREE[0], TREE[2], TREE[3]]).verify().broken
    assert broken == ("cut", "x", ("a", "c"))


def test_a_cycle_is_shown():
    verdict = with_rows(tl.routes(RING), [*TREE, (0, 0, 3)], parent=np.array([0, 1, 2, 0, 0])).verify()
    assert ("cycle", "x", ("a", "b", "c", "d")) in verdict.broken


def test_a_row_beside_the_links_is_noticed():
    assert kinds(with_rows(tl.routes(RING), [(0, 0, 1), (0, 0, 2), (0, 2, 3), (1, 0, 1)])) == {"no link"}


def test_a_row_outside_its_topic_is_noticed():
    assert "outside" in kinds(with_rows(tl.routes(RING), [*TREE, (1, 1, 2)]))


def test_a_row_that_stands_twice_is_noticed():
    assert "repeated" in kinds(with_rows(tl.routes(RING), [*TREE, TREE[3]]))


def test_a_standby_row_counts_for_nothing_but_must_be_placed_well():
    rows = [*TREE, (0, 0, 3)]
    active = np.array([True] * 4 + [False])
    assert kinds(with_rows(tl.routes(RING), rows, active=active)) == set()
    assert kinds(with_rows(tl.routes(RING), [*TREE, (1, 1, 2)], active=active)) == {"outside"}


def test_two_owners_of_a_link_are_noticed():
    assert "owner" in kinds(with_rows(tl.routes(RING), TREE, owner=np.array([0, 1, 2, 1])))
    assert "owner" in kinds(with_rows(tl.routes(RING), TREE, owner=np.array([3, 1, 2, 3])))


def test_brokers_that_dial_in_a_circle_are_noticed():
    rows = [(0, 0, 1), (0, 1, 2), (0, 2, 3), (0, 0, 3), (1, 0, 1)]
    circle = with_rows(tl.routes(RING), rows, owner=np.array([0, 1, 2, 3, 0]), active=np.array([1, 1, 1, 0, 1], bool))
    assert kinds(circle) == {"dialling"}


def test_a_forest_with_a_cycle_and_a_topic_of_two_forests_are_noticed():
    interest = tl.Interest.from_pairs(list("abcabc"), list("xxxyyy"))
    triangle = tl.Overlay(interest, [(0, 1), (1, 2), (0, 2)])
    rows = [(0, 0, 1), (0, 1, 2), (1, 0, 1), (1, 0, 2)]
    assert kinds(with_rows(tl.routes(triangle), rows, forest=np.array([0, 0, 0, 0]))) == {"forest"}
    assert kinds(with_rows(tl.routes(triangle), rows, forest=np.array([0, 0, 1, 1]))) == set()
    assert kinds(with_rows(tl.routes(triangle), rows, forest=np.array([0, 1, 2, 2]))) == {"forest"}


def test_two_parents_are_noticed():
    assert kinds(with_rows(tl.routes(RING), TREE, parent=np.array([0, 2, 2, 0]))) == {"parent"}


def test_a_verdict_has_no_truth_value():
    with pytest.raises(TypeError, match=r"\.ok"):
        bool(tl.routes(RING).verify())
