"""Sorting inside kernels: numba's own sorts take seconds to compile."""

import numpy as np

from topicloom.kernels.jit import borrowing

FEW = 48
DIGIT = 8  # bits


@borrowing
def sort_ranks(ranks, n, spare, counts):
    """Sort the first numbers of an array, ascending: digit by digit, or by `sort_part` if they are few.

    Parameters
    ----------
    ranks : int64
        Not negative. Sorted in place.
    n : int
        How many.
    spare : int64, at least n
    counts : int64, 257
        Both overwritten.

    Cost: O(n) for each 8 bits of the largest number.
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
    """Sort a part of an array, ascending: by insertion over falling gaps (Shell, with Knuth's gaps).

    Parameters
    ----------
    values : numbers
        ``values[first:last]`` is sorted in place.
    first, last : int

    Cost: O(n^1.5) for n numbers.
    """
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
