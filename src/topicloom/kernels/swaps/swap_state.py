"""The state of a refinement: an overlay whose links can be taken out and put back in time linear in the topics shared.

An *entry* is one subscription. Entries are numbered topic by topic, topics by rising number of subscribers. A link owns
a block of *arcs*, two for each topic that its ends share, which stand in doubly linked lists at their entries. Arcs of
new links are appended; `repack` writes all arcs again when there is no room left.

The *tree arcs* of a topic are a spanning forest of it. The others are *spare*: to take one out cuts nothing, and only
tree arcs are followed to find what the loss of a tree arc cuts off.
"""

from typing import NamedTuple

import numpy as np

from topicloom.kernels.disjoint_sets import root
from topicloom.kernels.jit import borrowing, serial
from topicloom.kernels.sorted_rows import shared

NONE = -1
NO_LINKS = np.empty((0, 2), np.int32)
LINKS, ARCS, CLOCK, RANDOM, VISITS, SERVED, FOLLOWED, LOOKED, LISTS, READ, STANDING = range(11)
COUNTERS = 11
LISTED = 40  # partners kept for a node
MOST_BROKEN = 4  # a link whose loss breaks more topics is not moved
OUTCOMES = 7


class Swaps(NamedTuple):
    """An interest, links over it, and the scratch of the search. The first eight arrays never change."""

    node_ptr: np.ndarray  # int64 per node: its first subscription
    topic: np.ndarray  # int32 per subscription, ascending within a node
    entry: np.ndarray  # int32 per subscription
    topic_ptr: np.ndarray  # int64 per topic: its first entry
    member: np.ndarray  # int32 per entry: its node
    topic_of: np.ndarray  # int32 per entry
    weight: np.ndarray  # int64 per topic: what sharing it counts for
    bits: np.ndarray  # int64 per node: bit t & 63 is set for each of its topics t
    end_u: np.ndarray  # int32 per link
    end_v: np.ndarray  # int32 per link
    score: np.ndarray  # int64 per link: weight of the topics shared
    arcs_at: np.ndarray  # int64 per link: its first arc
    shared: np.ndarray  # int32 per link: topics shared
    settled: np.ndarray  # bool per link: its last visit found that it has to stay
    degree: np.ndarray  # int32 per node
    first: np.ndarray  # int32 per entry: its first tree arc
    spare: np.ndarray  # int32 per entry: its first spare arc
    head: np.ndarray  # int32 per arc: the entry that it leads to; arc a ^ 1 leads back
    after: np.ndarray  # int32 per arc: the next one of the same kind at the same entry
    before: np.ndarray  # int32 per arc: the one before
    in_tree: np.ndarray  # bool per arc: it is a tree arc
    queue: np.ndarray  # int32 per entry: the next one of the search
    origin: np.ndarray  # int32 per entry: from which one the search has reached it
    side: np.ndarray  # int64 per entry: the visit in which it was on the smaller side of a cut
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
    # int64: links, arcs, clock of sides, random numbers; the work done, see `steps_of`; the first links, which stay
    counters: np.ndarray
    outcomes: np.ndarray  # int64: visits by outcome
    barred_ptr: np.ndarray  # int64 per node: its first forbidden partner
    barred: np.ndarray  # int32 per node and forbidden partner


