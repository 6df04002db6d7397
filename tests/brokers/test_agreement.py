"""What `Routes` and the deployed `Network` both say of a plan is the same: failovers, start orders, generation."""

from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.route_twins import labelled, overlays
from topicloom.deploy import Network


@settings(max_examples=80, deadline=None)
@given(overlays(), st.booleans(), st.booleans())
def test_a_failover_of_the_routes_is_that_of_the_network(overlay, forests, keep):
    overlay = labelled(overlay)
    routes = tl.routes(overlay, keep=tl.routes(overlay) if keep else None, standby=1, forests=forests)
    network, rows = Network.from_plan(tl.Plan(routes)), routes.table().to_pylist()
    normal = network.open_rows()
    for dead in range(overlay.interest.n_nodes):
        name = overlay.interest.node_label(dead)
        opened, cut = routes.failover(dead)
        here = {(row.topic, row.src, row.dst) for row in network.open_rows(name) - normal}
        assert here == {(rows[at]["topic"], rows[at]["src"], rows[at]["dst"]) for at in opened.tolist()}
        assert set(cut) == set(network.cut_topics(name))
        assert normal - network.open_rows(name) == {row for row in normal if name in (row.src, row.dst)}


@settings(max_examples=80, deadline=None)
@given(overlays())
def test_brokers_start_in_levels_that_the_start_order_allows(overlay):
    routes = tl.routes(labelled(overlay), standby=1)
    network = Network.from_plan(tl.Plan(routes))
    levels = network.start_levels()
    place = {node: number for number, level in enumerate(levels) for node in level}
    rank = {routes.interest.node_label(int(node)): number for number, node in enumerate(routes.order)}
    assert place.keys() == rank.keys() and sum(map(len, levels)) == len(rank)
    for owner, acceptor in network.links:
        assert place[owner] > place[acceptor] and rank[owner] > rank[acceptor]
    for level in levels[1:]:
        assert all(
            any(place[acceptor] == place[node] - 1 for o, acceptor in network.links if o == node) for node in level
        )


@settings(max_examples=40, deadline=None)
@given(overlays(), st.booleans())
def test_a_plan_and_its_network_have_one_generation(overlay, forests):
    plan = tl.Plan(tl.routes(labelled(overlay), standby=1, forests=forests))
    assert Network.from_plan(plan).generation == plan.generation
    assert Network.from_plan(tl.Plan.from_bytes(plan.to_bytes())).generation == plan.generation
