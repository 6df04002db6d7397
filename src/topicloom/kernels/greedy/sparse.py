"""The sparse search of the greedy engine: no table of pairs, O(subscriptions) memory.

A node's *row* is the pairs whose shorter arc starts at the node's place. Kept is only an upper bound of the
contributions in each row. At a level, the rows whose bound reaches it are swept in step, window of arc lengths after
window: the members of a node's topics that lie in the window are counted, those that reach the level are sorted by
rank and tried one by one. Once the half circle has been swept, what was seen is the row's new bound.

A sweep also remembers the row's best pairs, as many as fit: every pair left out is below the row's *floor*. While the
level is at the floor or above, the row is served from that memory and not swept again.

Two things keep a sweep short. Narrow windows come first, so that where many pairs are equal, most components have
merged before a wide window is counted. And a node inside a topic's giant component counts only the members outside it.
"""

from typing import NamedTuple

import numpy as np

from topicloom.kernels.greedy.joining import contribution, joined
from topicloom.kernels.greedy.topic_weights import node_weights, weight_of
from topicloom.kernels.jit import borrowing
from topicloom.kernels.sorted_rows import first_from
from topicloom.kernels.sorting import sort_ranks

BATCH = 1 << 20
# Members of a topic that the first window of a level should meet, and how much wider each next window is.
FIRST_WINDOW = 8
WIDENING = 4

# Pairs that a row may remember, per topic of its node.
MEMORY = 2

LEVEL, N_ROWS, START, WIDTH, N_BATCH, AT, N_KNOWN, AT_KNOWN, N_RECALLED = range(9)
NEVER = 1 << 30


class Sparse(NamedTuple):
    """Where the nodes sit, and which members of each topic lie outside its giant component."""

    n_places: int
    first_width: int
    place: np.ndarray  # int32 per node, ascending
    before: np.ndarray  # int32 per place of the circle: nodes at earlier places; one more at the end
    outside: np.ndarray  # int32: at topic_ptr[t] …, entries of t outside its giant, and some that entered it since
    n_outside: np.ndarray  # int32 per topic: length of that list
    n_entered: np.ndarray  # int32 per topic: entries in it that entered the giant since it was written
    bound: np.ndarray  # int32 per node: at least the largest contribution in its row
    barred: np.ndarray  # int64 ranks, ascending: pairs that may not be taken
    count: np.ndarray  # int32 per node: scratch, zero between rows
    touched: np.ndarray  # int32: nodes whose count is not zero
    mine: np.ndarray  # int32 per topic: scratch, -1 between rows
    counts: np.ndarray  # int64: scratch of sorting


class Sweep(NamedTuple):
    """One walk down the levels: the rows of the present level and the batch of pairs to try."""

    state: np.ndarray  # int64: the numbers LEVEL … N_RECALLED
    bound: np.ndarray  # int32 per node: like Sparse.bound, for pairs without a capped end
    rows: np.ndarray  # int32: rows to sweep at this level, and from the end back those served from memory
    seen: np.ndarray  # int32 per node: new value of Sparse.bound
    seen_free: np.ndarray  # int32 per node: new value of Sweep.bound
    batch: np.ndarray  # int64 ranks, ascending: pairs of the present window
    known: np.ndarray  # int64 ranks, ascending: pairs of this level from the rows' memories
    spare: np.ndarray  # int64: scratch of sorting
    memory_ptr: np.ndarray  # int64 per node, and one more: where its memory begins
    n_memory: np.ndarray  # int32 per node: pairs in it
    partner: np.ndarray  # int32
    worth: np.ndarray  # int32: at least the contribution of the pair
    floor: np.ndarray  # int32 per node: pairs of the row that it does not remember are below this
    rising: np.ndarray  # int32 per node: what the floor will be, while the row is being swept
    rest: np.ndarray  # int32 per node: at least the contribution of what it does not remember


