"""k >= 3: whether a graph is k-connected, and if not, which fewer than k nodes separate it.

Even's test ("An algorithm for determining whether the connectivity of a graph is at least k", 1975): with the
nodes in any order v1, v2, … it looks for k disjoint paths between every two of the first k nodes, and from
every later one to the set of all nodes before it: n + k² local questions. They are asked of a sparse
certificate with at most k(n - 1) edges, the first k forests of Nagamochi and Ibaraki ("A linear-time
algorithm for finding a sparse k-connected spanning subgraph of a k-connected graph", 1992), in the order in
which those were scanned: most nodes then have enough neighbours before them and need no search.
"""

import numpy as np
import numpy.typing as npt

from topicloom.judge.compiled import compiled
from topicloom.model.arrays import Int32Array, Int64Array

_NONE = -1
_SINK = -2


@compiled
def separator(indptr: Int64Array, neighbours: Int32Array, k: int) -> Int32Array:
    """Find fewer than k nodes whose removal separates a graph. Returns an array of one -1 when there are none.

    The graph is simple, in CSR form, has more than k nodes, and every edge is in the rows of both ends. At
    most n + k² searches for k paths each, on at most k(n - 1) edges; usually far fewer.
    """
    n = len(indptr) - 1
    order, thin_indptr, thin = _certificate(indptr, neighbours, k)
    is_target = np.zeros(n, np.bool_)
    previous = np.empty(n, np.int32)  # the node before and after v on the path through it
    following = np.empty(n, np.int32)
    met = np.zeros(2 * n, np.int32)  # search in which the in side (v) and out side (n + v) was last met
    parent = np.empty(2 * n, np.int32)
    queue = np.empty(2 * n, np.int32)
    searches = 0
    for j in range(1, n):
        v = order[j]
        if j < k:
            for i in range(j):
                u = order[i]
                is_target[:] = False
                adjacent = False
                for e in range(thin_indptr[u], thin_indptr[u + 1]):
                    is_target[thin[e]] = True
                    adjacent = adjacent or thin[e] == v
                if not adjacent:
                    found, searches = _disjoint_paths(
                        thin_indptr, thin, v, k, is_target, previous, following, met, parent, queue, searches
                    )
                    if found < k:
                        return _cut(met, n, searches)
            continue
        if j == k:
            is_target[:] = False
            for i in range(j):
                is_target[order[i]] = True
        found, searches = _disjoint_paths(
            thin_indptr, thin, v, k, is_target, previous, following, met, parent, queue, searches
        )
        if found < k:
            return _cut(met, n, searches)
        is_target[v] = True
    return np.full(1, _NONE, np.int32)


@compiled
def _certificate(indptr: Int64Array, neighbours: Int32Array, k: int) -> tuple[Int32Array, Int64Array, Int32Array]:
    """Nodes in maximum adjacency order, and the CSR of the edges in the first k forests."""
    n = len(indptr) - 1
    reached = np.zeros(n, np.int64)  # neighbours scanned so far
    scanned = np.zeros(n, np.bool_)
    order = np.empty(n, np.int32)
    # Stacks of nodes by `reached`; a node stays behind in the stacks that it has left, and is skipped there.
    top = np.full(n + 1, _NONE, np.int64)
    below = np.empty(n + len(neighbours), np.int64)
    node_of = np.empty(n + len(neighbours), np.int32)
    for v in range(n):
        node_of[v] = v
        below[v] = v - 1
    top[0] = n - 1
    used = n
    highest = 0
    first = np.empty(k * n, np.int32)
    second = np.empty(k * n, np.int32)
    edges = 0
    for place in range(n):
        v = _NONE
        while v == _NONE:
            while top[highest] == _NONE:
                highest -= 1
            item = top[highest]
            top[highest] = below[item]
            if not scanned[node_of[item]] and reached[node_of[item]] == highest:
                v = node_of[item]
        scanned[v] = True
        order[place] = v
        for e in range(indptr[v], indptr[v + 1]):
            w = neighbours[e]
            if not scanned[w]:
                if reached[w] < k:
                    first[edges] = v
                    second[edges] = w
                    edges += 1
                reached[w] += 1
                node_of[used] = w
                below[used] = top[reached[w]]
                top[reached[w]] = used
                used += 1
                highest = max(highest, reached[w])
    thin_indptr = np.zeros(n + 1, np.int64)
    for i in range(edges):
        thin_indptr[first[i] + 1] += 1
        thin_indptr[second[i] + 1] += 1
    thin_indptr = np.cumsum(thin_indptr)
    fill = thin_indptr[:-1].copy()
    thin = np.empty(2 * edges, np.int32)
    for i in range(edges):
        thin[fill[first[i]]] = second[i]
        fill[first[i]] += 1
        thin[fill[second[i]]] = first[i]
        fill[second[i]] += 1
    return order, thin_indptr, thin


