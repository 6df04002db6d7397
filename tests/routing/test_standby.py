"""Standby rows: enough of them, and hardly one that is not needed."""

import networkx as nx

import topicloom as tl
from support.route_twins import tree_of


def parts(rows, dead, nodes):
    """Number of parts of a topic's survivors over these rows."""
    graph = nx.Graph(rows)
    graph.add_nodes_from(nodes)
    graph.remove_node(dead)
    return nx.number_connected_components(graph)


def idle(tree, standby, nodes):
    """Standby rows of a topic that can be left out one after the other while every death heals as before."""
    wanted = {dead: parts([*tree, *standby], dead, nodes) for dead in nodes}
    kept = list(standby)
    for row in standby:
        fewer = [one for one in kept if one != row]
        if all(parts([*tree, *fewer], dead, nodes) == wanted[dead] for dead in nodes):
            kept = fewer
    return len(standby) - len(kept)


def test_hardly_a_row_stands_by_that_others_make_needless():
    """A row that was taken for one death is tried first at the next."""
    overlay = tl.design(tl.generate(nodes=60, topics=40, subscriptions=6, popularity="zipf", alpha=1.0, seed=7), "gm2")
    routes = tl.routes(overlay, standby=1)
    rows = left_out = 0
    for topic in range(overlay.interest.n_topics):
        at = (routes.topic == topic) & ~routes.active
        standby = list(zip(routes.src[at].tolist(), routes.dst[at].tolist()))
        nodes = overlay.interest.subscribers(topic).tolist()
        rows += len(standby)
        left_out += idle(list(tree_of(routes, topic).edges), standby, nodes)
    assert rows > 100 and left_out <= 0.05 * rows


def test_rows_that_stand_by_in_the_older_plan_stay_where_others_would_do_as_well():
    interest = tl.Interest.from_pairs(list("abcd"), ["news"] * 4)
    star, ways = [(0, 1), (0, 2), (0, 3)], {(1, 2), (1, 3), (2, 3)}
    for missing in sorted(ways):
        before = tl.routes(tl.Overlay(interest, [*star, *sorted(ways - {missing})]), standby=1)
        after = tl.routes(tl.Overlay(interest, [*star, *sorted(ways)]), keep=before, standby=1)
        assert standby_of(before) == standby_of(after) == ways - {missing}


def standby_of(routes):
    return {row for row, active in zip(zip(routes.src.tolist(), routes.dst.tolist()), routes.active) if not active}
