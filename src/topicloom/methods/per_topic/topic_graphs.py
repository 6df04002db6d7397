"""What methods that build every topic's graph on its own have in common: merging the graphs into one overlay."""

import numpy as np
import numpy.typing as npt

from topicloom.model.arrays import Int32Array, Int64Array


def merged(src: npt.NDArray[np.integer], dst: npt.NDArray[np.integer]) -> Int32Array:
    """Links (src[i], dst[i]) with u < v, each once, in the order of their first occurrence; loops are dropped."""
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
