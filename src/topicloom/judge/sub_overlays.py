"""The sub-overlays of all topics as one sparse graph over (topic, subscriber) entries, some topics at a time.

An entry is a position in ``interest.topic_nodes``. A link between u and v is, in every topic that both want,
an edge between two entries of that topic, so questions about each topic become questions about one large
graph that falls apart by topic.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from topicloom.judge.compiled import compiled
from topicloom.model.arrays import Int32Array, Int64Array, degrees
from topicloom.model.interest import Interest

_EDGES_AT_ONCE = 1 << 22
FAR_MORE = 16  # times as many topics: a search in the longer row takes less time than walking along it
_NONE = np.empty(0, np.int64)


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
    at_once). In all, a link takes O(topics of both ends) time, or O(fewer × log more) where one end has far fewer
    topics than the other. A batch takes O(nodes + links) more.
    """
    if interest.n_topics == 0:
        return
    indptr = interest.topic_indptr
    entry_of = np.empty(interest.n_subscriptions, np.int64)
    entry_of[np.argsort(interest.topics, kind="stable")] = np.arange(interest.n_subscriptions)
    low = interest.indptr[:-1].copy()
    high = low.copy()
    for start, stop in _ranges(_edge_bounds(interest, links), at_once):
        advance(interest.indptr, interest.topics, stop, low, high)
        count = shared_entries(low, high, interest.topics, entry_of, links, _NONE, _NONE, _NONE)
        a, b, link = (np.empty(count, np.int64) for _ in range(3))
        shared_entries(low, high, interest.topics, entry_of, links, a, b, link)
        first, last = int(indptr[start]), int(indptr[stop])
        yield TopicBatch(start, stop, first, last - first, a - first, b - first, link)


@compiled
def advance(indptr: Int64Array, topics: Int32Array, stop: int, low: Int64Array, high: Int64Array) -> None:
    """Move ``low`` to ``high``, and ``high`` of every node behind its last topic below ``stop``."""
    for node in range(len(low)):
        at = high[node]
        low[node] = at
        while at < indptr[node + 1] and topics[at] < stop:
            at += 1
        high[node] = at


@compiled
def shared_entries(
    low: Int64Array,
    high: Int64Array,
    topics: Int32Array,
    entry_of: Int64Array,
    links: Int32Array,
    a: Int64Array,
    b: Int64Array,
    link: Int64Array,
) -> int:
    """Number of (link, topic) pairs such that both ends want the topic, between ``low`` and ``high`` of their rows.

    Writes the entries of both ends and the link of each pair, by link and then by topic, as far as there is room.
    """
    found = 0
    for number in range(len(links)):
        few, many = links[number, 0], links[number, 1]
        turned = high[few] - low[few] > high[many] - low[many]
        if turned:
            few, many = many, few
        i, j, end = low[few], low[many], high[many]
        leap = (end - j) > FAR_MORE * (high[few] - i)
        while i < high[few] and j < end:
            if leap:
                j += np.searchsorted(topics[j:end], topics[i])
            else:
                while j < end and topics[j] < topics[i]:
                    j += 1
            if j < end and topics[j] == topics[i]:
                if found < len(a):
                    a[found] = entry_of[j] if turned else entry_of[i]
                    b[found] = entry_of[i] if turned else entry_of[j]
                    link[found] = number
                found += 1
            i += 1
    return found


def _edge_bounds(interest: Interest, links: Int32Array) -> Int64Array:
    """For every topic an upper bound of the links among its subscribers, without looking at pairs."""
    sizes = np.diff(interest.topic_indptr)
    ends = np.concatenate(([0], np.cumsum(degrees(links, interest.n_nodes)[interest.topic_nodes])))
    by_degree = np.diff(ends[interest.topic_indptr]) // 2
    bounds: Int64Array = np.minimum(np.minimum(by_degree, len(links)), sizes * (sizes - 1) // 2)
    return bounds


def _ranges(weights: Int64Array, at_once: int) -> Iterator[tuple[int, int]]:
    """Consecutive ranges of total weight at most ``at_once``, or of one item. They cover all."""
    # A topic costs something even without an edge: its entries.
    reach = np.concatenate(([0], np.cumsum(weights + 1)))
    start = 0
    while start < len(weights):
        stop = int(np.searchsorted(reach, reach[start] + at_once, side="right")) - 1
        stop = max(stop, start + 1)
        yield start, stop
        start = stop
