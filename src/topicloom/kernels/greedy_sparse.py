"""The sparse search of the greedy engine: no table of pairs, O(subscriptions) memory.

A node's *row* is the pairs whose shorter arc starts at the node's place. Kept is only an upper bound of the
contributions in each row. At a level, the rows whose bound reaches it are swept in step, window of arc lengths after
window: the members of a node's topics that lie in the window are counted, those that reach the level are sorted by
rank and tried one by one. Once the half circle has been swept, what was seen is the row's new bound.

Two things keep a sweep short. Narrow windows come first, so that where many pairs are equal, most components have
merged before a wide window is counted. And a node inside a topic's giant component counts only the members outside it.
"""

from typing import NamedTuple

import numpy as np

from topicloom.kernels.jit import serial
from topicloom.kernels.progress import contribution

BATCH = 1 << 20
# Members of a topic that the first window of a level should meet, and how much wider each next window is.
FIRST_WINDOW = 8
WIDENING = 4

LEVEL, N_ROWS, START, WIDTH, N_BATCH, AT = range(6)
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


class Sweep(NamedTuple):
    """One walk down the levels: the rows of the present level and the batch of pairs to try."""

    state: (
        np.ndarray
    )  # int64: level being swept, rows, start and width of the next window, size of the batch, place in it
    bound: np.ndarray  # int32 per node: like Sparse.bound, for pairs without a capped end
    rows: np.ndarray  # int32
    seen: np.ndarray  # int32 per node: new value of Sparse.bound
    seen_free: np.ndarray  # int32 per node: new value of Sweep.bound
    batch: np.ndarray  # int64 ranks, ascending


@serial
def build_sparse(c, place, n_places, barred):
    """Sparse search over components ``c`` of nodes at the given places (ascending)."""
    n = len(place)
    before = np.zeros(n_places + 1, np.int32)
    for v in range(n):
        before[place[v] + 1] = 1
    for p in range(n_places):
        before[p + 1] += before[p]
    incidences = 0.0
    for t in range(len(c.topic_ptr) - 1):
        incidences += float(c.topic_ptr[t + 1] - c.topic_ptr[t]) ** 2
    first_width = int(FIRST_WINDOW * n_places * max(len(c.member), 1) / max(incidences, 1.0)) + 1
    s = Sparse(
        n_places,
        first_width,
        place,
        before,
        np.empty(len(c.member), np.int32),
        np.zeros(len(c.topic_ptr) - 1, np.int32),
        np.zeros(len(c.topic_ptr) - 1, np.int32),
        np.empty(n, np.int32),
        barred,
        np.zeros(n, np.int32),
        np.empty(n, np.int32),
    )
    for v in range(n):
        s.bound[v] = c.node_ptr[v + 1] - c.node_ptr[v]
    for t in range(len(c.topic_ptr) - 1):
        list_outside(c, s, t)
    return s


