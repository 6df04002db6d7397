"""What a topic counts for: 1 in the rules as printed, a small integer in the weighted ones.

A state of the engine carries ``weight``: None, or int64 per topic. Numba compiles `weight_of` by that type, so that the
rules as printed pay nothing for it.
"""

import numpy as np
from numba.core import types
from numba.extending import overload

COMMON_SHARE = 0.25
COMMON_WEIGHT = 2


def weight_of(weight, t):
    """Look up what a topic counts for.

    Parameters
    ----------
    weight : int64, one per topic, or None
        None if all count 1.
    t : int
        The topic.

    Returns
    -------
    int

    Cost: O(1).
    """
    return 1 if weight is None else weight[t]


@overload(weight_of, inline="always")
def _compiled_weight_of(weight, t):
    def one(weight, t):
        return 1

    def given(weight, t):
        return weight[t]

    return one if isinstance(weight, types.NoneType) else given


def topic_weights(subscribers):
    """Decide what each topic counts for in the weighted rules.

    About 2 · √(r / subscribers), in half octaves (2, 3, 4, 6, 8, 11, 16 …, and 1 below 2). The reference r is the
    number of subscribers such that a quarter of all subscriptions are to topics with as many or more: common topics
    then weigh 2. Topics whose subscribers differ by less than half an octave weigh the same, because tiny differences
    of weight would take the place of the tie rule. For the same reason all weigh 1 where the numbers of subscribers
    scatter no more than those of equally popular topics do by chance. Topics with fewer than two subscribers need no
    link: they take no part in this.

    Parameters
    ----------
    subscribers : integers, one per topic

    Returns
    -------
    int64, one per topic
        At least 1.

    Cost: O(topics log topics).
    """
    subscribers = np.asarray(subscribers, np.int64)
    largest_first = np.sort(subscribers[subscribers > 1])[::-1]
    if len(largest_first) == 0 or _scatter_by_chance(largest_first):
        return np.ones(len(subscribers), np.int64)
    upto = np.cumsum(largest_first)
    reference = largest_first[np.searchsorted(upto, upto[-1] * COMMON_SHARE)]
    half_octaves = np.rint(np.log2(reference / np.maximum(subscribers, 2)))
    return np.maximum(np.rint(COMMON_WEIGHT * np.exp2(half_octaves / 2)), 1).astype(np.int64)


def _scatter_by_chance(sizes):
    """Whether the dispersion of sizes, χ² if all are drawn alike, is below its mean and three standard deviations."""
    dispersion = len(sizes) * float((sizes * sizes).sum()) / float(sizes.sum()) - float(sizes.sum())
    freedom = len(sizes) - 1
    return dispersion <= freedom + 3 * np.sqrt(2 * freedom)


def node_weights(node_ptr, topic, weight):
    """Add up what the topics of each node count for.

    Parameters
    ----------
    node_ptr, topic
        The interest, CSR by node.
    weight : int64, one per topic, or None
        None if all count 1.

    Returns
    -------
    int64, one per node

    Cost: O(subscriptions).
    """
    if weight is None:
        return np.diff(node_ptr)
    total = np.concatenate([np.zeros(1, np.int64), np.cumsum(weight[topic])])
    return total[node_ptr[1:]] - total[node_ptr[:-1]]
