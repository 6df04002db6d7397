"""Links that k-topic-connectivity needs, told by disjoint paths inside sub-overlays.

An *entry* is one subscription, a position in the CSR of the interest. Sub-overlays are kept as one list of arcs per
entry, so that links can be added, and be dropped by a flag. Two facts (both by Menger's theorem) make local tests
enough: dropping the link (u, v) from a k-connected graph leaves it k-connected if k internally disjoint paths join u
and v without it; and a graph is k-connected if k such paths, or a link, join the ends of every link of some
k-connected graph on its nodes.
"""

from typing import NamedTuple

import numpy as np

from topicloom.kernels.jit import serial
from topicloom.kernels.sorted_rows import longest_row, shared

NONE = -1


class Arcs(NamedTuple):
    """Sub-overlays as linked lists: arc a leads to entry ``head[a]`` as part of ``link[a]``, ``after[a]`` is next."""

    first: np.ndarray  # int32 per entry: its first arc
    head: np.ndarray  # int32 per arc
    after: np.ndarray  # int32 per arc
    link: np.ndarray  # int32 per arc
    degree: np.ndarray  # int32 per entry: arcs whose links stand
    stands: np.ndarray  # bool per link


class Search(NamedTuple):
    """Scratch of `disjoint_paths`, valid where the stamp is the present one. State 2e enters e, 2e + 1 leaves it."""

    came_from: np.ndarray  # int32 per state
    stamp: np.ndarray  # int32 per state
    queue: np.ndarray  # int32
    onward: np.ndarray  # int32 per entry: the next entry on the path through it
    backward: np.ndarray  # int32 per entry: the previous one
    flow_stamp: np.ndarray  # int32 per entry
    near_sink: np.ndarray  # int32 per entry: a link to the sink stands
    clock: np.ndarray  # int64: stamps of the searches and of the pairs of ends so far


@serial
def empty_arcs(n_entries, n_arcs, n_links):
    """Make room for the arcs of links.

    Parameters
    ----------
    n_entries : int
        Subscriptions.
    n_arcs : int
        Two for each link and topic that its ends share.
    n_links : int

    Returns
    -------
    Arcs
        Without any arc; no link stands.

    Cost: O(entries + arcs + links).
    """
    return Arcs(
        np.full(n_entries, NONE, np.int32),
        np.empty(n_arcs, np.int32),
        np.empty(n_arcs, np.int32),
        np.empty(n_arcs, np.int32),
        np.zeros(n_entries, np.int32),
        np.zeros(n_links, np.bool_),
    )


@serial
def new_search(n_entries):
    """Make the scratch of `disjoint_paths`.

    Parameters
    ----------
    n_entries : int
        Subscriptions.

    Returns
    -------
    Search

    Cost: O(entries).
    """
    return Search(
        np.empty(2 * n_entries, np.int32),
        np.zeros(2 * n_entries, np.int32),
        np.empty(2 * n_entries, np.int32),
        np.empty(n_entries, np.int32),
        np.empty(n_entries, np.int32),
        np.zeros(n_entries, np.int32),
        np.zeros(n_entries, np.int32),
        np.zeros(2, np.int64),
    )


@serial
def shared_entries(indptr, topics, u, v, pairs):
    """List the entries of two nodes in each topic that both want.

    Parameters
    ----------
    indptr, topics
        The interest, CSR by node: row starts, topics ascending in each row. An entry is a position in ``topics``.
    u, v : int
        Nodes.
    pairs : (n, 2) int64
        Overwritten: the entry of u and that of v for each topic. At least the longest row has to fit.

    Returns
    -------
    int
        How many topics they share.

    Cost: O(topics of both).
    """
    n = 0
    for k, m in shared(indptr, topics, u, v):
        pairs[n, 0], pairs[n, 1] = k, m
        n += 1
    return n


