"""Hops, whole-overlay diameters, filtering cost and SOC against networkx and brute force."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.small_interests import cases
from topicloom.errors import InvalidOptionError
from topicloom.measures import filtering_costs, mean_hops, measure_topics, overlay_diameters, topic_hops
from topicloom.measures.routing_cost import relayed_ways

Case = tuple[tl.Interest, list[tuple[int, int]]]


def whole(case: Case) -> nx.Graph:
    graph = nx.Graph(case[1])
    graph.add_nodes_from(range(case[0].n_nodes))
    return graph


def fewest_relays(graph: nx.Graph, wanting: set[int]) -> int:
    """By trying all sets of relays, small ones first; -1 when even all nodes do not join them."""
    others = sorted(set(graph) - wanting)
    for size in range(len(others) + 1):
        for helpers in combinations(others, size):
            part = graph.subgraph(wanting | set(helpers))
            if nx.is_connected(part):
                return size
    return -1


@settings(max_examples=150, deadline=None)
@given(cases())
def test_whole_overlay_diameters_equal_networkx(case: Case) -> None:
    interest = case[0]
    distance = dict(nx.all_pairs_shortest_path_length(whole(case)))
    found = overlay_diameters(*case)
    inner = measure_topics(*case).diameter
    for t in range(interest.n_topics):
        pairs = list(combinations(interest.subscribers(t).tolist(), 2))
        finite = all(v in distance[u] for u, v in pairs)
        assert found[t] == (max((distance[u][v] for u, v in pairs), default=0) if finite else -1)
        assert inner[t] < 0 or 0 <= found[t] <= inner[t]


@settings(max_examples=150, deadline=None)
@given(cases())
def test_filtering_cost_keeps_its_bound(case: Case) -> None:
    interest = case[0]
    costs = filtering_costs(*case)
    components = measure_topics(*case).components
    for t in range(interest.n_topics):
        wanting = set(interest.subscribers(t).tolist())
        fewest = fewest_relays(whole(case), wanting) if wanting else 0
        assert (costs[t] == 0) == (components[t] <= 1)
        assert (costs[t] < 0) == (fewest < 0)
        assert fewest <= costs[t] <= 2 * fewest + max(len(wanting) - 1, 0) or fewest < 0


@settings(max_examples=100, deadline=None)
@given(st.integers(3, 14).flatmap(lambda n: st.tuples(st.just(n), st.randoms(use_true_random=False))))
def test_ways_over_relays_are_those_of_the_only_tree_that_there_is(drawn) -> None:
    n, draw = drawn
    tree = [(draw.randrange(v), v) for v in range(1, n) if draw.random() < 0.9]
    wanting = [sorted(draw.sample(range(n), draw.randint(2, n))) for _ in range(4)]
    nodes, topics = zip(*((v, t) for t, own in enumerate(wanting) for v in own))
    interest = tl.Interest.from_ids(np.array(nodes), np.array(topics), n_nodes=n, n_topics=4)
    graph = nx.Graph(tree)
    graph.add_nodes_from(range(n))
    ways, relaying = relayed_ways(interest, np.array(tree, np.int32).reshape(-1, 2)), set()
    pairs = hops = 0
    for t, own in enumerate(wanting):
        pairs += len(own) * (len(own) - 1)
        if not all(nx.has_path(graph, own[0], v) for v in own):
            assert (ways.costs[t], ways.hops[t], ways.longest[t]) == (-1, 0, 0)
            continue
        passed = set().union(*(nx.shortest_path(graph, u, v) for u in own for v in own)) - set(own)
        distances = [nx.shortest_path_length(graph, u, v) for u in own for v in own]
        hops += sum(distances)
        assert ways.costs[t] == len(passed)
        assert (ways.hops[t], ways.longest[t]) == ((sum(distances), max(distances)) if passed else (0, 0))
        relaying |= passed
    assert ways.nodes.tolist() == sorted(relaying)
    metrics = tl.measure(interest, np.array(tree, np.int32).reshape(-1, 2))
    assert (metrics.relayed_topics, metrics.relaying_nodes) == (ways.relayed, len(relaying))
    assert metrics.hops_with_relays == (None if ways.broken else pytest.approx(hops / pairs))


def test_filtering_cost_of_a_hub_and_of_a_topic_connected_overlay() -> None:
    interest = tl.Interest.from_pairs(["h", *"abcd"], ["own", "x", "x", "y", "y"])
    hub = [(interest.n_nodes - 1, v) for v in range(4)]
    assert filtering_costs(interest, hub).tolist() == [0, 1, 1]
    assert filtering_costs(interest, tl.ring_per_topic(interest).links).tolist() == [0, 0, 0]
    assert tl.soc(interest, hub, cost="filtering", degree="maximum", d=4, C=2).ok
    assert not tl.soc(interest, hub, cost="filtering", degree="maximum", d=4, C=1).ok


@settings(max_examples=150, deadline=None)
@given(cases())
def test_hops_equal_networkx(case: Case) -> None:
    interest = case[0]
    subs = [whole(case).subgraph(interest.subscribers(t).tolist()) for t in range(interest.n_topics)]
    hops = mean_hops(*case)
    assert hops.exact
    if any(len(sub) and not nx.is_connected(sub) for sub in subs):
        assert hops.mean is None
        return
    lengths = [d for sub in subs for u, row in nx.all_pairs_shortest_path_length(sub) for v, d in row.items() if u != v]
    assert hops.mean == pytest.approx(np.mean(lengths) if lengths else 0.0)


def test_sampled_hops_lie_within_their_error() -> None:
    rng = np.random.default_rng(1)
    rows = [np.sort(rng.choice(10, 3, replace=False)) for _ in range(500)]
    interest = tl.Interest.from_csr(np.arange(501) * 3, np.concatenate(rows), 10)
    links = tl.cycle_per_topic(interest).links
    exact, sampled = mean_hops(interest, links), mean_hops(interest, links, exact_steps=0, seed=2)
    assert exact.exact and not sampled.exact
    assert sampled == mean_hops(interest, links, exact_steps=0, seed=2)
    assert exact.mean is not None and sampled.mean is not None and sampled.standard_error
    assert abs(sampled.mean - exact.mean) < 5 * sampled.standard_error < 0.1 * exact.mean


def test_hops_of_many_subscriptions_lie_within_their_error() -> None:
    interest = tl.generate(nodes=3000, topics=5, subscriptions=3, popularity="uniform", seed=4)
    links = tl.greedy_merge(interest).links
    shapes = measure_topics(interest, links)
    exact = topic_hops(interest, links, shapes, steps=1 << 40)
    assert not exact.sampled.any() and not exact.variances.any()
    few = topic_hops(interest, links, shapes)
    for seed in range(8):
        fewer = topic_hops(interest, links, shapes, n_subscriptions=1_000_001, seed=seed)
        error = np.sqrt(fewer.variances)
        assert fewer.sampled.all() and (error > np.sqrt(few.variances)).all()  # by fewer searches
        assert (np.abs(fewer.sums - exact.sums) < 5 * error).all() and (error < 0.1 * exact.sums).all()


def test_soc_answers_with_both_values() -> None:
    interest = tl.Interest.from_pairs(list("abcab"), list("xxxyy"))
    path = [(0, 1), (1, 2)]
    mean = tl.soc(interest, path, cost="mean-diameter", d=2, C=1.5)
    assert (mean.ok, mean.cost, mean.degree) == (True, 1.5, pytest.approx(4 / 3))
    assert not tl.soc(interest, path, cost="mean-diameter", d=1, C=1.5).ok
    broken = tl.soc(interest, [(0, 1)], cost="diameter", d=9, C=1e9)
    assert (broken.ok, broken.cost, broken.to_dict()["cost"]) == (False, None, None)
    for options in ({"cost": "hops"}, {"degree": "median"}, {"d": "2"}, {"C": float("nan")}):
        with pytest.raises(InvalidOptionError):
            tl.soc(interest, path, **{"d": 1, "C": 1, **options})  # type: ignore[arg-type]
    with pytest.raises(InvalidOptionError):
        mean_hops(interest, path, seed=-1)


@settings(max_examples=100, deadline=None)
@given(cases())
def test_soc_measures_distances_in_the_whole_overlay(case: Case) -> None:
    """Against networkx, through `tl.soc` alone; the smallest bounds that hold are the values themselves."""
    interest = case[0]
    distance = dict(nx.all_pairs_shortest_path_length(whole(case)))
    pairs = [list(combinations(interest.subscribers(t).tolist(), 2)) for t in range(interest.n_topics)]
    far = [max((distance[u].get(v, np.inf) for u, v in some), default=0) for some in pairs]
    shared = [length for length, some in zip(far, pairs) if some]
    expected = {"diameter": max(far), "mean-diameter": float(np.mean(shared)) if shared else 0.0}
    for cost, value in expected.items():
        answer = tl.soc(*case, cost=cost, d=interest.n_nodes, C=value if np.isfinite(value) else 1e9)
        assert (answer.ok, answer.cost) == ((True, pytest.approx(value)) if np.isfinite(value) else (False, None))
        if answer.ok and value > 0:
            assert not tl.soc(*case, cost=cost, d=interest.n_nodes, C=value - 0.01).ok


def test_soc_takes_the_short_way_through_nodes_of_other_topics() -> None:
    """a–b–c–d all want x; h, which does not, joins a with d: distance 2, where the sub-overlay has 3."""
    interest = tl.Interest.from_pairs(list("abcdh"), list("xxxxy"))
    links = [(0, 1), (1, 2), (2, 3), (0, 4), (3, 4)]
    assert measure_topics(interest, links).diameter[0] == 3
    for cost in ("diameter", "mean-diameter"):
        assert tl.soc(interest, links, cost=cost, d=9, C=2).cost == 2
