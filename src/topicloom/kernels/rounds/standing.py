"""How far an overlay has come when a round begins: which subscriptions of a topic are connected already.

An *entry* is the position of a subscription in the CSR of the interest. Entries are kept node by node, because a round
looks at pairs of nodes: the topics of a node and their labels lie side by side.
"""

from typing import NamedTuple

import numpy as np

from topicloom.kernels.jit import serial


class Standing(NamedTuple):
    """The interest, and the components that the links of earlier rounds made; nothing of it changes in a round."""

    indptr: np.ndarray  # int64 per node
    topics: np.ndarray  # int32 per entry, ascending in each row
    label: np.ndarray  # int32 per entry: the first entry of its component
    weight: np.ndarray  # int32 per topic: what it counts for
    largest: np.ndarray  # int32 per topic: label of its largest component, -1 while all have one entry
    outside: np.ndarray  # int32 per topic: entries outside of that component, 0 if the topic is connected
    subscribers: np.ndarray  # int32 per topic


def standing(indptr, topics, weight, label=None):
    """The `Standing` of an interest. Without ``label`` there are no links yet. O(subscriptions)."""
    if label is None:
        label = np.arange(len(topics), dtype=np.int32)
    largest, outside, subscribers = _largest_components(topics, label, len(weight))
    return Standing(indptr, topics, label, weight, largest, outside, subscribers)


@serial
def _largest_components(topics, label, n_topics):
    size = np.zeros(len(label), np.int32)
    largest = np.full(n_topics, -1, np.int32)
    inside = np.zeros(n_topics, np.int32)
    subscribers = np.zeros(n_topics, np.int32)
    for e in range(len(label)):
        size[label[e]] += 1
        subscribers[topics[e]] += 1
    for e in range(len(label)):
        t = topics[e]
        if size[e] > inside[t]:  # of several that are as large, the one with the first entry
            inside[t] = size[e]
            largest[t] = e
    outside = np.empty(n_topics, np.int32)
    for t in range(n_topics):
        if inside[t] == 1:
            largest[t] = -1
            inside[t] = 1 if subscribers[t] == 1 else 0
        outside[t] = subscribers[t] - inside[t]
    return largest, outside, subscribers


@serial
def merges_left(topics, label, n_topics):
    """How many merges of two components are left until every topic is one component."""
    wanted = np.zeros(n_topics, np.bool_)
    left = 0
    for e in range(len(label)):
        left += label[e] == e
        wanted[topics[e]] = True
    for t in range(n_topics):
        left -= wanted[t]
    return left