@serial
def shared_topic_counts(indptr, topics, links):
    """Count the topics that both ends of each link want.

    Parameters
    ----------
    indptr, topics
        The interest, CSR by node: int64 row starts, int32 topics ascending in each row.
    links : (m, 2) int32

    Returns
    -------
    int64, one per link

    Cost: O(topics of both ends) for each link.
    """
    counts = np.zeros(len(links), np.int64)
    for x in range(len(links)):
        for _ in shared(indptr, topics, links[x, 0], links[x, 1]):
            counts[x] += 1
    return counts


@serial
def add_link(arcs, n_arcs, number, pairs, n_shared):
    """Let a link stand in each topic that its ends share.

    Parameters
    ----------
    arcs : Arcs
        Changed in place.
    n_arcs : int
        Arcs so far.
    number : int
        Number of the link.
    pairs, n_shared
        As `shared_entries` gives them.

    Returns
    -------
    int
        The new number of arcs.

    Cost: O(topics shared).
    """
    arcs.stands[number] = True
    for x in range(n_shared):
        for side in range(2):
            e, other = pairs[x, side], pairs[x, 1 - side]
            arcs.head[n_arcs], arcs.link[n_arcs], arcs.after[n_arcs] = other, number, arcs.first[e]
            arcs.first[e] = n_arcs
            arcs.degree[e] += 1
            n_arcs += 1
    return n_arcs


@serial
def _arcs_of(indptr, topics, links, more, pairs):
    """Lay out the arcs of links, with room for ``more`` links. Returns them and their number."""
    room = shared_topic_counts(indptr, topics, links).sum() + shared_topic_counts(indptr, topics, more).sum()
    arcs = empty_arcs(len(topics), 2 * room, len(links) + len(more))
    n_arcs = 0
    for x in range(len(links)):
        n_shared = shared_entries(indptr, topics, links[x, 0], links[x, 1], pairs)
        n_arcs = add_link(arcs, n_arcs, x, pairs, n_shared)
    return arcs, n_arcs


@serial
def topics_that_need(indptr, topics, links, x, k):
    """Find the topics that would not be k-connected without one link, as far as its ends are concerned.

    Parameters
    ----------
    indptr, topics
        The interest, CSR by node: int64 row starts, int32 topics ascending in each row.
    links : (m, 2) int32
    x : int
        Number of the link.
    k : int

    Returns
    -------
    int32
        Topics in which fewer than k disjoint paths join the ends of link x without it.

    Cost: O(k · arcs of a topic) for each topic that the two ends share, once the arcs of all links are laid out.
    """
    pairs = np.empty((longest_row(indptr), 2), np.int64)
    arcs, _ = _arcs_of(indptr, topics, links, links[:0], pairs)
    search = new_search(len(topics))
    n_shared = shared_entries(indptr, topics, links[x, 0], links[x, 1], pairs)
    arcs.stands[x] = False
    needing = np.empty(n_shared, np.int32)
    n = 0
    for y in range(n_shared):
        if disjoint_paths(arcs, search, pairs[y, 0], pairs[y, 1], k) < k:
            needing[n] = topics[pairs[y, 0]]
            n += 1
    return needing[:n]


@serial
def redundant_links(indptr, topics, links, order, k):
    """Find links that can be dropped without a topic losing its k-connectivity.

    A topic that is not k-connected keeps every link between nodes that fewer than k disjoint paths join otherwise.

    Parameters
    ----------
    indptr, topics
        The interest, CSR by node: int64 row starts, int32 topics ascending in each row.
    links : (m, 2) int32
    order : integers
        Numbers of links, in the order in which they are tried. A link that was dropped does not stand for later ones.
    k : int

    Returns
    -------
    bool, one per link
        Whether it can be dropped, together with all others that are true.

    Cost: O(k · arcs of a topic) for each link and each topic that its ends share.
    """
    pairs = np.empty((longest_row(indptr), 2), np.int64)
    arcs, _ = _arcs_of(indptr, topics, links, links[:0], pairs)
    search = new_search(len(topics))
    dropped = np.zeros(len(links), np.bool_)
    for x in order:
        n_shared = shared_entries(indptr, topics, links[x, 0], links[x, 1], pairs)
        spare = True
        for y in range(n_shared):  # an end with k links needs them all
            spare &= arcs.degree[pairs[y, 0]] > k and arcs.degree[pairs[y, 1]] > k
        arcs.stands[x] = False
        y = 0
        while spare and y < n_shared:
            spare = disjoint_paths(arcs, search, pairs[y, 0], pairs[y, 1], k) >= k
            y += 1
        arcs.stands[x] = not spare
        if spare:
            dropped[x] = True
            for y in range(n_shared):
                arcs.degree[pairs[y, 0]] -= 1
                arcs.degree[pairs[y, 1]] -= 1
    return dropped


