"""Spanning trees of least diameter, one per topic, over the links of an overlay.

In a graph whose edges have length 1 the spanning tree of least diameter is a shortest-path tree of the absolute centre:
the vertex, or the middle of an edge, whose farthest vertex is nearest (Hassin and Tamir, "On the minimum diameter
spanning tree problem", 1995). With r the least eccentricity of a vertex, the diameter is 2r - 1 when an edge joins two
vertices of eccentricity r that have no farthest vertex in common, and 2r otherwise.
"""

import numpy as np

from topicloom.kernels.jit import serial
from topicloom.kernels.trees.diameter import adjacency, search

_WORD = 64


@serial
def shortest_tree(n, src, dst, load, salt, most_searches):
    """Find a spanning tree of least diameter.

    Parameters
    ----------
    n : int
        Number of nodes.
    src, dst : int32
        Edges, each once, no loops.
    load : float64, one per node
        What a node carries already. Of equally good nodes the least loaded is taken.
    salt : int
        Spreads the choice among nodes of equal load; see `mixed`.
    most_searches : int
        With at least n the answer is exact.

    Returns
    -------
    parent : int32, one per node
        -1 at the root, all -2 where the graph is not connected.
    exact : bool
        Whether the diameter is proven to be the least.

    Cost: O(most_searches · edges) at worst; O(edges) on a tree.
    """
    indptr, neighbours = adjacency(n, src, dst)
    distance = np.empty(n, np.int32)
    queue = np.empty(n, np.int32)
    if search(indptr, neighbours, 0, distance, queue) < n:
        return np.full(n, -2, np.int32), True
    if len(src) == n - 1:
        u, v = _middle_of_tree(indptr, neighbours, load, salt, distance, queue)
        exact = True
    else:
        u, v, exact = _centre(indptr, neighbours, load, salt, most_searches, distance, queue)
    return _tree_from(indptr, neighbours, u, v, load, salt, distance, queue), exact


@serial
def _before(load, salt, v, w):
    """Whether v is preferred to w: less load, then by a hash of topic and node, so that equals share the work."""
    if load[v] != load[w]:
        return load[v] < load[w]
    a, b = mixed(salt, v), mixed(salt, w)
    return a < b or (a == b and v < w)


@serial
def mixed(salt, v):
    """Hash a topic and a node, to spread topics among nodes of equal load.

    Parameters
    ----------
    salt : int
        Of the topic.
    v : int
        Node.

    Returns
    -------
    uint64

    Cost: O(1).
    """
    key = np.uint64(salt) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(v) * np.uint64(0xBF58476D1CE4E5B9)
    key ^= key >> np.uint64(31)
    key *= np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(29))


@serial
def tree_from_middle(n, src, dst, load, salt):
    """Hang a tree from its middle.

    Parameters
    ----------
    n : int
        Number of nodes.
    src, dst : int32
        Its n - 1 edges.
    load : float64, one per node
    salt : int
        With ``load``, says which end of a middle edge becomes the root.

    Returns
    -------
    int32, one per node
        Parents, -1 at the root.

    Cost: O(n).
    """
    indptr, neighbours = adjacency(n, src, dst)
    distance = np.empty(n, np.int32)
    queue = np.empty(n, np.int32)
    search(indptr, neighbours, 0, distance, queue)
    u, v = _middle_of_tree(indptr, neighbours, load, salt, distance, queue)
    return _tree_from(indptr, neighbours, u, v, load, salt, distance, queue)


@serial
def _middle_of_tree(indptr, neighbours, load, salt, distance, queue):
    """Centre of a tree: one vertex twice, or both ends of the middle edge, the less loaded first.

    ``queue`` holds the order of a search from anywhere.
    """
    n = len(indptr) - 1
    end = queue[n - 1]
    search(indptr, neighbours, end, distance, queue)
    v = queue[n - 1]
    length = distance[v]
    while distance[v] > (length + 1) // 2:
        v = _nearer(indptr, neighbours, v, distance)
    if length % 2 == 0:
        return v, v
    u = _nearer(indptr, neighbours, v, distance)
    return (u, v) if _before(load, salt, u, v) else (v, u)


@serial
def _nearer(indptr, neighbours, v, distance):
    for e in range(indptr[v], indptr[v + 1]):
        if distance[neighbours[e]] == distance[v] - 1:
            return neighbours[e]
    return v


@serial
def _centre(indptr, neighbours, load, salt, most_searches, distance, queue):
    """Absolute centre of a connected graph (u = v: a vertex; else the middle of the edge u - v), and whether it is one.

    Lower bounds of the eccentricities (Takes and Kosters) tell which vertices need no search. The farthest vertices of
    those searched are kept as bits, for the edges.
    """
    n = len(indptr) - 1
    low = np.zeros(n, np.int32)
    slot = np.full(n, -1, np.int32)
    searched = np.empty(min(most_searches, n), np.int32)
    eccentricity = np.empty(len(searched), np.int32)
    words = (n + _WORD - 1) // _WORD
    farthest = np.zeros((len(searched), words), np.uint64)
    radius, longest, count = n, 0, 0
    while count < len(searched):
        v = _next_candidate(indptr, low, slot, radius)
        if v < 0:
            break
        reach = _search_from(indptr, neighbours, v, low, distance, queue, farthest[count])
        slot[v] = count
        searched[count] = v
        eccentricity[count] = reach
        count += 1
        radius, longest = min(radius, reach), max(longest, reach)
        if longest == 2 * radius and _none_lower(low, slot, radius):
            break
    exact = _none_lower(low, slot, radius)
    u, v = -1, -1
    if longest < 2 * radius:
        u, v = _middle_edge(indptr, neighbours, load, salt, searched[:count], eccentricity, slot, farthest, radius)
        exact = exact and (u >= 0 or _next_candidate(indptr, low, slot, radius) < 0)
    if u >= 0:
        return u, v, exact or longest == 2 * radius - 1
    for i in range(count):
        if eccentricity[i] == radius and (u < 0 or _before(load, salt, searched[i], u)):
            u = searched[i]
    return u, u, exact or longest == 2 * radius


