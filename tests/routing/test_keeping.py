"""Trees stay where they can, and so do owners, forests and standby rows."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.route_twins import labelled, overlays, row_names, sub_overlay, tree_of
from topicloom.errors import InvalidOptionError


def columns(routes: tl.Routes) -> list[list[int]]:
    return [getattr(routes, name).tolist() for name in ("topic", "src", "dst", "owner", "parent", "forest", "active")]


@settings(max_examples=60)
@given(overlays(), st.booleans(), st.booleans())
def test_nothing_changes_when_nothing_changed(overlay, forests, standby):
    routes = tl.routes(overlay, standby=int(standby), forests=forests)
    again = tl.routes(overlay, keep=tl.Plan(routes), standby=int(standby), forests=forests)
    assert [*columns(again), again.order.tolist()] == [*columns(routes), routes.order.tolist()]


@settings(max_examples=100)
@given(overlays(), overlays(), st.booleans())
def test_every_row_that_still_can_be_is_kept_and_the_rest_is_repaired(before, after, forests):
    before, after = labelled(before), labelled(after)
    old = tl.routes(before)
    new = tl.routes(after, keep=old)
    assert new.verify().ok
    possible = {
        (f"t{t:02}", *sorted((f"n{u:02}", f"n{v:02}")))
        for t in range(after.interest.n_topics)
        for u, v in sub_overlay(after.interest, after.links, t).edges
    }
    assert row_names(old) & possible <= row_names(new)
    assert tl.routes(after, keep=old, forests=forests, standby=1).verify().ok


@settings(max_examples=60)
@given(overlays(), overlays())
def test_forests_stay_forests_when_plans_are_kept(before, after):
    old = tl.routes(labelled(before), forests=True)
    new = tl.routes(labelled(after), keep=old, forests=True)
    assert old.verify().ok
    assert new.verify().ok
    assert (new.forest >= 0).all()


@settings(max_examples=60)
@given(overlays(), overlays())
def test_kept_links_keep_their_owner(before, after):
    old = tl.routes(labelled(before))
    new = tl.routes(labelled(after), keep=old)
    was = owners_by_name(old)
    assert all(was.get(link, owner) == owner for link, owner in owners_by_name(new).items())


def owners_by_name(routes: tl.Routes) -> dict[tuple[str, str], str]:
    name = routes.interest.node_label
    return {(name(u), name(v)): name(w) for (u, v), w in zip(routes.links, routes.link_owners)}


@settings(max_examples=100)
@given(overlays())
def test_standby_rows_heal_every_failure_that_the_links_can_heal(overlay):
    routes = tl.routes(overlay, standby=1)
    interest = overlay.interest
    assert routes.verify().ok
    for dead in range(interest.n_nodes):
        opened, cut = routes.failover(dead)
        assert not routes.active[opened].any()
        assert dead not in {*routes.src[opened].tolist(), *routes.dst[opened].tolist()}
        for t in map(int, interest.topics_of(dead)):
            tree, graph = tree_of(routes, t), sub_overlay(interest, overlay.links, t)
            mine = opened[routes.topic[opened] == t]
            tree.add_edges_from(zip(routes.src[mine].tolist(), routes.dst[mine].tolist()))
            tree.remove_node(dead)
            graph.remove_node(dead)
            assert nx.number_connected_components(tree) == nx.number_connected_components(graph) or not len(tree)
            assert not len(tree) or nx.is_forest(tree)
            assert (interest.topic_label(t) in cut) == (len(graph) > 0 and not nx.is_connected(graph))


def test_forests_are_few_where_trees_of_least_diameter_need_many():
    interest = tl.Interest.from_csr(np.arange(0, 25, 6), np.tile(np.arange(6), 4), 6)
    mesh = tl.Overlay(interest, list(combinations(range(4), 2)))
    assert tl.routes(mesh, forests=True).n_forests == 1
    assert tl.routes(mesh).n_forests == 0


def test_only_one_failure_can_be_prepared_for():
    overlay = tl.design(tl.Interest.from_pairs(["a", "b"], ["x", "x"]), "gm")
    with pytest.raises(InvalidOptionError, match="standby"):
        tl.routes(overlay, standby=2)
    with pytest.raises(InvalidOptionError, match="no node 'z'"):
        tl.routes(overlay).failover("z")
