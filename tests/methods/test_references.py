"""The references people have today: what they link, and what the judge says of it."""

import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl

REFERENCES = ("full-mesh", "hub", "spanning-tree", "random-regular")


@st.composite
def interests(draw: st.DrawFn) -> tl.Interest:
    n, n_topics = draw(st.integers(0, 10)), draw(st.integers(1, 6))
    rows = draw(st.lists(st.sets(st.integers(0, n_topics - 1)), min_size=n, max_size=n))
    indptr = np.cumsum([0, *map(len, rows)])
    return tl.Interest.from_csr(indptr, [t for row in rows for t in sorted(row)] or np.empty(0, int), n_topics)


def co_subscribers(interest: tl.Interest) -> "nx.Graph[int]":
    """Graph of the nodes that share topics, weighted by how many."""
    graph: nx.Graph[int] = nx.Graph()
    for u in range(interest.n_nodes):
        for v in range(u):
            shared = len(np.intersect1d(interest.topics_of(u), interest.topics_of(v)))
            if shared:
                graph.add_edge(v, u, weight=shared)
    return graph


def test_they_are_marked_as_references() -> None:
    assert all(tl.METHODS[name].reference for name in REFERENCES)


@settings(max_examples=200, deadline=None)
@given(interest=interests(), seed=st.integers(0, 3))
def test_links_are_those_of_the_definition(interest: tl.Interest, seed: int) -> None:
    graph = co_subscribers(interest)
    assert tl.full_mesh(interest).links.tolist() == sorted(sorted(link) for link in graph.edges)

    forest = [(u, v) for u, v in tl.spanning_tree(interest, seed=seed).links.tolist()]
    heaviest = nx.maximum_spanning_tree(graph)
    assert len(forest) == heaviest.number_of_edges()
    assert nx.is_forest(nx.Graph(forest)) if forest else True
    assert sum(graph.edges[link]["weight"] for link in forest) == heaviest.size("weight")

    around = tl.hub(interest, seed=seed)
    if len(graph):
        centre = int(np.argmax(around.degree())) if around.n_links > 1 else around.links[0].tolist()
        most = np.diff(interest.indptr)[list(graph)].max()
        assert most in np.diff(interest.indptr)[np.atleast_1d(centre)]
        assert around.n_links == len(graph) - 1
        assert np.flatnonzero(around.degree()).tolist() == sorted(graph)
    else:
        assert around.n_links == 0


@settings(max_examples=200, deadline=None)
@given(n=st.integers(1, 40), d=st.integers(2, 9), seed=st.integers(0, 1000))
def test_random_regular_is_regular_and_connected(n: int, d: int, seed: int) -> None:
    interest = tl.Interest.from_csr(np.arange(n + 1), np.zeros(n, int), 1)
    overlay = tl.random_regular(interest, d=d, seed=seed)
    wanted = min(d, n - 1)
    odd = n * wanted % 2
    assert sorted(overlay.degree().tolist()) == [wanted - 1] * odd + [wanted] * (n - odd)
    assert tl.verify(interest, overlay.links).ok


def test_random_regular_is_random_and_seeded() -> None:
    interest = tl.Interest.from_csr(np.arange(1001), np.zeros(1000, int), 1)
    links = [tl.random_regular(interest, seed=seed).links for seed in (0, 0, 1)]
    assert np.array_equal(links[0], links[1])
    common = set(map(tuple, links[0].tolist())) & set(map(tuple, links[2].tolist()))
    assert len(common) < 40
    # a ring lattice of degree 4 has diameter 250, a random graph about log(1000) / log(3)
    assert (tl.measure(interest, links[0]).max_topic_diameter or 0) < 12
    # the same numbers on every machine
    assert links[0][:3].tolist() == [[479, 962], [479, 695], [315, 695]]


@pytest.mark.parametrize("bad", [1, 0, -4, 2.5, True, "4"])
def test_random_regular_refuses_other_degrees(bad: object) -> None:
    with pytest.raises(tl.TopicloomError, match=r"d is .*from 2 up"):
        tl.design(tl.Interest.from_pairs(["a"], ["x"]), "random-regular", d=bad)


def test_full_mesh_refuses_what_would_not_fit() -> None:
    crowd = tl.Interest.from_csr(np.arange(30_001), np.zeros(30_000, int), 1)
    with pytest.raises(tl.TopicloomError, match="at least 449,985,000 links; up to 200,000,000"):
        tl.full_mesh(crowd)


def test_full_mesh_counts_pairs_across_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["topicloom.methods.references.full_mesh"], "MOST_LINKS", 5)
    assert tl.full_mesh(tl.Interest.from_pairs(list("abcbd"), list("xxxyy"))).n_links == 4
    with pytest.raises(tl.TopicloomError, match="at least 6 links"):
        tl.full_mesh(tl.Interest.from_pairs(list("abcdef"), list("xxxyyy")))


@pytest.mark.parametrize("method", ["hub", "spanning-tree", "random-regular"])
def test_what_ignores_topics_is_not_topic_connected(method: str) -> None:
    interest = tl.generate(nodes=200, topics=40, subscriptions=4, seed=3)
    assert not tl.verify(interest, tl.design(interest, method).links).ok


def test_full_mesh_has_diameter_one() -> None:
    interest = tl.generate(nodes=100, topics=20, subscriptions=3, seed=3)
    assert tl.measure(interest, tl.full_mesh(interest).links).max_topic_diameter == 1


def test_edge_cases() -> None:
    for method in REFERENCES:
        assert tl.design(tl.Interest.from_pairs([], []), method).n_links == 0
        assert tl.design(tl.Interest.from_pairs(["a", "b"], ["x", "y"]), method).n_links == 0
        assert tl.design(tl.Interest.from_pairs(["a", "b", "c"], ["x", "x", "y"]), method).links.tolist() == [[0, 1]]
