"""Obvious, slow twins of the kernels that search for prices: dictionaries of pairs, and spanning trees by networkx."""

from itertools import combinations

import networkx as nx
import numpy as np

import topicloom as tl

Prices = dict[tuple[int, int, int], float]  # by topic and pair, lower node first


def shared_topics(interest: tl.Interest, u: int, v: int) -> list[int]:
    return sorted(set(interest.topics_of(u).tolist()) & set(interest.topics_of(v).tolist()))


def potential_of(interest: tl.Interest, potential: np.ndarray) -> dict[tuple[int, int], float]:
    """Potentials by node and topic."""
    return {(v, t): float(p) for v, t, p in zip(interest.nodes.tolist(), interest.topics.tolist(), potential)}


def prices_of(interest: tl.Interest, potential: np.ndarray) -> Prices:
    """The price of every topic and pair: its product of potentials as a part of all that the pair shares."""
    at = potential_of(interest, potential)
    found = {}
    for u, v in combinations(range(interest.n_nodes), 2):
        products = {t: at[u, t] * at[v, t] for t in shared_topics(interest, u, v)}
        found.update({(t, u, v): product / sum(products.values()) for t, product in products.items()})
    return found


def in_order(interest: tl.Interest, prices: Prices) -> list[float]:
    """Prices as the kernels keep them: topic by topic, pairs by their first and then their second node."""
    rows = (combinations(interest.subscribers(t).tolist(), 2) for t in range(interest.n_topics))
    return [prices[t, u, v] for t, pairs in enumerate(rows) for u, v in pairs]


def cheapest_trees(interest: tl.Interest, prices: Prices, paying: list[int]) -> float:
    """Cost of the cheapest spanning trees of these topics."""
    return sum(_cheapest_tree(interest.subscribers(t).tolist(), prices, t) for t in paying)


def _cheapest_tree(members: list[int], prices: Prices, t: int) -> float:
    graph = nx.Graph()
    graph.add_weighted_edges_from((u, v, prices[t, u, v]) for u, v in combinations(members, 2))
    return sum(graph.edges[link]["weight"] for link in nx.minimum_spanning_edges(graph, data=False))


def tree_links(interest: tl.Interest, parent: np.ndarray) -> list[tuple[int, int, int]]:
    """(topic, lower node, higher node) of the trees that a kernel wrote as places of neighbours in their topics."""
    found = []
    for t in range(interest.n_topics):
        members = interest.subscribers(t).tolist()
        start = int(interest.topic_indptr[t])
        for place, node in enumerate(members):
            if parent[start + place] >= 0:
                other = members[parent[start + place]]
                found.append((t, min(node, other), max(node, other)))
    return found


def check_trees(interest: tl.Interest, parent: np.ndarray, prices: Prices, paying: list[int], total: float) -> None:
    """The trees span their topics, and none costs less."""
    links = tree_links(interest, parent)
    for t in range(interest.n_topics):
        graph = nx.Graph()
        graph.add_nodes_from(interest.subscribers(t).tolist())
        graph.add_edges_from((u, v) for topic, u, v in links if topic == t)
        spans = t in paying and len(graph) > 0
        assert nx.is_tree(graph) if spans else not graph.edges
    assert np.isclose(sum(prices[link] for link in links), total)
    assert np.isclose(cheapest_trees(interest, prices, paying), total)
