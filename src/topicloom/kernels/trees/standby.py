"""Standby rows: links inside a topic that reconnect its tree when any one node fails."""

import numpy as np

from topicloom.kernels.disjoint_sets import join
from topicloom.kernels.jit import serial
from topicloom.kernels.trees.topic_shape import edge_finder, topic_edges


@serial
def standby_rows(indptr, topic_indptr, topic_nodes, links, parent, preferred):
    """Choose links that, beside the trees, keep every topic connected when one of its nodes fails.

    Topics whose links do not allow it keep less.

    Parameters
    ----------
    indptr, topic_indptr, topic_nodes, links
        As in `kept_trees`.
    parent : int32, one per entry of ``topic_nodes``
        Node ids of the parents in the trees, -1 at roots.
    preferred : (topic, src, dst), int32 arrays sorted by topic
        Rows that are taken before others, such as those of an older plan.

    Returns
    -------
    topic, src, dst : int32 arrays, one cell per standby row, by topic

    Cost: O(links of the topic + ways through its inner nodes) for each topic.
    """
    n_topics = len(topic_indptr) - 1
    finder = edge_finder(indptr, links)
    place, src, dst = finder.place, finder.src, finder.dst
    found = [(np.int32(0), np.int32(0), np.int32(0)) for _ in range(0)]
    stop = 0
    for t in range(n_topics):
        start = stop
        while stop < len(preferred[0]) and preferred[0][stop] == t:
            stop += 1
        first, last = topic_indptr[t], topic_indptr[t + 1]
        if last - first < 3:
            continue
        subscribers = topic_nodes[first:last]
        count = topic_edges(finder, subscribers)
        if count == len(subscribers) - 1:
            continue
        for i in range(len(subscribers)):
            place[subscribers[i]] = i
        up = np.full(len(subscribers), -1, np.int32)
        for i in range(len(subscribers)):
            if parent[first + i] >= 0:
                up[i] = place[parent[first + i]]
        old_src, old_dst = place[preferred[1][start:stop]], place[preferred[2][start:stop]]
        for i in range(len(subscribers)):
            place[subscribers[i]] = -1
        for e in _covering(up, src[:count], dst[:count], old_src, old_dst):
            found.append((np.int32(t), subscribers[src[e]], subscribers[dst[e]]))
    rows = np.empty((3, len(found)), np.int32)
    for i in range(len(found)):
        rows[0, i], rows[1, i], rows[2, i] = found[i]
    return rows


@serial
def _covering(up, src, dst, old_src, old_dst):
    """Positions of the chosen edges: they join the parts into which the failure of any inner node splits the tree."""
    n = len(up)
    depth = _depths(up)
    order = _preference(up, depth, src, dst, old_src, old_dst)
    over = np.empty((n, 3), np.int32)
    starts = np.zeros(n + 1, np.int64)
    for e in order:
        for k in range(_passed(up, depth, src[e], dst[e], over)):
            starts[over[k, 0] + 1] += 1
    for v in range(n):
        starts[v + 1] += starts[v]
    fill = starts[:-1].copy()
    passing = np.empty((starts[n], 3), np.int32)
    for e in order:
        for k in range(_passed(up, depth, src[e], dst[e], over)):
            at = fill[over[k, 0]]
            fill[over[k, 0]] += 1
            passing[at, 0], passing[at, 1], passing[at, 2] = e, over[k, 1], over[k, 2]
    return _chosen(len(src), starts, passing)


@serial
def _passed(up, depth, a, b, over):
    """Inner nodes of the way from a to b in the tree, each with the two parts that an edge a - b would join there.

    A part is named by the child at its top, the part above a node by the node itself. Fills ``over`` with
    (node, part, part) and returns how many there are.
    """
    top = _meeting(up, depth, a, b)
    count = 0
    for end in (a, b):
        x = end
        while x != top and up[x] != top:
            over[count, 0], over[count, 1], over[count, 2] = up[x], x, up[x]
            count += 1
            x = up[x]
        if end == a:
            below = x
    if top not in (a, b):
        over[count, 0], over[count, 1], over[count, 2] = top, below, x
        count += 1
    return count


