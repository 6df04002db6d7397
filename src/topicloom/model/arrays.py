"""Shared checks and conversions of the arrays that users hand in."""

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from topicloom.errors import InvalidLinksError

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
Array = TypeVar("Array", bound=npt.NDArray[Any])


def frozen(array: Array) -> Array:
    """The same array, made read-only."""
    array.setflags(write=False)
    return array


def normalized_links(links: npt.ArrayLike, n_nodes: int) -> Int32Array:
    """Links as an (m, 2) int32 array with u < v, in the given order, repeats dropped after their first occurrence.

    Raises
    ------
    InvalidLinksError
        Wrong shape, a node outside ``range(n_nodes)``, or a node linked to itself.
    """
    try:
        given = np.asarray(links)
    except (TypeError, ValueError):
        raise InvalidLinksError("links must be pairs of node ids; these cannot be put into one array") from None
    if given.size == 0:
        return frozen(np.empty((0, 2), np.int32))
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise InvalidLinksError(f"links must be an (m, 2) array of node ids; got {given.dtype} of shape {given.shape}")
    outside = ((given < 0) | (given >= n_nodes)).any(axis=1)
    if outside.any():
        row = int(np.flatnonzero(outside)[0])
        raise InvalidLinksError(f"link {row} joins {given[row].tolist()}, but node ids lie in range({n_nodes})")
    loops = given[:, 0] == given[:, 1]
    if loops.any():
        row = int(np.flatnonzero(loops)[0])
        raise InvalidLinksError(f"link {row} joins node {given[row, 0]} with itself")
    pairs = np.sort(given, axis=1).astype(np.int64)
    codes = pairs[:, 0] * n_nodes + pairs[:, 1]
    in_order = np.sort(codes)  # takes less time than the sort of `np.unique` that also says where each was first
    if (in_order[1:] == in_order[:-1]).any():
        _, first = np.unique(codes, return_index=True)
        pairs = pairs[np.sort(first)]
    return frozen(pairs.astype(np.int32))


def degrees(links: Int32Array, n_nodes: int) -> Int64Array:
    """Number of links at each node."""
    return np.bincount(links.ravel(), minlength=n_nodes).astype(np.int64)
