"""Repair of an overlay after churn: the greedy engine over the few nodes of a shadow set.

Its cost is that of the shadow set's subscriptions in the topics concerned, and of walking those topics until it is
clear which of the shadows still reach each other; nothing here looks at the rest of the interest.
"""

import numpy as np

from topicloom.kernels.disjoint_sets import root
from topicloom.kernels.greedy.components import build_components
from topicloom.kernels.greedy.engine import NO_LINKS, cheapest_search, search_and_grow
from topicloom.kernels.greedy.loop import grow_listed
from topicloom.kernels.jit import serial
from topicloom.kernels.repair.ragged import row
from topicloom.kernels.sorted_rows import meeting
from topicloom.kernels.tie_order import arc

LISTED_SHADOWS = 256  # above, their pairs are too many to be listed
NEAR = 4  # links below the maximum degree from which on a node is spared
MOST_SHARED = (1 << 16) - 1  # shared topics beyond which no difference is made


def links_between(rows, nodes, node_ptr, topic, n_topics, start, degree, max_degree, rho):
    """Connect topics between a few nodes by Low-ODA's rule.

    Which of several links that contribute equally is added, the paper leaves open. Here it is the one that stays
    furthest below the maximum degree, where that is less than `NEAR` away; then the one whose ends share most topics in
    all, cut or not, which a later leave will find connected twice; then it goes by the tie rule. Above
    `LISTED_SHADOWS` nodes the tie rule alone decides.

    Parameters
    ----------
    rows : Ragged
        Topics of all nodes, ascending.
    nodes : int32
        The few nodes, in circle order.
    node_ptr, topic
        What they want among the topics at hand, as `entries_of` gives it.
    n_topics : int
    start : int32, one per entry
        Component of each entry before the first link, as in `build_components`.
    degree : int64, one per node of ``nodes``
    max_degree : int
    rho : float
        Low-ODA's parameter.

    Returns
    -------
    (m, 2) int32
        Links, as positions in ``nodes``.

    Cost: O(nodes² · topics shared) up to `LISTED_SHADOWS` nodes, above that of the greedy search.
    """
    n = len(node_ptr) - 1
    if n <= LISTED_SHADOWS:
        return _listed_links(rows, nodes, node_ptr, topic, n_topics, start, degree, int(max_degree), float(rho), -1)
    lengths = np.diff(node_ptr)
    return search_and_grow(
        build_components(node_ptr, topic, n_topics, start, None),
        cheapest_search(n, lengths, np.bincount(topic, minlength=n_topics)),
        np.arange(n, dtype=np.int32),
        n,
        NO_LINKS,
        np.empty(0, np.int64),
        degree,
        int(max_degree),
        float(rho),
    )


@serial
def partners(rows, neighbours, keys, node, shadows, topics, max_degree, rho):
    """Link one node by Low-ODA's rule until it is linked in each of some topics.

    Every topic is one component beside the node. Ties as in `links_between`.

    Parameters
    ----------
    rows, neighbours : Ragged
        Topics and neighbours of all nodes.
    keys : integers, one per node
        Order on the circle of the tie rule.
    node : int
    shadows : int32
        Nodes that it may be linked to.
    topics : int32, ascending
    max_degree : int
    rho : float

    Returns
    -------
    int32
        Those shadows to which it is linked.

    Cost: O(shadows · topics shared · links).
    """
    n = len(shadows) + 1
    nodes = np.empty(n, np.int32)
    nodes[:-1] = shadows
    nodes[-1] = node
    nodes = nodes[np.argsort(keys[nodes], kind="mergesort")]
    centre = 0
    while nodes[centre] != node:
        centre += 1
    node_ptr, topic = entries_of(rows, nodes, topics)
    start = np.zeros(len(topic), np.int32)
    start[node_ptr[centre] : node_ptr[centre + 1]] = 1
    degree = neighbours.length[nodes].astype(np.int64)
    links = _listed_links(rows, nodes, node_ptr, topic, len(topics), start, degree, max_degree, rho, centre)
    return nodes[links[:, 0]]


