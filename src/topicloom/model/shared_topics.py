"""How many topics the two ends of a link have in common."""

import numpy as np

from topicloom.model.arrays import Int32Array, Int64Array
from topicloom.model.interest import Interest

_TOPICS_AT_ONCE = 1 << 20


def shared_topics(interest: Interest, links: Int32Array) -> Int64Array:
    """For every link, the number of topics that both ends want.

    The topics of the end with fewer of them are looked up among those of the other end: O(Σ over links of the smaller
    number of topics × log subscriptions) time, and memory for the subscriptions, the links and a bounded number of
    topics, or the topics of one link.
    """
    sizes = np.diff(interest.indptr)
    first_is_small = sizes[links[:, 0]] <= sizes[links[:, 1]]
    small = np.where(first_is_small, links[:, 0], links[:, 1])
    large = np.where(first_is_small, links[:, 1], links[:, 0]).astype(np.int64)
    width = max(interest.n_topics, 1)
    wanted = interest.nodes * np.int64(width) + interest.topics
    reach = np.concatenate(([0], np.cumsum(sizes[small])))
    counts = np.zeros(len(links), np.int64)
    start = 0
    while start < len(links):
        stop = max(int(np.searchsorted(reach, reach[start] + _TOPICS_AT_ONCE, side="right")) - 1, start + 1)
        link_of = np.repeat(np.arange(start, stop), sizes[small[start:stop]])
        offsets = np.arange(reach[start], reach[stop]) - reach[link_of]
        keys = large[link_of] * width + interest.topics[interest.indptr[small[link_of]] + offsets]
        if len(keys):
            at = np.minimum(np.searchsorted(wanted, keys), len(wanted) - 1)
            counts[start:stop] = np.bincount(link_of[wanted[at] == keys] - start, minlength=stop - start)
        start = stop
    return counts
