"""What a topic counts for: 1 in the rules as printed, a small integer in the weighted ones.

A state of the engine carries ``weight``: None, or int64 per topic. Numba compiles `weight_of` by that type, so that the
rules as printed pay nothing for it.
"""

import numpy as np
from numba.core import types
from numba.extending import overload


def weight_of(weight, t):
    """What topic t counts for."""
    return 1 if weight is None else weight[t]


@overload(weight_of, inline="always")
def _compiled_weight_of(weight, t):
    def one(weight, t):
        return 1

    def given(weight, t):
        return weight[t]

    return one if isinstance(weight, types.NoneType) else given


def node_weights(node_ptr, topic, weight):
    """What all topics of each node count for together: int64."""
    if weight is None:
        return np.diff(node_ptr)
    total = np.concatenate([np.zeros(1, np.int64), np.cumsum(weight[topic])])
    return total[node_ptr[1:]] - total[node_ptr[:-1]]