@serial
def _listed_links(rows, nodes, node_ptr, topic, n_topics, start, degree, max_degree, rho, centre):
    n = len(node_ptr) - 1
    pairs = np.empty((n - 1 if centre >= 0 else n * (n - 1) // 2, 2), np.int32)
    rank = np.empty(len(pairs), np.int64)
    at = 0
    for p in range(n):
        first, last = (p + 1, n) if centre < 0 else (centre, centre + 1)
        for q in range(first, last):
            if p != q:
                length, begin = arc(n, p, q)
                pairs[at, 0], pairs[at, 1] = p, q
                near = max(max(degree[p], degree[q]) - (max_degree - NEAR), 0)
                fewer = MOST_SHARED - min(_shared(rows, nodes[p], nodes[q]), MOST_SHARED)
                rank[at] = ((near * (MOST_SHARED + 1) + fewer) * n + length) * n + begin
                at += 1
    state = build_components(node_ptr, topic, n_topics, start, None)
    return grow_listed(state, pairs[np.argsort(rank)], degree, max_degree, rho)


@serial
def _shared(rows, u, v):
    """How many topics both nodes want."""
    count = 0
    for _ in meeting(row(rows, u), row(rows, v)):
        count += 1
    return count


@serial
def entries_of(rows, nodes, topics):
    """List what some nodes want among some topics.

    Parameters
    ----------
    rows : Ragged
        Topics of all nodes, ascending.
    nodes : int32
    topics : int32, ascending

    Returns
    -------
    node_ptr : int64, topic : int32
        CSR by position in ``nodes``. Topics are positions in ``topics``.

    Cost: O(nodes · (their topics + topics)).
    """
    node_ptr = np.zeros(len(nodes) + 1, np.int64)
    bound = 0
    for v in nodes:
        bound += min(rows.length[v], len(topics))
    topic = np.empty(bound, np.int32)
    at = 0
    for x in range(len(nodes)):
        for _, m in meeting(row(rows, nodes[x]), topics):
            topic[at] = m
            at += 1
        node_ptr[x + 1] = at
    return node_ptr, topic[:at]


@serial
def pieces(members, neighbours, nodes, topics, node_ptr, topic, scratch):
    """Find which of some nodes still reach each other inside each topic, by the links alone.

    Walks a topic from all the nodes at once, and stops when no two unmet walks can go on.

    Parameters
    ----------
    members, neighbours : Ragged
        Subscribers of all topics, neighbours of all nodes.
    nodes, topics : int32
    node_ptr, topic
        As `entries_of` gives them.
    scratch : Scratch
        Overwritten.

    Returns
    -------
    int32, one per entry
        Equal within a topic where the nodes reach each other.

    Cost: at most O(subscribers of a topic + their links) for each topic.
    """
    n_entries = len(topic)
    first = np.zeros(len(topics) + 1, np.int64)
    for m in topic:
        first[m + 1] += 1
    first = np.cumsum(first)
    place = first[:-1].copy()
    entry = np.empty(n_entries, np.int64)
    node = np.empty(n_entries, np.int32)
    for x in range(len(nodes)):
        for k in range(node_ptr[x], node_ptr[x + 1]):
            entry[place[topic[k]]] = k
            node[place[topic[k]]] = nodes[x]
            place[topic[k]] += 1
    piece = np.empty(n_entries, np.int32)
    parent = np.arange(n_entries).astype(np.int32)
    waiting = np.ones(n_entries, np.int64)
    for m in range(len(topics)):
        walk(members, neighbours, topics[m], first[m], first[m + 1], node, parent, waiting, scratch)
        for e in range(first[m], first[m + 1]):
            piece[entry[e]] = root(parent, e)
    return piece


@serial
def walk(members, neighbours, t, first, last, node, parent, waiting, scratch):
    """Join the sets of those nodes of a topic that reach each other inside it.

    All walk at once, one step in turn, and stop when no two unmet walks can go on.

    Parameters
    ----------
    members, neighbours : Ragged
        Subscribers of all topics, neighbours of all nodes.
    t : int
        The topic.
    first, last : int
        Range of entries of ``node``, ``parent`` and ``waiting``.
    node : int32
        The nodes, subscribers of t.
    parent : int32
        Disjoint sets of entries, changed in place.
    waiting : int64
        How many nodes the walk of each set has still to look around; 1 for each at the beginning. Overwritten.
    scratch : Scratch
        Overwritten.

    Cost: at most O(subscribers of the topic + their links).
    """
    stamp, owner, queue = scratch.stamp, scratch.number, scratch.queue
    if last - first < 2:
        return
    scratch.clock[0] += 2
    now = scratch.clock[0]
    fresh = now - 1
    for at in range(members.start[t], members.start[t] + members.length[t]):
        stamp[members.pool[at]] = fresh
    head, tail = 0, 0
    for e in range(first, last):
        stamp[node[e]] = now
        owner[node[e]] = e
        queue[tail] = node[e]
        tail += 1
    walks = last - first  # that can go on
    while walks > 1:
        x = queue[head]
        head += 1
        a = root(parent, owner[x])
        for at in range(neighbours.start[x], neighbours.start[x] + neighbours.length[x]):
            y = neighbours.pool[at]
            if stamp[y] == now:
                b = root(parent, owner[y])
                if a != b:
                    parent[b] = a
                    walks -= waiting[b] > 0
                    waiting[a] += waiting[b]
            elif stamp[y] == fresh:
                stamp[y] = now
                owner[y] = a
                queue[tail] = y
                tail += 1
                waiting[a] += 1
        waiting[a] -= 1
        walks -= waiting[a] == 0


@serial
def cut_topics(topic, piece, n_topics):
    """Find the topics that have entries in more than one piece.

    Parameters
    ----------
    topic, piece : int32, one per entry
    n_topics : int

    Returns
    -------
    bool, one per topic

    Cost: O(entries + topics).
    """
    first = np.full(n_topics, -1, np.int32)
    cut = np.zeros(n_topics, np.bool_)
    for k in range(len(topic)):
        if first[topic[k]] < 0:
            first[topic[k]] = piece[k]
        elif first[topic[k]] != piece[k]:
            cut[topic[k]] = True
    return cut


@serial
def open_entries(node_ptr, topic, start, kept):
    """Cut a CSR down to some topics, renumbered, and to the nodes that want one of them.

    Parameters
    ----------
    node_ptr, topic, start
        CSR of entries with a number each.
    kept : bool, one per topic

    Returns
    -------
    positions : int64
        Of the nodes that are left.
    node_ptr, topic, start
        Theirs.

    Cost: O(entries + topics).
    """
    number = np.empty(len(kept), np.int32)
    n_kept = 0
    for t in range(len(kept)):
        number[t] = n_kept
        n_kept += kept[t]
    positions = np.empty(len(node_ptr) - 1, np.int64)
    out_ptr = np.zeros(len(node_ptr), np.int64)
    out_topic = np.empty(len(topic), np.int32)
    out_start = np.empty(len(topic), np.int32)
    n, at = 0, 0
    for x in range(len(node_ptr) - 1):
        for k in range(node_ptr[x], node_ptr[x + 1]):
            if kept[topic[k]]:
                out_topic[at], out_start[at] = number[topic[k]], start[k]
                at += 1
        if at > out_ptr[n]:
            positions[n] = x
            n += 1
            out_ptr[n] = at
    return positions[:n], out_ptr[: n + 1], out_topic[:at], out_start[:at]
