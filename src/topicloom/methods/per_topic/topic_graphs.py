"""What methods that build every topic's graph on its own share: merging the graphs, and orders of nodes."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from topicloom.model import Interest
from topicloom.model.arrays import Int32Array, Int64Array


def distinct_links(src: npt.NDArray[np.integer], dst: npt.NDArray[np.integer]) -> Int32Array:
    """Merge links (src[i], dst[i]): u < v, each once, in the order of first occurrence, and no loops."""
    low, high = np.minimum(src, dst).astype(np.int64), np.maximum(src, dst).astype(np.int64)
    keep = low != high
    low, high = low[keep], high[keep]
    _, first = np.unique((low << 32) | high, return_index=True)
    first.sort()
    return np.column_stack((low[first], high[first])).astype(np.int32)


def successors(nodes: Int32Array, indptr: Int64Array) -> Int32Array:
    """For every entry of a CSR the next one of its row, around the end: the rings of all rows at once."""
    following = np.roll(nodes, -1)
    sizes = np.diff(indptr)
    ends = indptr[1:][sizes > 0] - 1
    following[ends] = nodes[indptr[:-1][sizes > 0]]
    return following


def similarity_sequence(interest: Interest) -> Int64Array:
    """Order nodes such that like interests are neighbours, and equal ones by id.

    Takes O(subscriptions + nodes log nodes) steps, each a comparison of two interests, and O(subscriptions) memory.

    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("aabbccdd"), list("xyxzxyxz"))
    >>> similarity_sequence(interest).tolist()  # b and d want z, a and c want y
    [1, 3, 0, 2]
    """
    subscribers = np.diff(interest.topic_indptr)
    rarity = np.empty(interest.n_topics, np.int64)
    rarity[np.argsort(subscribers, kind="stable")] = np.arange(interest.n_topics)
    node_of = np.repeat(np.arange(interest.n_nodes), np.diff(interest.indptr))
    ranks = rarity[interest.topics]
    ranks = ranks[np.lexsort((ranks, node_of))]
    # Two interests differ first in their i-th rarest topics. With i even, the one whose topic is rarer comes later,
    # with i odd it comes first: the reflected Gray code, written as bytes that sort as they are.
    turned = (np.arange(len(ranks)) - interest.indptr[node_of]) % 2 == 0
    digits = np.where(turned, interest.n_topics - ranks, ranks).astype(">u4").tobytes()
    beyond_all = b"\xff" * 4
    bounds = (4 * interest.indptr).tolist()
    keys = [digits[first:last] + (beyond_all if (last - first) % 8 else b"") for first, last in pairwise(bounds)]
    return np.array(sorted(range(interest.n_nodes), key=keys.__getitem__), np.int64)
