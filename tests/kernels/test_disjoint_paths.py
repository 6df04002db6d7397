"""Disjoint paths against networkx's flows."""

import networkx as nx
import numpy as np
import pytest

from topicloom.kernels.trees.disjoint_paths import add_link, disjoint_paths, empty_arcs, new_search


@pytest.mark.parametrize("seed", range(40))
def test_number_of_disjoint_paths(seed: int) -> None:
    n = 3 + seed % 11
    graph = nx.gnp_random_graph(n, 0.2 + 0.7 * (seed % 7) / 6, seed=seed)
    arcs, search = empty_arcs(n, 2 * graph.number_of_edges(), graph.number_of_edges()), new_search(n)
    n_arcs = 0
    for number, link in enumerate(graph.edges):
        n_arcs = add_link(arcs, n_arcs, number, np.array([link]), 1)
    for u, v in nx.non_edges(graph):
        expected = nx.node_connectivity(graph, u, v)
        assert disjoint_paths(arcs, search, u, v, n) == expected
        assert disjoint_paths(arcs, search, v, u, 2) == min(expected, 2)
