"""The search of the greedy engine over few candidate pairs: a list of them in the order of the tie rule."""

from typing import NamedTuple

import numpy as np

from topicloom.kernels.greedy.joining import contribution
from topicloom.kernels.jit import borrowing


class Listed(NamedTuple):
    """Candidate pairs by rising rank, and an upper bound of the contribution of each."""

    pairs: np.ndarray  # int32 (m, 2)
    bound: np.ndarray  # int32


def build_listed(pairs):
    """Make the search over a given list of pairs.

    Parameters
    ----------
    pairs : (m, 2) int32
        Node numbers, by rank.

    Returns
    -------
    Listed

    Cost: O(pairs).
    """
    return Listed(np.ascontiguousarray(pairs, np.int32), np.full(len(pairs), np.iinfo(np.int32).max, np.int32))


@borrowing
def listed_next(c, s, cursor, capped, floor):
    """Move on to the first pair of the list that has the level of the cursor.

    Parameters
    ----------
    c : Components or Blocks
    s : Listed
        Its bounds are sharpened.
    cursor, capped, floor
        As for `dense_next`.

    Returns
    -------
    bool
        False when no pair of level ``floor`` or more remains.

    Cost: O(pairs) for each level, and a merge of two rows for each pair that is counted.
    """
    node_ptr, topic, entry, homes, weight = c.node_ptr, c.topic, c.entry, c.homes, c.weight
    pairs, bound = s.pairs, s.bound
    level, position = cursor[0], cursor[1]
    while level >= floor:
        below = np.int64(0)
        for k in range(position, len(pairs)):
            if bound[k] < level:
                below = max(below, bound[k])
            elif not (capped[pairs[k, 0]] | capped[pairs[k, 1]]):
                bound[k] = contribution(node_ptr, topic, entry, homes, weight, pairs[k, 0], pairs[k, 1])
                if bound[k] == level:
                    cursor[0], cursor[1] = level, k
                    return True
                below = max(below, bound[k])
        level = below if position == 0 else level - 1
        position = 0
    cursor[0], cursor[1] = level, 0
    return False
