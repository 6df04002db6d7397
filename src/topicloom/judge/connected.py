"""Components of sub-overlays: every topic in one piece (k = 1), and groups that forbidden links keep apart."""

from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.judge.compiled import compiled
from topicloom.judge.sub_overlays import FAR_MORE, TopicBatch
from topicloom.model.arrays import Int32Array, Int64Array, normalized_links
from topicloom.model.interest import Interest
from topicloom.model.results import BrokenTopic


def component_labels(
    a: npt.NDArray[Any], b: npt.NDArray[Any], size: int, *, strong: bool = False
) -> npt.NDArray[np.int32]:
    """Number the components of a graph on 0 to ``size`` - 1 with edges from ``a`` to ``b``. Returns that of every node.

    With ``strong`` edges lead one way, and nodes are in one component if each can reach the other.
    """
    from scipy import sparse  # here, because it takes long to load and connectivity at k = 1 does not need it
    from scipy.sparse import csgraph

    edges = sparse.coo_array((np.ones(len(a), np.int8), (a, b)), shape=(size, size)).tocsr()
    _, labels = csgraph.connected_components(edges, directed=strong, connection="strong")
    return labels


def component_heads(batch: TopicBatch) -> Int64Array:
    """First entry of every component, ascending. It is the one of the component's smallest node."""
    _, heads = np.unique(component_labels(batch.a, batch.b, batch.size), return_index=True)
    return np.sort(heads)


def disconnected_topics(interest: Interest, batch: TopicBatch) -> list[BrokenTopic]:
    """Topics of a batch with more than one component, each with the smallest nodes of its first two."""
    heads = batch.first + component_heads(batch)
    starts = np.searchsorted(heads, interest.topic_indptr[batch.start : batch.stop + 1])
    components = np.diff(starts)
    broken = []
    for offset in np.flatnonzero(components > 1):
        first, second = interest.topic_nodes[heads[starts[offset] : starts[offset] + 2]]
        broken.append(BrokenTopic(batch.start + int(offset), int(components[offset]), (int(first), int(second))))
    return broken


def split_topics(interest: Interest, links: Int32Array) -> tuple[list[BrokenTopic], npt.NDArray[np.bool_]]:
    """Every topic with more than one component, as `disconnected_topics`, and which links lie in a topic.

    One pass over the links: O(Σ over links of the topics of both ends) time, 8 bytes for each subscription.
    """
    entries = np.arange(interest.n_subscriptions)
    parent, used = entries.copy(), np.zeros(len(links), bool)
    join_entries(interest.indptr, interest.topics, links, parent, used)
    heads = np.flatnonzero(parent == entries)
    heads = heads[np.argsort(interest.topics[heads], kind="stable")]
    components = np.bincount(interest.topics[heads], minlength=interest.n_topics)
    starts = np.cumsum(components) - components
    broken = []
    for topic in np.flatnonzero(components > 1):
        first, second = np.searchsorted(interest.indptr, heads[starts[topic] : starts[topic] + 2], side="right") - 1
        broken.append(BrokenTopic(int(topic), int(components[topic]), (int(first), int(second))))
    return broken, used


@compiled
def join_entries(
    indptr: Int64Array, topics: Int32Array, links: Int32Array, parent: Int64Array, used: npt.NDArray[np.bool_]
) -> None:
    """Join what links connect: ``parent`` of a subscription leads to the first one of its component.

    Subscriptions are numbered as in ``topics``. Sets ``used`` at links whose ends have a topic in common.
    """
    for number in range(len(links)):
        few, many = links[number, 0], links[number, 1]
        if indptr[few + 1] - indptr[few] > indptr[many + 1] - indptr[many]:
            few, many = many, few
        i, i_end, j, j_end = indptr[few], indptr[few + 1], indptr[many], indptr[many + 1]
        leap = j_end - j > FAR_MORE * (i_end - i)
        while i < i_end and j < j_end:
            if topics[i] < topics[j]:
                i += 1
            elif topics[j] < topics[i]:
                j += np.searchsorted(topics[j:j_end], topics[i]) if leap else 1
            else:
                used[number] = True
                a, b = _head(parent, i), _head(parent, j)
                parent[max(a, b)] = min(a, b)
                i += 1
                j += 1


@compiled
def _head(parent: Int64Array, entry: int) -> int:
    """First subscription of a component, by the way of ``parent``, which becomes shorter."""
    while parent[entry] != entry:
        parent[entry] = parent[parent[entry]]
        entry = parent[entry]
    return entry


def forbidden_links(links: npt.ArrayLike, forbid: npt.ArrayLike, n_nodes: int) -> Int32Array:
    """Links of an overlay that are among the forbidden pairs, as (m, 2) node ids.

    >>> forbidden_links([(0, 1), (1, 2)], [(2, 1), (0, 2)], 3).tolist()
    [[1, 2]]
    """
    used, barred = normalized_links(links, n_nodes), normalized_links(forbid, n_nodes)
    mine, others = (pairs[:, 0].astype(np.int64) * n_nodes + pairs[:, 1] for pairs in (used, barred))
    return used[np.isin(mine, others)]


def separated_groups(subscribers: npt.ArrayLike, forbid: npt.ArrayLike) -> tuple[tuple[int, ...], ...]:
    """Groups of a topic's subscribers that cannot meet because every link between two groups is forbidden.

    One group when the topic can be connected. Each group is sorted; the group of the smallest node comes first. Takes
    O(subscribers + forbidden pairs) time, by searches over the links that are allowed.

    >>> separated_groups([0, 1, 2, 3], [(0, 2), (0, 3), (1, 2), (1, 3)])
    ((0, 1), (2, 3))
    """
    waiting = {int(v) for v in np.asarray(subscribers).ravel()}
    against: dict[int, set[int]] = {v: set() for v in waiting}
    for u, v in np.asarray(forbid, np.int64).reshape(-1, 2).tolist():
        if u in against and v in against:
            against[u].add(v)
            against[v].add(u)
    groups = []
    while waiting:
        start = min(waiting)
        waiting.discard(start)
        group, frontier = [start], [start]
        while frontier:
            reached = waiting - against[frontier.pop()]
            waiting -= reached
            group += reached
            frontier += reached
        groups.append(tuple(sorted(group)))
    return tuple(groups)
