"""Diameters against networkx, on shapes that take each path through the kernel."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topicloom.kernels.trees import diameter as kernel
from topicloom.kernels.trees.diameter import UNBOUNDED
from topicloom.kernels.trees.topic_shape import topic_shape


def shape_of(graph: nx.Graph) -> tuple[int, int]:
    edges = np.array(graph.edges, np.int32).reshape(-1, 2)
    components, diameter, exact = topic_shape(len(graph), edges[:, 0], edges[:, 1], UNBOUNDED)
    assert exact
    return int(components), int(diameter)


def expected(graph: nx.Graph) -> tuple[int, int]:
    components = nx.number_connected_components(graph)
    if components > 1:
        return components, -1
    return components, nx.diameter(graph) if len(graph) else 0


@st.composite
def graphs(draw: st.DrawFn) -> nx.Graph:
    n = draw(st.integers(0, 14))
    pairs = [(u, v) for u in range(n) for v in range(u)]
    graph = nx.empty_graph(n)
    if pairs:
        graph.add_edges_from(draw(st.lists(st.sampled_from(pairs), max_size=25)))
    return graph


@settings(max_examples=300, deadline=None)
@given(graphs())
def test_small_graphs_equal_networkx(graph: nx.Graph) -> None:
    assert shape_of(graph) == expected(graph)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(3, 60),
    st.lists(st.tuples(st.integers(0, 59), st.integers(0, 59)), max_size=4),
    st.integers(0, 20),
)
def test_rings_with_chords_and_tails_equal_networkx(n: int, chords: list[tuple[int, int]], tail: int) -> None:
    graph = nx.cycle_graph(n)
    graph.add_edges_from((u % n, v % n) for u, v in chords if u % n != v % n)
    nx.add_path(graph, [0, *range(n, n + tail)])
    assert shape_of(graph) == expected(graph)


@pytest.mark.parametrize(
    "graph",
    [
        nx.empty_graph(0),
        nx.empty_graph(1),
        nx.empty_graph(5),
        nx.path_graph(300),
        nx.cycle_graph(300),
        nx.cycle_graph(301),
        nx.star_graph(200),
        nx.complete_graph(80),
        nx.balanced_tree(2, 7),
        nx.convert_node_labels_to_integers(nx.grid_2d_graph(12, 15)),
        nx.random_regular_graph(3, 400, seed=1),
        nx.random_regular_graph(4, 400, seed=2),
        nx.hypercube_graph(8),
        nx.barbell_graph(20, 40),
        nx.connected_watts_strogatz_graph(500, 4, 0.05, seed=3),
        nx.disjoint_union(nx.cycle_graph(9), nx.path_graph(4)),
    ],
    ids=lambda graph: f"{len(graph)}-{graph.number_of_edges()}",
)
def test_shapes_equal_networkx(graph: nx.Graph) -> None:
    graph = nx.convert_node_labels_to_integers(graph)
    assert shape_of(graph) == expected(graph)


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 150), st.integers(0, 200), st.integers(0, 2**31))
def test_words_of_sources_equal_networkx(n: int, extra: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = nx.random_labeled_tree(n, seed=seed)
    graph.add_edges_from((int(u), int(v)) for u, v in rng.integers(0, n, (extra, 2)) if u != v)
    edges = np.array(graph.edges, np.int32).reshape(-1, 2)
    indptr, neighbours = kernel.adjacency(n, edges[:, 0], edges[:, 1])
    scratch = np.empty(n, np.int32)
    found = kernel._settle_by_words(indptr, neighbours, np.full(n, n, np.int32), 0, scratch, scratch.copy())
    assert found == nx.diameter(graph)


@pytest.mark.parametrize("searches", [1, 4, 16, UNBOUNDED])
def test_few_searches_give_a_lower_bound_and_say_so(searches: int) -> None:
    graph = nx.random_regular_graph(3, 400, seed=1)
    edges = np.array(graph.edges, np.int32)
    longest, exact = kernel.bounded_diameter(*kernel.adjacency(400, edges[:, 0], edges[:, 1]), searches)
    true = nx.diameter(graph)
    assert true / 2 <= longest <= true
    assert exact == (searches == UNBOUNDED) and (longest == true or not exact)
