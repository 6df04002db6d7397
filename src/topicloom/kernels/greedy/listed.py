"""The search of the greedy engine over few candidate pairs: a list of them in the order of the tie rule."""

from typing import NamedTuple

import numpy as np

from topicloom.kernels.greedy.joining import contribution, homes_of
from topicloom.kernels.jit import serial


class Listed(NamedTuple):
    """Candidate pairs by rising rank, and an upper bound of the contribution of each."""

    pairs: np.ndarray  # int32 (m, 2)
    bound: np.ndarray  # int32


@serial
def build_listed(c, pairs):
    """Search over the given pairs, which must come in rank order."""
    node_ptr, topic, entry, homes = c.node_ptr, c.topic, c.entry, homes_of(c)
    bound = np.empty(len(pairs), np.int32)
    for k in range(len(pairs)):
        bound[k] = contribution(node_ptr, topic, entry, homes, pairs[k, 0], pairs[k, 1])
    return Listed(pairs, bound)


@serial
def listed_next(c, s, cursor, capped, floor):
    """Move the cursor on to the first pair that has the level of the cursor; see `dense_next`."""
    node_ptr, topic, entry, homes = c.node_ptr, c.topic, c.entry, homes_of(c)
    pairs, bound = s.pairs, s.bound
    level, position = cursor[0], cursor[1]
    while level >= floor:
        below = 0
        for k in range(position, len(pairs)):
            if bound[k] < level:
                below = max(below, bound[k])
            elif not (capped[pairs[k, 0]] | capped[pairs[k, 1]]):
                bound[k] = contribution(node_ptr, topic, entry, homes, pairs[k, 0], pairs[k, 1])
                if bound[k] == level:
                    cursor[0], cursor[1] = level, k
                    return True
                below = max(below, bound[k])
        level = below if position == 0 else level - 1
        position = 0
    cursor[0], cursor[1] = level, 0
    return False
