"""Components per (node, topic) while links are added: the state that every greedy rule shares.

An *entry* is one subscription. Entries are numbered topic by topic and, within a topic, along the circle
of the tie order. The nodes are numbered along the circle too, so that entries of a node and members of a topic
both ascend.
"""

from typing import NamedTuple

import numpy as np

from topicloom.kernels.disjoint_sets import join
from topicloom.kernels.jit import borrowing, serial
from topicloom.kernels.sorted_rows import longest_row, shared

# Typed: numba would compile `_flag` for each of two plain constants.
INSIDE, OUTSIDE = np.bool_(True), np.bool_(False)


class Components(NamedTuple):
    """Subscriptions in both orientations, and the component that each one lies in.

    The first five never change: node v has entries ``entry[node_ptr[v]:node_ptr[v + 1]]`` with topics ``topic[...]``
    ascending; topic t has entries ``topic_ptr[t]`` to ``topic_ptr[t + 1]``, of nodes ``member[...]`` ascending.
    """

    node_ptr: np.ndarray  # int64
    topic: np.ndarray  # int32
    entry: np.ndarray  # int32
    topic_ptr: np.ndarray  # int64
    member: np.ndarray  # int32
    label: np.ndarray  # int32 per entry: the representative entry of its component
    chain: np.ndarray  # int32 per entry: the next entry of its component, cyclic
    size: np.ndarray  # int32 per label: entries in the component
    giant: np.ndarray  # int32 per topic: label of the component that counts as its giant, -1 before the first merge
    inside: np.ndarray  # bool per entry: it lies in its topic's giant
    changed: np.ndarray  # int32: entries whose `inside` the last merge changed
    pending: np.ndarray  # int64, one element: merges left until every topic is one component
    weight: np.ndarray | None  # int64 per topic: what it counts for; None if all count 1
    homes: np.ndarray  # what `joined` asks: the labels


@serial
def build_components(node_ptr, topic, n_topics, start, weight):
    """Make the components of all topics before any link is added.

    Parameters
    ----------
    node_ptr, topic : int64, int32
        The interest by node in circle order, topics ascending in each row.
    n_topics : int
    start : int32, one per subscription
        Equal numbers for subscriptions of one topic that begin in one component; empty if each begins alone.
    weight : int64, one per topic, optional
        What each topic counts for; None if all count 1.

    Returns
    -------
    Components

    Cost: O(subscriptions).
    """
    n_entries = len(topic)
    topic_ptr, entry, member = number_entries(node_ptr, topic, n_topics)
    pending = np.zeros(1, np.int64)
    for t in range(n_topics):
        pending[0] += max(topic_ptr[t + 1] - topic_ptr[t] - 1, 0)
    label = np.arange(n_entries).astype(np.int32)
    c = Components(
        node_ptr,
        topic,
        entry,
        topic_ptr,
        member,
        label,
        label.copy(),
        np.ones(n_entries, np.int32),
        np.full(n_topics, -1, np.int32),
        np.zeros(n_entries, np.bool_),
        np.empty(2 * longest_row(topic_ptr), np.int32),
        pending,
        weight,
        label,
    )
    if len(start):
        highest = start[0]
        by_entry = np.empty(n_entries, np.int32)
        for k in range(n_entries):
            highest = max(highest, start[k])
            by_entry[entry[k]] = start[k]
        merge_equal(c, by_entry, np.full(highest + 1, -1, np.int32))
    return c


@serial
def number_entries(node_ptr, topic, n_topics):
    """Number the entries of an interest: its subscriptions, topic by topic.

    Parameters
    ----------
    node_ptr, topic : int64, int32
        The interest by node in circle order, topics ascending in each row.
    n_topics : int

    Returns
    -------
    topic_ptr : int64, entry : int32, member : int32
        First entry of each topic, entry of each subscription, node of each entry.

    Cost: O(subscriptions).
    """
    topic_ptr = np.zeros(n_topics + 1, np.int64)
    for t in topic:
        topic_ptr[t + 1] += 1
    for t in range(n_topics):
        topic_ptr[t + 1] += topic_ptr[t]
    entry = np.empty(len(topic), np.int32)
    member = np.empty(len(topic), np.int32)
    place = topic_ptr[:-1].copy()
    for v in range(len(node_ptr) - 1):
        for k in range(node_ptr[v], node_ptr[v + 1]):
            entry[k] = place[topic[k]]
            member[entry[k]] = v
            place[topic[k]] += 1
    return topic_ptr, entry, member


