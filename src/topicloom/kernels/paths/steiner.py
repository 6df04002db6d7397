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
    """Count the nodes that must relay between given nodes without being one of them.

    They are those of an approximate Steiner tree.

    Parameters
    ----------
    indptr, neighbours : int64, int32
        The graph in CSR form, every edge in both rows.
    terminals : integers
        Distinct nodes to join.

    Returns
    -------
    int
        Nodes of the tree found that are no terminals; -1 when the graph does not join the terminals. It is 0 exactly
        when the terminals are connected among themselves, and with r the fewest possible at most 2r + terminals - 1.

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
    for i in np.argsort(length, kind="mergesort"):
        if join(part, realm[src[i]], realm[dst[i]]):
            joined += 1
            count += _climb(parent, src[i]) + _climb(parent, dst[i])
    return count if joined == len(terminals) - 1 else -1


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
def _climb(parent, v):
    """Count and cut off the nodes from v up to its terminal, or to where an earlier way has been."""
    count = 0
    while parent[v] >= 0:
        count += 1
        above = parent[v]
        parent[v] = -1
        v = above
    return count
