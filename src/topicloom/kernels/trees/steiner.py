"""Nodes that must relay what they do not want: Mehlhorn's approximate Steiner tree on unit weights.

K. Mehlhorn, "A faster approximation algorithm for the Steiner problem in graphs", 1988: every node belongs to
its nearest terminal; a link between the realms of two terminals is a way between them; a cheapest tree of
such ways has fewer than twice the links of a smallest Steiner tree.
"""

import numpy as np

from topicloom.kernels.disjoint_sets import join
from topicloom.kernels.jit import serial


@serial
def relays(indptr, neighbours, terminals):
    """Find the nodes that must relay between given nodes without being one of them, and the ways over them.

    They are those of an approximate Steiner tree.

    Parameters
    ----------
    indptr, neighbours : int64, int32
        The graph in CSR form, every edge in both rows.
    terminals : integers
        Distinct nodes to join.

    Returns
    -------
    joined : bool
        Whether the graph joins the terminals. Otherwise the rest says nothing.
    nodes : int32
        Nodes of the tree found that are no terminals. There are none exactly when the terminals are connected among
        themselves, and with r the fewest possible there are at most 2r + terminals - 1.
    hops, longest : int
        Sum of the distances in the tree over all ordered pairs of terminals, and the largest.

    Cost: O(nodes + edges), and a sort of the links between realms.
    """
    n = len(indptr) - 1
    realm = np.full(n, -1, np.int32)  # place of the nearest terminal
    parent = np.full(n, -1, np.int32)
    distance = np.zeros(n, np.int32)
    queue = np.empty(n, np.int32)
    tail = 0
    for i in range(len(terminals)):
        realm[terminals[i]] = i
        queue[tail] = terminals[i]
        tail += 1
    head = 0
    while head < tail:
        v = queue[head]
        head += 1
        for e in range(indptr[v], indptr[v + 1]):
            w = neighbours[e]
            if realm[w] < 0:
                realm[w] = realm[v]
                parent[w] = v
                distance[w] = distance[v] + 1
                queue[tail] = w
                tail += 1
    src, dst, length = _ways(indptr, neighbours, queue[:tail], realm, distance)
    part = np.arange(len(terminals)).astype(np.int32)
    joined = 0
    count = 0
    one, other = np.empty(n, np.int32), np.empty(n, np.int32)
    for i in np.argsort(length, kind="mergesort"):
        if join(part, realm[src[i]], realm[dst[i]]):
            joined += 1
            one[count], other[count] = src[i], dst[i]
            count = _climb(parent, src[i], one, other, count + 1)
            count = _climb(parent, dst[i], one, other, count)
    hops, longest, nodes = _tree_ways(n, one[:count], other[:count], terminals)
    return joined == len(terminals) - 1, nodes, hops, longest


@serial
def _ways(indptr, neighbours, reached, realm, distance):
    """Links between different realms: their ends and the lengths of the ways that they make."""
    count = 0
    for v in reached:
        for e in range(indptr[v], indptr[v + 1]):
            if v < neighbours[e] and realm[v] != realm[neighbours[e]]:
                count += 1
    src = np.empty(count, np.int32)
    dst = np.empty(count, np.int32)
    length = np.empty(count, np.int32)
    count = 0
    for v in reached:
        for e in range(indptr[v], indptr[v + 1]):
            w = neighbours[e]
            if v < w and realm[v] != realm[w]:
                src[count] = v
                dst[count] = w
                length[count] = distance[v] + distance[w] + 1
                count += 1
    return src, dst, length


@serial
def _climb(parent, v, one, other, count):
    """Cut off the links from v up to its terminal, or to where an earlier way has been.

    Appends them to ``one`` and ``other``, which have ``count`` before. Returns how many there are then.
    """
    while parent[v] >= 0:
        above = parent[v]
        one[count], other[count] = v, above
        parent[v] = -1
        v = above
        count += 1
    return count


@serial
def _tree_ways(n, one, other, terminals):
    """Sum and maximum of the distances of the terminals in a tree that joins them, and its other nodes."""
    place = np.full(n, -1, np.int32)
    nodes = np.empty(len(terminals) + len(one), np.int32)
    size = 0
    for v in terminals:
        place[v] = size
        nodes[size] = v
        size += 1
    for ends in (one, other):
        for v in ends:
            if place[v] < 0:
                place[v] = size
                nodes[size] = v
                size += 1
    starts = np.zeros(size + 1, np.int64)
    for ends in (one, other):
        for v in ends:
            starts[place[v] + 1] += 1
    for v in range(size):
        starts[v + 1] += starts[v]
    fill = starts[:-1].copy()
    near = np.empty(2 * len(one), np.int32)
    for i in range(len(one)):
        a, b = place[one[i]], place[other[i]]
        near[fill[a]], near[fill[b]] = b, a
        fill[a] += 1
        fill[b] += 1
    up = np.full(size, -2, np.int32)
    order = np.empty(size, np.int32)
    tail = 0
    if size > 0:
        up[0] = -1
        order[0] = 0
        tail = 1
    head = 0
    while head < tail:
        v = order[head]
        head += 1
        for e in range(starts[v], starts[v + 1]):
            if up[near[e]] == -2:
                up[near[e]] = v
                order[tail] = near[e]
                tail += 1
    k = len(terminals)
    below = np.zeros(size, np.int64)  # terminals in the part below
    below[:k] = 1
    depth = np.zeros(size, np.int64)  # links down to the farthest terminal, as every leaf is one
    hops = np.int64(0)
    longest = np.int64(0)
    for i in range(tail - 1, 0, -1):
        v = order[i]
        hops += 2 * below[v] * (k - below[v])
        below[up[v]] += below[v]
        longest = max(longest, depth[up[v]] + depth[v] + 1)
        depth[up[v]] = max(depth[up[v]], depth[v] + 1)
    return hops, longest, nodes[k:size]
