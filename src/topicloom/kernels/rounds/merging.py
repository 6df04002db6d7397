"""Greedy over the candidates of a round."""

import numpy as np

from topicloom.kernels.jit import borrowing, serial


@serial
def merge_candidates(s, pairs, floor):
    """Add the candidate with the highest weighted contribution, again and again, while that is at least ``floor``.

    Contributions only fall, so that a value which was right once is an upper bound.

    Parameters
    ----------
    s : Standing
    pairs : int32 array (m, 2)
        The candidates. Of equal ones the first in this order is added first, as far as values are known.
    floor : int
        At least 1.

    Returns
    -------
    (links, label)
        The links added, int32 (k, 2) in order, and the labels after them, as in `Standing`.
    """
    label = s.label.copy()
    chain, size = chains(label)
    value = np.empty(len(pairs), np.int32)
    top = 0
    for c in range(len(pairs)):
        value[c] = contribution(s.indptr, s.topics, label, s.weight, pairs[c, 0], pairs[c, 1])
        top = max(top, value[c])
    head = np.full(top + 1, -1, np.int32)
    following = np.empty(len(pairs), np.int32)
    for c in range(len(pairs) - 1, -1, -1):
        if value[c] >= floor:
            following[c] = head[value[c]]
            head[value[c]] = c
    links = np.empty((len(pairs), 2), np.int32)
    n_links = 0
    for level in range(top, floor - 1, -1):
        c = head[level]
        while c >= 0:
            after = following[c]
            u, v = pairs[c, 0], pairs[c, 1]
            now = contribution(s.indptr, s.topics, label, s.weight, u, v)
            if now == level:
                link(s.indptr, s.topics, label, chain, size, u, v)
                links[n_links, 0], links[n_links, 1] = u, v
                n_links += 1
            elif now >= floor:
                following[c] = head[now]
                head[now] = c
            c = after
    label_by_first(label, size)
    return links[:n_links].copy(), label


@serial
def join_links(s, pairs):
    """Add links one after the other, without those that join nothing when their turn comes.

    Returns the links added, int32 (k, 2), and the labels after them. Takes 4 bytes for each entry.
    """
    label = s.label.copy()
    links = np.empty((len(pairs), 2), np.int32)
    n_links = 0
    for c in range(len(pairs)):
        u, v = pairs[c, 0], pairs[c, 1]
        k, k_end = s.indptr[u], s.indptr[u + 1]
        m, m_end = s.indptr[v], s.indptr[v + 1]
        joins = False
        while k < k_end and m < m_end:
            t, other = s.topics[k], s.topics[m]
            if t == other:
                a, b = _root(label, k), _root(label, m)
                joins |= a != b
                label[max(a, b)] = min(a, b)
            k += t <= other
            m += other <= t
        if joins:
            links[n_links, 0], links[n_links, 1] = u, v
            n_links += 1
    for e in range(len(label)):
        label[e] = label[label[e]]  # roots come first
    return links[:n_links].copy(), label


@borrowing
def _root(label, e):
    while label[e] != e:
        label[e] = label[label[e]]
        e = label[e]
    return e


@serial
def candidate_values(s, codes):
    """Weighted contribution of each candidate, given as ``u * nodes + v``: int32."""
    n_nodes = len(s.indptr) - 1
    values = np.empty(len(codes), np.int32)
    for c in range(len(codes)):
        u, v = codes[c] // n_nodes, codes[c] % n_nodes
        values[c] = contribution(s.indptr, s.topics, s.label, s.weight, u, v)
    return values


@serial
def chains(label):
    """The entries of each component as a ring, and the size of each component at its label: int32."""
    chain, size = np.empty(len(label), np.int32), np.zeros(len(label), np.int32)
    for e in range(len(label)):
        first = label[e]
        if first == e:
            chain[e] = e
        else:
            chain[e] = chain[first]
            chain[first] = e
        size[first] += 1
    return chain, size


@borrowing
def contribution(indptr, topics, label, weight, u, v):
    """What the topics count for that u and v both want and in which their components differ: int32."""
    k, k_end = indptr[u], indptr[u + 1]
    m, m_end = indptr[v], indptr[v + 1]
    total = np.int32(0)
    while k < k_end and m < m_end:
        t, other = topics[k], topics[m]
        if t == other and label[k] != label[m]:
            total += weight[t]
        k += t <= other
        m += other <= t
    return total


@borrowing
def link(indptr, topics, label, chain, size, u, v):
    """Join the components of u and v in every topic that both want; the smaller one is relabelled."""
    k, k_end = indptr[u], indptr[u + 1]
    m, m_end = indptr[v], indptr[v + 1]
    while k < k_end and m < m_end:
        t, other = topics[k], topics[m]
        if t == other and label[k] != label[m]:
            a, b = label[k], label[m]
            if size[a] < size[b]:
                a, b = b, a
            e = b
            while True:
                label[e] = a
                e = chain[e]
                if e == b:
                    break
            chain[a], chain[b] = chain[b], chain[a]
            size[a] += size[b]
        k += t <= other
        m += other <= t


@borrowing
def label_by_first(label, first):
    """Replace every label by the first entry that has it; ``first`` (int32 per entry) is overwritten."""
    first[:] = -1
    for e in range(len(label)):
        if first[label[e]] < 0:
            first[label[e]] = e
        label[e] = first[label[e]]
