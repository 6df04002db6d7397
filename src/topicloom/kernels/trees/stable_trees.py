"""Trees that stay as they are where they can: rows that survive are kept, and links are added until all is one tree."""

import heapq

import numpy as np

from topicloom.kernels.jit import serial
from topicloom.kernels.trees.diameter import adjacency, search, search_on
from topicloom.kernels.trees.topic_shape import edge_finder, topic_edges
from topicloom.kernels.trees.trees import mixed, shortest_tree, tree_from_middle


@serial
def kept_trees(indptr, topic_indptr, topic_nodes, links, kept, load, salts, exact_up_to, searches):
    """Find a tree for every topic: of least diameter, or with the rows of an older tree that still can be used.

    Parameters
    ----------
    indptr, topic_indptr, topic_nodes
        The interest: CSR by node (only its row starts), CSR by topic.
    links : (m, 2) int32
    kept : (topic, src, dst, parent), int32 arrays sorted by topic
        Rows of older trees, between subscribers, on links, without a cycle. Empty arrays where nothing is kept.
    load : float64, one per node
        Between equally good nodes the one of least load is preferred. It is not overwritten.
    salts : int64, one per topic
        Spreads the choice among nodes of equal load. The id of the topic, whichever topics are at hand.
    exact_up_to, searches : int
        Topics with more subscribers get at most this number of searches for their centre.

    Returns
    -------
    parent : int32, one per entry of ``topic_nodes``
        Node id of the end that is nearer to the centre; -1 at the root, -2 where the topic is not connected.
    exact : bool, one per topic
        False where the diameter is not known to be the least, as wherever rows are kept.

    Cost: O(links of the topic's sub-overlay) for each search, O(links + subscriptions) memory.
    """
    topic, src_kept, dst_kept, _ = kept
    n_topics = len(topic_indptr) - 1
    parent = np.full(len(topic_nodes), -1, np.int32)
    exact = np.ones(n_topics, np.bool_)
    finder = edge_finder(indptr, links)
    place, src, dst = finder.place, finder.src, finder.dst
    stop = 0
    for t in range(n_topics):
        start = stop
        while stop < len(topic) and topic[stop] == t:
            stop += 1
        first, last = topic_indptr[t], topic_indptr[t + 1]
        n = last - first
        if n < 2:
            continue
        subscribers = topic_nodes[first:last]
        if stop - start == n - 1 and _rooted(subscribers, place, start, stop, kept, parent[first:last]):
            exact[t] = False
            continue
        count = topic_edges(finder, subscribers)
        if start == stop:
            most = n if n <= exact_up_to else searches
            local, exact[t] = shortest_tree(n, src[:count], dst[:count], load[subscribers], salts[t], most)
        else:
            for i in range(n):
                place[subscribers[i]] = i
            old_src, old_dst = place[src_kept[start:stop]], place[dst_kept[start:stop]]
            for i in range(n):
                place[subscribers[i]] = -1
            local = grown_tree(n, src[:count], dst[:count], old_src, old_dst, load[subscribers], salts[t])
            exact[t] = False
        for i in range(n):
            parent[first + i] = subscribers[local[i]] if local[i] >= 0 else local[i]
    return parent, exact


@serial
def _rooted(subscribers, place, start, stop, kept, parent):
    """Take over the parents of a tree that is kept whole. Returns whether all subscribers but one have a parent."""
    _, src, dst, old = kept
    for i in range(len(subscribers)):
        place[subscribers[i]] = i
    good = 0
    for row in range(start, stop):
        child = src[row] + dst[row] - old[row]
        if (old[row] == src[row] or old[row] == dst[row]) and parent[place[child]] < 0:
            parent[place[child]] = old[row]
            good += 1
    for i in range(len(subscribers)):
        place[subscribers[i]] = -1
    if good < len(subscribers) - 1:
        parent[:] = -1
        return False
    return True


@serial
def grown_tree(n, src, dst, kept_src, kept_dst, load, salt):
    """Grow a spanning tree of a graph that holds all kept edges.

    Components of the kept edges are attached to the largest one, one edge each: the one that gives the shortest way
    from the middle of the largest to the farthest node of the component, then the one at the node of least load.

    Parameters
    ----------
    n : int
        Number of nodes.
    src, dst : int32
        Edges of the graph, each once.
    kept_src, kept_dst : int32
        Edges to keep. They form a forest.
    load : float64, one per node
        What a node carries already.
    salt : int
        Spreads the choice among nodes of equal load; see `mixed`.

    Returns
    -------
    int32, one per node
        Parents, -1 at the middle of the tree, all -2 when the graph is not connected.

    Cost: O(edges log edges).
    """
    indptr, neighbours = adjacency(n, src, dst)
    kept_indptr, kept_neighbours = adjacency(n, kept_src, kept_dst)
    component, reach, main = _components(kept_indptr, kept_neighbours)
    attached = np.zeros(n, np.bool_)
    depth = np.full(n, -1, np.int32)
    queue = np.empty(n, np.int32)
    heap = [(np.int64(0), 0.0, np.uint64(0), np.int64(-1), np.int64(main))]
    tree_src = np.empty(n - 1, np.int32)
    tree_dst = np.empty(n - 1, np.int32)
    rows = len(kept_src)
    tree_src[:rows] = kept_src
    tree_dst[:rows] = kept_dst
    while heap:
        _, _, _, x, y = heapq.heappop(heap)
        if attached[component[y]]:
            continue
        attached[component[y]] = True
        if x >= 0:
            tree_src[rows], tree_dst[rows] = x, y
            rows += 1
        tail = search_on(kept_indptr, kept_neighbours, y, 0 if x < 0 else depth[x] + 1, depth, queue)
        for i in range(tail):
            u = queue[i]
            for e in range(indptr[u], indptr[u + 1]):
                w = neighbours[e]
                if not attached[component[w]]:
                    key = np.int64(depth[u] + 1 + reach[w])
                    heapq.heappush(heap, (key, load[u], mixed(salt, u), np.int64(u), np.int64(w)))
    if rows < n - 1:
        return np.full(n, -2, np.int32)
    return tree_from_middle(n, tree_src, tree_dst, load, salt)


@serial
def _components(indptr, neighbours):
    """Of a forest: the component of every node, its eccentricity inside it, and a middle node of the largest one."""
    n = len(indptr) - 1
    component = np.full(n, -1, np.int32)
    reach = np.zeros(n, np.int32)
    distance = np.empty(n, np.int32)
    queue = np.empty(n, np.int32)
    largest, main = 0, 0
    for v in range(n):
        if component[v] >= 0:
            continue
        size = search(indptr, neighbours, v, distance, queue)
        for i in range(size):
            component[queue[i]] = v
        for _ in range(2):
            far = queue[size - 1]
            search(indptr, neighbours, far, distance, queue)
            for i in range(size):
                reach[queue[i]] = max(reach[queue[i]], distance[queue[i]])
        if size > largest:
            largest, main = size, v
            for i in range(size):
                if reach[queue[i]] < reach[main] or (reach[queue[i]] == reach[main] and queue[i] < main):
                    main = queue[i]
    return component, reach, main