@compiled
def _disjoint_paths(
    indptr: Int64Array,
    neighbours: Int32Array,
    source: int,
    k: int,
    is_target: npt.NDArray[np.bool_],
    previous: Int32Array,
    following: Int32Array,
    met: Int32Array,
    parent: Int32Array,
    queue: Int32Array,
    searches: int,
) -> tuple[int, int]:
    """Count paths to different targets that share only the source, up to k. Returns the count and searches so far.

    When it is less than k, the last search has marked in ``met`` all that can still be reached.
    """
    n = len(indptr) - 1
    previous[:] = _NONE
    following[:] = _NONE
    found = 0
    for e in range(indptr[source], indptr[source + 1]):
        w = neighbours[e]
        if is_target[w] and found < k:
            previous[w] = source
            following[w] = _SINK
            found += 1
    while found < k:
        searches += 1
        last = _augmenting(indptr, neighbours, source, is_target, previous, following, met, parent, queue, searches)
        if last == _NONE:
            break
        _augment(n, source, last, previous, following, parent)
        found += 1
    return found, searches


@compiled
def _augmenting(
    indptr: Int64Array,
    neighbours: Int32Array,
    source: int,
    is_target: npt.NDArray[np.bool_],
    previous: Int32Array,
    following: Int32Array,
    met: Int32Array,
    parent: Int32Array,
    queue: Int32Array,
    mark: int,
) -> int:
    """The target at whose out side a shortest augmenting path ends, or -1.

    Every node has an in side (v) and an out side (n + v). A node on a path lets another one in only to push
    the first back to where it came from.
    """
    n = len(indptr) - 1
    met[source] = mark
    met[n + source] = mark
    queue[0] = n + source
    head, tail = 0, 1
    while head < tail:
        side = queue[head]
        head += 1
        if side >= n:
            v = side - n
            if v != source and previous[v] != _NONE and met[v] != mark:
                met[v] = mark
                parent[v] = side
                queue[tail] = v
                tail += 1
            for e in range(indptr[v], indptr[v + 1]):
                w = neighbours[e]
                if met[w] != mark:
                    met[w] = mark
                    parent[w] = side
                    queue[tail] = w
                    tail += 1
        else:
            v = side
            if previous[v] == _NONE:
                back = n + v
                if is_target[v]:
                    parent[back] = v
                    return int(v)
            else:
                back = n + previous[v]
            if met[back] != mark:
                if is_target[back - n]:
                    parent[back] = v
                    return int(back - n)
                met[back] = mark
                parent[back] = v
                queue[tail] = back
                tail += 1
    return _NONE


@compiled
def _augment(n: int, source: int, last: int, previous: Int32Array, following: Int32Array, parent: Int32Array) -> None:
    """Change the paths along the augmenting path that ends at the out side of ``last``."""
    # Steps that undo a path's link first, then those that make one: a node may be in both.
    side = n + last
    while side != n + source:
        before = parent[side]
        if before < n and side != n + before:
            following[side - n] = _NONE
            previous[before] = _NONE
        side = before
    side = n + last
    while side != n + source:
        before = parent[side]
        if before >= n and before != n + side:
            following[before - n] = side
            previous[side] = before - n
        side = before
    following[last] = _SINK


@compiled
def _cut(met: Int32Array, n: int, mark: int) -> Int32Array:
    """Nodes that the last search could enter but not leave: it could not get past them."""
    count = 0
    for v in range(n):
        if met[v] == mark and met[n + v] != mark:
            count += 1
    cut = np.empty(count, np.int32)
    count = 0
    for v in range(n):
        if met[v] == mark and met[n + v] != mark:
            cut[count] = v
            count += 1
    return cut