@borrowing
def merge_equal(c, by_entry, latest):
    """Merge the entries of each topic whose numbers ``by_entry`` (int32) are equal.

    ``latest`` (int32 per number, all -1) is overwritten by the last entry that has it.
    """
    for t in range(len(c.topic_ptr) - 1):
        for e in range(c.topic_ptr[t], c.topic_ptr[t + 1]):
            before = latest[by_entry[e]]
            if before >= c.topic_ptr[t]:  # of this topic: entries are numbered topic by topic
                merge(c, np.int32(t), before, np.int32(e))
            latest[by_entry[e]] = e


@borrowing
def merge(c, t, q, r):
    """Join the components of two entries of a topic.

    The smaller side is relabelled. A component becomes its topic's giant when it is twice as large as the giant so far:
    changing it more eagerly would cost more than a sharper bound saves.

    Parameters
    ----------
    c : Components
        Changed in place.
    t : int
        The topic.
    q, r : int
        Its entries.

    Returns
    -------
    int
        How many entries of ``c.changed`` it wrote: those that entered the giant of the topic, or left it. 0 if the two
        were joined already.

    Cost: O(n log n) over all merges of a topic with n subscribers.
    """
    a, b = c.label[q], c.label[r]
    if a == b:
        return 0
    if c.size[a] < c.size[b]:
        a, b = b, a
    giant = c.giant[t]
    n_changed = np.int64(0)
    if giant == a:
        n_changed = _flag(c, b, INSIDE, n_changed)
    elif giant == b:
        n_changed = _flag(c, a, INSIDE, n_changed)
    labels, chain = c.label, c.chain
    e = b
    while True:
        labels[e] = a
        e = chain[e]
        if e == b:
            break
    c.chain[a], c.chain[b] = c.chain[b], c.chain[a]
    c.size[a] += c.size[b]
    c.pending[0] -= 1
    if giant == a or giant == b:  # noqa: PLR1714, SIM109 - a tuple is slower
        c.giant[t] = a
    elif giant < 0 or c.size[a] >= 2 * c.size[giant]:
        if giant >= 0:
            n_changed = _flag(c, giant, OUTSIDE, n_changed)
        n_changed = _flag(c, a, INSIDE, n_changed)
        c.giant[t] = a
    return n_changed


@borrowing
def _flag(c, label, inside, n_changed):
    """Set ``inside`` of a whole component and note its entries in ``c.changed``."""
    flags, changed, chain = c.inside, c.changed, c.chain
    e = label
    while True:
        flags[e] = inside
        changed[n_changed] = e
        n_changed += 1
        e = chain[e]
        if e == label:
            return n_changed


def components_of_links(indptr, topics, links, components=None):
    """Find the component of every subscription when some links stand.

    Parameters
    ----------
    indptr, topics
        The interest, CSR by node: row starts, topics ascending in each row.
    links : (m, 2) integers
    components : int32, one per subscription, optional
        Equal numbers on one topic mean that the two are joined beforehand.

    Returns
    -------
    int32, one per subscription
        Equal numbers on one topic mean one component.

    Cost: O(subscriptions + topics of the links' ends), and a sort if there are ``components``.
    """
    parent = np.arange(len(topics), dtype=np.int32)
    if components is not None and len(topics):
        order = np.lexsort((components, topics))
        leads = np.ones(len(order), np.bool_)
        leads[1:] = (np.diff(topics[order]) != 0) | (np.diff(components[order]) != 0)
        parent[order] = order[leads][np.cumsum(leads) - 1]
    _join_links(indptr, topics, links, parent)
    return parent


@serial
def _join_links(indptr, topics, links, parent):
    """Union-find over entries: ``parent`` (int32, roots are the smallest of their set) is overwritten by the roots."""
    for link in range(len(links)):
        for k, m in shared(indptr, topics, links[link, 0], links[link, 1]):
            join(parent, k, m)
    for e in range(len(parent)):
        parent[e] = parent[parent[e]]  # roots are smallest, so those before e are final
