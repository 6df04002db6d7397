"""Measures against networkx, and their edge cases."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from topicloom.measures import filtering_costs, mean_hops, measure_topics, topic_hops


@st.composite
def overlays(draw: st.DrawFn) -> tuple[tl.Interest, list[tuple[int, int]]]:
    n, n_topics = draw(st.integers(1, 9)), draw(st.integers(1, 5))
    rows = draw(st.lists(st.sets(st.integers(0, n_topics - 1)), min_size=n, max_size=n))
    indptr = np.cumsum([0, *map(len, rows)])
    interest = tl.Interest.from_csr(indptr, [t for row in rows for t in sorted(row)] or np.empty(0, int), n_topics)
    pairs = [(u, v) for u in range(n) for v in range(u)]
    return interest, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []


@settings(max_examples=200, deadline=None)
@given(overlays())
def test_topics_equal_networkx(case: tuple[tl.Interest, list[tuple[int, int]]]) -> None:
    interest, links = case
    graph = nx.Graph(links)
    graph.add_nodes_from(range(interest.n_nodes))
    measured = measure_topics(interest, links)
    in_some = set()
    for t in range(interest.n_topics):
        sub = graph.subgraph(interest.subscribers(t).tolist())
        in_some |= {frozenset(edge) for edge in sub.edges}
        components = nx.number_connected_components(sub)
        assert measured.subscribers[t] == len(sub)
        assert measured.links[t] == sub.number_of_edges()
        assert measured.components[t] == components
        assert measured.diameter[t] == (-1 if components > 1 else nx.diameter(sub) if len(sub) else 0)
    assert measured.idle_links == len(links) - len(in_some)


@settings(max_examples=100, deadline=None)
@given(overlays())
def test_an_overlay_is_measured_by_all_by_which_methods_are_compared(
    case: tuple[tl.Interest, list[tuple[int, int]]],
) -> None:
    metrics, relays = tl.measure(*case), filtering_costs(*case)
    assert metrics.mean_hops == mean_hops(*case).mean
    assert metrics.survives_one_failure == tl.verify(*case, k=2).ok
    assert metrics.unwanted_relays == (None if (relays < 0).any() else relays.sum())
    assert metrics.sampled_hops == 0


def test_hops_of_a_topic_do_not_depend_on_the_other_topics() -> None:
    """Sampled, too: buckets of topics on Spark sum up to what one process finds."""
    n = 2000
    path = np.column_stack((np.arange(n - 1), np.arange(1, n)))
    both = tl.Interest.from_csr(np.arange(0, 2 * n + 1, 2), np.tile([0, 1], n), 2)
    one = tl.Interest.from_csr(np.arange(n + 1), np.zeros(n, int), 1)
    together = topic_hops(both, path, measure_topics(both, path))
    alone = topic_hops(one, path, measure_topics(one, path))
    assert together.sampled.tolist() == [True, True] and together.sums.tolist() == alone.sums.tolist() * 2
    exact = (n - 1) * n * (n + 1) // 3  # distances over ordered pairs of a path
    assert abs(int(alone.sums[0]) - exact) < 5 * np.sqrt(alone.variances[0]) < exact / 4


def test_disconnected_topics_have_infinite_diameter() -> None:
    interest = tl.Interest.from_pairs(list("abcab"), list("xxxyy"))
    metrics = tl.measure(interest, [(0, 1)])
    assert metrics.mean_topic_diameter is None
    assert metrics.max_topic_diameter is None
    assert metrics.disconnected_topics == 1
    assert measure_topics(interest, [(0, 1)]).columns()["diameter"].to_pylist() == [None, 1]


def test_mean_diameter_is_over_topics_with_two_subscribers() -> None:
    interest = tl.Interest.from_csr([0, 2, 3], [0, 1, 0], 3)
    metrics = tl.measure(interest, [(0, 1)])
    assert (metrics.mean_topic_diameter, metrics.max_topic_diameter) == (1.0, 1)
    assert measure_topics(interest, [(0, 1)]).components.tolist() == [1, 1, 0]
    alone = tl.measure(interest.restrict([0]), [])
    assert (alone.mean_topic_diameter, alone.max_topic_diameter, alone.links_per_topic_tree) == (0.0, 0, None)


def test_nothing_at_all() -> None:
    metrics = tl.measure(tl.Interest.from_pairs([], []), [])
    assert (metrics.nodes, metrics.average_degree, metrics.max_degree, metrics.degree_histogram) == (
        0,
        0.0,
        0,
        {},
    )


def test_figures_of_a_known_overlay() -> None:
    interest = tl.Interest.from_pairs(list("aabbccdd"), list("xyxyxzxz"))
    metrics = tl.measure(interest, [(1, 0), (1, 2), (2, 3), (0, 1)])
    assert metrics.links == 3
    assert metrics.degree_histogram == {1: 2, 2: 2}
    assert metrics.links_per_topic_tree == pytest.approx(3 / 5)
    assert metrics.mean_shared_topics == pytest.approx(5 / 3)
    assert metrics.to_dict()["degree_histogram"] == {"1": 2, "2": 2}


def test_large_rings_take_seconds() -> None:
    n = 30_000
    interest = tl.Interest.from_csr(np.arange(n + 1), np.zeros(n, int), 1)
    ring = tl.ring_per_topic(interest).links
    assert tl.measure(interest, ring).max_topic_diameter == n // 2
    chords = np.random.default_rng(0).integers(0, n, (5, 2))
    assert tl.measure(interest, np.concatenate((ring, chords))).max_topic_diameter < n // 2


def test_only_topics_above_the_limit_may_be_sampled():
    """A random cubic graph is not settled by 16 searches; a path is, by two."""
    graph = nx.random_regular_graph(3, 400, seed=1)
    path = np.column_stack((np.arange(399), np.arange(1, 400)))
    interest = tl.Interest.from_ids(np.arange(800), np.repeat([0, 1], 400), n_nodes=800, n_topics=2)
    links = np.concatenate((np.array(graph.edges), path + 400))
    exact, bounded = measure_topics(interest, links), measure_topics(interest, links, exact_up_to=399)
    assert exact.sampled.tolist() == [False, False] and exact.diameter[1] == 399
    assert bounded.sampled.tolist() == [True, False] and bounded.diameter[1] == 399
    assert exact.diameter[0] / 2 <= bounded.diameter[0] <= exact.diameter[0]
