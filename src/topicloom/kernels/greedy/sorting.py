"""Sorting inside kernels: numba's own sorts take seconds to compile."""

import numpy as np

from topicloom.kernels.jit import borrowing

FEW = 48
DIGIT = 8  # bits


@borrowing
def sort_ranks(ranks, n, spare, counts):
    """Sort the first n of ``ranks`` (int64, not negative), ascending: digit by digit, or by insertion if they are few.

    ``spare`` (int64, at least n) and ``counts`` (int64, 257) are overwritten.
    """
    if n <= FEW:
        insert(ranks, n)
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
def insert(values, n):
    """Sort the first n values, ascending, by insertion."""
    for k in range(1, n):
        value = values[k]
        at = k
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value
