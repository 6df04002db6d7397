"""The integer tables by which a workload is drawn: made once, then enough to draw any range of its nodes."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from topicloom.kernels.draw.topics import draw_distinct, draw_independent
from topicloom.model.arrays import Int32Array, Int64Array, frozen
from topicloom.workloads.weights import (
    exponential_weights,
    inclusion_thresholds,
    power_weights,
    uniform_weights,
)
from topicloom.workloads.workload import Workload


@dataclass(frozen=True, eq=False)
class DistinctTables:
    """A size by weight, then that many distinct topics by weight (``sizes`` fixed and power-law)."""

    seed: int
    weights: Int64Array
    size_weights: Int64Array

    def draw_topics(self, first_node: int, last_node: int) -> tuple[Int64Array, Int32Array]:
        """CSR of the nodes ``first_node`` to ``last_node - 1``: offsets from 0, and ascending topic ids."""
        return draw_distinct(first_node, last_node, self.seed, self.weights, self.size_weights)


@dataclass(frozen=True, eq=False)
class IndependentTables:
    """Each topic with a probability of its own (``sizes`` mean)."""

    seed: int
    certain: int
    thresholds: npt.NDArray[np.uint64]

    def draw_topics(self, first_node: int, last_node: int) -> tuple[Int64Array, Int32Array]:
        """CSR of the nodes ``first_node`` to ``last_node - 1``: offsets from 0, and ascending topic ids."""
        return draw_independent(first_node, last_node, self.seed, self.certain, self.thresholds)


def tables_of(workload: Workload) -> DistinctTables | IndependentTables:
    """Make the tables of a workload in O(topics + max_size) time."""
    weights = popularity_weights(workload)
    if workload.sizes == "mean":
        return IndependentTables(workload.seed, *inclusion_thresholds(weights, workload.subscriptions))
    return DistinctTables(workload.seed, weights, size_weights(workload))


def popularity_weights(workload: Workload) -> Int64Array:
    """Integer weight of every topic, most popular first."""
    if workload.popularity == "zipf":
        return power_weights(1, workload.topics, workload.alpha)
    if workload.popularity == "exponential":
        return exponential_weights(workload.topics)
    return uniform_weights(workload.topics)


def size_weights(workload: Workload) -> Int64Array:
    """Integer weight of every subscription size 0, 1, … up to the largest."""
    if workload.min_size is None or workload.max_size is None:
        smallest, given = workload.subscriptions, uniform_weights(1)
    else:
        smallest = workload.min_size
        given = power_weights(workload.min_size, workload.max_size, workload.size_exponent)
    return frozen(np.concatenate([np.zeros(smallest, np.int64), given]))