def new_swaps(interest, links, weight_of, barred_links=NO_LINKS):
    """Make the state of a refinement.

    Parameters
    ----------
    interest : Interest
    links : (m, 2) int32
        The overlay to refine.
    weight_of : callable
        ``weight_of(subscribers, links_inside)`` gives the weight of each topic of at least two subscribers.
    barred_links : (m, 2) int32
        Links that may not be put in.

    Returns
    -------
    Swaps

    Cost: O(subscriptions + topics log topics + topics of both ends of every link).
    """
    n_nodes, n_links = interest.n_nodes, len(links)
    all_subscribers = np.diff(interest.topic_indptr)
    rising = np.argsort(all_subscribers, kind="stable")
    rising = rising[np.searchsorted(all_subscribers[rising], 2) :]
    subscribers = all_subscribers[rising]
    topic_ptr = np.zeros(len(rising) + 1, np.int64)
    np.cumsum(subscribers, out=topic_ptr[1:])
    n_entries = int(topic_ptr[-1])
    node_ptr, bits = np.empty(n_nodes + 1, np.int64), np.empty(n_nodes, np.int64)
    topic, entry, member, topic_of = (np.empty(n_entries, np.int32) for _ in range(4))
    _number_entries(
        interest.topic_indptr, interest.topic_nodes, rising, topic_ptr, node_ptr, topic, entry, member, topic_of, bits
    )
    wanted = np.diff(node_ptr)
    most_served = int(np.minimum(wanted[links[:, 0]], wanted[links[:, 1]]).sum())
    room = 4 * most_served + 4 * int(wanted.max(initial=0)) + 64
    counters = np.zeros(COUNTERS, np.int64)
    counters[LINKS] = n_links
    s = Swaps(
        node_ptr, topic, entry, topic_ptr, member, topic_of, np.zeros(len(rising), np.int64), bits,
        links[:, 0].astype(np.int32), links[:, 1].astype(np.int32), np.empty(n_links, np.int64),
        np.empty(n_links, np.int64), np.empty(n_links, np.int32), np.zeros(n_links, np.bool_),
        np.empty(n_nodes, np.int32), np.empty(n_entries, np.int32), np.empty(n_entries, np.int32),
        np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.bool_),
        np.empty(n_entries, np.int32), np.empty(n_entries, np.int32), np.zeros(n_entries, np.int64),
        np.zeros((MOST_BROKEN, 4), np.int32),
        np.empty((n_nodes, LISTED), np.int32), np.empty((n_nodes, LISTED), np.int64), np.zeros(n_nodes, np.bool_),
        np.zeros(n_nodes, np.int64), np.empty(n_nodes, np.int32), np.empty(2 * LISTED, np.int32),
        np.empty(2 * LISTED, np.int64), np.zeros(n_nodes + 1, np.int64),
        np.zeros(0, np.int64), counters, np.zeros(OUTCOMES, np.int64),
        *_partners_of(barred_links, n_nodes),
    )  # fmt: skip
    repack(s)
    inside = np.zeros(len(rising), np.int64)
    _count_inside(s, inside)
    s.weight[:] = weight_of(subscribers, inside)
    _score_links(s)
    return s


def _partners_of(links, n_nodes):
    """CSR of the other ends of each node's links."""
    ends = np.concatenate([links[:, 0], links[:, 1]]).astype(np.int64)
    others = np.concatenate([links[:, 1], links[:, 0]]).astype(np.int32)
    ptr = np.zeros(n_nodes + 1, np.int64)
    np.cumsum(np.bincount(ends, minlength=n_nodes), out=ptr[1:])
    return ptr, others[np.argsort(ends, kind="stable")]


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
    return s._replace(**{name: np.resize(getattr(s, name), room) for name in ("head", "after", "before", "in_tree")})


def sorted_links(end_u, end_v):
    """Sort links as overlays hold them.

    Parameters
    ----------
    end_u, end_v : int32, one per link

    Returns
    -------
    (m, 2) int32
        u < v, sorted.

    Cost: O(links log links).
    """
    links = np.sort(np.stack([end_u, end_v], axis=1), axis=1)
    return links[np.lexsort((links[:, 1], links[:, 0]))]


@serial
def _number_entries(topic_indptr, topic_nodes, rising, topic_ptr, node_ptr, topic, entry, member, topic_of, bits):
    """Number the topics ``rising`` from 0, and write the rows of all nodes and topics of the state."""
    node_ptr[:], bits[:] = 0, 0
    for t in rising:
        for e in range(topic_indptr[t], topic_indptr[t + 1]):
            node_ptr[topic_nodes[e] + 1] += 1
    for v in range(1, len(node_ptr)):
        node_ptr[v] += node_ptr[v - 1]
    e = 0
    for t in range(len(rising)):
        for v in topic_nodes[topic_indptr[rising[t]] : topic_indptr[rising[t] + 1]]:
            k = node_ptr[v]
            topic[k], entry[k], member[e], topic_of[e] = t, e, v, t
            bits[v] |= np.int64(1) << (t & 63)
            node_ptr[v] += 1
            e += 1
    for v in range(len(node_ptr) - 1, 0, -1):  # each is where the row of the next node begins
        node_ptr[v] = node_ptr[v - 1]
    node_ptr[0] = 0