@serial
def build_sweep(s, bound):
    """A walk that starts at the top; ``bound`` is Sparse.bound itself or, for a walk past capped nodes, a copy of it."""
    n = len(s.place)
    return Sweep(
        np.zeros(6, np.int64),
        bound,
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.empty(max(n, min(BATCH, n * n // 2)), np.int64),
    )


@serial
def list_outside(c, s, t):
    """Write the list of topic t's entries outside its giant component anew."""
    at = c.topic_ptr[t]
    for e in range(c.topic_ptr[t], c.topic_ptr[t + 1]):
        if not c.inside[e]:
            s.outside[at] = e
            at += 1
    s.n_outside[t] = at - c.topic_ptr[t]
    s.n_entered[t] = 0


@serial
def note_entered(c, s, t, n_changed):
    """After a merge in topic t: shorten its list of outside entries if half of it is inside, or if some came out."""
    came_out = False
    for k in range(n_changed):
        came_out |= not c.inside[c.changed[k]]
    s.n_entered[t] += n_changed
    if came_out or 2 * s.n_entered[t] >= s.n_outside[t]:
        list_outside(c, s, t)


@serial
def sparse_pair(s, w):
    """Nodes (start of the arc, its end) of the pair that the walk stands at."""
    rank = w.batch[w.state[AT]]
    p = rank % s.n_places
    return s.before[p], s.before[(p + rank // s.n_places) % s.n_places]


@serial
def sparse_next(c, s, w, cursor, capped, floor):
    """Move the walk on to the first pair that has the level of the cursor; see `dense_next`."""
    level = cursor[0]
    while level >= floor:
        if w.state[LEVEL] != level:
            _begin_level(s, w, level, capped)
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


@serial
def restart(s, w):
    """Send a walk past capped nodes back to the top: others are capped now."""
    w.state[LEVEL] = 0
    w.bound[:] = s.bound


@serial
def _highest(w, capped):
    level = 0
    for v in range(len(w.bound)):
        if not capped[v]:
            level = max(level, w.bound[v])
    return level


@serial
def _begin_level(s, w, level, capped):
    n_rows = 0
    for v in range(len(w.bound)):
        if w.bound[v] >= level and not capped[v]:
            w.rows[n_rows] = v
            w.seen[v] = 0
            w.seen_free[v] = 0
            n_rows += 1
    w.state[LEVEL] = level
    w.state[N_ROWS] = n_rows
    w.state[START], w.state[WIDTH] = 1, s.first_width
    w.state[N_BATCH], w.state[AT] = 0, 0


@serial
def _end_level(s, w):
    for k in range(w.state[N_ROWS]):
        v = w.rows[k]
        w.bound[v] = w.seen_free[v]
        s.bound[v] = min(s.bound[v], w.seen[v])
    w.state[LEVEL] = 0


@serial
def _try_batch(c, s, w, level, capped):
    """Stop at the first pair of the batch that still has the level."""
    for k in range(w.state[AT], w.state[N_BATCH]):
        w.state[AT] = k
        u, v = sparse_pair(s, w)
        if capped[u] | capped[v]:
            w.seen[u] = max(w.seen[u], level)
            continue
        worth = 0
        if not _is_barred(s, w.batch[k]):
            worth = contribution(c, u, v)
        if worth == level:
            return True
        w.seen[u] = max(w.seen[u], worth)
        w.seen_free[u] = max(w.seen_free[u], worth)
    w.state[AT] = w.state[N_BATCH]
    return False


@serial
def _is_barred(s, rank):
    if len(s.barred) == 0:
        return False
    k = np.searchsorted(s.barred, rank)
    return k < len(s.barred) and s.barred[k] == rank


@serial
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
    w.batch[:n_batch].sort()
    w.state[N_BATCH], w.state[AT] = n_batch, 0
    w.state[START] = stop
    w.state[WIDTH] = width * WIDENING if 2 * WIDENING * n_batch < len(w.batch) else width


@serial
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
    n_touched = _count_members(c, s, v, s.before[first], s.before[min(last, n)], 0)
    if last > n:
        n_touched = _count_members(c, s, v, 0, s.before[last - n], n_touched)
    if n_batch + n_touched > len(w.batch):
        fits = 0
        for k in range(n_touched):
            fits += s.count[s.touched[k]] >= level
        if n_batch + fits > len(w.batch):
            for k in range(n_touched):
                s.count[s.touched[k]] = 0
            return -1
    for k in range(n_touched):
        x = s.touched[k]
        worth = s.count[x]
        s.count[x] = 0
        if capped[x]:
            w.seen[v] = max(w.seen[v], worth)
        elif worth >= level:
            w.batch[n_batch] = ((s.place[x] - p) % n) * n + p
            n_batch += 1
        else:
            w.seen[v] = max(w.seen[v], worth)
            w.seen_free[v] = max(w.seen_free[v], worth)
    return n_batch


@serial
def _count_members(c, s, v, first, last, n_touched):
    """Count, for each node from first to last, the topics shared with v in which the two are in different components."""
    if first >= last:
        return n_touched
    for k in range(c.node_ptr[v], c.node_ptr[v + 1]):
        t, mine = c.topic[k], c.entry[k]
        begin = c.topic_ptr[t]
        if c.inside[mine]:
            lo, hi = begin, begin + s.n_outside[t]
            while lo < hi:
                mid = (lo + hi) >> 1
                if c.member[s.outside[mid]] < first:
                    lo = mid + 1
                else:
                    hi = mid
            for q in range(lo, begin + s.n_outside[t]):
                e = s.outside[q]
                x = c.member[e]
                if x >= last:
                    break
                if not c.inside[e]:
                    if s.count[x] == 0:
                        s.touched[n_touched] = x
                        n_touched += 1
                    s.count[x] += 1
        else:
            label = c.label[mine]
            lo, hi = begin, c.topic_ptr[t + 1]
            while lo < hi:
                mid = (lo + hi) >> 1
                if c.member[mid] < first:
                    lo = mid + 1
                else:
                    hi = mid
            for e in range(lo, c.topic_ptr[t + 1]):
                x = c.member[e]
                if x >= last:
                    break
                if c.label[e] != label:
                    if s.count[x] == 0:
                        s.touched[n_touched] = x
                        n_touched += 1
                    s.count[x] += 1
    return n_touched
