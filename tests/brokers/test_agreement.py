"""Failovers and start levels by brute force, and what `Routes` and the deployed `Network` both say of a plan."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.route_twins import labelled, overlays
from topicloom.deploy import Network, Row
from topicloom.errors import InvalidPlanError


def parts_of(nodes, rows):
    """How the rows hang some nodes together: sets of nodes."""
    parts = [{node} for node in nodes]
    for row in rows:
        met = [part for part in parts if row.src in part or row.dst in part]
        parts = [part for part in parts if part not in met] + [set().union(*met)]
    return parts


def healed(network, dead):
    """By brute force: (rows to open, topics that stay cut). A standby row is opened if it joins two parts."""
    opened, cut = set(), set()
    for topic, nodes in network.subscribers.items():
        left = set(nodes) - {dead}
        rows = [row for row in network.rows if row.topic == topic and dead not in (row.src, row.dst)]
        live = [row for row in rows if row.active]
        for row in (row for row in rows if not row.active):
            if len(parts_of(left, [*live, row])) < len(parts_of(left, live)):
                live.append(row)
                opened.add(row)
        if dead in nodes and len(parts_of(left, live)) > 1:
            cut.add(topic)
    return opened, cut


@settings(max_examples=80, deadline=None)
@given(overlays(), st.booleans(), st.booleans())
def test_a_failover_opens_the_first_rows_that_join_what_a_death_cuts(overlay, forests, keep):
    overlay = labelled(overlay)
    routes = tl.routes(overlay, keep=tl.routes(overlay) if keep else None, standby=1, forests=forests)
    network = Network.from_plan(tl.Plan(routes))
    normal = network.open_rows()
    for dead in range(overlay.interest.n_nodes):
        name = overlay.interest.node_label(dead)
        opened, cut = healed(network, name)
        assert network.open_rows(name) - normal == opened and set(network.cut_topics(name)) == cut
        assert normal - network.open_rows(name) == {row for row in normal if name in (row.src, row.dst)}
        at, stays = routes.failover(dead)
        rows = routes.table().take(at).select(["topic", "src", "dst"]).to_pylist()
        assert {tuple(row.values()) for row in rows} == {row[:3] for row in opened} and set(stays) == cut


@settings(max_examples=80, deadline=None)
@given(overlays())
def test_brokers_start_in_the_first_level_that_their_dialling_allows(overlay):
    routes = tl.routes(labelled(overlay), standby=1)
    network = Network.from_plan(tl.Plan(routes))

    def depth(node):
        return max((1 + depth(acceptor) for owner, acceptor in network.links if owner == node), default=0)

    place = {node: number for number, level in enumerate(network.start_levels()) for node in level}
    assert place == {node: depth(node) for node in network.nodes}
    rank = {routes.interest.node_label(int(node)): number for number, node in enumerate(routes.order)}
    assert all(rank[owner] > rank[acceptor] for owner, acceptor in network.links)


def test_brokers_that_dial_in_a_circle_start_together():
    dials = [("b", "a"), ("c", "b"), ("d", "c"), ("c", "e"), ("e", "d")]
    rows = [Row("t", *sorted(dial), dial[0], None, None, active=True) for dial in dials]
    network = Network(tuple("abcde"), {"t": tuple("abcde")}, tuple(sorted(rows, key=lambda row: row[:3])))
    assert network.start_levels() == (("a",), ("b",), ("c", "d", "e"))


@settings(max_examples=40, deadline=None)
@given(overlays(), st.booleans())
def test_a_plan_and_its_network_have_one_generation(overlay, forests):
    plan = tl.Plan(tl.routes(labelled(overlay), standby=1, forests=forests))
    assert Network.from_plan(plan).generation == plan.generation
    assert Network.from_plan(tl.Plan.from_bytes(plan.to_bytes())).generation == plan.generation


def test_a_broker_that_is_not_in_the_plan_cannot_die():
    with pytest.raises(InvalidPlanError, match="no broker 'x'"):
        Network.from_plan(tl.Plan(tl.routes(tl.design(tl.datasets.example())))).open_rows("x")
