"""The state of a refinement: an overlay whose links can be taken out and put back in time linear in the topics shared.

An *entry* is one subscription. Entries are numbered topic by topic, topics by rising number of subscribers. A link owns
a block of *arcs*, two for each topic that its ends share, which stand in doubly linked lists at their entries. Arcs of
new links are appended; `repack` writes all arcs again when there is no room left.
"""

from typing import NamedTuple

import numpy as np

from topicloom.kernels.jit import borrowing, serial
from topicloom.kernels.sorted_rows import shared

NONE = -1
LINKS, ARCS, CLOCK, VISIT, RANDOM, READ, FOLLOWED = range(7)
LISTED = 40  # partners kept for a node
MOST_BROKEN = 4  # a link whose loss breaks more topics is not moved
OUTCOMES = 7


class Swaps(NamedTuple):
    """An interest, links over it, and the scratch of the search. The first seven arrays never change."""

    node_ptr: np.ndarray  # int64 per node: its first subscription
    topic: np.ndarray  # int32 per subscription, ascending within a node
    entry: np.ndarray  # int32 per subscription
    topic_ptr: np.ndarray  # int64 per topic: its first entry
    member: np.ndarray  # int32 per entry: its node
    topic_of: np.ndarray  # int32 per entry
    weight: np.ndarray  # int64 per topic: what sharing it counts for
    end_u: np.ndarray  # int32 per link
    end_v: np.ndarray  # int32 per link
    score: np.ndarray  # int64 per link: weight of the topics shared
    arcs_at: np.ndarray  # int64 per link: its first arc
    shared: np.ndarray  # int32 per link: topics shared
    settled: np.ndarray  # bool per link: its last visit found that it has to stay
    degree: np.ndarray  # int32 per node
    first: np.ndarray  # int32 per entry: its first arc
    head: np.ndarray  # int32 per arc: the entry that it leads to; arc a ^ 1 leads back
    after: np.ndarray  # int32 per arc: the next one at the same entry
    before: np.ndarray  # int32 per arc: the one before
    stamp: np.ndarray  # int64 per entry: the search that has seen it
    queue: np.ndarray  # int32 per entry: the next one of the search
    side: np.ndarray  # int64 per entry: the visit in which it lies on the smaller side of a broken topic
    beside: np.ndarray  # int32 per entry: the next one of that side
    broken: np.ndarray  # int32 (MOST_BROKEN, 4): topic, first entry and size of the smaller side, entry of a candidate
    partners: np.ndarray  # int32 (nodes, LISTED): nodes that share most with a node, by falling score
    partner_score: np.ndarray  # int64 (nodes, LISTED)
    listed: np.ndarray  # bool per node: its partners are known
    sharing: np.ndarray  # int64 per node: scratch, zero
    touched: np.ndarray  # int32 per node: scratch
    best: np.ndarray  # int32 (2 · LISTED): scratch
    best_score: np.ndarray  # int64 (2 · LISTED): scratch
    penalty: np.ndarray  # int64 per degree: what one more link at a node of that degree costs
    depth: np.ndarray  # int64 per entry: cost of its distance from the centre of its topic; empty if none
    counters: np.ndarray  # int64: links, arcs, clock, that of the visit, random numbers, members read, entries followed
    outcomes: np.ndarray  # int64: visits by outcome


def new_swaps(node_ptr, topic, n_topics, links, weight_of):
    """Make the state of a refinement.

    Parameters
    ----------
    node_ptr, topic : int64, integers
        The interest by node, topics ascending in each row.
    n_topics : int
    links : (m, 2) integers
        The overlay to refine.
    weight_of : callable
        ``weight_of(subscribers, links_inside)`` gives the weight of each topic of at least two subscribers.

    Returns
    -------
    Swaps

    Cost: O(subscriptions log subscriptions + topics that links serve).
    """
    n_nodes = len(node_ptr) - 1
    node_ptr, topic, topic_ptr, entry, member = _by_rising_size(node_ptr, topic, n_topics)
    n_entries, subscribers = len(member), np.diff(topic_ptr)
    n_arcs = 2 * int(_links_inside(node_ptr, topic, links, len(subscribers)).sum())
    weight = weight_of(subscribers, _links_inside(node_ptr, topic, links, len(subscribers)))
    room = 2 * n_arcs + 4 * int(np.diff(node_ptr).max(initial=0)) + 64
    n_links = len(links)
    s = Swaps(
        node_ptr, topic, entry, topic_ptr, member, np.repeat(np.arange(len(subscribers), dtype=np.int32), subscribers),
        np.asarray(weight, np.int64),
        links[:, 0].astype(np.int32), links[:, 1].astype(np.int32), np.zeros(n_links, np.int64),
        np.zeros(n_links, np.int64), np.zeros(n_links, np.int32), np.zeros(n_links, np.bool_),
        np.zeros(n_nodes, np.int32), np.empty(n_entries, np.int32),
        np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32),
        np.zeros(n_entries, np.int64), np.empty(n_entries, np.int32), np.zeros(n_entries, np.int64),
        np.empty(n_entries, np.int32), np.zeros((MOST_BROKEN, 4), np.int32),
        np.empty((n_nodes, LISTED), np.int32), np.empty((n_nodes, LISTED), np.int64), np.zeros(n_nodes, np.bool_),
        np.zeros(n_nodes, np.int64), np.empty(n_nodes, np.int32), np.empty(2 * LISTED, np.int32),
        np.empty(2 * LISTED, np.int64), np.zeros(n_nodes + 1, np.int64),
        np.zeros(0, np.int64), np.array([n_links, 0, 0, 0, 0, 0, 0], np.int64), np.zeros(OUTCOMES, np.int64),
    )  # fmt: skip
    repack(s)
    return s


