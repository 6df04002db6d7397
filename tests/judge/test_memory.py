"""C12: a node that wants everything takes no more memory than its subscriptions and links do."""

import tracemalloc

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

import topicloom as tl
from topicloom.judge.connected import disconnected_topics, split_topics
from topicloom.judge.sub_overlays import topic_batches
from topicloom.model.arrays import shared_topics


def monitor_and_others(n_topics, n_others):
    """Node 0 wants all topics, every other node one of them; node 0 is linked with all others."""
    drawn = np.random.default_rng(0).integers(0, n_topics, n_others)
    indptr = np.concatenate(([0], n_topics + np.arange(n_others + 1)))
    interest = tl.Interest.from_csr(indptr, np.concatenate((np.arange(n_topics), drawn)), n_topics)
    return interest, np.column_stack((np.zeros(n_others, np.int32), np.arange(1, n_others + 1, dtype=np.int32)))


def peak(function, *arguments):
    function(*arguments)  # compiles, and fills caches of the interest
    tracemalloc.start()
    function(*arguments)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def test_a_node_that_wants_all_topics_costs_its_subscriptions_not_its_links_times_its_topics():
    interest, links = monitor_and_others(20_000, 200)
    of_its_subscriptions = 8 * interest.n_subscriptions
    assert tl.verify(interest, links).ok
    assert peak(tl.verify, interest, links) < 40 * of_its_subscriptions  # links × topics would be 200 times
    assert peak(shared_topics, interest, links) < 40 * of_its_subscriptions
    assert shared_topics(interest, links).tolist() == [1] * 200


@given(st.integers(0, 2**32), st.integers(1, 30))
def test_batches_of_any_size_hold_every_edge_once_and_one_pass_finds_what_they_find(seed, at_once):
    draw = np.random.default_rng(seed)
    density = draw.random(9)[:, None]
    nodes, topics = np.nonzero(draw.random((9, 40)) < density)
    interest = tl.Interest.from_ids(nodes, topics, n_nodes=9, n_topics=40)
    links = np.array([(u, v) for u in range(9) for v in range(u + 1, 9) if draw.random() < 0.6], np.int32).reshape(
        -1, 2
    )
    found, broken = [], []
    for batch in topic_batches(interest, links, at_once=at_once):
        broken += disconnected_topics(interest, batch)
        for a, b, link in zip(batch.first + batch.a, batch.first + batch.b, batch.link):
            (topic,) = np.unique(np.searchsorted(interest.topic_indptr, [a, b], side="right") - 1)
            assert batch.start <= topic < batch.stop
            assert links[link].tolist() == interest.topic_nodes[[a, b]].tolist()
            found.append((topic, int(link)))
    expected = {
        (t, at) for at, (u, v) in enumerate(links) for t in set(interest.topics_of(u)) & set(interest.topics_of(v))
    }
    assert len(found) == len(expected) and set(found) == expected
    in_one_pass, used = split_topics(interest, links)
    assert in_one_pass == broken and set(np.flatnonzero(used)) == {link for _, link in expected}
