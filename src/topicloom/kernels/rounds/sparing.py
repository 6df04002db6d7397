"""Greedy over the candidates of a round by Low-ODA's rule, which spares nodes of the maximum degree."""

import numpy as np

from topicloom.kernels.jit import borrowing, serial
from topicloom.kernels.rounds.merging import chains, contribution, label_by_first, link

CALM, CAPPED = 0, 1  # whether a candidate leaves the maximum degree as it is


@serial
def merge_sparing(s, pairs, floor, rho, degree):
    """Add candidates by Low-ODA's rule while the best one contributes at least ``floor``.

    The best candidate that leaves the maximum degree as it is, is added if it contributes at least 1 / ``rho`` of what
    the best of all does; else that one is. Overwrites ``degree`` (int32 per node). Otherwise as `merge_candidates`.
    """
    label = s.label.copy()
    chain, size = chains(label)
    most = np.int64(0)
    for v in range(len(degree)):
        most = max(most, degree[v])
    value = np.empty(len(pairs), np.int32)
    top = np.int64(0)
    for c in range(len(pairs)):
        value[c] = contribution(s.indptr, s.topics, label, s.weight, pairs[c, 0], pairs[c, 1])
        top = max(top, value[c])
    head = np.full((2, top + 1), -1, np.int32)
    following = np.empty(len(pairs), np.int32)
    level = np.full(2, top, np.int64)
    for c in range(len(pairs) - 1, -1, -1):
        if value[c] >= floor:
            _file(head, following, level, degree, most, pairs, c, value[c])
    links = np.empty((len(pairs), 2), np.int32)
    n_links = 0
    while True:
        for kind in (CALM, CAPPED):
            _settle(s, label, pairs, head, following, level, degree, most, floor, kind)
        best = max(level[CALM], level[CAPPED])
        if best < floor:
            break
        kind = CALM if level[CALM] >= floor and level[CALM] * rho >= best else CAPPED
        c = head[kind, level[kind]]
        head[kind, level[kind]] = following[c]
        u, v = pairs[c, 0], pairs[c, 1]
        link(s.indptr, s.topics, label, chain, size, u, v)
        links[n_links, 0], links[n_links, 1] = u, v
        n_links += 1
        degree[u] += 1
        degree[v] += 1
        if max(degree[u], degree[v]) > most:
            most += 1
            _free(head, following, level)
    label_by_first(label, size)
    return links[:n_links].copy(), label


@borrowing
def _file(head, following, level, degree, most, pairs, c, value):
    """Put a candidate at the head of the list of its kind and value."""
    capped = degree[pairs[c, 0]] >= most or degree[pairs[c, 1]] >= most
    kind = CAPPED if capped else CALM
    following[c] = head[kind, value]
    head[kind, value] = c
    level[kind] = max(level[kind], value)


@borrowing
def _settle(s, label, pairs, head, following, level, degree, most, floor, kind):
    """Move down to the highest level of a kind with a candidate of that kind and value at its head, if there is one."""
    while level[kind] >= floor:
        c = head[kind, level[kind]]
        if c < 0:
            level[kind] -= 1
            continue
        u, v = pairs[c, 0], pairs[c, 1]
        now = contribution(s.indptr, s.topics, label, s.weight, u, v)
        capped = degree[u] >= most or degree[v] >= most
        if now == level[kind] and capped == (kind == CAPPED):
            return
        head[kind, level[kind]] = following[c]
        if now >= floor:
            _file(head, following, level, degree, most, pairs, c, now)


@borrowing
def _free(head, following, level):
    """The maximum degree has risen: nobody is capped."""
    for value in range(level[CAPPED] + 1):
        c = head[CAPPED, value]
        while c >= 0:
            after = following[c]
            following[c] = head[CALM, value]
            head[CALM, value] = c
            c = after
        head[CAPPED, value] = -1
    level[CALM] = max(level[CALM], level[CAPPED])
    level[CAPPED] = 0
