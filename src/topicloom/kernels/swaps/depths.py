"""How far entries lie from the centres of their topics, for refinements that care about topic diameters."""

import numpy as np

from topicloom.kernels.jit import borrowing
from topicloom.kernels.swaps.swap_state import CLOCK, NONE


@borrowing
def price_depths(s, price):
    """Price how far every entry lies from the centre of its topic.

    The centre is the middle of a longest shortest path, as two searches find it (exact on trees). A topic in several
    components has its centre in that of its first entry.

    Parameters
    ----------
    s : Swaps
        ``s.depth`` (int64 per entry) is overwritten.
    price : int
        What a step costs.

    Cost: O(entries + arcs).
    """
    s.depth[:] = 0  # what the search from the first entry of a topic does not reach costs nothing
    for t in range(len(s.topic_ptr) - 1):
        end = _farthest(s, s.topic_ptr[t])
        other = _farthest(s, end)
        centre = other
        for _ in range(s.depth[other] // 2):
            centre = _nearer(s, centre)
        _farthest(s, centre)
        for e in range(s.topic_ptr[t], s.topic_ptr[t + 1]):
            s.depth[e] *= price


@borrowing
def _farthest(s, start):
    """Write the steps from ``start`` to ``s.depth`` of all entries that it reaches. Returns the last of them."""
    s.counters[CLOCK] += 1
    clock = s.counters[CLOCK]
    s.side[start], s.queue[start], s.depth[start] = clock, NONE, 0
    at, last = np.int32(start), np.int32(start)
    while at != NONE:
        for lists in (s.first, s.spare):
            arc = lists[at]
            while arc != NONE:
                y = s.head[arc]
                if s.side[y] != clock:
                    s.side[y], s.queue[y], s.depth[y] = clock, NONE, s.depth[at] + 1
                    s.queue[last] = y
                    last = y
                arc = s.after[arc]
        at = s.queue[at]
    return last


@borrowing
def _nearer(s, e):
    """A neighbour of e that is one step nearer to where the last search began."""
    for lists in (s.first, s.spare):
        arc = lists[e]
        while arc != NONE:
            y = s.head[arc]
            if s.depth[y] < s.depth[e]:
                return y
            arc = s.after[arc]
    return e
