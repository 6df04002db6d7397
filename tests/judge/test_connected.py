"""The judge at k = 1 against networkx, and the laws that any judge obeys."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from topicloom.errors import InvalidLinksError, InvalidOptionError
from topicloom.judge.sub_overlays import topic_batches
from topicloom.model.arrays import normalized_links


def interest_of(rows: list[set[int]], n_topics: int) -> tl.Interest:
    topics = np.array([t for row in rows for t in sorted(row)], np.int64)
    return tl.Interest.from_csr(np.cumsum([0, *map(len, rows)]), topics, n_topics)


Case = tuple[tl.Interest, list[tuple[int, int]]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    n, n_topics = draw(st.integers(1, 9)), draw(st.integers(1, 5))
    rows = draw(st.lists(st.sets(st.integers(0, n_topics - 1)), min_size=n, max_size=n))
    pairs = [(u, v) for u in range(n) for v in range(u)]
    return interest_of(rows, n_topics), draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []


def sub_overlay(interest: tl.Interest, links: list[tuple[int, int]], topic: int) -> nx.Graph:
    graph = nx.Graph(links)
    graph.add_nodes_from(range(interest.n_nodes))
    return graph.subgraph(interest.subscribers(topic).tolist())


@settings(max_examples=200, deadline=None)
@given(cases())
def test_equals_networkx(case: Case) -> None:
    interest, links = case
    verdict = tl.verify(interest, links)
    broken = {}
    idle = set(map(frozenset, links))
    for t in range(interest.n_topics):
        graph = sub_overlay(interest, links, t)
        idle -= set(map(frozenset, graph.edges))
        if nx.number_connected_components(graph) > 1:
            broken[t] = graph
    assert verdict.ok == (not broken)
    assert [b.topic for b in verdict.broken] == sorted(broken)
    for topic, components, (u, v) in verdict.broken:
        assert components == nx.number_connected_components(broken[topic])
        assert not nx.has_path(broken[topic], u, v)
    assert verdict.idle_links == len(idle)
    assert verdict.topics == interest.n_topics


@settings(max_examples=50, deadline=None)
@given(cases(), st.integers(1, 5))
def test_batches_of_any_size_hold_the_same_edges(case: Case, at_once: int) -> None:
    interest, links = case
    normalized = normalized_links(links, interest.n_nodes)

    def edges(at_once: int) -> list[tuple[int, int, int]]:
        found = []
        for batch in topic_batches(interest, normalized, at_once=at_once):
            found += zip((batch.first + batch.a).tolist(), (batch.first + batch.b).tolist(), batch.link.tolist())
        return sorted(found)

    assert edges(at_once) == edges(1 << 20)


@settings(max_examples=50, deadline=None)
@given(cases(), st.data())
def test_extra_links_never_break_and_a_missing_bridge_is_noticed(case: Case, data: st.DataObject) -> None:
    interest, links = case
    overlay = tl.ring_per_topic(interest).links.tolist()
    assert tl.verify(interest, overlay + [list(link) for link in links]).ok
    for topic in range(interest.n_topics):
        graph = sub_overlay(interest, overlay, topic)
        for u, v in nx.bridges(graph) if len(graph) > 1 else ():
            rest = [link for link in overlay if set(link) != {u, v}]
            assert topic in [b.topic for b in tl.verify(interest, rest).broken]


def test_direction_order_and_repeats_do_not_matter() -> None:
    interest = tl.Interest.from_pairs(list("abc"), ["x"] * 3)
    assert tl.verify(interest, np.array([[2, 1], [1, 0], [0, 1]], np.uint8)).ok


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "1", None])
def test_refuses_what_is_no_connectivity(k: object) -> None:
    with pytest.raises(InvalidOptionError, match="whole number from 1 up"):
        tl.verify(tl.Interest.from_pairs(["a"], ["x"]), [], k=k)  # type: ignore[arg-type]


def test_refuses_unknown_nodes() -> None:
    with pytest.raises(InvalidLinksError):
        tl.verify(tl.Interest.from_pairs(["a"], ["x"]), [(0, 1)])


def test_trivial_interests_hold() -> None:
    assert tl.verify(tl.Interest.from_pairs([], []), []).ok
    assert tl.verify(tl.Interest.from_csr([0, 0, 1], [1], 3), []).ok


def test_verdict_is_json_ready() -> None:
    verdict = tl.verify(tl.Interest.from_pairs(list("ab"), ["x"] * 2), [])
    assert verdict.to_dict()["broken"] == [{"topic": "x", "components": 2, "witness": ("a", "b")}]
