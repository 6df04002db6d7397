"""Sorting inside kernels: numba's own sorts take seconds to compile."""

import numpy as np

from topicloom.kernels.jit import borrowing

FEW = 48
DIGIT = 8  # bits


@borrowing
def sort_ranks(ranks, n, spare, counts):
    """Sort the first n of ``ranks`` (int64, not negative), ascending: digit by digit, or by `sort_part` if few.

    ``spare`` (int64, at least n) and ``counts`` (int64, 257) are overwritten.
    """
    if n <= FEW:
        sort_part(ranks, np.int64(0), n)
        return
    highest = ranks[0]
    for k in range(n):
        highest = max(highest, ranks[k])
    shift = np.int64(0)
    while (highest >> shift) > 0:
        counts[:] = 0
        for k in range(n):
            counts[((ranks[k] >> shift) & 255) + 1] += 1
        for digit in range(256):
            counts[digit + 1] += counts[digit]
        for k in range(n):
            digit = (ranks[k] >> shift) & 255
            spare[counts[digit]] = ranks[k]
            counts[digit] += 1
        for k in range(n):
            ranks[k] = spare[k]
        shift += DIGIT


@borrowing
def sort_part(values, first, last):
    """Sort values[first:last], ascending: by insertion over falling gaps (Shell, with Knuth's gaps)."""
    gap = 1
    while 3 * gap + 1 < last - first:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(first + gap, last):
            value = values[k]
            at = k
            while at >= first + gap and values[at - gap] > value:
                values[at] = values[at - gap]
                at -= gap
            values[at] = value
        gap //= 3
