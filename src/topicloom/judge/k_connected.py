"""k >= 2: every topic stays connected while fewer than k of its nodes are down, or is a clique."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from topicloom.judge.articulation import pairs_lost
from topicloom.judge.connected import disconnected_topics
from topicloom.judge.separators import separator
from topicloom.judge.sub_overlays import TopicBatch
from topicloom.model.arrays import Int64Array
from topicloom.model.interest import Interest
from topicloom.model.results import BrokenTopic

if TYPE_CHECKING:
    from scipy import sparse


def weak_topics(interest: Interest, batch: TopicBatch, k: int) -> list[BrokenTopic]:
    """Topics of a batch that are not k-topic-connected, by topic id, each with its witness."""
    broken = {topic.topic: topic for topic in disconnected_topics(interest, batch)}
    sizes = np.diff(interest.topic_indptr[batch.start : batch.stop + 1])
    rows = symmetric(batch)
    connected = np.ones(len(sizes), bool)
    connected[[topic - batch.start for topic in broken]] = False
    for offset, witness in _witnesses(interest, batch, rows, sizes, connected, k):
        topic = batch.start + int(offset)
        subscribers = interest.subscribers(topic)
        broken[topic] = BrokenTopic(topic, 1, tuple(sorted(subscribers[witness].tolist())))
    return [broken[topic] for topic in sorted(broken)]


def _witnesses(
    interest: Interest,
    batch: TopicBatch,
    rows: "sparse.csr_array",
    sizes: Int64Array,
    connected: npt.NDArray[np.bool_],
    k: int,
) -> Iterator[tuple[int, npt.NDArray[np.integer]]]:
    """Offset of every connected topic that fails, and its witness as places among its subscribers."""
    starts = interest.topic_indptr[batch.start : batch.stop + 1] - batch.first
    degree = np.diff(rows.indptr)
    topic_of = np.repeat(np.arange(len(sizes)), sizes)
    pairs_linked = np.bincount(topic_of, weights=degree, minlength=len(sizes)).astype(np.int64) // 2
    clique = pairs_linked == sizes * (sizes - 1) // 2
    for offset in np.flatnonzero(connected & (sizes <= k) & ~clique).tolist():
        yield offset, _unlinked_pair(rows, starts[offset], starts[offset + 1])
    cut_prone = connected & (sizes > k) & ~clique
    if k == 2:
        yield from _articulations(rows, topic_of, starts, cut_prone)
        return
    # A node with fewer than k neighbours is cut off by them.
    thin = np.flatnonzero(degree < k)
    thin = thin[cut_prone[topic_of[thin]]]
    thin_topics, first = np.unique(topic_of[thin], return_index=True)
    for offset, entry in zip(thin_topics.tolist(), thin[first]):
        yield offset, rows.indices[rows.indptr[entry] : rows.indptr[entry + 1]] - starts[offset]
    cut_prone[thin_topics] = False
    for offset in np.flatnonzero(cut_prone).tolist():
        start, stop = starts[offset], starts[offset + 1]
        indptr = rows.indptr[start : stop + 1].astype(np.int64)
        inner = (rows.indices[indptr[0] : indptr[-1]] - start).astype(np.int32)
        cut = separator(indptr - indptr[0], inner, k)
        if not (len(cut) == 1 and cut[0] < 0):
            yield offset, cut


def symmetric(batch: TopicBatch) -> "sparse.csr_array":
    """The graph of a batch with every edge in both rows, columns ascending."""
    from scipy import sparse  # here, because it takes long to load

    ends = (np.concatenate((batch.a, batch.b)), np.concatenate((batch.b, batch.a)))
    rows = sparse.coo_array((np.ones(len(ends[0]), np.int8), ends), shape=(batch.size, batch.size)).tocsr()
    rows.sort_indices()
    return rows


def _unlinked_pair(rows: "sparse.csr_array", start: int, stop: int) -> Int64Array:
    """Places of the first two subscribers of a topic that are not linked."""
    entry = start + int(np.flatnonzero(np.diff(rows.indptr[start : stop + 1]) < stop - start - 1)[0])
    linked = rows.indices[rows.indptr[entry] : rows.indptr[entry + 1]]
    others = np.setdiff1d(np.arange(start, stop), np.append(linked, entry))
    return np.array([entry - start, others[0] - start])


def _articulations(
    rows: "sparse.csr_array", topic_of: Int64Array, starts: Int64Array, cut_prone: npt.NDArray[np.bool_]
) -> Iterator[tuple[int, Int64Array]]:
    """The first articulation point of every topic that has one: all topics by one linear search."""
    points = np.flatnonzero(pairs_lost(rows.indptr.astype(np.int64), rows.indices.astype(np.int32)))
    topics, first = np.unique(topic_of[points], return_index=True)
    for offset, entry in zip(topics.tolist(), points[first]):
        if cut_prone[offset]:
            yield offset, np.array([entry - starts[offset]])
