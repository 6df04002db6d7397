"""Trees that share forests: topics whose trees together have no cycle, as few groups of them as first fit finds.

A topic fits a forest when its subscribers that the forest connects are connected by links of the forest among
subscribers, and the other links of the topic connect these components. A tree of the topic is then the forest's links
inside the topic, and one link for each further component.
"""

import numpy as np

from topicloom.kernels.disjoint_sets import join, root
from topicloom.kernels.jit import serial
from topicloom.kernels.trees.stable_trees import grown_tree
from topicloom.kernels.trees.topic_shape import edge_finder, topic_edges


@serial
def shared_forests(indptr, topic_indptr, topic_nodes, links, kept, order, home, load, salts):
    """Find trees that share forests: a tree for every topic, and few forests that hold them all.

    Parameters
    ----------
    indptr, topic_indptr, topic_nodes, links, load, salts
        As in `kept_trees`.
    kept : (topic, src, dst), int32 arrays
        Rows of older trees that still can be used.
    order : integers
        Topics in the order in which they look for a forest.
    home : int32, one per topic
        The forest of the topic's older tree, -1 without. The rows of ``kept`` are laid into it first, and the topic
        tries it before others.

    Returns
    -------
    parent : int32, one per entry of ``topic_nodes``
        Node id of the parent in the tree of its topic, -1 at roots, -2 where the topic is not connected.
    forest : int32, one per topic
        The forest that holds its tree, -1 without a tree.

    Cost: O(forests × sub-overlay) for each topic, and O(forests × (nodes + links)) memory.
    """
    n_nodes, n_links = len(indptr) - 1, len(links)
    finder = edge_finder(indptr, links)
    starts, ends = finder.starts, finder.ends
    parent = np.full(len(topic_nodes), -1, np.int32)
    forest = np.full(len(topic_indptr) - 1, -1, np.int32)
    count = max(home.max() + 1, 0) if len(home) else 0
    roots = np.empty((max(count, 1), n_nodes), np.int32)
    inside = np.zeros((len(roots), n_links), np.bool_)
    for f in range(len(roots)):
        roots[f] = np.arange(n_nodes)
    for i in range(len(kept[0])):
        f = home[kept[0][i]]
        if f >= 0:
            _lay(roots[f], inside[f], kept[1][i], kept[2][i], starts, ends)
    src, dst, edge = finder.src, finder.dst, finder.entry
    for t in order:
        first, last = topic_indptr[t], topic_indptr[t + 1]
        if last - first < 2:
            continue
        subscribers = topic_nodes[first:last]
        found = topic_edges(finder, subscribers)
        f = _fitting(subscribers, src[:found], dst[:found], edge[:found], roots, inside, count, home[t])
        if f == len(roots):
            roots, inside = _doubled(roots, inside)
        count = max(count, f + 1)
        shared = inside[f][edge[:found]]
        one, other = src[:found], dst[:found]
        local = grown_tree(len(subscribers), one, other, one[shared], other[shared], load[subscribers], salts[t])
        forest[t] = f
        for i in range(len(subscribers)):
            parent[first + i] = subscribers[local[i]] if local[i] >= 0 else local[i]
            if local[i] >= 0:
                _lay(roots[f], inside[f], subscribers[i], subscribers[local[i]], starts, ends)
    return parent, forest


@serial
def _fitting(subscribers, src, dst, edge, roots, inside, count, home):
    """Find the first forest that the topic fits, its older one before all others. ``count`` stands for a new one."""
    part = np.empty(len(subscribers), np.int32)
    seen = np.full(roots.shape[1], -1, np.int32)
    if home >= 0 and _fits(subscribers, src, dst, edge, roots[home], inside[home], part, seen):
        return home
    for f in range(count):
        if f != home and _fits(subscribers, src, dst, edge, roots[f], inside[f], part, seen):
            return f
    return count


@serial
def _fits(subscribers, src, dst, edge, roots, inside, part, seen):
    """Whether the topic has a tree that forms no cycle with the forest. ``seen`` is all -1 before and after."""
    for i in range(len(part)):
        part[i] = i
    for k in range(len(edge)):
        if inside[edge[k]]:
            join(part, src[k], dst[k])
    good = True
    for i in range(len(subscribers)):
        tree, mine = root(roots, subscribers[i]), root(part, i)
        if seen[tree] < 0:
            seen[tree] = mine
        good = good and seen[tree] == mine
    for i in range(len(subscribers)):
        seen[root(roots, subscribers[i])] = -1
    return good


@serial
def _lay(roots, inside, u, v, starts, ends):
    """Put a link into a forest."""
    for one, other in ((u, v), (v, u)):
        for e in range(starts[one], starts[one + 1]):
            if ends[e] == other:
                inside[e] = True
    join(roots, u, v)


@serial
def _doubled(roots, inside):
    """Room for twice as many forests."""
    count, n_nodes = roots.shape
    more_roots = np.empty((2 * count, n_nodes), np.int32)
    more_inside = np.zeros((2 * count, inside.shape[1]), np.bool_)
    more_roots[:count], more_inside[:count] = roots, inside
    for f in range(count, 2 * count):
        more_roots[f] = np.arange(n_nodes)
    return more_roots, more_inside
