"""Failure drills against networkx, one topic at a time."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.small_interests import cases
from topicloom.errors import InvalidOptionError

Case = tuple[tl.Interest, list[tuple[int, int]]]


def reachable_pairs(graph: nx.Graph, among: set[int]) -> int:
    pieces = [len(piece & among) for piece in nx.connected_components(graph)]
    return sum(size * (size - 1) // 2 for size in pieces)


def expected_cut(case: Case, failed: set[int]) -> dict[int, tuple[tuple[int, ...], int]]:
    interest, links = case
    whole = nx.Graph(links)
    whole.add_nodes_from(range(interest.n_nodes))
    cut = {}
    for topic in range(interest.n_topics):
        before = whole.subgraph(interest.subscribers(topic).tolist())
        survivors = set(before) - failed
        after = before.subgraph(survivors)
        lost = reachable_pairs(before, survivors) - reachable_pairs(after, survivors)
        if lost:
            cut[topic] = (tuple(sorted(map(len, nx.connected_components(after)), reverse=True)), lost)
    return cut


@settings(max_examples=200, deadline=None)
@given(cases(), st.data())
def test_drill_equals_networkx(case: Case, data: st.DataObject) -> None:
    interest, links = case
    failed = data.draw(st.sets(st.integers(0, interest.n_nodes - 1)))
    report = tl.drill(interest, links, fail=failed)
    expected = expected_cut(case, failed)
    assert {topic: (pieces, lost) for topic, pieces, lost in report.cut} == expected
    hit = {int(t) for v in failed for t in interest.topics_of(v)}
    assert report.topics_untouched == interest.n_topics - len(hit)
    assert report.topics_holding == len(hit) - len(expected)
    assert report.lost_pairs == sum(lost for _, lost in expected.values())
    assert report.ok == (not expected)
    assert report.failed == tuple(sorted(failed))


@settings(max_examples=200, deadline=None)
@given(cases())
def test_weak_nodes_are_those_whose_drill_cuts(case: Case) -> None:
    interest, links = case
    found = {weak.node: weak[1:] for weak in tl.weak_nodes(interest, links, top=None)}
    for node in range(interest.n_nodes):
        cut = expected_cut(case, {node})
        assert found.get(node, (0, 0)) == (len(cut), sum(lost for _, lost in cut.values()))
    ranks = [(-cut, -lost, node) for node, cut, lost in tl.weak_nodes(interest, links, top=None)]
    assert ranks == sorted(ranks)
    assert len(tl.weak_nodes(interest, links, top=1)) == min(len(ranks), 1)


def test_a_2_topic_connected_overlay_has_no_weak_node_and_survives_every_single_failure() -> None:
    rng = np.random.default_rng(3)
    rows = [np.sort(rng.choice(20, 5, replace=False)) for _ in range(200)]
    interest = tl.Interest.from_csr(np.arange(201) * 5, np.concatenate(rows), 20)
    ring = tl.cycle_per_topic(interest, seed=1).links
    assert tl.verify(interest, ring, k=2).ok
    assert tl.weak_nodes(interest, ring) == ()
    assert tl.random_drills(interest, ring, size=1, count=50).drills_with_cuts == 0
    assert tl.random_drills(interest, ring[::2], size=1, count=50).drills_with_cuts > 0


def test_fewer_than_k_failures_cut_nothing() -> None:
    interest = tl.Interest.from_csr(np.arange(9), np.zeros(8, np.int64), 1)
    links = [(u, (u + step) % 8) for u in range(8) for step in (1, 2)]
    assert tl.verify(interest, links, k=4).ok
    assert all(tl.drill(interest, links, fail=down).ok for down in combinations(range(8), 3))
    assert not all(tl.drill(interest, links, fail=down).ok for down in combinations(range(8), 4))


def test_random_drills_are_reproducible_and_sized() -> None:
    interest = tl.Interest.from_csr(np.arange(51), np.zeros(50, np.int64), 1)
    path = [(v, v + 1) for v in range(49)]
    first = tl.random_drills(interest, path, size=3, count=20, seed=5)
    assert first == tl.random_drills(interest, path, size=3, count=20, seed=5)
    assert first != tl.random_drills(interest, path, size=3, count=20, seed=6)
    assert first.worst is not None
    assert len(first.worst.failed) == 3
    assert first.worst.lost_pairs == first.max_lost_pairs
    assert first.to_dict()["worst"]["lost_pairs"] == first.max_lost_pairs
    everyone = tl.random_drills(interest, path, size=50, count=2)
    assert everyone.max_topics_cut == 0
    assert tl.random_drills(interest, path, count=0).worst is None


def test_nodes_by_label_and_bad_nodes() -> None:
    interest = tl.Interest.from_pairs(["n1", "n2", "n3"], ["x"] * 3)
    by_label = tl.drill(interest, [(0, 1), (1, 2)], fail=["n2", "n2"])
    assert by_label == tl.drill(interest, [(0, 1), (1, 2)], fail=np.array([1]))
    assert by_label.to_dict()["cut"] == [{"topic": "x", "pieces": [1, 1], "lost_pairs": 1}]
    assert tl.drill(interest, [(0, 1), (1, 2)], fail=[]).ok
    for bad in (["n4"], [3], [-1], [True], "n2", [1.0]):
        with pytest.raises(InvalidOptionError):
            tl.drill(interest, [], fail=bad)  # type: ignore[arg-type]
    for options in ({"size": 0}, {"size": 4}, {"count": -1}, {"seed": -1}, {"size": 1.5}):
        with pytest.raises(InvalidOptionError):
            tl.random_drills(interest, [], **options)  # type: ignore[arg-type]
    with pytest.raises(InvalidOptionError):
        tl.weak_nodes(interest, [], top=-1)
