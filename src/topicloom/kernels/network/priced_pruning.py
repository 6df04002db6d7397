"""Links and rows that no virtual topic needs, found from the dearest down."""

from typing import NamedTuple

import numpy as np

from topicloom.kernels.jit import borrowing, serial
from topicloom.kernels.network.expanded import NONE
from topicloom.kernels.network.priced_growth import carries
from topicloom.kernels.sorted_rows import shared


class Web(NamedTuple):
    """The links of a design as arcs between entries: arc a ^ 1 leads back."""

    first: np.ndarray  # int32 per entry: its first arc
    after: np.ndarray  # int32 per arc: the next one of its entry
    head: np.ndarray  # int32 per arc: the entry that it leads to
    link: np.ndarray  # int32 per arc: the link that it is of
    arcs_at: np.ndarray  # int64 per link: its first arc; and the end
    queue: np.ndarray  # int32 per entry: scratch
    seen: np.ndarray  # int64 per entry: the number of the search that reached it last
    clock: np.ndarray  # int64: the number of the last search


@serial
def new_web(x, links):
    """Lay out the links of a design.

    Parameters
    ----------
    x : Expanded
    links : (m, 2) int32

    Returns
    -------
    Web

    Cost: O(slots of both ends) for each link.
    """
    arcs_at = np.zeros(len(links) + 1, np.int64)
    for i in range(len(links)):
        arcs_at[i + 1] = arcs_at[i]
        for _ in shared(x.node_ptr, x.topic, links[i, 0], links[i, 1]):
            arcs_at[i + 1] += 2
    count = arcs_at[-1]
    w = Web(
        np.full(len(x.member), NONE, np.int32), np.empty(count, np.int32), np.empty(count, np.int32),
        np.empty(count, np.int32), arcs_at, np.empty(len(x.member), np.int32), np.zeros(len(x.member), np.int64),
        np.zeros(1, np.int64),
    )  # fmt: skip
    for i in range(len(links)):
        arc = arcs_at[i]
        for k, m in shared(x.node_ptr, x.topic, links[i, 0], links[i, 1]):
            e, f = x.entry[k], x.entry[m]
            w.head[arc], w.head[arc + 1] = f, e
            w.link[arc] = w.link[arc + 1] = i
            w.after[arc], w.after[arc + 1] = w.first[e], w.first[f]
            w.first[e], w.first[f] = arc, arc + 1
            arc += 2
    return w


@borrowing
def _is_whole(x, w, t, e, f, keep, bought):
    """Whether what carries topic t and hangs together with entry e has all of its subscribers, or none.

    True as soon as the search reaches entry f.
    """
    w.clock[0] += 1
    clock = w.clock[0]
    w.seen[e] = clock
    w.queue[0] = e
    head, tail, found = 0, 1, 0
    while head < tail:
        one = w.queue[head]
        head += 1
        found += x.wants[one]
        arc = w.first[one]
        while arc != NONE:
            other = w.head[arc]
            if w.seen[other] != clock and keep[w.link[arc]] and carries(x, bought, other):
                if other == f:
                    return True
                w.seen[other] = clock
                w.queue[tail] = other
                tail += 1
            arc = w.after[arc]
    wanted = 0
    for one in range(x.topic_ptr[t], x.topic_ptr[t + 1]):
        wanted += x.wants[one]
    return found in (0, wanted)


@borrowing
def _spares_link(x, w, i, keep, bought):
    """Whether every virtual topic is whole without link i, which is out."""
    for arc in range(w.arcs_at[i], w.arcs_at[i + 1], 2):
        e, f = w.head[arc + 1], w.head[arc]
        served = carries(x, bought, e) and carries(x, bought, f)
        if served and not _is_whole(x, w, x.topic_of[e], e, f, keep, bought):
            return False
    return True


@borrowing
def _spares_row(x, w, row, keep, bought):
    """Whether every virtual topic is whole without a row, which is out."""
    for k in range(x.row_ptr[row], x.row_ptr[row + 1]):
        t = x.topic_of[x.row_entry[k]]
        for e in range(x.topic_ptr[t], x.topic_ptr[t + 1]):
            if x.wants[e]:
                if not _is_whole(x, w, t, e, NONE, keep, bought):
                    return False
                break
    return True


@serial
def prune(x, links, price, stays, given_rows):
    """Drop links and rows that no virtual topic needs, in falling price, until each is needed.

    Parameters
    ----------
    x : Expanded
    links : (m, 2) int32
        All virtual topics are whole with them.
    price : float64, one per link
    stays : int
        So many of the first links are never dropped.
    given_rows : bool, one per row
        Rows that are bought.

    Returns
    -------
    keep : bool, one per link
    bought : bool, one per row

    Cost: a search in each virtual topic of each link and row, some two or three times.
    """
    w = new_web(x, links)
    keep, bought = np.ones(len(links), np.bool_), given_rows.copy()
    m = len(links)
    cost = np.empty(m + len(bought))
    cost[:m] = -price
    cost[m:] = -x.row_price
    order = np.argsort(cost, kind="mergesort")
    dropped = True
    while dropped:
        dropped = False
        for one in order:
            if one < stays:
                continue
            if one < m and keep[one]:
                keep[one] = False
                keep[one] = not _spares_link(x, w, one, keep, bought)
                dropped |= not keep[one]
            elif one >= m and bought[one - m]:
                bought[one - m] = False
                bought[one - m] = not _spares_row(x, w, one - m, keep, bought)
                dropped |= not bought[one - m]
    return keep, bought


@serial
def count_missing(x, links, bought):
    """Count the joins that each virtual topic lacks.

    Parameters
    ----------
    x : Expanded
    links : (m, 2) int32
    bought : bool, one per row

    Returns
    -------
    int64, one per virtual topic
        0 where its subscribers are in one component.

    Cost: O(entries + slots of both ends of each link).
    """
    w = new_web(x, links)
    keep = np.ones(len(links), np.bool_)
    missing = np.zeros(len(x.topic_ptr) - 1, np.int64)
    for t in range(len(missing)):
        missing[t] = -1
        w.clock[0] += 1
        for start in range(x.topic_ptr[t], x.topic_ptr[t + 1]):
            if not x.wants[start] or w.seen[start] == w.clock[0]:
                continue
            missing[t] += 1
            w.seen[start] = w.clock[0]
            w.queue[0] = start
            head, tail = 0, 1
            while head < tail:
                arc = w.first[w.queue[head]]
                head += 1
                while arc != NONE:
                    other = w.head[arc]
                    if w.seen[other] != w.clock[0] and keep[w.link[arc]] and carries(x, bought, other):
                        w.seen[other] = w.clock[0]
                        w.queue[tail] = other
                        tail += 1
                    arc = w.after[arc]
    return missing
