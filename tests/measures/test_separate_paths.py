"""Disjoint paths inside a topic, as many as networkx's flows say, and each of them a path of the topic."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.small_interests import cases, sub_overlay
from topicloom.errors import InvalidInterestError, InvalidOptionError


def check_paths(graph, u, v, paths):
    """Paths of the graph from u to v that share nothing else."""
    for path in paths:
        assert (path[0], path[-1]) == (u, v)
        assert nx.is_simple_path(graph, path)
    inner = [node for path in paths for node in path[1:-1]]
    assert len(inner) == len(set(inner))
    assert sum(len(path) == 2 for path in paths) == (graph.has_edge(u, v) and len(paths) > 0)
    assert [len(path) for path in paths] == sorted(len(path) for path in paths)


@settings(max_examples=300, deadline=None)
@given(cases(max_nodes=9, max_topics=3), st.integers(1, 9), st.data())
def test_there_are_as_many_disjoint_paths_as_networkx_finds(case, k, data):
    interest, links = case
    topic = data.draw(st.integers(0, interest.n_topics - 1))
    members = interest.subscribers(topic).tolist()
    if len(members) < 2:
        return
    u, v = data.draw(st.permutations(members))[:2]
    graph = sub_overlay(interest, links, topic)
    paths = tl.disjoint_paths(tl.Overlay.from_links(interest, links), topic, u, v, k=k)
    check_paths(graph, u, v, paths)
    most = len(list(nx.node_disjoint_paths(graph, u, v))) if nx.has_path(graph, u, v) else 0
    assert len(paths) == min(k, most)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_a_k_connected_overlay_has_k_paths_between_any_two(k):
    interest = tl.generate(nodes=40, topics=6, subscriptions=3, seed=k)
    overlay = tl.design(interest, k=k)
    for topic in range(interest.n_topics):
        members = interest.subscribers(topic)
        graph = sub_overlay(interest, overlay.links, topic)
        for u in members[:4].tolist():
            for v in members[-4:].tolist():
                if u != v:
                    names = interest.node_label(u), interest.node_label(v)
                    paths = tl.disjoint_paths(overlay, interest.topic_label(topic), *names, k=k)
                    assert len(paths) == k
                    ids = [[interest.node_id(node) for node in path] for path in paths]
                    check_paths(graph, u, v, ids)


def test_a_path_that_stands_in_the_way_is_undone():
    """The shortest path uses both middles of the only two disjoint ones."""
    links = [("a", "b"), ("b", "c"), ("c", "z"), ("a", "p"), ("p", "q"), ("q", "c"), ("b", "r"), ("r", "s"), ("s", "z")]
    nodes = sorted({end for link in links for end in link})
    overlay = tl.Overlay.from_links(tl.Interest.from_pairs(nodes, ["t"] * len(nodes)), links)
    assert tl.disjoint_paths(overlay, "t", "a", "z") == (("a", "b", "r", "s", "z"), ("a", "p", "q", "c", "z"))
    assert tl.disjoint_paths(overlay, "t", "a", "z", k=1) == (("a", "b", "c", "z"),)


def test_only_subscribers_are_on_the_way():
    interest = tl.Interest.from_pairs(list("abcbc"), ["x", "x", "x", "y", "y"])
    overlay = tl.Overlay.from_links(interest, [("a", "b"), ("a", "c")])
    assert tl.disjoint_paths(overlay, "x", "b", "c") == (("b", "a", "c"),)
    assert tl.disjoint_paths(overlay, "y", "b", "c") == ()
    ids = tl.Interest.from_csr(np.array([0, 1, 2]), np.array([0, 0]), 1)
    assert tl.disjoint_paths(tl.full_mesh(ids), 0, 1, 0) == ((1, 0),)


def test_what_cannot_be_asked_is_refused_with_the_reason():
    overlay = tl.design(tl.datasets.example())
    with pytest.raises(InvalidOptionError, match="node 'crane' does not want topic 'badges'; its subscribers are"):
        tl.disjoint_paths(overlay, "badges", "crane", "gate")
    with pytest.raises(InvalidOptionError, match="both ends are node 'gate'"):
        tl.disjoint_paths(overlay, "badges", "gate", "gate")
    with pytest.raises(InvalidInterestError, match="there is no topic 'nothing'"):
        tl.disjoint_paths(overlay, "nothing", "gate", "office")
    for node in (6, -1):
        with pytest.raises(InvalidInterestError, match=f"there is no node {node}; ids from 0 to 5 and labels are"):
            tl.disjoint_paths(overlay, "badges", node, "office")
    with pytest.raises(InvalidOptionError, match="k is 0"):
        tl.disjoint_paths(overlay, "badges", "gate", "office", k=0)
