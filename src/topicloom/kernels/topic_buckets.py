"""Some topics of an interest with their subscribers, and the links that serve them, as an interest with small ids."""

import numpy as np

from topicloom.kernels.jit import serial
from topicloom.kernels.sorted_rows import shared


@serial
def bucket_rows(indptr, topics, number):
    """Cut the rows of an interest down to some of its topics.

    Parameters
    ----------
    indptr, topics
        The interest, CSR by node.
    number : int32, one per topic
        The new number of each topic, -1 for topics that are left out. Numbers rise with the topics.

    Returns
    -------
    nodes : int32
        Nodes that want one of the topics, ascending.
    starts : int64, wanted : int32
        CSR of these nodes: the new numbers of their topics, ascending.

    Cost: O(subscriptions), and memory for what is returned alone.
    """
    n_nodes, n_entries = 0, 0
    for v in range(len(indptr) - 1):
        before = n_entries
        for e in range(indptr[v], indptr[v + 1]):
            n_entries += number[topics[e]] >= 0
        n_nodes += n_entries > before
    nodes, starts = np.empty(n_nodes, np.int32), np.zeros(n_nodes + 1, np.int64)
    wanted = np.empty(n_entries, np.int32)
    at, row = 0, 0
    for v in range(len(indptr) - 1):
        before = at
        for e in range(indptr[v], indptr[v + 1]):
            if number[topics[e]] >= 0:
                wanted[at] = number[topics[e]]
                at += 1
        if at > before:
            nodes[row] = v
            row += 1
            starts[row] = at
    return nodes, starts, wanted


@serial
def bucket_links(links, place, starts, wanted):
    """Choose the links whose ends share a topic of a bucket.

    Parameters
    ----------
    links : (m, 2) int32
    place : int32, one per node
        Place of a node in the rows of `bucket_rows`, -1 for a node that wants no topic of the bucket.
    starts, wanted
        As `bucket_rows` gives them.

    Returns
    -------
    (k, 2) int32
        The links by places, in the given order.

    Cost: O(links, and the topics of both ends in the bucket).
    """
    found = np.empty((len(links), 2), np.int32)
    n_found = 0
    for x in range(len(links)):
        u, v = place[links[x, 0]], place[links[x, 1]]
        if u < 0 or v < 0:
            continue
        serves = False
        for _ in shared(starts, wanted, u, v):
            serves = True
        if serves:
            found[n_found, 0], found[n_found, 1] = u, v
            n_found += 1
    return found[:n_found].copy()
