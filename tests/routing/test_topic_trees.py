"""Laws of the trees: spanning, inside the topic, of least diameter, the same every time."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.route_twins import least_diameter, overlays, sub_overlay, tree_of
from topicloom.errors import InvalidLinksError, InvalidOptionError, NotTopicConnectedError
from topicloom.kernels.trees.trees import shortest_tree


@settings(max_examples=150)
@given(overlays())
def test_every_tree_spans_its_topic_and_has_the_least_diameter_of_all_spanning_trees(overlay):
    routes = tl.routes(overlay)
    assert routes.verify().ok
    for t in range(overlay.interest.n_topics):
        tree, graph = tree_of(routes, t), sub_overlay(overlay.interest, overlay.links, t)
        if len(graph):
            assert nx.is_tree(tree)
            assert set(tree.edges) <= {tuple(sorted(edge)) for edge in graph.edges}
            assert nx.diameter(tree) == least_diameter(graph) == routes.diameter(t)


@settings(max_examples=200)
@given(st.integers(4, 40), st.integers(0, 25), st.integers(0, 10**6))
def test_larger_graphs_reach_the_diameter_that_the_absolute_centre_promises(n, extra, seed):
    graph = nx.path_graph(n)
    random = np.random.default_rng(seed)
    graph.add_edges_from((int(u), int(v)) for u, v in random.integers(0, n, (extra, 2)) if u != v)
    src, dst = np.array(list(graph.edges), np.int32).T.copy()
    parent, exact = shortest_tree(n, src, dst, np.zeros(n), 7, n)
    tree = nx.Graph((v, int(p)) for v, p in enumerate(parent) if p >= 0)
    assert exact
    assert nx.is_tree(tree)
    assert nx.diameter(tree) == absolute_diameter(graph)


def absolute_diameter(graph: nx.Graph) -> int:
    """Twice the absolute radius: all vertices and all middles of edges are tried."""
    distance = dict(nx.all_pairs_shortest_path_length(graph))
    vertices = min(2 * max(distance[u].values()) for u in graph)
    middles = min(2 * max(min(distance[u][w], distance[v][w]) for w in graph) + 1 for u, v in graph.edges)
    return min(vertices, middles)


@settings(max_examples=60)
@given(st.integers(10, 40), st.integers(1, 25), st.integers(1, 6), st.integers(0, 10**6))
def test_few_searches_give_a_tree_and_claim_exactness_only_when_it_is(n, extra, searches, seed):
    graph = nx.path_graph(n)
    random = np.random.default_rng(seed)
    graph.add_edges_from((int(u), int(v)) for u, v in random.integers(0, n, (extra, 2)) if u != v)
    src, dst = np.array(list(graph.edges), np.int32).T.copy()
    parent, exact = shortest_tree(n, src, dst, np.zeros(n), 7, searches)
    tree = nx.Graph((v, int(p)) for v, p in enumerate(parent) if p >= 0)
    assert nx.is_tree(tree)
    assert not exact or nx.diameter(tree) == absolute_diameter(graph)


def test_the_node_with_less_traffic_becomes_the_middle():
    names = [("a", "x"), ("b", "x"), ("c", "x"), ("a", "y"), ("z", "y"), ("b", "w"), ("z", "w")]
    interest = tl.Interest.from_pairs([n for n, _ in names], [t for _, t in names])
    triangle = tl.Overlay(interest, [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3)])
    assert middle_of(tl.routes(triangle), "x") == "c"
    assert middle_of(tl.routes(triangle, rates={"x": 9, "y": 5, "w": 1}), "x") == "c"
    assert middle_of(tl.routes(triangle, rates={"x": 1, "y": 0, "w": 0}), "x") in "abc"


def middle_of(routes: tl.Routes, topic: str) -> str:
    (middle,) = {row["parent"] for row in routes.table().to_pylist() if row["topic"] == topic}
    return middle


def test_nodes_of_equal_load_share_the_topics():
    interest = tl.Interest.from_csr(np.arange(0, 241, 60), np.tile(np.arange(60), 4), 60)
    mesh = tl.full_mesh(interest)
    middles = np.bincount(tl.routes(mesh).parent, minlength=4)
    assert middles.min() >= 3 * 5


@pytest.mark.parametrize("rates", [[-1.0], [float("nan")], [1.0, 2.0]])
def test_rates_that_are_no_rates_are_refused(rates):
    overlay = tl.design(tl.Interest.from_pairs(["a", "b"], ["x", "x"]), "gm")
    with pytest.raises(InvalidOptionError, match="one per topic"):
        tl.routes(overlay, rates=rates)


def test_a_topic_without_a_tree_is_named():
    interest = tl.Interest.from_pairs(["a", "b"], ["news", "news"])
    with pytest.raises(NotTopicConnectedError, match="'news'"):
        tl.routes(tl.Overlay(interest, np.empty((0, 2), np.int32)))


@given(overlays())
def test_the_later_end_dials_so_nobody_dials_in_a_circle(overlay):
    routes = tl.routes(overlay)
    degree = overlay.degree()
    assert np.all(np.diff(degree[routes.order]) <= 0)
    dialling = nx.DiGraph((int(own), int(u + v - own)) for (u, v), own in zip(routes.links, routes.link_owners))
    assert nx.is_directed_acyclic_graph(dialling)


class Broker:
    def __init__(self, dials: bool = True, accepts: bool = True) -> None:
        self.dials, self.accepts = dials, accepts


@given(overlays(), st.lists(st.integers(0, 2), min_size=8, max_size=8))
def test_whoever_may_not_dial_is_dialled_and_who_may_not_accept_dials(overlay, classes):
    kinds = [Broker(dials=False), Broker(), Broker(accepts=False)]
    brokers = {str(v): kinds[classes[v]] for v in range(overlay.interest.n_nodes)}
    possible = all(classes[u] == 1 or classes[v] == 1 or classes[u] != classes[v] for u, v in overlay.links.tolist())
    if not possible:
        with pytest.raises(InvalidLinksError, match="neither end may dial"):
            tl.routes(overlay, inventory=brokers)
        return
    routes = tl.routes(overlay, inventory=brokers)
    assert routes.verify().ok
    for (u, v), owner in zip(routes.links.tolist(), routes.link_owners.tolist()):
        assert brokers[str(owner)].dials
        assert brokers[str(u + v - owner)].accepts
