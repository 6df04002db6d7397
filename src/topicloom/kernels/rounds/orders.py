"""Orders of the nodes in which those stand together that are likely to have much to gain from a link."""

import numpy as np

from topicloom.kernels.jit import borrowing, serial
from topicloom.kernels.streams import ROUND_STREAM, below, draw_all, draw_pairs

RARITY = 0.8
LEAST_SHARE = 1e-6
_UNIT = 2.0**-53


def node_order(s, block, seed, number):
    """Nodes with something left to connect, in the order ``number`` of a seed: int32.

    Every topic draws an exponential random number, times a power of its subscribers. A node is led by the open topic
    with the least number, and then by its second least. A topic in whose largest component the node lies already
    counts as much less as there are few outside of it: so both sides of a merge meet. A node that wants k times as
    many topics as the mean stands in k places, led by the k open topics of least numbers: or it would seldom meet those
    who want few of its topics and no other. Nodes with equal leads stand together, in random order, and the whole is
    turned by less than a block. O(subscriptions), and a sort of at most twice the nodes.
    """
    n_topics = len(s.weight)
    ids = np.arange(n_topics + 1)
    keys = draw_pairs(seed, ROUND_STREAM, np.full(n_topics, 2 * number), ids[:-1])
    uniform = ((keys >> np.uint64(11)).astype(np.float64) + 0.5) * _UNIT
    key = -np.log(uniform) * np.maximum(s.subscribers, 1).astype(np.float64) ** RARITY
    share = np.maximum(s.outside / np.maximum(s.subscribers, 1), LEAST_SHARE)
    nodes, first, second = _leads(s.indptr, s.topics, s.label, s.largest, s.outside, key, key / share)
    rank = np.empty(n_topics + 1, np.int64)
    rank[np.argsort(draw_pairs(seed, ROUND_STREAM, np.full(n_topics + 1, 2 * number + 1), ids), kind="stable")] = ids
    code = rank[first] * (n_topics + 1) + rank[second]
    bits = max(63 - int((n_topics + 1) ** 2).bit_length(), 0)
    spare = draw_pairs(seed, ROUND_STREAM, np.full(len(nodes), -1 - number), nodes) >> np.uint64(64 - min(bits, 32))
    order = nodes[np.argsort((code << min(bits, 32)) | spare.astype(np.int64), kind="stable")]
    turn = below(draw_all(seed, ROUND_STREAM, np.array([number]))[0], min(block, max(len(order), 1)))
    return np.roll(order, turn)


@serial
def _leads(indptr, topics, label, largest, outside, key, inside_key):
    """For each place of a node with open topics: the node, the topic that leads it there, and the next one.

    The places of a node are led by its topics of least key, one each. Next is the topic of next greater key, or -1.
    Three int32 arrays.
    """
    n = len(indptr) - 1
    n_places, most = 0, 1
    for v in range(n):
        n_places += _places(indptr, v)
        most = max(most, _places(indptr, v))
    nodes, first, second = np.empty(n_places, np.int32), np.empty(n_places, np.int32), np.empty(n_places, np.int32)
    least, lead = np.empty(most + 1, np.float64), np.empty(most + 1, np.int32)
    found = 0
    for v in range(n):
        places = _places(indptr, v)
        n_leads = 0
        for e in range(indptr[v], indptr[v + 1]):
            t = topics[e]
            if outside[t] == 0:
                continue
            k = inside_key[t] if label[e] == largest[t] else key[t]
            if n_leads > places and k >= least[places]:
                continue
            at = min(n_leads, places)
            n_leads = at + 1
            while at > 0 and least[at - 1] > k:
                least[at], lead[at] = least[at - 1], lead[at - 1]
                at -= 1
            least[at], lead[at] = k, t
        for j in range(min(n_leads, places)):
            nodes[found], first[found], second[found] = v, lead[j], lead[j + 1] if j + 1 < n_leads else -1
            found += 1
    return nodes[:found], first[:found], second[:found]


@borrowing
def _places(indptr, v):
    """How many times as many topics as the mean a node wants, at least 1."""
    return max((indptr[v + 1] - indptr[v]) * (len(indptr) - 1) // max(indptr[-1], 1), 1)
