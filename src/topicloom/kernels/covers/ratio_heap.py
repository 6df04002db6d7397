"""A heap of nodes by an exact ratio, whose keys may rise and fall.

The key of node v is ``numerator[v] / denominator[v]``, compared by cross-multiplication: no rounding, and a positive
numerator over 0 is infinite. Equal ratios follow ``places``, the node with the lower place first, so the top of the
heap depends on the keys alone. Both parts must stay below 2^31 each, or their products below 2^63.
"""

import numpy as np

from topicloom.kernels.jit import serial


@serial
def precedes(numerator, denominator, places, a, b):
    """Compare two nodes of the heap.

    Parameters
    ----------
    numerator, denominator : int64, one per node
    places : int32, one per node
    a, b : int
        Nodes.

    Returns
    -------
    bool
        Whether a has a higher ratio than b, or an equal one and a lower place.

    Cost: O(1).
    """
    left, right = numerator[a] * denominator[b], numerator[b] * denominator[a]
    return left > right or (left == right and places[a] < places[b])


@serial
def build_heap(numerator, denominator, places):
    """Build the heap of all nodes.

    Parameters
    ----------
    numerator, denominator : int64, one per node
    places : int32, one per node
        Decide between equal ratios.

    Returns
    -------
    heap, index : int32
        The nodes, each above two others that it precedes, the first of all at 0; and where each node is.

    Cost: O(nodes).
    """
    heap = np.arange(len(places), dtype=np.int32)
    index = heap.copy()
    for at in range(len(places) // 2 - 1, -1, -1):
        _sink(heap, index, numerator, denominator, places, at)
    return heap, index


@serial
def restore(heap, index, numerator, denominator, places, node):
    """Move a node to where it belongs after its key, and no other, has changed.

    Parameters
    ----------
    heap, index : int32
        As `build_heap` gives them. Changed in place.
    numerator, denominator : int64, one per node
    places : int32, one per node
    node : int

    Cost: O(log nodes).
    """
    at = index[node]
    while at > 0:
        above = (at - 1) // 2
        if not precedes(numerator, denominator, places, node, heap[above]):
            break
        heap[at] = heap[above]
        index[heap[at]] = at
        at = above
    heap[at] = node
    index[node] = at
    _sink(heap, index, numerator, denominator, places, at)


@serial
def _sink(heap, index, numerator, denominator, places, at):
    node = heap[at]
    while True:
        below = 2 * at + 1
        if below >= len(heap):
            break
        if below + 1 < len(heap) and precedes(numerator, denominator, places, heap[below + 1], heap[below]):
            below += 1
        if not precedes(numerator, denominator, places, heap[below], node):
            break
        heap[at] = heap[below]
        index[heap[at]] = at
        at = below
    heap[at] = node
    index[node] = at
