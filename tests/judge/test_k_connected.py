"""The judge at k >= 2 against networkx, and against the definition (all sets of k - 1 nodes removed)."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from topicloom.judge.separators import separator


def one_topic(n: int) -> tl.Interest:
    return tl.Interest.from_csr(np.arange(n + 1), np.zeros(n, np.int64), 1)


def harary_links(k: int, n: int) -> np.ndarray:
    return np.array(nx.hnm_harary_graph(n, (k * n + 1) // 2).edges, np.int64)


def survives(graph: nx.Graph, k: int) -> bool:
    """Definition of the kTCO paper, word by word."""
    nodes = list(graph)
    if len(nodes) <= k:
        return all(graph.has_edge(u, v) for u, v in combinations(nodes, 2))
    return all(
        nx.is_connected(graph.subgraph(set(nodes) - set(down)))
        for size in range(k)
        for down in combinations(nodes, size)
    )


Case = tuple[tl.Interest, list[tuple[int, int]]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    n, n_topics = draw(st.integers(1, 8)), draw(st.integers(1, 3))
    rows = draw(st.lists(st.sets(st.integers(0, n_topics - 1), min_size=1), min_size=n, max_size=n))
    interest = tl.Interest.from_csr(np.cumsum([0, *map(len, rows)]), [t for row in rows for t in sorted(row)], n_topics)
    pairs = [(u, v) for u in range(n) for v in range(u)]
    missing = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    # Few links missing or few present: random halves are hardly ever 3-connected.
    present = [pair for pair in pairs if pair not in missing] if draw(st.booleans()) else missing
    return interest, present


@settings(max_examples=200, deadline=None)
@given(cases(), st.integers(2, 5))
def test_equals_the_definition_and_its_witness_holds(case: Case, k: int) -> None:
    interest, links = case
    verdict = tl.verify(interest, links, k=k)
    whole = nx.Graph(links)
    whole.add_nodes_from(range(interest.n_nodes))
    graphs = [whole.subgraph(interest.subscribers(t).tolist()) for t in range(interest.n_topics)]
    failing = [t for t, graph in enumerate(graphs) if not survives(graph, k)]
    assert [b.topic for b in verdict.broken] == failing
    for topic, components, witness in verdict.broken:
        graph = graphs[topic]
        assert components == nx.number_connected_components(graph)
        if components > 1:
            assert not nx.has_path(graph, *witness)
        elif len(graph) <= k:
            assert not graph.has_edge(*witness)
        else:
            assert len(set(witness)) == len(witness) < k
            assert not nx.is_connected(graph.subgraph(set(graph) - set(witness)))


@settings(max_examples=150, deadline=None)
@given(st.integers(6, 24), st.integers(3, 6), st.integers(0, 2**31))
def test_separators_equal_networkx_connectivity(n: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = nx.Graph(harary_links(min(k, n - 1), n).tolist())
    edges = list(graph.edges)
    # A Harary graph with some links moved: close to k-connected, on either side.
    graph.remove_edges_from(edges[i] for i in rng.choice(len(edges), rng.integers(0, 4), replace=False))
    graph.add_edges_from((int(u), int(v)) for u, v in rng.integers(0, n, (rng.integers(0, 8), 2)) if u != v)
    if len(graph) <= k or not nx.is_connected(graph):
        return
    matrix = nx.to_scipy_sparse_array(graph, nodelist=range(n), format="csr")
    cut = separator(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), k)
    if nx.node_connectivity(graph) >= k:
        assert cut.tolist() == [-1]
    else:
        assert 0 < len(cut) < k
        assert not nx.is_connected(graph.subgraph(set(graph) - set(cut.tolist())))


@pytest.mark.parametrize("k", range(2, 8))
def test_harary_graphs_have_exactly_their_connectivity(k: int) -> None:
    for n in range(k + 2, 20):
        links = harary_links(k, n)
        assert tl.verify(one_topic(n), links, k=k).ok
        assert not tl.verify(one_topic(n), links, k=k + 1).ok


@settings(max_examples=40, deadline=None)
@given(st.integers(4, 15), st.integers(2, 6), st.data())
def test_extra_links_never_break_and_a_needed_link_is_missed(n: int, k: int, data: st.DataObject) -> None:
    if k >= n or k * n % 2:
        return
    links = harary_links(k, n).tolist()
    extra = data.draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=5))
    assert tl.verify(one_topic(n), links + [list(pair) for pair in extra if pair[0] != pair[1]], k=k).ok
    # Every node has exactly k links: none can go.
    gone = data.draw(st.integers(0, len(links) - 1))
    assert not tl.verify(one_topic(n), links[:gone] + links[gone + 1 :], k=k).ok


def test_a_topic_of_at_most_k_subscribers_must_be_a_clique() -> None:
    interest = tl.Interest.from_pairs(list("abcaba"), list("xxxyyz"))
    assert tl.verify(interest, [(0, 1), (1, 2), (0, 2)], k=9).ok
    assert tl.verify(interest, [(0, 1), (1, 2)], k=3).broken == (tl.BrokenTopic("x", 1, ("a", "c")),)


def test_two_joined_cliques_fail_at_their_narrow_waist() -> None:
    left, right = nx.complete_graph(10), nx.complete_graph(range(10, 20))
    links = [*left.edges, *right.edges, (0, 10), (1, 11), (2, 12)]
    assert tl.verify(one_topic(20), links, k=3).ok
    (broken,) = tl.verify(one_topic(20), links, k=4).broken
    assert broken.components == 1
    assert len(broken.witness) == 3


def test_large_topics_are_quick() -> None:
    ring = tl.ring_per_topic(one_topic(10_000)).links
    assert tl.verify(one_topic(10_000), ring, k=2).ok
    assert tl.verify(one_topic(10_000), ring[:-1], k=2).broken[0].witness == (1,)
    n, k = 1_000, 10
    here = np.arange(n)
    circle = np.concatenate([np.column_stack((here, (here + step) % n)) for step in range(1, k // 2 + 1)])
    assert tl.verify(one_topic(n), circle, k=k).ok