@serial
def needed_links(indptr, topics, links, candidates, candidate_topics, k):
    """Find which candidates are needed when their turn comes.

    A candidate is needed if fewer than k disjoint paths join its ends in its topic, over the links and the candidates
    that were needed before.

    Parameters
    ----------
    indptr, topics
        The interest, CSR by node: int64 row starts, int32 topics ascending in each row.
    links : (m, 2) int32
        Stand from the start.
    candidates : (c, 2) int32
    candidate_topics : int32, one per candidate
    k : int

    Returns
    -------
    bool, one per candidate

    Cost: O(k · arcs of a topic) for each candidate.
    """
    pairs = np.empty((longest_row(indptr), 2), np.int64)
    arcs, n_arcs = _arcs_of(indptr, topics, links, candidates, pairs)
    search = new_search(len(topics))
    needed = np.zeros(len(candidates), np.bool_)
    for x in range(len(candidates)):
        n_shared = shared_entries(indptr, topics, candidates[x, 0], candidates[x, 1], pairs)
        for y in range(n_shared):
            if topics[pairs[y, 0]] == candidate_topics[x]:
                q, r = pairs[y, 0], pairs[y, 1]
                needed[x] = not linked(arcs, q, r) and disjoint_paths(arcs, search, q, r, k) < k
        if needed[x]:
            n_arcs = add_link(arcs, n_arcs, len(links) + x, pairs, n_shared)
    return needed


@serial
def linked(arcs, q, r):
    """Say whether a link between two entries stands.

    Parameters
    ----------
    arcs : Arcs
    q, r : int
        Entries of one topic.

    Returns
    -------
    bool

    Cost: O(arcs at q).
    """
    a = arcs.first[q]
    while a != NONE:
        if arcs.head[a] == r and arcs.stands[arcs.link[a]]:
            return True
        a = arcs.after[a]
    return False


def paths_between(n, links, source, sink, enough):
    """List paths between two nodes of a graph that share no node but these.

    Parameters
    ----------
    n : int
        Nodes.
    links : (m, 2) int32
    source, sink : int
        Two nodes. A link between them is a path.
    enough : int
        At least 1: no more paths are looked for.

    Returns
    -------
    list of lists of int
        Nodes of each path, from source to sink.

    Cost: O(enough · links).
    """
    arcs, _ = _arcs_of(np.arange(n + 1), np.zeros(n, np.int32), links, links[:0], np.empty((1, 2), np.int64))
    direct = (links == source).any(axis=1) & (links == sink).any(axis=1)
    arcs.stands[direct] = False
    found = [[source, sink]] if direct.any() else []
    search = new_search(n)
    disjoint_paths(arcs, search, source, sink, enough - len(found))
    begun = (search.flow_stamp == search.clock[1]) & (search.backward == source)
    begun[[source, sink]] = False  # nothing is noted of the steps before a path and behind it
    for node in np.flatnonzero(begun).tolist():
        path = [source, node]
        while path[-1] != sink:
            path.append(int(search.onward[path[-1]]))
        found.append(path)
    return found


