"""Shadow as Algorithms 2 and 7 to 12 of the shadows paper print it, for experiments. Slow and plain.

`topicloom.Maintainer` chooses better among equals: the link that lies far below the maximum degree, the backup that
shares much. Here equals go by their numbers, the lowest first.

Where the print leaves something open: components and the maximum degree are those of the whole overlay, not of the
shadow set alone; a node whose backups are rebuilt is first taken from the primaries of the old ones; weights that
have fallen to 0, which Algorithm 12 bars, come last. Greedy backups may also be had with other weights than the printed
ones, to find out which of them the paper's figures show.
"""

from typing import NamedTuple

import numba
import numpy as np

from topicloom.kernels.streams import BACKUP_STREAM, below, draw

RHO = 3.0
MOST_LINKS = 1000  # of a node
# What a node weighs as a backup: its links and primaries, as printed; its links; nothing, every node alike.
LINKS_AND_PRIMARIES, LINKS, ALIKE = 0, 1, 2


class Nodes(NamedTuple):
    """Everyone who ever takes part: interests, presence, links, backups (a row has its columns as backups)."""

    wants: np.ndarray  # bool (nodes, topics)
    present: np.ndarray  # bool
    neighbours: np.ndarray  # int32 (nodes, MOST_LINKS), the first `degree` of a row count
    degree: np.ndarray  # int64
    backups: np.ndarray  # bool (nodes, nodes)
    primaries: np.ndarray  # int64: how many
    drawn: np.ndarray  # int64, two elements: the seed, and how many random numbers were drawn


@numba.njit(cache=True)
def link(nodes, u, v):
    """Add a link."""
    nodes.neighbours[u, nodes.degree[u]] = v
    nodes.neighbours[v, nodes.degree[v]] = u
    nodes.degree[u] += 1
    nodes.degree[v] += 1


@numba.njit(cache=True)
def remove(nodes, v):
    """A node goes, with its links and backups. Returns how many links."""
    gone = nodes.degree[v]
    for u in nodes.neighbours[v, :gone]:
        for k in range(nodes.degree[u]):
            if nodes.neighbours[u, k] == v:
                nodes.degree[u] -= 1
                nodes.neighbours[u, k] = nodes.neighbours[u, nodes.degree[u]]
                break
    nodes.degree[v] = 0
    nodes.present[v] = False
    forget_backups(nodes, v)
    return gone


@numba.njit(cache=True)
def forget_backups(nodes, v):
    """The node has no backups any more."""
    for u in range(len(nodes.present)):
        if nodes.backups[v, u]:
            nodes.backups[v, u] = False
            nodes.primaries[u] -= 1


@numba.njit(cache=True)
def build_backups(nodes, v, coverage, greedy, weights):
    """Algorithm 11 or 12: as many covers of the node's topics as the coverage says, by one of the weights above."""
    forget_backups(nodes, v)
    for _ in range(coverage):
        rest = _topics(nodes, v)
        weight = np.ones(len(nodes.present), np.int64)
        if weights != ALIKE:
            weight = nodes.degree + nodes.primaries * (weights == LINKS_AND_PRIMARIES)
        while len(rest):
            # a topic that no candidate wants is given up, where Algorithm 12 would not end
            at = _drawn(nodes, len(rest))
            if greedy:
                w = _greedy(nodes, v, rest, weight, weights == ALIKE)  # alike, most are equals
            else:
                w = _primal_dual(nodes, v, rest[at], weight)
            if w >= 0:
                nodes.backups[v, w] = True
                nodes.primaries[w] += 1
            left = 0
            for k in range(len(rest)):
                if (w >= 0 and not nodes.wants[w, rest[k]]) or (w < 0 and k != at):
                    rest[left] = rest[k]
                    left += 1
            rest = rest[:left]