@borrowing
def _count_inside(s, inside):
    """Add the number of links that serve each topic to ``inside``."""
    for arc in range(0, s.counters[ARCS], 2):
        inside[s.topic_of[s.head[arc]]] += 1


@borrowing
def _score_links(s):
    """Write the score of every link."""
    for x in range(s.counters[LINKS]):
        score = np.int64(0)
        for arc in range(s.arcs_at[x], s.arcs_at[x] + 2 * s.shared[x], 2):
            score += s.weight[s.topic_of[s.head[arc]]]
        s.score[x] = score


@borrowing
def lay(s, x, u, v):
    """Write the arcs of a link between two nodes, all spare, without any list. `put_in` puts them into lists.

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
        s.in_tree[arc] = s.in_tree[arc + 1] = False
        arc += 2
        score += s.weight[s.topic[k]]
    s.shared[x] = (arc - s.counters[ARCS]) // 2
    s.score[x] = score
    s.counters[ARCS] = arc


@borrowing
def put_in(s, x):
    """Put the arcs of a link into the lists of their entries.

    Parameters
    ----------
    s : Swaps
        Changed in place.
    x : int
        Number of the link, which is out.

    Cost: O(topics shared).
    """
    for arc in range(s.arcs_at[x], s.arcs_at[x] + 2 * s.shared[x]):
        _enter(s, s.first if s.in_tree[arc] else s.spare, arc)
    s.degree[s.end_u[x]] += 1
    s.degree[s.end_v[x]] += 1


@borrowing
def take_out(s, x):
    """Take the arcs of a link out of the lists of their entries. `put_in` undoes it.

    Parameters
    ----------
    s : Swaps
        Changed in place.
    x : int
        Number of the link.

    Cost: O(topics shared).
    """
    for arc in range(s.arcs_at[x], s.arcs_at[x] + 2 * s.shared[x]):
        _leave(s, s.first if s.in_tree[arc] else s.spare, arc)
    s.degree[s.end_u[x]] -= 1
    s.degree[s.end_v[x]] -= 1


@borrowing
def make_tree_arc(s, arc):
    """Let a spare arc, and the one back, be tree arcs.

    Parameters
    ----------
    s : Swaps
        Changed in place.
    arc : int
        One of the two.

    Cost: O(1).
    """
    for one in (arc, arc ^ 1):
        _leave(s, s.spare, one)
        s.in_tree[one] = True
        _enter(s, s.first, one)


@borrowing
def _enter(s, lists, arc):
    """Put an arc in front of the list of its entry."""
    e = s.head[arc ^ 1]
    next_one = lists[e]
    s.after[arc], s.before[arc] = next_one, NONE
    if next_one != NONE:
        s.before[next_one] = arc
    lists[e] = arc


@borrowing
def _leave(s, lists, arc):
    """Take an arc out of the list of its entry."""
    next_one, last_one = s.after[arc], s.before[arc]
    if last_one != NONE:
        s.after[last_one] = next_one
    else:
        lists[s.head[arc ^ 1]] = next_one
    if next_one != NONE:
        s.before[next_one] = last_one


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
    """Write the arcs of all links again, without gaps, and choose the spanning forests again.

    Parameters
    ----------
    s : Swaps
        Changed in place.

    Cost: O(topics of both ends) for each link.
    """
    s.first[:] = NONE
    s.spare[:] = NONE
    s.degree[:] = 0
    s.counters[ARCS] = 0
    for e in range(len(s.origin)):
        s.origin[e] = e
    for x in range(s.counters[LINKS]):
        lay(s, x, s.end_u[x], s.end_v[x])
        for arc in range(s.arcs_at[x], s.arcs_at[x] + 2 * s.shared[x], 2):
            e, f = root(s.origin, s.head[arc]), root(s.origin, s.head[arc + 1])
            if e != f:
                s.origin[e] = f
                s.in_tree[arc] = s.in_tree[arc + 1] = True
        put_in(s, x)
