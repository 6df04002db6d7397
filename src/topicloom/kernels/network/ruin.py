"""Ruin and recreate for small networks: take some links and rows out, grow the design again, keep what is no worse."""

import numpy as np

from topicloom.kernels.jit import borrowing, serial
from topicloom.kernels.network.expanded import price_of, prices_of
from topicloom.kernels.network.priced_growth import grow
from topicloom.kernels.network.priced_pruning import prune
from topicloom.kernels.streams import below, draw_of

STAKES = np.array([0.05, 0.25, 0.5, 1.0])
NOISES = np.array([0.0, 0.1, 0.5])
BOLD_STAKES = np.array([0.5, 1.0, 2.0])  # while joins are missing
BOLD_NOISES = np.array([0.1, 0.5, 2.0])
_PERIOD = 200  # steps after which the search goes on from the best design
_MOST_LINKS, _MOST_ROWS = 6, 4
_NUMBERS = np.int64(64)  # random numbers set apart for each step
_HUNDRED = np.int64(100)


@serial
def ruin_and_recreate(x, rare, links, bought, missing, stays, steps, slack, key):
    """Search for a design of a lower price, or with fewer joins missing.

    Parameters
    ----------
    x : Expanded
    rare : Expanded
        The same with other weights of topics, by which every other step grows.
    links : (m, 2) int32
        The design to begin with.
    bought : bool, one per row
    missing : int64, one per virtual topic
    stays : int
        So many of the first links are never taken out.
    steps : int
    slack : float
        A design may be dearer than the last one by this share; it falls to 0 towards the end. As long as joins are
        missing, prices do not matter.
    key : uint64
        Of the random numbers.

    Returns
    -------
    links, bought, missing
        The best design found: no more joins missing, then no higher price than before.

    Cost: what `grow` and `prune` take, for each step.
    """
    best_links, best_bought, best_missing = links, bought, missing
    best_price, best_lack = _price(x, links, bought), missing.sum()
    price, lack = best_price, best_lack
    for step in range(steps):
        at = np.int64(step) * _NUMBERS
        out, unpaid = _ruin(x, links, bought, missing, lack, stays, key, at)
        stakes, noises = (BOLD_STAKES, BOLD_NOISES) if lack else (STAKES, NOISES)
        stake = stakes[below(draw_of(key, at + 1), np.int64(len(stakes)))]
        noise = noises[below(draw_of(key, at + 2), np.int64(len(noises)))]
        by = rare if below(draw_of(key, at + 9), np.int64(2)) else x
        new, rows, lacks = grow(by, links[~out], bought & ~unpaid, stake, noise, draw_of(key, at + 3))
        new_lack = lacks.sum()
        if new_lack > lack:
            continue
        if new_lack == 0:
            keep, rows = prune(x, new, prices_of(x, new), stays, rows)
            new = new[keep]
        new_price = _price(x, new, rows)
        allowed = price * (1.0 + slack * (1.0 - step / steps)) + 1e-9
        if new_lack < lack or new_lack > 0 or new_price <= allowed:
            links, bought, missing, price, lack = new, rows, lacks, new_price, new_lack
        if new_lack < best_lack or (new_lack == best_lack and new_price < best_price - 1e-9):
            best_links, best_bought, best_missing = new, rows, lacks
            best_price, best_lack = new_price, new_lack
        if step % _PERIOD == _PERIOD - 1:
            links, bought, missing, price, lack = best_links, best_bought, best_missing, best_price, best_lack
    return best_links, best_bought, best_missing


@serial
def _price(x, links, bought):
    total = 0.0
    for price in prices_of(x, links):
        total += price
    for row in range(len(bought)):
        if bought[row]:
            total += x.row_price[row]
    return total


@serial
def _ruin(x, links, bought, missing, lack, stays, key, at):
    """Choose what to take out: links around a node, dear links, a relay, a topic's rows, links where joins lack."""
    out, unpaid = np.zeros(len(links), np.bool_), np.zeros(len(bought), np.bool_)
    m = len(links)
    kind = below(draw_of(key, at + 4), _HUNDRED)
    rows = np.flatnonzero(bought)
    if lack and m and below(draw_of(key, at + 5), _HUNDRED) < 80:
        _free_a_broken_topic(x, links, missing, out, key, at)
    elif kind < 35 and m > 1:
        _free_a_neighbourhood(links, out, key, at)
    elif kind < 60 and m:
        for i in range(1 + below(draw_of(key, at + 6), np.int64(_MOST_LINKS))):
            one = below(draw_of(key, at + 10 + i), np.int64(m))
            other = below(draw_of(key, at + 20 + i), np.int64(m))
            dearer = one if _dear(x, links, one) >= _dear(x, links, other) else other
            out[dearer] = True
    elif kind < 75 and len(rows):
        relay = x.row_node[rows[below(draw_of(key, at + 6), np.int64(len(rows)))]]
        for i in range(m):
            out[i] = links[i, 0] == relay or links[i, 1] == relay
        for row in rows:
            unpaid[row] = x.row_node[row] == relay
    elif kind < 90 and len(rows):
        topic = x.row_topic[rows[below(draw_of(key, at + 6), np.int64(len(rows)))]]
        for row in rows:
            unpaid[row] = x.row_topic[row] == topic
    else:
        if len(rows):
            for i in range(1 + below(draw_of(key, at + 6), np.int64(_MOST_ROWS))):
                unpaid[rows[below(draw_of(key, at + 10 + i), np.int64(len(rows)))]] = True
        if m:
            out[below(draw_of(key, at + 7), np.int64(m))] = True
    out[:stays] = False
    return out, unpaid


@borrowing
def _dear(x, links, i):
    return price_of(x, links[i, 0], links[i, 1])


@serial
def _free_a_broken_topic(x, links, missing, out, key, at):
    """Take out up to three links at nodes of a virtual topic that is in pieces."""
    broken = np.flatnonzero(missing > 0)
    t = broken[below(draw_of(key, at + 6), np.int64(len(broken)))]
    size = np.int64(x.topic_ptr[t + 1] - x.topic_ptr[t])
    for i in range(1 + below(draw_of(key, at + 7), np.int64(3))):
        node = x.member[x.topic_ptr[t] + below(draw_of(key, at + 10 + i), size)]
        touching = np.flatnonzero((links[:, 0] == node) | (links[:, 1] == node))
        if len(touching):
            out[touching[below(draw_of(key, at + 20 + i), np.int64(len(touching)))]] = True


@serial
def _free_a_neighbourhood(links, out, key, at):
    """Take out some links at a node or at its neighbours."""
    m = np.int64(len(links))
    node = links[below(draw_of(key, at + 6), m), below(draw_of(key, at + 7), np.int64(2))]
    near = np.zeros(links.max() + 1, np.bool_)
    for i in range(m):
        if links[i, 0] == node or links[i, 1] == node:
            near[links[i, 0]] = near[links[i, 1]] = True
    touching = np.flatnonzero(near[links[:, 0]] | near[links[:, 1]])
    for i in range(1 + below(draw_of(key, at + 8), np.int64(_MOST_LINKS))):
        out[touching[below(draw_of(key, at + 10 + i), np.int64(len(touching)))]] = True