@numba.njit(cache=True)
def _drawn(nodes, bound):
    """A random number below a bound."""
    nodes.drawn[1] += 1
    return below(draw(nodes.drawn[0], BACKUP_STREAM, nodes.drawn[1]), bound)


@numba.njit(cache=True)
def _topics(nodes, v):
    found = np.empty(nodes.wants.shape[1], np.int64)
    count = 0
    for t in range(len(found)):
        if nodes.wants[v, t]:
            found[count] = t
            count += 1
    return found[:count]


@numba.njit(cache=True)
def _greedy(nodes, v, rest, weight, drawn):
    """Take the least weight per topic newly covered (Algorithm 11, line 9): the first such, or a random one."""
    best, price, equals = -1, np.inf, 0
    for u in range(len(weight)):
        if nodes.present[u] and u != v and not nodes.backups[v, u]:
            covered = 0
            for t in rest:
                covered += nodes.wants[u, t]
            if not covered:
                continue
            if weight[u] / covered < price:
                best, price, equals = u, weight[u] / covered, 1
            elif drawn and weight[u] / covered == price:
                equals += 1
                if _drawn(nodes, equals) == 0:
                    best = u
    return best


@numba.njit(cache=True)
def _primal_dual(nodes, v, t, weight):
    """Least weight that is left among the subscribers of a topic (Algorithm 12, lines 8 to 14)."""
    best, free = -1, -1
    for u in range(len(weight)):
        if nodes.present[u] and u != v and nodes.wants[u, t] and not nodes.backups[v, u]:
            if weight[u] <= 0:  # line 8 bars those; here they come last
                free = u
            elif best < 0 or weight[u] < weight[best]:
                best = u
    if best < 0:
        return free
    less = weight[best]
    for u in range(len(weight)):
        if nodes.wants[u, t]:
            weight[u] -= less
    return best


@numba.njit(cache=True)
def repair(nodes, shadows, only, topics):
    """Algorithm 2 over the pairs of shadows, or of one of them with the others. Returns the links added."""
    component = _components(nodes, topics)
    highest = nodes.degree.max()
    added = 0
    while True:
        best, low = 0, 0
        v, w, x, y = -1, -1, -1, -1
        for i in range(len(shadows)):
            for j in range(i + 1, len(shadows)):
                p, q = shadows[i], shadows[j]
                if only >= 0 and only not in (p, q):
                    continue
                contribution = 0
                for k in range(len(topics)):
                    a, b = component[k, p], component[k, q]
                    contribution += a >= 0 and b >= 0 and a != b
                if contribution > best:
                    best, v, w = contribution, p, q
                if contribution > low and nodes.degree[p] < highest and nodes.degree[q] < highest:
                    low, x, y = contribution, p, q
        if best == 0:
            return added
        if low * RHO >= best:
            v, w = x, y
        link(nodes, v, w)
        added += 1
        highest = max(highest, nodes.degree[v], nodes.degree[w])
        for k in range(len(topics)):
            a, b = component[k, v], component[k, w]
            if a >= 0 and b >= 0 and a != b:
                for u in range(len(nodes.present)):
                    if component[k, u] == b:
                        component[k, u] = a


@numba.njit(cache=True)
def _components(nodes, topics):
    """Find the first node of each node's component, per topic. It is -1 for nodes that are absent or do not want it."""
    n = len(nodes.present)
    component = np.full((len(topics), n), -1, np.int32)
    queue = np.empty(n, np.int32)
    for k in range(len(topics)):
        wants, of = nodes.wants[:, topics[k]], component[k]
        for s in range(n):
            if not nodes.present[s] or not wants[s] or of[s] >= 0:
                continue
            of[s], queue[0] = s, s
            at, end = 0, 1
            while at < end:
                for u in nodes.neighbours[queue[at], : nodes.degree[queue[at]]]:
                    if wants[u] and of[u] < 0:
                        of[u], queue[end] = s, u
                        end += 1
                at += 1
    return component