@serial
def _chosen(n_edges, starts, passing):
    """Go through the inner nodes and take edges until the parts at each are joined. Edges taken before come first."""
    chosen = np.zeros(n_edges, np.bool_)
    n = len(starts) - 1
    part = np.arange(n).astype(np.int32)
    for v in range(n):
        for earlier in range(2):
            for i in range(starts[v], starts[v + 1]):
                e, a, b = passing[i]
                if chosen[e] == (earlier == 0) and join(part, a, b):
                    chosen[e] = True
        for i in range(starts[v], starts[v + 1]):
            part[passing[i, 1]] = passing[i, 1]
            part[passing[i, 2]] = passing[i, 2]
    return np.flatnonzero(chosen)


@serial
def _depths(up):
    depth = np.full(len(up), -1, np.int32)
    for v in range(len(up)):
        length, x = 0, v
        while x >= 0 and depth[x] < 0:
            length += 1
            x = up[x]
        at = length + (depth[x] if x >= 0 else -1)
        x = v
        while x >= 0 and depth[x] < 0:
            depth[x] = at
            at -= 1
            x = up[x]
    return depth


@serial
def _meeting(up, depth, a, b):
    """Lowest common ancestor."""
    while a != b:
        if depth[a] >= depth[b]:
            a = up[a]
        else:
            b = up[b]
    return a


@serial
def _preference(up, depth, src, dst, old_src, old_dst):
    """Positions of the edges outside the tree: older ones first, then those that pass over most nodes."""
    keys = np.empty(len(src), np.int64)
    for e in range(len(src)):
        top = _meeting(up, depth, src[e], dst[e])
        keys[e] = -(depth[src[e]] + depth[dst[e]] - 2 * depth[top])
        for i in range(len(old_src)):
            same = old_src[i] == src[e] and old_dst[i] == dst[e]
            if same or (old_src[i] == dst[e] and old_dst[i] == src[e]):
                keys[e] -= len(up)
    order = np.argsort(keys, kind="mergesort")
    in_tree = 0
    for k in range(len(order)):
        e = order[k]
        if up[src[e]] == dst[e] or up[dst[e]] == src[e]:
            in_tree += 1
        else:
            order[k - in_tree] = e
    return order[: len(order) - in_tree]


@serial
def openings(node, topics, topic_starts, src, dst, active, part):
    """Find the standby rows to open when a node fails, and the topics that stay cut.

    Parameters
    ----------
    node : int
        The node that fails.
    topics : integers
        Topics to look at.
    topic_starts : int64, one per topic and one more
        Where the rows of a topic begin.
    src, dst : int32, one per row
    active : bool, one per row
        False for standby rows.
    part : int32, one per node
        ``arange`` before and after.

    Returns
    -------
    opened : int64
        Positions of the standby rows to open.
    cut : int32
        Topics whose parts cannot be joined.

    Cost: O(rows of the topics).
    """
    rows = [np.int64(0) for _ in range(0)]
    cut = [np.int32(0) for _ in range(0)]
    for t in topics:
        start, stop = topic_starts[t], topic_starts[t + 1]
        parts = 0
        for i in range(start, stop):
            if active[i] and (src[i] == node or dst[i] == node):
                parts += 1
        if parts > 1:
            for standby in range(2):
                for i in range(start, stop):
                    if active[i] == (standby == 1) or src[i] == node or dst[i] == node:
                        continue
                    if join(part, src[i], dst[i]) and standby:
                        rows.append(np.int64(i))
                        parts -= 1
            if parts > 1:
                cut.append(t)
            for i in range(start, stop):
                part[src[i]] = src[i]
                part[dst[i]] = dst[i]
    opened = np.empty(len(rows), np.int64)
    for i in range(len(rows)):
        opened[i] = rows[i]
    lost = np.empty(len(cut), np.int32)
    for i in range(len(cut)):
        lost[i] = cut[i]
    return opened, lost
