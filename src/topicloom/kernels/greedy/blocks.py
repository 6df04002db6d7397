"""Blocks (biconnected components) per topic while links are added: the state of the rule of GM2.

Every topic has a rooted forest in which entries and blocks alternate: a block hangs below one of its entries, its
*top*, and its other entries, its *children*, hang below it. So two entries share a block if they are children of one
block, or if one is the top of the other's block. A link between two trees is a new block that hangs the smaller tree,
turned to have the link's end as its root, below the other end; a link within a tree contracts the blocks on the path
between its ends to one. Over all links of a topic with n subscribers that takes O(n log n) steps.

Every entry is a child of one block; roots are children of a block of their own that has no top and does not count.
Entries are numbered as in `components`.
"""

from typing import NamedTuple

import numpy as np

from topicloom.kernels.disjoint_sets import root
from topicloom.kernels.greedy.components import INSIDE, OUTSIDE, number_entries
from topicloom.kernels.jit import borrowing

NONE = -1


class Homes(NamedTuple):
    """What tells whether two entries share a block: three arrays of `Blocks`."""

    label: np.ndarray
    into: np.ndarray
    top: np.ndarray


class Blocks(NamedTuple):
    """Subscriptions in both orientations, and the forests of blocks over them.

    The first five are as in `Components`. Blocks have numbers: e for the one above a root e, larger ones for others.
    """

    node_ptr: np.ndarray  # int64
    topic: np.ndarray  # int32
    entry: np.ndarray  # int32
    topic_ptr: np.ndarray  # int64
    member: np.ndarray  # int32
    label: np.ndarray  # int32 per entry: the block that it is a child of, or one that was merged into that
    into: np.ndarray  # int32 per block: itself, or the block that it was merged into
    top: np.ndarray  # int32 per block: the entry that it hangs below, or NONE
    size: np.ndarray  # int32 per block: entries in it, top and children
    child: np.ndarray  # int32 per block: one of its children
    after: np.ndarray  # int32 per entry: the next child of its block, cyclic
    before: np.ndarray  # int32 per entry: the previous one
    tree: np.ndarray  # int32 per entry: union-find of the trees
    tree_size: np.ndarray  # int32 per root of that union-find
    giant: np.ndarray  # int32 per topic: the block that counts as its giant, NONE before the first link
    inside: np.ndarray  # bool per entry: it lies in its topic's giant
    changed: np.ndarray  # int32: entries whose `inside` the last link changed
    seen: np.ndarray  # int32 per entry: number of the last climb that came by
    path: np.ndarray  # int32: scratch, blocks on a path
    counters: np.ndarray  # int64: blocks made so far (those above roots included), climbs so far
    pending: np.ndarray  # int64, one element: 0 when every topic is one block, falls with every link that helps
    weight: np.ndarray | None  # int64 per topic: what it counts for; None if all count 1
    homes: Homes  # what `joined` asks


def build_blocks(node_ptr, topic, n_topics, start, weight=None):
    """Make the forests of blocks before any link is added.

    Parameters
    ----------
    node_ptr, topic : int64, int32
        The interest by node in circle order, topics ascending in each row.
    n_topics : int
    start : int32, one per subscription
        Equal numbers for subscriptions of one topic that begin in one block; empty if each begins alone.
    weight : int64, one per topic, optional
        What each topic counts for; None if all count 1.

    Returns
    -------
    Blocks

    Cost: O(subscriptions).
    """
    n = len(topic)
    topic_ptr, entry, member = number_entries(node_ptr, topic, n_topics)
    subscribers = np.diff(topic_ptr)
    widest = subscribers.max(initial=0)
    # a link that joins trees costs a block, one that contracts gives at least one back
    pending = np.where(subscribers > 1, 2 * subscribers - 3, 0).sum()
    numbers = np.arange(2 * n, dtype=np.int32)
    homes = Homes(numbers[:n].copy(), numbers, np.full(2 * n, NONE, np.int32))
    b = Blocks(
        node_ptr,
        topic,
        entry,
        topic_ptr,
        member,
        *homes,
        np.ones(2 * n, np.int32),
        numbers.copy(),
        numbers[:n].copy(),
        numbers[:n].copy(),
        numbers[:n].copy(),
        np.ones(n, np.int32),
        np.full(n_topics, NONE, np.int32),
        np.zeros(n, np.bool_),
        np.empty(2 * widest + 2, np.int32),
        np.zeros(n, np.int32),
        np.empty(2 * widest + 2, np.int32),
        np.array([n, 0], np.int64),
        np.array([pending], np.int64),
        weight,
        homes,
    )
    if len(start):
        by_entry = np.empty(n, np.int32)
        by_entry[entry] = start
        _join_equal(b, by_entry, *np.full((2, start.max() + 1), -1, np.int32))
    return b


@borrowing
def _join_equal(b, by_entry, first, latest):
    """Make one block of the entries of each topic whose numbers are equal, by a cycle through them.

    ``first`` and ``latest`` (int32 per number, all -1) are overwritten.
    """
    for t in range(len(b.topic_ptr) - 1):
        for e in range(b.topic_ptr[t], b.topic_ptr[t + 1]):
            number = by_entry[e]
            if latest[number] >= b.topic_ptr[t]:  # of this topic: entries are numbered topic by topic
                link_blocks(b, np.int32(t), latest[number], np.int32(e))
                link_blocks(b, np.int32(t), first[number], np.int32(e))
            else:
                first[number] = e
            latest[number] = e


@borrowing
def share_block(homes, q, r):
    """Say whether a block contains two entries.

    Parameters
    ----------
    homes : Homes or Blocks
        Paths to merged blocks are halved in place.
    q, r : int
        Different entries of one topic.

    Returns
    -------
    bool

    Cost: O(log entries) on average over the calls.
    """
    home = _home(homes.label, homes.into, q)
    other = _home(homes.label, homes.into, r)
    return home == other or homes.top[home] == r or homes.top[other] == q


