"""Links that no topic needs: in every topic that their ends share, the ends reach each other without them."""

import numpy as np

from topicloom.kernels.disjoint_sets import root
from topicloom.kernels.jit import serial
from topicloom.kernels.repair.ragged import push_all, remove_all, row
from topicloom.kernels.repair.repair import walk
from topicloom.kernels.sorted_rows import meeting


@serial
def links_at(neighbours, keys, nodes):
    """List the links of some nodes, each once, those first that it is best to be rid of.

    Parameters
    ----------
    neighbours : Ragged
    keys : uint64, one per node
        Random keys that decide between links of equal degree.
    nodes : int32

    Returns
    -------
    (m, 2) int32
        Links with an end of high degree first, then by the keys of both ends.

    Cost: O(m log m).
    """
    total = 0
    for u in nodes:
        total += neighbours.length[u]
    pairs = np.empty((total, 2), np.int32)
    rank = np.empty(total, np.uint64)
    chosen = set(nodes)
    n = 0
    for u in nodes:
        for at in range(neighbours.start[u], neighbours.start[u] + neighbours.length[u]):
            v = neighbours.pool[at]
            if v in chosen and v < u:
                continue
            pairs[n, 0], pairs[n, 1] = u, v
            free = np.uint64((1 << 20) - min(max(neighbours.length[u], neighbours.length[v]), 1 << 20))
            rank[n] = (free << np.uint64(43)) + ((keys[u] ^ keys[v]) >> np.uint64(21))
            n += 1
    return pairs[:n][np.argsort(rank[:n])]


@serial
def spare_link(rows, members, neighbours, pairs, done, scratch):
    """Take out the first link that no topic needs.

    A topic needs a link when its ends do not reach each other without it.

    Parameters
    ----------
    rows, members, neighbours : Ragged
        Topics of all nodes, subscribers of all topics, neighbours of all nodes. The link is taken out of
        ``neighbours``.
    pairs : (m, 2) int32
        Links. ``pairs[done:]`` are tried in turn.
    done : int
    scratch : Scratch
        Overwritten.

    Returns
    -------
    int
        Position in ``pairs`` of the link taken out, ``len(pairs)`` if there is none.

    Cost: one `walk` for each topic that the ends of a link share, until one needs it.
    """
    ends = np.empty(2, np.int32)
    swapped = np.empty(2, np.int32)
    parent = np.empty(2, np.int32)
    waiting = np.empty(2, np.int64)
    for x in range(done, len(pairs)):
        u, v = pairs[x, 0], pairs[x, 1]
        ends[0], ends[1] = u, v
        swapped[0], swapped[1] = v, u
        remove_all(neighbours, ends, swapped)
        needed = False
        topics = row(rows, u)
        for k, _ in meeting(topics, row(rows, v)):
            parent[0], parent[1] = 0, 1
            waiting[:] = 1
            walk(members, neighbours, topics[k], 0, 2, ends, parent, waiting, scratch)
            needed = root(parent, 0) != root(parent, 1)
            if needed:
                break
        if not needed:
            return x
        push_all(neighbours, ends, swapped, 0)  # there is room: they were there
    return len(pairs)
