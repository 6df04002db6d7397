"""Repairs by the definition: components by networkx, every pair looked at before every link."""

import hypothesis.strategies as st
import networkx as nx
import numpy as np
from hypothesis import assume, given

from support.churn_states import links_of, state_of
from support.small_interests import interests, sub_overlay
from topicloom.churn.reconnect import connect_node, connect_pieces, release_links
from topicloom.kernels.repair.repair import NEAR, cut_topics, entries_of, pieces
from topicloom.kernels.tie_order import arc


class Slow:
    """Low-ODA's rule between given nodes, from given components, over plain dictionaries."""

    def __init__(self, interest, wants, component, keys, degree, top):
        self.wants, self.component, self.degree, self.top = wants, component, degree, top
        circle = sorted(wants, key=lambda v: keys[v])
        place = {v: p for p, v in enumerate(circle)}
        pairs = [(u, v) for u in wants for v in wants if place[u] < place[v]]
        self.rank = {
            (u, v): (
                max(max(degree[u], degree[v]) - (top - NEAR), 0),
                -len(np.intersect1d(interest.topics_of(u), interest.topics_of(v))),
                *arc(len(circle), place[u], place[v]),
            )
            for u, v in pairs
        }

    def contribution(self, u, v):
        return sum(self.component[u, t] != self.component[v, t] for t in self.wants[u] & self.wants[v])

    def links(self, rho, centre=None):
        added = set()
        while True:
            worth = {pair: self.contribution(*pair) for pair in self.rank if centre is None or centre in pair}
            best = max(worth.values(), default=0)
            if best == 0:
                return added
            calm = {pair: w for pair, w in worth.items() if max(self.degree[v] for v in pair) < self.top}
            among = calm if max(calm.values(), default=0) * rho >= best else worth
            most = max(among.values())
            u, v = min((pair for pair, w in among.items() if w == most), key=self.rank.get)
            added.add((min(u, v), max(u, v)))
            for t in self.wants[u] & self.wants[v]:
                old, new = self.component[u, t], self.component[v, t]
                self.component |= {e: new for e, label in self.component.items() if e[1] == t and label == old}
            for x in (u, v):
                self.degree[x] += 1
                self.top = max(self.top, self.degree[x])


def components(interest, links, t):
    parts = list(nx.connected_components(sub_overlay(interest, links, t)))
    return {(v, t): number for number, part in enumerate(parts) for v in part}


@st.composite
def overlays(draw):
    """An interest, any links, and some of its nodes and topics."""
    interest = draw(interests(max_nodes=12))
    n = interest.n_nodes
    assume(n > 1)
    links = draw(st.sets(st.sampled_from([(u, v) for v in range(n) for u in range(v)]), max_size=14))
    nodes = sorted(draw(st.sets(st.integers(0, n - 1))))
    topics = sorted(draw(st.sets(st.integers(0, interest.n_topics - 1))))
    return interest, links, np.array(nodes, np.int32), np.array(topics, np.int32)


@given(overlays())
def test_pieces_are_the_components_that_the_nodes_lie_in(given):
    interest, links, nodes, topics = given
    state = state_of(interest, links)
    node_ptr, topic = entries_of(state.rows.ragged, nodes, topics)
    found = [(v, int(topics[m])) for x, v in enumerate(nodes) for m in topic[node_ptr[x] : node_ptr[x + 1]]]
    assert found == [(v, t) for v in nodes for t in topics if t in interest.topics_of(v)]
    piece = pieces(state.members.ragged, state.neighbours.ragged, nodes, topics, node_ptr, topic, state.scratch)
    expected = {}
    for t in topics.tolist():
        expected |= components(interest, links, t)
    for a, one in enumerate(found):
        for b, other in enumerate(found):
            if one[1] == other[1]:
                assert (piece[a] == piece[b]) == (expected[one] == expected[other])
    cut = cut_topics(topic, piece, len(topics))
    for t, is_cut in zip(topics.tolist(), cut):
        assert is_cut == (len({expected[e] for e in found if e[1] == t}) > 1)


@given(overlays(), st.sampled_from([1.0, 3.0]), st.integers(0, 3))
def test_shadows_are_linked_by_the_rule(given, rho, seed):
    interest, links, nodes, topics = given
    state = state_of(interest, links, seed)
    component = {}
    for t in topics.tolist():
        of_nodes = {e: label for e, label in components(interest, links, t).items() if e[0] in nodes}
        if len(set(of_nodes.values())) > 1:
            component |= of_nodes
    wants = {v: {t for u, t in component if u == v} for v in nodes.tolist()}
    wants = {v: topics for v, topics in wants.items() if topics}
    degree = {v: sum(v in link for link in links) for v in range(interest.n_nodes)}
    expected = Slow(interest, wants, component, state.keys, degree, max(degree.values())).links(rho)
    connect_pieces(state, nodes, topics, rho)
    assert links_of(state) == links | expected


@given(interests(max_nodes=12), st.data(), st.integers(0, 3))
def test_a_newcomer_is_linked_by_the_rule(interest, data, seed):
    n = interest.n_nodes
    assume(n > 1)
    old = [(u, v) for v in range(n - 1) for u in range(v)]
    links = data.draw(st.sets(st.sampled_from(old), max_size=14)) if old else set()
    state = state_of(interest, links, seed)
    topics = interest.topics_of(n - 1)
    shadows = [v for v in range(n - 1) if set(interest.topics_of(v)) & set(topics)]
    wants = {v: set(interest.topics_of(v).tolist()) & set(topics.tolist()) for v in [*shadows, n - 1]}
    component = {(v, t): int(v == n - 1) for v in wants for t in wants[v]}
    degree = {v: sum(v in link for link in links) for v in range(n)}
    expected = Slow(interest, wants, component, state.keys, degree, max(degree.values())).links(3.0, centre=n - 1)
    connect_node(state, n - 1, np.array(shadows, np.int32), topics, 3.0)
    assert links_of(state) == links | expected


@given(overlays(), st.integers(0, 3))
def test_links_that_no_topic_needs_are_released(given, seed):
    interest, links, nodes, _ = given
    state = state_of(interest, links, seed)
    release_links(state, nodes, 2)
    left = links_of(state)

    def whole(some):
        return [nx.number_connected_components(sub_overlay(interest, some, t)) for t in range(interest.n_topics)]

    assert whole(left) == whole(links)
    assert all(set(link) & set(nodes.tolist()) for link in links - left)
    assert {v: set(state.neighbours.of(v).tolist()) for v in range(interest.n_nodes)} == {
        v: {u for link in left if v in link for u in link if u != v} for v in range(interest.n_nodes)
    }
    if len(links - left) < 2:  # then none is left that could go
        assert all(whole(left - {link}) != whole(left) for link in left if set(link) & set(nodes.tolist()))
