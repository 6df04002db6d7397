"""Arrays of links and ids: checks, conversions, and the topics that links share."""

from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from topicloom.errors import InvalidLinksError

if TYPE_CHECKING:
    from topicloom.model.interest import Interest

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
Array = TypeVar("Array", bound=npt.NDArray[Any])


def frozen(array: Array) -> Array:
    """The same array, made read-only."""
    array.setflags(write=False)
    return array


_normal: "WeakValueDictionary[tuple[int, int], Int32Array]" = WeakValueDictionary()  # by id and number of nodes


def normalized_links(links: npt.ArrayLike, n_nodes: int) -> Int32Array:
    """Links as an (m, 2) int32 array with u < v, in the given order, repeats dropped after their first occurrence.

    An array that this function returned, and that is still read-only, is returned as it is: links are checked once, at
    the door of whatever uses them.

    Raises
    ------
    InvalidLinksError
        Wrong shape, a node outside ``range(n_nodes)``, or a node linked to itself.
    """
    known = _normal.get((id(links), n_nodes))
    if known is not None and known is links and not known.flags.writeable:
        return known
    found = _normalize(links, n_nodes)
    _normal[id(found), n_nodes] = found
    return found


def _normalize(links: npt.ArrayLike, n_nodes: int) -> Int32Array:
    try:
        given = np.asarray(links)
    except (TypeError, ValueError):
        raise InvalidLinksError("links must be pairs of node ids; these cannot be put into one array") from None
    if given.size == 0:
        return frozen(np.empty((0, 2), np.int32))
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise InvalidLinksError(f"links must be an (m, 2) array of node ids; got {given.dtype} of shape {given.shape}")
    low, high = np.minimum(given[:, 0], given[:, 1]), np.maximum(given[:, 0], given[:, 1])
    if low.min() < 0 or high.max() >= n_nodes:
        row = int(np.flatnonzero((low < 0) | (high >= n_nodes))[0])
        raise InvalidLinksError(f"link {row} joins {given[row].tolist()}, but node ids lie in range({n_nodes})")
    loops = low == high
    if loops.any():
        row = int(np.flatnonzero(loops)[0])
        raise InvalidLinksError(f"link {row} joins node {given[row, 0]} with itself")
    codes = low.astype(np.int64) * n_nodes + high.astype(np.int64)
    pairs = np.stack([low, high], axis=1).astype(np.int32)
    if (codes[1:] <= codes[:-1]).any():  # else they ascend, so that none is there twice
        in_order = np.sort(codes)  # takes less time than the sort of `np.unique` that also says where each was first
        if (in_order[1:] == in_order[:-1]).any():
            _, first = np.unique(codes, return_index=True)
            pairs = pairs[np.sort(first)]
    return frozen(pairs)


def degrees(links: Int32Array, n_nodes: int) -> Int64Array:
    """Number of links at each node."""
    return np.bincount(links.ravel(), minlength=n_nodes).astype(np.int64)


_TOPICS_AT_ONCE = 1 << 20


def shared_topics(interest: "Interest", links: Int32Array) -> Int64Array:
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
