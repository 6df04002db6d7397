"""What links that are allowed can connect, with as many of them as one likes."""

import numpy as np

from topicloom.kernels.jit import serial
from topicloom.kernels.network.expanded import price_of


@serial
def groups_of(x, nodes):
    """Split nodes into groups that links which are allowed can connect.

    Parameters
    ----------
    x : Expanded
    nodes : integers

    Returns
    -------
    int64, one per node
        The place of the first node of its group.

    Cost: O(nodes²).
    """
    group = np.full(len(nodes), -1, np.int64)
    queue = np.empty(len(nodes), np.int64)
    for start in range(len(nodes)):
        if group[start] >= 0:
            continue
        group[start] = start
        queue[0] = start
        head, tail = 0, 1
        while head < tail:
            at = queue[head]
            head += 1
            for other in range(start + 1, len(nodes)):
                if group[other] < 0 and price_of(x, nodes[at], nodes[other]) < np.inf:
                    group[other] = start
                    queue[tail] = other
                    tail += 1
    return group


@serial
def admissible_count(x, u, nodes):
    """Count the nodes that a node may be linked to.

    Parameters
    ----------
    x : Expanded
    u : int
    nodes : integers
        Where u itself is among them it does not count.

    Returns
    -------
    int

    Cost: O(nodes).
    """
    count = 0
    for v in nodes:
        if v != u and price_of(x, u, v) < np.inf:
            count += 1
    return count


@serial
def neighbours_of(x, u, topics):
    """List which nodes a link of a node may lead to, and which of its topics it could serve.

    Parameters
    ----------
    x : Expanded
    u : int
    topics : integers
        Virtual topics of u.

    Returns
    -------
    nodes, places : lists of int
        A node, and the place in ``topics`` of a virtual topic that it wants or may relay.

    Cost: O(entries of the topics).
    """
    nodes, places = [np.int64(0)], [np.int64(0)]
    for k in range(len(topics)):
        for e in range(x.topic_ptr[topics[k]], x.topic_ptr[topics[k] + 1]):
            v = x.member[e]
            if v != u and price_of(x, u, v) < np.inf:
                nodes.append(np.int64(v))
                places.append(np.int64(k))
    return nodes[1:], places[1:]
