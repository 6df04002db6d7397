"""Slow, obvious versions of what ``routing/`` computes."""

from itertools import combinations

import networkx as nx
from hypothesis import strategies as st

import topicloom as tl
from support.small_interests import interests, sub_overlay


def least_diameter(graph: nx.Graph) -> int:
    """Least diameter of all spanning trees of a connected graph: every set of n - 1 edges is tried."""
    if len(graph) < 2:
        return 0
    trees = (nx.Graph(edges) for edges in combinations(graph.edges, len(graph) - 1))
    return min(nx.diameter(tree) for tree in trees if len(tree) == len(graph) and nx.is_connected(tree))


def tree_of(routes: tl.Routes, topic: int) -> nx.Graph:
    """The active rows of a topic as a graph over its subscribers."""
    graph = nx.Graph()
    graph.add_nodes_from(routes.interest.subscribers(topic).tolist())
    rows = (routes.topic == topic) & routes.active
    graph.add_edges_from(zip(routes.src[rows].tolist(), routes.dst[rows].tolist()))
    return graph


def row_names(routes: tl.Routes, *, active: bool = True) -> set[tuple[str, str, str]]:
    """Rows by label."""
    table = routes.table().to_pylist()
    return {(row["topic"], row["src"], row["dst"]) for row in table if row["active"] == active}


@st.composite
def overlays(draw: st.DrawFn, max_nodes: int = 8, max_topics: int = 5) -> tl.Overlay:
    """A topic-connected overlay with some links beyond those that it needs."""
    interest = draw(interests(max_nodes, max_topics))
    needed = tl.design(interest, "gm").links.tolist()
    pairs = list(combinations(range(interest.n_nodes), 2))
    extra = draw(st.lists(st.sampled_from(pairs), max_size=8)) if pairs else []
    return tl.Overlay(interest, sorted({*map(tuple, needed), *extra}))


def labelled(overlay: tl.Overlay) -> tl.Overlay:
    """The same overlay with names instead of ids."""
    given = overlay.interest
    named = tl.Interest.from_csr(
        given.indptr,
        given.topics,
        given.n_topics,
        node_labels=[f"n{v:02}" for v in range(given.n_nodes)],
        topic_labels=[f"t{t:02}" for t in range(given.n_topics)],
    )
    return tl.Overlay(named, overlay.links)


__all__ = ["labelled", "least_diameter", "overlays", "row_names", "sub_overlay", "tree_of"]