@serial
def _none_lower(low, slot, radius):
    """Whether no vertex that was not searched can have a smaller eccentricity."""
    lowest = radius
    for v in range(len(low)):
        if slot[v] < 0:
            lowest = min(lowest, low[v])
    return lowest == radius


@serial
def _next_candidate(indptr, low, slot, radius):
    """Choose the vertex to search from: least lower bound, then highest degree. Returns -1 when all are too far."""
    chosen, most_links = -1, -1
    for v in range(len(low)):
        if slot[v] < 0 and low[v] <= radius:
            degree = indptr[v + 1] - indptr[v]
            if chosen < 0 or low[v] < low[chosen] or (low[v] == low[chosen] and degree > most_links):
                chosen, most_links = v, degree
    return chosen


@serial
def _search_from(indptr, neighbours, v, low, distance, queue, farthest):
    """Search from v, raise the lower bounds, mark its farthest vertices. Returns its eccentricity."""
    n = len(low)
    search(indptr, neighbours, v, distance, queue)
    reach = distance[queue[n - 1]]
    for w in range(n):
        low[w] = max(low[w], distance[w], reach - distance[w])
    for i in range(n - 1, -1, -1):
        w = queue[i]
        if distance[w] < reach:
            break
        farthest[w // _WORD] |= np.uint64(1) << np.uint64(w % _WORD)
    return reach


@serial
def _middle_edge(indptr, neighbours, load, salt, searched, eccentricity, slot, farthest, radius):
    """Find the least loaded edge between two vertices of eccentricity ``radius`` without a common farthest vertex.

    Returns -1, -1 where there is none.
    """
    best_u, best_v = -1, -1
    for i in range(len(searched)):
        u = searched[i]
        if eccentricity[i] != radius:
            continue
        for e in range(indptr[u], indptr[u + 1]):
            v = neighbours[e]
            j = slot[v]
            if j < 0 or eccentricity[j] != radius or not _before(load, salt, u, v):
                continue
            if best_u >= 0 and not _lighter(load, salt, u, v, best_u, best_v):
                continue
            if _disjoint(farthest[i], farthest[j]):
                best_u, best_v = u, v
    return best_u, best_v


@serial
def _lighter(load, salt, u, v, other_u, other_v):
    mine, other = load[u] + load[v], load[other_u] + load[other_v]
    if mine != other:
        return mine < other
    return _before(load, salt, u, other_u) or (u == other_u and _before(load, salt, v, other_v))


@serial
def _disjoint(a, b):
    common = np.uint64(0)
    for w in range(len(a)):
        common |= a[w] & b[w]
    return common == 0


@serial
def _tree_from(indptr, neighbours, u, v, load, salt, distance, queue):
    """Grow the shortest-path tree of a vertex (u = v) or of the middle of an edge, as parents with root u.

    Of the neighbours that are nearer, the one of least load becomes the parent.
    """
    n = len(indptr) - 1
    distance[:] = -1
    distance[u] = 0
    queue[0] = u
    tail = 1
    if v != u:
        distance[v] = 0
        queue[1] = v
        tail = 2
    parent = np.full(n, -1, np.int32)
    head = 0
    while head < tail:
        w = queue[head]
        head += 1
        for e in range(indptr[w], indptr[w + 1]):
            x = neighbours[e]
            if distance[x] < 0:
                distance[x] = distance[w] + 1
                parent[x] = w
                queue[tail] = x
                tail += 1
            elif distance[x] == distance[w] + 1 and _before(load, salt, w, parent[x]):
                parent[x] = w
    if v != u:
        parent[v] = u
    return parent


@serial
def tree_diameters(topic_indptr, topic_nodes, topic, src, dst, place):
    """Find the longest path of every topic's rows.

    Parameters
    ----------
    topic_indptr, topic_nodes
        The interest, CSR by topic.
    topic, src, dst : int32, one per row
        Sorted by topic.
    place : int32, one per node
        All -1 before and after.

    Returns
    -------
    int64, one per topic
        -1 where the rows do not connect the topic.

    Cost: O(subscriptions + rows).
    """
    n_topics = len(topic_indptr) - 1
    longest = np.zeros(n_topics, np.int64)
    stop = 0
    for t in range(n_topics):
        start = stop
        while stop < len(topic) and topic[stop] == t:
            stop += 1
        subscribers = topic_nodes[topic_indptr[t] : topic_indptr[t + 1]]
        n = len(subscribers)
        if n < 2:
            continue
        for i in range(n):
            place[subscribers[i]] = i
        indptr, neighbours = adjacency(n, place[src[start:stop]], place[dst[start:stop]])
        for i in range(n):
            place[subscribers[i]] = -1
        distance = np.empty(n, np.int32)
        queue = np.empty(n, np.int32)
        if search(indptr, neighbours, 0, distance, queue) < n:
            longest[t] = -1
            continue
        search(indptr, neighbours, queue[n - 1], distance, queue)
        longest[t] = distance[queue[n - 1]]
    return longest