@borrowing
def link_blocks(b, t, q, r):
    """Add a link between two entries of a topic.

    Parameters
    ----------
    b : Blocks
        Changed in place.
    t : int
        The topic.
    q, r : int
        Its entries.

    Returns
    -------
    int
        How many entries of ``b.changed`` it wrote: those that entered the giant block of the topic, or left it.

    Cost: O(n log n) over all links of a topic with n subscribers.
    """
    if share_block(b, q, r):
        return 0
    x, y = root(b.tree, np.int64(q)), root(b.tree, np.int64(r))
    if x == y:
        return _contract(b, t, q, r)
    if b.tree_size[x] < b.tree_size[y]:
        x, y = y, x
        q, r = r, q
    b.tree[y] = x
    b.tree_size[x] += b.tree_size[y]
    b.pending[0] -= 1
    _turn(b, r)
    bridge = np.int64(b.counters[0])
    b.counters[0] += 1
    b.top[bridge], b.child[bridge], b.size[bridge] = q, r, 2
    b.label[r], b.after[r], b.before[r] = bridge, r, r
    return _choose_giant(b, t, bridge)


@borrowing
def _home(label, into, e):
    """The block that an entry is a child of."""
    home = root(into, np.int64(label[e]))
    label[e] = home
    return home


@borrowing
def _turn(b, e):
    """Make e the root of its tree: along the path up, every block changes places with the entry above it."""
    block = _home(b.label, b.into, e)
    after, before = b.after[e], b.before[e]
    b.label[e], b.after[e], b.before[e] = e, e, e
    while b.top[block] != NONE:
        x = np.int64(b.top[block])
        above = _home(b.label, b.into, x)
        x_after, x_before = b.after[x], b.before[x]
        # x becomes a child of the block in the place of e, which becomes its top.
        if after == e:
            b.after[x], b.before[x] = x, x
        else:
            b.after[x], b.before[x] = after, before
            b.before[after], b.after[before] = x, x
        b.label[x], b.child[block], b.top[block] = block, x, e
        e, block, after, before = x, above, x_after, x_before


@borrowing
def _contract(b, t, q, r):
    """Merge the blocks on the path between two entries of one tree. Returns the length of ``b.changed``."""
    meeting = _meeting(b, q, r)
    n_first = _climb(b, q, meeting, np.int64(0))
    n_path = _climb(b, r, meeting, n_first)
    if 0 < n_first < n_path and b.path[n_first - 1] == b.path[n_path - 1]:
        n_path -= 1  # the two sides met in this block
    keep = np.int64(b.path[0])
    giant = b.giant[t]
    holds_giant = False
    for k in range(n_path):
        holds_giant |= b.path[k] == giant
        if b.size[b.path[k]] > b.size[keep]:
            keep = np.int64(b.path[k])
    n_changed = np.int64(0)
    for k in range(n_path):
        block = np.int64(b.path[k])
        if holds_giant and block != giant:
            n_changed = _flag(b, block, INSIDE, n_changed)
        if block != keep:
            x, y = b.child[keep], b.child[block]
            x_after, y_after = b.after[x], b.after[y]
            b.after[x], b.before[y_after] = y_after, x
            b.after[y], b.before[x_after] = x_after, y
            b.into[block] = keep
            b.size[keep] += b.size[block] - 1  # in a tree, each block shares one entry with those merged before
    b.top[keep] = meeting
    b.pending[0] -= n_path - 1
    if holds_giant:
        b.giant[t] = keep
        return n_changed
    return _choose_giant(b, t, keep)


@borrowing
def _meeting(b, q, r):
    """The first entry on both ways to the root, from two entries of one tree. The two climb in turn."""
    b.counters[1] += 1
    climb = b.counters[1]
    x, y = np.int64(q), np.int64(r)
    b.seen[x] = climb
    while True:
        if y != NONE:
            if b.seen[y] == climb:
                return y
            b.seen[y] = climb
            y = np.int64(b.top[_home(b.label, b.into, y)])
        if x != NONE:
            x = np.int64(b.top[_home(b.label, b.into, x)])
            if x != NONE:
                if b.seen[x] == climb:
                    return x
                b.seen[x] = climb


@borrowing
def _climb(b, e, stop, n_path):
    """Append the blocks from entry e up to entry ``stop`` to ``b.path``. Returns its new length."""
    e = np.int64(e)
    while e != stop:
        block = _home(b.label, b.into, e)
        b.path[n_path] = block
        n_path += 1
        e = np.int64(b.top[block])
    return n_path


@borrowing
def _choose_giant(b, t, block):
    """Let a block that is twice as large as its topic's giant take its place. Returns the length of ``b.changed``."""
    giant = np.int64(b.giant[t])
    if giant != NONE and b.size[block] < 2 * b.size[giant]:
        return 0
    n_changed = np.int64(0)
    if giant != NONE:
        n_changed = _flag(b, giant, OUTSIDE, n_changed)
    b.giant[t] = block
    return _flag(b, np.int64(block), INSIDE, n_changed)


@borrowing
def _flag(b, block, inside, n_changed):
    """Set ``inside`` of a block's entries, and note those that it changes."""
    e = np.int64(b.child[block])
    last = e
    while True:
        if b.inside[e] != inside:
            b.inside[e] = inside
            b.changed[n_changed] = e
            n_changed += 1
        e = np.int64(b.after[e])
        if e == last:
            break
    e = np.int64(b.top[block])
    if e != NONE and b.inside[e] != inside:
        b.inside[e] = inside
        b.changed[n_changed] = e
        n_changed += 1
    return n_changed
