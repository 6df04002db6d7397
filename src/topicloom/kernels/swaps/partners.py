"""Whom a node could be linked to: the nodes that share most with it, found when they are first asked for."""

import numpy as np

from topicloom.kernels.jit import borrowing
from topicloom.kernels.sorted_rows import shared
from topicloom.kernels.swaps.swap_state import LISTED, LISTS, NONE, READ

FIRST_SEEN = 4  # members that could be read in the time that it takes to note a node for the first time
_CLOSER_LOOK = 2  # times as many candidates are scored in full where not all topics were read


@borrowing
def list_partners(s, u, most_read):
    """List the nodes that share most with a node, by falling score.

    Members of its rarest topics are read, and the best are then scored over all topics. Those that it may not be linked
    to are left out.

    Parameters
    ----------
    s : Swaps
        The row of u in ``s.partners`` and ``s.partner_score`` is written.
    u : int
        Node.
    most_read : int
        About how many members are read.

    Cost: O(most_read · LISTED) at worst, and a merge of two rows for each of the best.
    """
    n_touched, complete = _gather(s, u, most_read)
    for x in range(s.barred_ptr[u], s.barred_ptr[u + 1]):
        s.sharing[s.barred[x]] = 0
    nodes, scores = s.best, s.best_score
    wanted = LISTED if complete else _CLOSER_LOOK * LISTED
    found = 0
    for x in range(n_touched):
        v = s.touched[x]
        if s.sharing[v]:
            found = _offer(nodes, scores, found, wanted, v, s.sharing[v])
        s.sharing[v] = 0
    listed = 0
    for x in range(found):
        score = scores[x] if complete else score_of(s, u, nodes[x])
        listed = _insert(s.partners[u], s.partner_score[u], listed, LISTED, nodes[x], score)
    if listed < LISTED:
        s.partners[u, listed] = NONE
    s.listed[u] = True
    s.counters[LISTS] += 1


@borrowing
def _offer(nodes, scores, found, wanted, v, score):
    """Put v among the best, which are a heap with the lowest score on top. Returns how many there are."""
    if found < wanted:
        place = found
        while place and scores[(place - 1) >> 1] > score:
            above = (place - 1) >> 1
            nodes[place], scores[place] = nodes[above], scores[above]
            place = above
        nodes[place], scores[place] = v, score
        return found + 1
    if score <= scores[0]:
        return found
    place = 0
    while 2 * place + 1 < wanted:
        below = 2 * place + 1
        if below + 1 < wanted and scores[below + 1] < scores[below]:
            below += 1
        if scores[below] >= score:
            break
        nodes[place], scores[place] = nodes[below], scores[below]
        place = below
    nodes[place], scores[place] = v, score
    return found


@borrowing
def _insert(nodes, scores, found, wanted, v, score):
    """Insert v among the best by falling score, behind those with the same. Returns how many there are."""
    if found == wanted:
        if score <= scores[found - 1]:
            return found
        found -= 1
    place = found
    while place and scores[place - 1] < score:
        nodes[place], scores[place] = nodes[place - 1], scores[place - 1]
        place -= 1
    nodes[place], scores[place] = v, score
    return found + 1


@borrowing
def _gather(s, u, most_read):
    """Add up in `sharing` what nodes share with u. Returns how many nodes, and whether all topics of u were read."""
    n_touched, read, complete = 0, np.int64(0), True
    for k in range(s.node_ptr[u], s.node_ptr[u + 1]):
        t = s.topic[k]
        start, end = s.topic_ptr[t], s.topic_ptr[t + 1]
        if read + end - start > most_read:
            complete = False
            if read > 0:
                break
            # a window round u itself, so that different nodes read different members
            start = max(start, min(s.entry[k] - most_read // 2, end - most_read))
            end = min(end, start + most_read)
        read += end - start
        w = s.weight[t]
        for e in range(start, end):
            v = s.member[e]
            if s.sharing[v] == 0 and v != u:
                s.touched[n_touched] = v
                n_touched += 1
            if v != u:
                s.sharing[v] += w
    s.counters[READ] += read + FIRST_SEEN * n_touched
    return n_touched, complete


@borrowing
def score_of(s, u, v):
    """Add up the weights of the topics that two nodes share.

    Parameters
    ----------
    s : Swaps
    u, v : int
        Nodes.

    Returns
    -------
    int64

    Cost: O(topics of both).
    """
    score = np.int64(0)
    for k, _ in shared(s.node_ptr, s.topic, u, v):
        score += s.weight[s.topic[k]]
    return score
