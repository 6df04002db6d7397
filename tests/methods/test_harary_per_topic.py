"""HararyPT: its graphs are those of Harary, its overlays k-topic-connected."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.small_interests import EDGE_CASES, interests, one_topic, sub_overlay, survives
from topicloom.errors import InvalidOptionError
from topicloom.methods.per_topic.topic_graphs import similarity_sequence


@pytest.mark.parametrize("n", [*range(3, 20), 24, 25, 32, 33, 39, 40])
def test_connectivity_is_exactly_k_with_the_fewest_links(n: int) -> None:
    for k in range(2, n):
        links = tl.harary_per_topic(one_topic(n), k=k).links
        assert len(links) == (k * n + 1) // 2
        graph = nx.Graph(links.tolist())
        degrees = sorted(d for _, d in graph.degree)
        assert degrees == [k] * (n - 1) + [k + (k * n) % 2]
        if n <= 20 or k in (2, 3, 4, 5, n - 2, n - 1):
            assert nx.node_connectivity(graph) == k


@pytest.mark.parametrize("n", range(2, 41))
def test_link_counts_up_to_forty(n: int) -> None:
    for k in range(2, n):
        assert tl.harary_per_topic(one_topic(n), k=k).n_links == (k * n + 1) // 2
        assert tl.verify(one_topic(n), tl.harary_per_topic(one_topic(n), k=k).links, k).ok


@pytest.mark.parametrize("n", range(2, 12))
def test_one_is_a_path_and_more_than_there_are_a_clique(n: int) -> None:
    path = tl.harary_per_topic(one_topic(n), k=1)
    assert path.links.tolist() == [[v, v + 1] for v in range(n - 1)]
    for k in (n - 1, n, n + 1, 50):
        if k > 1:
            assert tl.harary_per_topic(one_topic(n), k=k).n_links == n * (n - 1) // 2


@settings(max_examples=150, deadline=None)
@given(interests(), st.integers(1, 6), st.sampled_from(["arbitrary", "similarity", "independent"]))
def test_every_design_survives_k_minus_one_failures(interest: tl.Interest, k: int, sequence: str) -> None:
    overlay = tl.harary_per_topic(interest, k=k, sequence=sequence)
    assert tl.verify(interest, overlay.links, k).ok
    assert survives(interest, overlay.links, k)
    for t in range(interest.n_topics):
        graph = sub_overlay(interest, overlay.links, t)
        if 0 < len(graph) <= k:
            assert graph.number_of_edges() == len(graph) * (len(graph) - 1) // 2


def test_orders_of_their_own_share_fewer_links_and_follow_the_seed() -> None:
    interest = tl.generate(nodes=200, topics=20, subscriptions=5, seed=1)
    own, again, other = (tl.harary_per_topic(interest, k=4, sequence="independent", seed=s) for s in (1, 1, 2))
    assert own.links.tolist() == again.links.tolist() and own.links.tolist() != other.links.tolist()
    assert own.n_links > 1.2 * tl.harary_per_topic(interest, k=4).n_links


@pytest.mark.parametrize("name", EDGE_CASES)
@pytest.mark.parametrize("k", [1, 2, 3, 4, 99])
@pytest.mark.parametrize("sequence", ["arbitrary", "similarity", "independent"])
def test_edge_cases(name: str, k: int, sequence: str) -> None:
    interest = EDGE_CASES[name]
    assert tl.verify(interest, tl.harary_per_topic(interest, k=k, sequence=sequence).links, k).ok


def test_two_is_the_ring() -> None:
    interest = tl.generate(nodes=200, topics=30, subscriptions=6, seed=3)
    assert np.array_equal(tl.harary_per_topic(interest, k=2).links, tl.ring_per_topic(interest).links)


@pytest.mark.parametrize("k", [0, -1, 2.5, "2", True, None])
def test_refuses_a_k_that_is_none(k: object) -> None:
    with pytest.raises(InvalidOptionError, match="k is"):
        tl.design(EDGE_CASES["one topic"], "harary-pt", k=k)


def test_refuses_an_unknown_sequence() -> None:
    with pytest.raises(InvalidOptionError, match="arbitrary and similarity"):
        tl.harary_per_topic(EDGE_CASES["one topic"], sequence="random")


@settings(max_examples=100, deadline=None)
@given(interests())
def test_similarity_sequence_is_the_reflected_gray_code(interest: tl.Interest) -> None:
    subscribers = np.diff(interest.topic_indptr)
    rare_first = np.argsort(subscribers, kind="stable")
    wants = np.zeros((interest.n_nodes, interest.n_topics), int)
    wants[np.repeat(np.arange(interest.n_nodes), np.diff(interest.indptr)), interest.topics] = 1
    # The rank of a Gray code word is the word of its prefixes' parities.
    ranks = [tuple(np.cumsum(row[rare_first]) % 2) for row in wants]
    assert similarity_sequence(interest).tolist() == sorted(range(interest.n_nodes), key=lambda v: (ranks[v], v))


@pytest.mark.parametrize("popularity", ["exponential", "zipf"])
def test_similarity_saves_links_where_topics_differ_in_popularity(popularity: str) -> None:
    interest = tl.generate(nodes=500, topics=200, subscriptions=30, popularity=popularity, seed=0)
    arbitrary, similar = (tl.harary_per_topic(interest, k=4, sequence=s).n_links for s in ("arbitrary", "similarity"))
    assert similar < 0.95 * arbitrary
