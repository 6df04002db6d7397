"""Lists of integers that grow and shrink, as kernels read them; this side makes room."""

import numpy as np

from topicloom.kernels.churn.ragged import empty_ragged, gather, push_all, put, remove_all, with_room
from topicloom.model.arrays import Int32Array, Int64Array


class Lists:
    """Lists by number, over a pool that is enlarged when it is full; ``ragged`` is what kernels take."""

    def __init__(self, n_lists: int = 16) -> None:
        self.ragged = empty_ragged(n_lists, 64)

    def make_lists(self, n_lists: int) -> None:
        """Make room for at least that many lists."""
        if n_lists > len(self.ragged.start):
            self.ragged = with_room(self.ragged, 2 * n_lists, len(self.ragged.pool))

    def of(self, number: int) -> Int32Array:
        """Return a copy of the values of a list."""
        start = self.ragged.start[number]
        values: Int32Array = self.ragged.pool[start : start + self.ragged.length[number]].copy()
        return values

    def length(self, number: int) -> int:
        """Number of values in a list."""
        return int(self.ragged.length[number])

    def gather(self, numbers: Int64Array) -> Int32Array:
        """Concatenate the values of several lists."""
        values: Int32Array = gather(self.ragged, numbers)
        return values

    def put(self, number: int, values: Int32Array) -> None:
        """Replace the values of a list."""
        while not put(self.ragged, number, values):
            self.enlarge(len(values))

    def push(self, numbers: Int32Array, values: Int32Array) -> None:
        """Append values[k] to list numbers[k], for all k."""
        done = push_all(self.ragged, numbers, values, 0)
        while done < len(numbers):
            self.enlarge(2 * int(self.ragged.length[numbers[done]]) + 4)
            done = push_all(self.ragged, numbers, values, done)

    def remove(self, numbers: Int32Array, values: Int32Array) -> None:
        """Remove values[k] from list numbers[k], for all k."""
        remove_all(self.ragged, numbers, values)

    def clear(self, number: int) -> None:
        """Empty a list."""
        self.ragged.length[number] = 0

    def enlarge(self, wanted: int) -> None:
        """Enlarge the pool by that many values, and by as many as it holds."""
        kept = np.minimum(self.ragged.room, 2 * self.ragged.length + 4)  # what `with_room` leaves to each list
        live = int(kept.sum(dtype=np.int64))
        self.ragged = with_room(self.ragged, len(self.ragged.start), 2 * live + wanted + 1024)
