"""The topics of a bucket with their subscribers and links, beside sets."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from support.small_interests import interests
from topicloom.kernels.topic_buckets import bucket_links, bucket_rows


@given(interests(), st.data())
def test_a_bucket_has_its_topics_their_subscribers_and_the_links_that_serve_one(interest, data):
    topics = sorted(data.draw(st.sets(st.sampled_from(range(interest.n_topics))))) if interest.n_topics else []
    number = np.full(interest.n_topics, -1, np.int32)
    number[topics] = np.arange(len(topics))
    nodes, starts, wanted = bucket_rows(interest.indptr, interest.topics, number)
    rows = {v: [topics[t] for t in wanted[starts[i] : starts[i + 1]]] for i, v in enumerate(nodes.tolist())}
    expected = {v: [t for t in interest.topics_of(v).tolist() if t in topics] for v in range(interest.n_nodes)}
    assert rows == {v: row for v, row in expected.items() if row} and list(rows) == sorted(rows)
    links = np.array([(u, v) for v in range(interest.n_nodes) for u in range(v)], np.int32).reshape(-1, 2)
    place = np.full(interest.n_nodes, -1, np.int32)
    place[nodes] = np.arange(len(nodes))
    found = nodes[bucket_links(links, place, starts, wanted)].tolist()
    assert found == [[u, v] for u, v in links.tolist() if set(expected[u]) & set(expected[v])]
