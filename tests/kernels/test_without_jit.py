"""Kernels are plain Python as well: the same answers with the compiler off."""

import os
import subprocess
import sys

PROGRAM = """
import numpy as np
from topicloom.kernels.trees.diameter import adjacency, _settle_by_words
from topicloom.kernels.trees.topic_shape import topic_shape, topic_shapes
ring = np.arange(12, dtype=np.int32)
assert topic_shape(12, ring, np.roll(ring, 1), 99) == (1, 6, True)
assert topic_shape(13, ring[:-1], ring[1:], 99) == (2, -1, True)
assert topic_shape(5, np.zeros(4, np.int32), np.arange(1, 5, dtype=np.int32), 99) == (1, 2, True)
indptr, neighbours = adjacency(12, ring, np.roll(ring, 1))
scratch = np.empty(12, np.int32)
assert _settle_by_words(indptr, neighbours, np.full(12, 12, np.int32), 0, scratch, scratch.copy()) == 6
pair = np.array([0, 1], np.int32)
shapes = topic_shapes(np.array([0, 1, 2]), np.array([0, 2]), pair, pair.reshape(1, 2), 9)
assert [int(x[0]) for x in shapes[:3]] == [1, 1, 1] and shapes[4] == 0
from topicloom.kernels.trees.steiner import relays
path = np.arange(4, dtype=np.int32)
joined, nodes, hops, longest = relays(*adjacency(5, path, path + 1), np.array([0, 2, 4], np.int32))
assert (joined, sorted(nodes), hops, longest) == (True, [1, 3], 16, 4)
"""


def test_kernels_run_with_the_jit_off() -> None:
    subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=True,
    )