@serial
def disjoint_paths(arcs, search, source, sink, enough):
    """Count internally disjoint paths between two entries of a topic.

    Parameters
    ----------
    arcs, search
        The links as arcs between entries, and scratch of `new_search`, which is overwritten.
    source, sink : int
        Entries of one topic. No link between the two may stand.
    enough : int
        Counting stops there.

    Returns
    -------
    int
        The number of paths, at most ``enough``.

    Cost: O(enough · arcs of the topic).
    """
    search.clock[1] += 1
    a = arcs.first[sink]
    while a != NONE:
        if arcs.stands[arcs.link[a]]:
            search.near_sink[arcs.head[a]] = search.clock[1]
        a = arcs.after[a]
    found = 0
    while found < enough and _augment(arcs, search, source, sink):
        found += 1
    return found


@serial
def _augment(arcs, search, source, sink):
    """Find one more path, breadth first, in which an entry of an earlier path may only be used to undo that one.

    A path found is laid over those before it (Ford and Fulkerson, every entry split in two).
    """
    search.clock[0] += 1
    clock, flows = search.clock[0], search.clock[1]
    first, head, after, link, stands = arcs.first, arcs.head, arcs.after, arcs.link, arcs.stands
    came_from, stamp, queue = search.came_from, search.stamp, search.queue
    onward, backward, flow_stamp, near_sink = search.onward, search.backward, search.flow_stamp, search.near_sink
    queue[0] = 2 * source + 1
    stamp[2 * source + 1] = clock
    stamp[2 * source] = clock
    n_queue, at = 1, 0
    while at < n_queue:
        state = np.int64(queue[at])
        at += 1
        e = state >> 1
        used = flow_stamp[e] == flows and onward[e] != NONE
        if state & 1 == 0:  # entering e: pass through it, or undo the step that leads to it
            x = np.int64(backward[e]) if used else e
            if x != source and stamp[2 * x + 1] != clock:
                stamp[2 * x + 1], came_from[2 * x + 1] = clock, state
                queue[n_queue] = 2 * x + 1
                n_queue += 1
            continue
        if used and stamp[2 * e] != clock:  # the step from e was undone: so may be the one to it
            stamp[2 * e], came_from[2 * e] = clock, state
            queue[n_queue] = 2 * e
            n_queue += 1
        a = first[e]
        while a != NONE:
            if stands[link[a]]:
                x = np.int64(head[a])
                if x == sink:
                    if not (used and onward[e] == sink):
                        _lay(search, source, sink, state)
                        return True
                elif stamp[2 * x] != clock and not (flow_stamp[x] == flows and backward[x] == e):
                    stamp[2 * x], came_from[2 * x] = clock, state
                    if near_sink[x] == flows and (flow_stamp[x] != flows or onward[x] == NONE):
                        # One step ahead of the queue, which spares the widest round of the search.
                        came_from[2 * x + 1] = 2 * x
                        _lay(search, source, sink, 2 * x + 1)
                        return True
                    queue[n_queue] = 2 * x
                    n_queue += 1
            a = after[a]
    return False


@serial
def _lay(search, source, sink, last):
    """Lay the path that ends with state ``last`` and the sink over the paths so far."""
    came_from, onward, backward = search.came_from, search.onward, search.backward
    flow_stamp, flows = search.flow_stamp, search.clock[1]
    # Undo first and add then: an entry may lose one step and gain another.
    at = last
    while at != 2 * source + 1:
        before = np.int64(came_from[at])
        e, x = at >> 1, before >> 1
        if at & 1 and e != x:
            onward[e], backward[x] = NONE, NONE
        at = before
    at, x = last, np.int64(sink)
    while True:
        if x != NONE:
            _add_step(onward, backward, flow_stamp, flows, at >> 1, x, source, sink)
        if at == 2 * source + 1:
            return
        before = np.int64(came_from[at])
        new_step = at & 1 == 0 and before >> 1 != at >> 1
        x = at >> 1 if new_step else np.int64(NONE)
        at = before


@serial
def _add_step(onward, backward, flow_stamp, flows, e, x, source, sink):
    for y in (e, x):
        if flow_stamp[y] != flows:
            flow_stamp[y] = flows
            onward[y], backward[y] = NONE, NONE
    if e != source:
        onward[e] = x
    if x != sink:
        backward[x] = e
