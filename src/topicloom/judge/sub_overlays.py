"""The sub-overlays of all topics as one sparse graph over (topic, subscriber) entries, some topics at a time.

An entry is a position in ``interest.topic_nodes``. A link between u and v is, in every topic that both want,
an edge between two entries of that topic, so questions about each topic become questions about one large
graph that falls apart by topic.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from topicloom.model.arrays import Int32Array, Int64Array, degrees
from topicloom.model.interest import Interest

_EDGES_AT_ONCE = 1 << 22


class TopicBatch(NamedTuple):
    """The sub-overlays of topics ``start`` to ``stop`` (exclusive).

    Edge i joins the entries ``first + a[i]`` and ``first + b[i]``, which belong to one topic, and is the link
    ``link[i]``.
    """

    start: int
    stop: int
    first: int
    size: int
    a: Int64Array
    b: Int64Array
    link: Int64Array


def topic_batches(interest: Interest, links: Int32Array, *, at_once: int = _EDGES_AT_ONCE) -> Iterator[TopicBatch]:
    """All sub-overlays in batches of consecutive topics.

    A batch holds at most about ``at_once`` edges, or one topic, so the memory is O(subscriptions + links +
    at_once). Takes O(topics of its two ends) time per link in all, and O(links) more per batch.
    """
    indptr = interest.topic_indptr
    for start, stop in _ranges(_edge_bounds(interest, links), at_once):
        first, last = int(indptr[start]), int(indptr[stop])
        # Entries are stored as position + 1: a product of sparse matrices keeps no zeros.
        by_topic = sparse.csr_array(
            (
                np.arange(1, last - first + 1),
                interest.topic_nodes[first:last],
                indptr[start : stop + 1] - first,
            ),
            shape=(stop - start, interest.n_nodes),
        )
        entry = by_topic.T.tocsr()
        wants_some = np.diff(entry.indptr) > 0
        link = np.flatnonzero(wants_some[links[:, 0]] & wants_some[links[:, 1]])
        present = entry.copy()
        present.data = np.ones_like(present.data)
        left, right = links[link, 0], links[link, 1]
        a = entry[left].multiply(present[right]).tocsr()
        b = present[left].multiply(entry[right]).tocsr()
        link_of = np.repeat(link, np.diff(a.indptr))
        yield TopicBatch(start, stop, first, last - first, a.data - 1, b.data - 1, link_of)


def _edge_bounds(interest: Interest, links: Int32Array) -> Int64Array:
    """For every topic an upper bound of the links among its subscribers, without looking at pairs."""
    sizes = np.diff(interest.topic_indptr)
    ends = np.concatenate(([0], np.cumsum(degrees(links, interest.n_nodes)[interest.topic_nodes])))
    by_degree = np.diff(ends[interest.topic_indptr]) // 2
    bounds: Int64Array = np.minimum(np.minimum(by_degree, len(links)), sizes * (sizes - 1) // 2)
    return bounds


def _ranges(weights: Int64Array, at_once: int) -> Iterator[tuple[int, int]]:
    """Consecutive ranges of total weight at most ``at_once``, or of one item; they cover all."""
    # A topic costs something even without an edge: its entries.
    reach = np.concatenate(([0], np.cumsum(weights + 1)))
    start = 0
    while start < len(weights):
        stop = int(np.searchsorted(reach, reach[start] + at_once, side="right")) - 1
        stop = max(stop, start + 1)
        yield start, stop
        start = stop