def build_sparse(c, place, n_places, barred):
    """Make the sparse search.

    Parameters
    ----------
    c : Components or Blocks
    place : int32, one per node, ascending
        On the circle.
    n_places : int
        Of the circle.
    barred : int64, ascending
        Ranks of pairs that may not be taken.

    Returns
    -------
    Sparse

    Cost: O(subscriptions + places).
    """
    n = len(place)
    n_topics = len(c.topic_ptr) - 1
    before = np.zeros(n_places + 1, np.int32)
    before[place + 1] = 1
    subscribers = np.diff(c.topic_ptr)
    incidences = float((subscribers.astype(np.float64) ** 2).sum())
    first_width = int(FIRST_WINDOW * n_places * max(len(c.member), 1) / max(incidences, 1.0)) + 1
    outside, n_outside = _list_all_outside(c)
    return Sparse(
        n_places,
        first_width,
        place,
        np.cumsum(before, dtype=np.int32),
        outside,
        n_outside,
        np.zeros(n_topics, np.int32),
        node_weights(c.node_ptr, c.topic, c.weight).astype(np.int32),
        barred,
        np.zeros(n, np.int32),
        np.empty(n, np.int32),
        np.full(n_topics, -1, np.int32),
        np.zeros(257, np.int64),
    )


def _list_all_outside(c):
    """``outside`` and ``n_outside`` of `Sparse`."""
    is_outside = np.concatenate([np.zeros(1, np.int64), np.cumsum(~c.inside)])
    n_outside = is_outside[c.topic_ptr[1:]] - is_outside[c.topic_ptr[:-1]]
    outside = np.empty(len(c.member), np.int32)
    entries = np.flatnonzero(~c.inside)
    moved = c.topic_ptr[:-1] - is_outside[c.topic_ptr[:-1]]
    outside[np.arange(len(entries)) + np.repeat(moved, n_outside)] = entries
    return outside, n_outside.astype(np.int32)


