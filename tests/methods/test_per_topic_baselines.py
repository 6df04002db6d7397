import hypothesis.strategies as st
import networkx as nx
import numpy as np
from hypothesis import given

import topicloom as tl


def random_interest(seed, n_nodes, n_topics, density):
    nodes, topics = np.nonzero(np.random.default_rng(seed).random((n_nodes, n_topics)) < density)
    return tl.Interest.from_ids(nodes, topics, n_nodes=n_nodes, n_topics=n_topics)


interests = st.builds(
    random_interest,
    st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 6), st.sampled_from([0.2, 0.5, 0.9]),
)  # fmt: skip


def ring_links(order):
    return {tuple(sorted(pair)) for pair in zip(order, [*order[1:], order[0]]) if pair[0] != pair[1]}


@given(interests)
def test_ring_pt_is_the_union_of_rings_in_node_order(interest):
    expected = set()
    for topic in range(interest.n_topics):
        expected |= ring_links(interest.subscribers(topic).tolist()) if len(interest.subscribers(topic)) else set()
    assert {tuple(link) for link in tl.ring_per_topic(interest).links.tolist()} == expected


@given(interests, st.integers(0, 100))
def test_cycle_pt_gives_every_topic_a_hamiltonian_cycle(interest, seed):
    overlay = tl.cycle_per_topic(interest, seed=seed)
    assert tl.verify(interest, overlay.links).ok
    graph = nx.Graph(overlay.links.tolist())
    for topic in range(interest.n_topics):
        subscribers = interest.subscribers(topic).tolist()
        if len(subscribers) > 2:
            assert nx.is_biconnected(graph.subgraph(subscribers))
    assert overlay.n_links <= sum(max(0, len(interest.subscribers(t))) for t in range(interest.n_topics))


def test_cycles_of_different_topics_are_not_aligned():
    nodes = np.tile(np.arange(50), 2)
    interest = tl.Interest.from_ids(nodes, np.repeat([0, 1], 50), n_nodes=50, n_topics=2)
    assert tl.ring_per_topic(interest).n_links == 50
    assert tl.cycle_per_topic(interest).n_links > 90
    assert tl.cycle_per_topic(interest, seed=1).links.tolist() != tl.cycle_per_topic(interest, seed=2).links.tolist()
