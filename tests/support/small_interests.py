"""Small interests for the laws that methods obey, and brute-force views of a topic."""

from itertools import combinations

import networkx as nx
import numpy as np
from hypothesis import strategies as st

import topicloom as tl


def interest_of(rows: list[set[int]], n_topics: int) -> tl.Interest:
    topics = np.array([t for row in rows for t in sorted(row)], np.int64)
    return tl.Interest.from_csr(np.cumsum([0, *map(len, rows)]), topics, n_topics)


def labelled(drawn: tl.Interest) -> tl.Interest:
    """The same interest with labels n000, n001 and so on for nodes, t00, t01 for topics."""
    return tl.Interest.from_pairs([f"n{v:03}" for v in drawn.nodes], [f"t{t:02}" for t in drawn.topics])


def label_rows(interest: tl.Interest) -> list[tuple[str, str]]:
    """(node, topic) of every subscription, by label."""
    return [(interest.node_label(v), interest.topic_label(t)) for v, t in zip(interest.nodes, interest.topics)]


@st.composite
def cases(
    draw: st.DrawFn, max_nodes: int = 9, max_topics: int = 4, max_links: int | None = None
) -> tuple[tl.Interest, list[tuple[int, int]]]:
    """An interest of at least one node, and links over it."""
    interest = draw(interests(max_nodes, max_topics, min_nodes=1))
    pairs = [(u, v) for u in range(interest.n_nodes) for v in range(u)]
    return interest, draw(st.lists(st.sampled_from(pairs), unique=True, max_size=max_links)) if pairs else []


@st.composite
def interests(draw: st.DrawFn, max_nodes: int = 9, max_topics: int = 6, min_nodes: int = 0) -> tl.Interest:
    n, n_topics = draw(st.integers(min_nodes, max_nodes)), draw(st.integers(1, max_topics))
    rows = draw(st.lists(st.sets(st.integers(0, n_topics - 1)), min_size=n, max_size=n))
    return interest_of(rows, n_topics)


def sub_overlay(interest: tl.Interest, links: object, topic: int) -> nx.Graph:
    members = set(interest.subscribers(topic).tolist())
    graph = nx.Graph()
    graph.add_nodes_from(members)
    graph.add_edges_from((int(u), int(v)) for u, v in links if u in members and v in members)  # type: ignore[attr-defined]
    return graph


def survives(interest: tl.Interest, links: object, k: int) -> bool:
    """Whether every topic stays connected whichever k - 1 nodes fail: all subsets are tried."""
    for t in range(interest.n_topics):
        graph = sub_overlay(interest, links, t)
        for failed in combinations(graph.nodes, min(k - 1, len(graph))):
            rest = graph.subgraph(set(graph) - set(failed))
            if len(rest) and not nx.is_connected(rest):
                return False
    return True


def one_topic(n: int) -> tl.Interest:
    return interest_of([{0}] * n, 1)


EMPTY = tl.Interest.from_csr([0], [], 0)
EDGE_CASES = {
    "nothing": EMPTY,
    "nodes without topics": tl.Interest.from_csr([0, 0, 0], [], 0),
    "topics without nodes": tl.Interest.from_csr([0, 0, 0], [], 3),
    "one subscriber": one_topic(1),
    "two subscribers": one_topic(2),
    "three subscribers": one_topic(3),
    "one topic": one_topic(12),
    "disjoint groups": interest_of([{0}, {0}, {0}, {1}, {1}, {2}], 3),
    "all want all": interest_of([{0, 1, 2}] * 7, 3),
}