def build_sweep(c, s, bound):
    """Make a walk that starts at the top.

    Parameters
    ----------
    c : Components or Blocks
    s : Sparse
    bound : int32, one per node
        ``s.bound`` itself or, for a walk past capped nodes, a copy.

    Returns
    -------
    Sweep

    Cost: O(subscriptions).
    """
    n = len(c.node_ptr) - 1
    memory_ptr = np.zeros(n + 1, np.int64)
    np.cumsum(np.minimum(MEMORY * np.diff(c.node_ptr) + MEMORY, n), out=memory_ptr[1:])
    n_memory = memory_ptr[-1]
    batch = np.empty(max(n, min(BATCH, n * n // 2)), np.int64)
    return Sweep(
        np.zeros(9, np.int64),
        bound,
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        batch,
        np.empty(n_memory, np.int64),
        np.empty(max(len(batch), n_memory), np.int64),
        memory_ptr,
        np.zeros(n, np.int32),
        np.empty(n_memory, np.int32),
        np.empty(n_memory, np.int32),
        np.full(n, NEVER, np.int32),
        np.ones(n, np.int32),
        np.zeros(n, np.int32),
    )


@borrowing
def list_outside(c, s, t):
    """Rewrite the list of topic t's entries outside its giant component."""
    at = c.topic_ptr[t]
    for e in range(c.topic_ptr[t], c.topic_ptr[t + 1]):
        if not c.inside[e]:
            s.outside[at] = e
            at += 1
    s.n_outside[t] = at - c.topic_ptr[t]
    s.n_entered[t] = 0


@borrowing
def note_entered(c, s, t, n_changed):
    """Note a merge in a topic: its list of outside entries is shortened if half of it is inside, or if some came out.

    Parameters
    ----------
    c : Components or Blocks
    s : Sparse
        Changed in place.
    t : int
        The topic.
    n_changed : int
        Entries of ``c.changed`` that the merge wrote.

    Cost: O(n_changed), and O(subscribers of t) when the list is written again.
    """
    came_out = False
    for k in range(n_changed):
        came_out |= not c.inside[c.changed[k]]
    s.n_entered[t] += n_changed
    if came_out or 2 * s.n_entered[t] >= s.n_outside[t]:
        list_outside(c, s, t)


@borrowing
def _rank_at(s, w):
    """Return the rank at which the walk stands, the next of the window or of the memories. -1 at the window's end."""
    rank = -1
    if w.state[AT] < w.state[N_BATCH]:
        rank = w.batch[w.state[AT]]
    if w.state[AT_KNOWN] < w.state[N_KNOWN]:
        known = w.known[w.state[AT_KNOWN]]
        if known // s.n_places < w.state[START] and (rank < 0 or known < rank):
            rank = known
    return rank


@borrowing
def sparse_pair(s, w):
    """Read the pair that a walk stands at.

    Parameters
    ----------
    s : Sparse
    w : Sweep

    Returns
    -------
    u, v : int64
        Node numbers of the start of the arc and of its end.

    Cost: O(1).
    """
    rank = _rank_at(s, w)
    p = rank % s.n_places
    return np.int64(s.before[p]), np.int64(s.before[(p + rank // s.n_places) % s.n_places])


@borrowing
def sparse_next(c, s, w, cursor, capped, floor):
    """Move a walk on to the first pair that has the level of the cursor.

    Parameters
    ----------
    c : Components or Blocks
    s : Sparse
    w : Sweep
        Both changed in place.
    cursor, capped, floor
        As for `dense_next`.

    Returns
    -------
    bool
        False when no pair of level ``floor`` or more remains.

    Cost: O(Σ over topics of subscribers · subscribers outside the giant) for each level at worst.
    """
    level = cursor[0]
    while level >= floor:
        if w.state[LEVEL] != level:
            _begin_level(c, s, w, level, capped)
        while True:
            if _try_batch(c, s, w, level, capped):
                cursor[0] = level
                return True
            if w.state[START] > s.n_places // 2:
                break
            _fill_batch(c, s, w, level, capped)
        _end_level(s, w)
        level = _highest(w, capped)
    cursor[0] = level
    return False


@borrowing
def restart(s, w):
    """Send a walk past capped nodes back to the top, because others are capped now.

    Parameters
    ----------
    s : Sparse
    w : Sweep
        Changed in place.

    Cost: O(nodes).
    """
    w.state[LEVEL] = 0
    for v in range(len(w.bound)):
        w.bound[v] = s.bound[v]


@borrowing
def _highest(w, capped):
    level = 0
    for v in range(len(w.bound)):
        if not capped[v]:
            level = max(level, w.bound[v])
    return level


@borrowing
def _begin_level(c, s, w, level, capped):
    """Sort the rows that reach the level into those to sweep and those to serve from memory."""
    for k in range(len(w.state)):
        w.state[k] = 0
    for v in range(len(w.bound)):
        if w.bound[v] < level or capped[v]:
            continue
        w.seen[v] = 0
        w.seen_free[v] = 0
        if w.floor[v] <= level:
            _recall(c, s, w, v, level, capped)
            w.state[N_RECALLED] += 1
            w.rows[len(w.rows) - w.state[N_RECALLED]] = v
        else:
            w.rows[w.state[N_ROWS]] = v
            w.state[N_ROWS] += 1
            w.floor[v] = NEVER  # until its sweep is complete
            w.rising[v] = 1
            w.n_memory[v] = 0
            w.rest[v] = 0
    sort_ranks(w.known, w.state[N_KNOWN], w.spare, s.counts)
    w.state[LEVEL] = level
    w.state[START] = 1
    w.state[WIDTH] = s.first_width if w.state[N_ROWS] else s.n_places


@borrowing
def _recall(c, s, w, v, level, capped):
    """Note the pairs in a row's memory that have the level, and what the others have.

    The topics of v are marked, so that a pair costs the topics of the other end: the rows of large nodes remember most.
    """
    partner, worth, place, barred, n = w.partner, w.worth, s.place, s.barred, s.n_places
    node_ptr, topic, entry, homes, weight = c.node_ptr, c.topic, c.entry, c.homes, c.weight
    seen, seen_free, mine = w.seen, w.seen_free, s.mine
    marked = False
    w.seen[v] = w.rest[v]
    w.seen_free[v] = w.rest[v]
    for k in range(w.memory_ptr[v], w.memory_ptr[v] + w.n_memory[v]):
        x = partner[k]
        if worth[k] >= level and not capped[x]:
            rank = ((place[x] - place[v]) % n) * n + place[v]
            if not marked:
                marked = True
                for m in range(node_ptr[v], node_ptr[v + 1]):
                    mine[topic[m]] = entry[m]
            worth[k] = 0
            if not _is_barred(barred, rank):
                worth[k] = _contribution_to_marked(node_ptr, topic, entry, homes, weight, mine, x)
            if worth[k] == level:
                w.known[w.state[N_KNOWN]] = rank
                w.state[N_KNOWN] += 1
                continue
        seen[v] = max(seen[v], worth[k])
        if not capped[x]:
            seen_free[v] = max(seen_free[v], worth[k])
    if marked:
        for m in range(node_ptr[v], node_ptr[v + 1]):
            mine[topic[m]] = -1


@borrowing
def _contribution_to_marked(node_ptr, topic, entry, homes, weight, mine, x):
    """Contribution of x and the node whose entries are marked in ``mine``."""
    total = np.int64(0)
    for m in range(node_ptr[x], node_ptr[x + 1]):
        e = mine[topic[m]]
        if e >= 0 and not joined(homes, e, entry[m]):
            total += weight_of(weight, topic[m])
    return total


@borrowing
def _end_level(s, w):
    """What was seen of each row becomes its bound, and what it remembered of a complete sweep counts."""
    n = len(w.rows)
    for k in range(n):
        if w.state[N_ROWS] <= k < n - w.state[N_RECALLED]:
            continue
        v = w.rows[k]
        w.bound[v] = w.seen_free[v]
        s.bound[v] = min(s.bound[v], w.seen[v])
        if k < w.state[N_ROWS] and w.seen[v] != NEVER:
            w.floor[v] = w.rising[v]
    w.state[LEVEL] = 0


@borrowing
def _try_batch(c, s, w, level, capped):
    """Stop at the first pair of the window that still has the level."""
    while True:
        rank = _rank_at(s, w)
        if rank < 0:
            return False
        u, v = sparse_pair(s, w)
        if capped[u] | capped[v]:
            w.seen[u] = max(w.seen[u], level)
        else:
            worth = np.int64(0)
            if not _is_barred(s.barred, rank):
                worth = contribution(c.node_ptr, c.topic, c.entry, c.homes, c.weight, u, v)
            if worth == level:
                return True
            w.seen[u] = max(w.seen[u], worth)
            w.seen_free[u] = max(w.seen_free[u], worth)
        if w.state[AT] < w.state[N_BATCH] and w.batch[w.state[AT]] == rank:
            w.state[AT] += 1
        else:
            w.state[AT_KNOWN] += 1


@borrowing
def _is_barred(barred, rank):
    at = first_from(barred, 0, len(barred), rank)
    return at < len(barred) and barred[at] == rank


@borrowing
def _fill_batch(c, s, w, level, capped):
    """Collect the pairs of the next window that may have the level, by rank."""
    start = w.state[START]
    width = w.state[WIDTH]
    while True:
        stop = min(start + width, s.n_places // 2 + 1)
        n_batch = 0
        fits = True
        for k in range(w.state[N_ROWS]):
            v = w.rows[k]
            if capped[v]:
                w.seen[v] = NEVER  # not swept to the end
                continue
            n_batch = _sweep_row(c, s, w, v, start, stop, level, capped, n_batch)
            if n_batch < 0:
                fits = False
                break
        if fits:
            break
        width = max((stop - start) // 4, 1)
    sort_ranks(w.batch, np.int64(n_batch), w.spare, s.counts)
    w.state[N_BATCH], w.state[AT] = n_batch, 0
    w.state[START] = stop
    w.state[WIDTH] = width * WIDENING if 2 * WIDENING * n_batch < len(w.batch) else width


@borrowing
def _sweep_row(c, s, w, v, start, stop, level, capped, n_batch):
    """Append to the batch the pairs of row v with arcs from start to stop that may have the level.

    Returns the new size of the batch, or -1 if it would not fit.
    """
    n = s.n_places
    p = s.place[v]
    if stop - 1 == n - stop + 1 and 2 * p >= n:  # half the circle: the pair belongs to the row of its earlier place
        stop -= 1
    if start >= stop:
        return n_batch
    first, last = p + start, p + stop
    if first >= n:
        first, last = first - n, last - n
    n_touched = _count_members(c, s, v, s.before[first], s.before[min(last, n)], np.int64(0))
    if last > n:
        n_touched = _count_members(c, s, v, np.int32(0), s.before[last - n], n_touched)
    if n_batch + n_touched > len(w.batch):
        fits = 0
        for k in range(n_touched):
            fits += s.count[s.touched[k]] >= level
        if n_batch + fits > len(w.batch):
            for k in range(n_touched):
                s.count[s.touched[k]] = 0
            return -1
    count, touched, place, batch = s.count, s.touched, s.place, w.batch
    memory_ptr, n_memory, partner, worths, rising, rest = w.memory_ptr, w.n_memory, w.partner, w.worth, w.rising, w.rest
    most, most_free = w.seen[v], w.seen_free[v]
    for k in range(n_touched):
        x = touched[k]
        worth = count[x]
        count[x] = 0
        if worth >= rising[v]:
            _remember(memory_ptr, n_memory, partner, worths, rising, rest, v, x, worth)
        else:
            rest[v] = max(rest[v], worth)
        if capped[x]:
            most = max(most, worth)
        elif worth >= level:
            batch[n_batch] = ((place[x] - p) % n) * n + p
            n_batch += 1
        else:
            most = max(most, worth)
            most_free = max(most_free, worth)
    w.seen[v], w.seen_free[v] = most, most_free
    return n_batch


@borrowing
def _remember(memory_ptr, n_memory, partner, worths, rising, rest, v, x, worth):
    """Put a pair into the memory of row v. When that is full, what is not above its average is forgotten first."""
    first, end = memory_ptr[v], memory_ptr[v + 1]
    if first + n_memory[v] == end:
        total = 0
        for k in range(first, end):
            total += worths[k]
        rising[v] = total // n_memory[v] + 1
        kept = first
        for k in range(first, end):
            if worths[k] >= rising[v]:
                partner[kept] = partner[k]
                worths[kept] = worths[k]
                kept += 1
            else:
                rest[v] = max(rest[v], worths[k])
        n_memory[v] = kept - first
    if worth >= rising[v]:
        partner[first + n_memory[v]] = x
        worths[first + n_memory[v]] = worth
        n_memory[v] += 1
    else:
        rest[v] = max(rest[v], worth)


@borrowing
def _count_members(c, s, v, first, last, n_touched):
    """Add up, for each node from first to last, what the topics shared with v count for whose components differ."""
    if first >= last:
        return n_touched
    node_ptr, topic, entry, label, inside = c.node_ptr, c.topic, c.entry, c.label, c.inside
    topic_ptr, member = c.topic_ptr, c.member
    outside, n_outside, count, touched = s.outside, s.n_outside, s.count, s.touched
    for k in range(node_ptr[v], node_ptr[v + 1]):
        t, mine = topic[k], entry[k]
        gain = weight_of(c.weight, t)
        begin = topic_ptr[t]
        if inside[mine]:
            lo, hi = begin, begin + n_outside[t]
            while lo < hi:
                mid = (lo + hi) >> 1
                if member[outside[mid]] < first:
                    lo = mid + 1
                else:
                    hi = mid
            for q in range(lo, begin + n_outside[t]):
                e = outside[q]
                x = member[e]
                if x >= last:
                    break
                if not inside[e]:
                    if count[x] == 0:
                        touched[n_touched] = x
                        n_touched += 1
                    count[x] += gain
        else:
            own = label[mine]
            end = topic_ptr[t + 1]
            for e in range(first_from(member, begin, end, first), end):
                x = member[e]
                if x >= last:
                    break
                if label[e] != own:
                    if count[x] == 0:
                        touched[n_touched] = x
                        n_touched += 1
                    count[x] += gain
    return n_touched
