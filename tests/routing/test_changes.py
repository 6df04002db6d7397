"""Steps from one plan to another: off before on, and no cycle at any moment."""

from dataclasses import replace
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

import topicloom as tl
from support.route_twins import labelled, overlays, row_names
from topicloom.errors import UnsafeChangeError
from topicloom.judge.verify_routes import cyclic_topics


@settings(max_examples=80)
@given(overlays(), overlays())
def test_off_then_on_leads_from_one_plan_to_the_other_without_a_cycle(before, after):
    old, new = tl.routes(labelled(before)), tl.routes(labelled(after))
    steps = tl.diff(tl.Plan(old), tl.Plan(new))
    live = row_names(old)
    assert set(steps.off) <= live
    live -= set(steps.off)
    assert forests(live)
    live |= set(steps.on)
    assert live == row_names(new)
    assert steps.kept == len(row_names(old) & row_names(new))
    assert steps.empty == (row_names(old) == row_names(new) and before.interest.n_nodes == after.interest.n_nodes)


def forests(rows: set[tuple[str, str, str]]) -> bool:
    graph = nx.Graph()
    graph.add_edges_from(((topic, u), (topic, v)) for topic, u, v in rows)
    return not len(graph) or nx.is_forest(graph)


@settings(max_examples=80)
@given(overlays(), overlays())
def test_the_judge_of_barriers_agrees_with_networkx(one, other):
    rows = row_names(tl.routes(labelled(one))) | row_names(tl.routes(labelled(other)))
    assert (cyclic_topics(rows) == ()) == forests(rows)


INTEREST = tl.Interest.from_pairs(list("abcab"), list("xxxyy"))


def plans(target: str) -> tuple[tl.Plan, tl.Plan]:
    links = ([(0, 1), (1, 2)], [(0, 1), (0, 2)])
    old, new = (tl.routes(tl.Overlay(INTEREST, part)) for part in links)
    return tl.Plan(old, target), tl.Plan(new, target)


@pytest.mark.parametrize(
    ("kind", "version", "ways", "make_first"),
    [
        ("mosquitto", "2.0.11", {"gate", "restart"}, False),
        ("mosquitto", "2.1.2", {"gate", "reload"}, False),
        ("nats", "2.15", {"reload"}, False),
        ("nats", "2.10.27", {"reload", "restart"}, False),
        ("rabbitmq", "3.10", {"reload"}, True),
        ("zenoh", "1.10", {"restart"}, True),
        ("other", "1", {"configure"}, False),
    ],
)
def test_brokers_take_changes_by_kind_and_version(kind, version, ways, make_first):
    brokers = {name: SimpleNamespace(kind=kind, version=version) for name in "abc"}
    steps = tl.diff(*plans("mosquitto"), inventory=SimpleNamespace(brokers=brokers))
    assert {broker.how for broker in steps.touched} == ways
    assert steps.make_first == make_first


def test_a_row_that_was_ready_needs_only_its_gate():
    ring = tl.Overlay(tl.Interest.from_pairs(list("abcd"), ["x"] * 4), [(0, 1), (1, 2), (2, 3), (0, 3)])
    old = tl.routes(ring, standby=1)
    shut, opened = np.flatnonzero(~old.active)[0], np.flatnonzero(old.active)[0]
    active = old.active.copy()
    active[[shut, opened]] = True, False
    parent = np.where(active, old.src, -1)
    new = replace(old, active=active, parent=parent)
    rooted = nx.bfs_tree(nx.Graph(zip(old.src[active].tolist(), old.dst[active].tolist())), 0)
    up = {child: above for above, child in rooted.edges}
    ends = zip(old.src.tolist(), old.dst.tolist())
    new = replace(
        new, parent=np.array([(u if up.get(v) == u else v) if on else -1 for (u, v), on in zip(ends, active)])
    )
    steps = tl.diff(tl.Plan(old, "mosquitto"), tl.Plan(new, "mosquitto"))
    assert {broker.how for broker in steps.touched} == {"gate"}
    assert steps.new_links == steps.retired_links == ()
    assert [cut.topic for cut in steps.cut] == ["x"]


def test_nodes_that_come_and_go_start_and_stop():
    old = tl.Plan(tl.routes(tl.design(tl.Interest.from_pairs(list("ab"), list("xx")), "gm")), "mosquitto")
    new = tl.Plan(tl.routes(tl.design(tl.Interest.from_pairs(list("bc"), list("xx")), "gm")), "mosquitto")
    steps = tl.diff(old, new)
    how = {broker.node: broker.how for broker in steps.touched}
    assert (how["a"], how["c"]) == ("stop", "start")
    assert steps.start == ("c",)
    assert steps.sessions == (("b", "a"),) and steps.to_dict()["sessions"] == [["b", "a"]]


def test_a_broken_plan_is_refused():
    old, new = plans("mosquitto")
    broken = replace(new.routes, active=np.zeros(len(new.routes.topic), bool))
    with pytest.raises(UnsafeChangeError, match="new plan is broken"):
        tl.diff(old, tl.Plan(broken))


def test_steps_have_no_truth_value():
    with pytest.raises(TypeError, match=r"\.empty"):
        bool(tl.diff(*plans("nats")))