def with_more_room(s):
    """Give a state twice as much room for arcs: links that share more topics have more of them.

    Parameters
    ----------
    s : Swaps

    Returns
    -------
    Swaps
        The other arrays are those of ``s``.

    Cost: O(arcs).
    """
    room = 2 * len(s.head)
    return s._replace(**{name: np.resize(getattr(s, name), room) for name in ("head", "after", "before")})


def current_links(s):
    """Read the links of a state.

    Parameters
    ----------
    s : Swaps

    Returns
    -------
    (m, 2) int32
        u < v, sorted.

    Cost: O(links log links).
    """
    m = s.counters[LINKS]
    links = np.sort(np.stack([s.end_u[:m], s.end_v[:m]], axis=1), axis=1)
    return links[np.lexsort((links[:, 1], links[:, 0]))]


def _by_rising_size(node_ptr, topic, n_topics):
    """(node_ptr, topic, topic_ptr, entry, member) without topics of fewer than two, numbered by rising subscribers."""
    subscribers = np.bincount(topic, minlength=n_topics)
    rising = np.argsort(subscribers, kind="stable")
    rising = rising[subscribers[rising] > 1]
    number = np.full(n_topics, NONE, np.int32)
    number[rising] = np.arange(len(rising), dtype=np.int32)
    node = np.repeat(np.arange(len(node_ptr) - 1, dtype=np.int32), np.diff(node_ptr))
    used = number[topic] != NONE
    node, topic = node[used], number[topic[used]]
    order = np.lexsort((topic, node))
    node, topic = node[order], topic[order]
    by_topic = np.lexsort((node, topic))
    entry = np.empty(len(topic), np.int32)
    entry[by_topic] = np.arange(len(topic), dtype=np.int32)
    counted = np.bincount(node, minlength=len(node_ptr) - 1)
    node_ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(counted)])
    topic_ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(subscribers[rising])])
    return node_ptr, topic, topic_ptr, entry, node[by_topic]


@serial
def _links_inside(node_ptr, topic, links, n_topics):
    """Number of links that serve each topic: int64."""
    inside = np.zeros(n_topics, np.int64)
    for x in range(len(links)):
        for k, _ in shared(node_ptr, topic, links[x, 0], links[x, 1]):
            inside[topic[k]] += 1
    return inside


@borrowing
def put(s, x, u, v):
    """Let a link join two nodes: its arcs are appended and stand in the lists of their entries.

    Parameters
    ----------
    s : Swaps
        Changed in place. There has to be room for the arcs.
    x : int
        Number of the link.
    u, v : int
        Nodes.

    Cost: O(topics of both).
    """
    s.end_u[x], s.end_v[x] = u, v
    arc = s.counters[ARCS]
    s.arcs_at[x] = arc
    score = np.int64(0)
    for k, m in shared(s.node_ptr, s.topic, u, v):
        s.head[arc], s.head[arc + 1] = s.entry[m], s.entry[k]
        arc += 2
        score += s.weight[s.topic[k]]
    s.shared[x] = (arc - s.counters[ARCS]) // 2
    s.score[x] = score
    s.counters[ARCS] = arc
    put_back(s, x)


@borrowing
def put_back(s, x):
    """Put a link that was taken out into the lists of its entries again.

    Parameters
    ----------
    s : Swaps
        Changed in place.
    x : int
        Number of the link.

    Cost: O(topics shared).
    """
    first, head, after, before = s.first, s.head, s.after, s.before
    for arc in range(s.arcs_at[x], s.arcs_at[x] + 2 * s.shared[x]):
        e = head[arc ^ 1]
        next_one = first[e]
        after[arc], before[arc] = next_one, NONE
        if next_one != NONE:
            before[next_one] = arc
        first[e] = arc
    s.degree[s.end_u[x]] += 1
    s.degree[s.end_v[x]] += 1


@borrowing
def take_out(s, x):
    """Take a link out of the lists of its entries. `put_back` undoes it.

    Parameters
    ----------
    s : Swaps
        Changed in place.
    x : int
        Number of the link.

    Cost: O(topics shared).
    """
    first, head, after, before = s.first, s.head, s.after, s.before
    for arc in range(s.arcs_at[x], s.arcs_at[x] + 2 * s.shared[x]):
        next_one, last_one = after[arc], before[arc]
        if last_one != NONE:
            after[last_one] = next_one
        else:
            first[head[arc ^ 1]] = next_one
        if next_one != NONE:
            before[next_one] = last_one
    s.degree[s.end_u[x]] -= 1
    s.degree[s.end_v[x]] -= 1


@borrowing
def remove(s, x):
    """Forget a link that was taken out. The last link takes its number.

    Parameters
    ----------
    s : Swaps
        Changed in place.
    x : int
        Number of the link.

    Cost: O(1).
    """
    last = s.counters[LINKS] - 1
    s.end_u[x], s.end_v[x] = s.end_u[last], s.end_v[last]
    s.score[x], s.arcs_at[x] = s.score[last], s.arcs_at[last]
    s.shared[x], s.settled[x] = s.shared[last], s.settled[last]
    s.counters[LINKS] = last


@borrowing
def repack(s):
    """Write the arcs of all links again, without gaps.

    Parameters
    ----------
    s : Swaps
        Changed in place.

    Cost: O(topics of both ends) for each link.
    """
    s.first[:] = NONE
    s.degree[:] = 0
    s.counters[ARCS] = 0
    for x in range(s.counters[LINKS]):
        put(s, x, s.end_u[x], s.end_v[x])
