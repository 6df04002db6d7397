"""The integer tables by which a workload is drawn: made once, then enough to draw any range of its nodes."""

import math
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal, Overflow

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.datasets.workload import Workload
from topicloom.kernels.draw.topics import draw_distinct, draw_independent
from topicloom.model.arrays import Int32Array, Int64Array, frozen

UNIT = 2**62
EXPONENTIAL_RATE = Decimal("7.98089866629825285599905084462")
"""λ with (1 - e^(-λ/10)) / (1 - e^-λ) = 0.55: the first tenth of exp(-λx), 0 <= x < 1, has 55 % of it."""

# Nothing is left to the caller's decimal context: an operator such as unary minus would round by that one.
_REAL = Context(prec=30, rounding=ROUND_HALF_EVEN, Emin=-999_999, Emax=999_999, clamp=0, traps=[Overflow])


def uniform_weights(count: int) -> Int64Array:
    """Weights that are all the same."""
    return frozen(np.full(count, UNIT // count, np.int64))


def power_weights(first: int, last: int, exponent: float) -> Int64Array:
    """Weights proportional to ``i ** -exponent`` for i from ``first`` to ``last`` (included), first >= 1.

    Examples
    --------
    >>> weights = power_weights(1, 3, 1.0)
    >>> [round(float(w / weights.sum()), 6) for w in weights]
    [0.545455, 0.272727, 0.181818]
    """
    return _as_integers(_powers(last, Decimal(-exponent))[first - 1 :])


def exponential_weights(count: int, rate: float | None = None) -> Int64Array:
    """Weights proportional to exp(-λ t / count) for t = 0, 1, …: the first m have (1 - e^(-λm/count)) / (1 - e^-λ).

    λ is ``rate``, by default `EXPONENTIAL_RATE`: 55 % of the mass is on the first 10 %, exactly where ``count`` is a
    multiple of 10.

    Examples
    --------
    >>> weights = exponential_weights(100)
    >>> round(float(weights[:10].sum() / weights.sum()), 6)
    0.55
    >>> weights = exponential_weights(100, 18.0)
    >>> round(float(weights[:10].sum() / weights.sum()), 3)
    0.835
    """
    given = EXPONENTIAL_RATE if rate is None else Decimal(rate)
    ratio = _REAL.exp(_REAL.divide(given.copy_negate(), Decimal(count)))
    shares = [Decimal(1)]
    for _ in range(count - 1):
        shares.append(_REAL.multiply(shares[-1], ratio))
    return _as_integers(shares)


def inclusion_thresholds(weights: Int64Array, mean_size: int) -> tuple[int, npt.NDArray[np.uint64]]:
    """Probabilities min(1, c · weight), with c such that they sum to ``mean_size``.

    Weights must not increase. Returns how many of the first topics are certain, and per topic its probability
    in units of 2^-64 (meaningless for the certain ones).

    Examples
    --------
    >>> certain, thresholds = inclusion_thresholds(np.array([6, 1, 1]), 2)
    >>> certain, [float(t / 2**64) for t in thresholds[certain:]]
    (1, [0.5, 0.5])
    """
    remaining = [int(weight) for weight in weights]
    mass = sum(remaining)
    certain = 0
    while certain < mean_size and (mean_size - certain) * remaining[certain] >= mass:
        mass -= remaining[certain]
        certain += 1
    wanted = mean_size - certain
    probabilities = (min((wanted * weight << 64) // mass, 2**64 - 1) if wanted else 0 for weight in remaining)
    return certain, frozen(np.fromiter(probabilities, np.uint64, len(remaining)))


def _powers(count: int, exponent: Decimal) -> list[Decimal]:
    """``i ** exponent`` for i = 1 … count: by ln and exp for the primes alone, as products for the others."""
    powers = [Decimal(1)] * (count + 1)
    for i, factor in enumerate(_smallest_factors(count)):
        if i > 1 and factor == i:
            powers[i] = _REAL.exp(_REAL.multiply(exponent, _REAL.ln(Decimal(i))))
        elif i > 1:
            powers[i] = _REAL.multiply(powers[factor], powers[i // factor])
    return powers[1:]


def _smallest_factors(count: int) -> list[int]:
    """List the smallest prime factor of 0 … count (0 and 1 stand for themselves)."""
    smallest = np.arange(count + 1)
    for i in range(2, math.isqrt(count) + 1):
        if smallest[i] == i:
            multiples = smallest[i * i :: i]
            multiples[multiples == np.arange(i * i, count + 1, i)] = i
    return smallest.tolist()


def _as_integers(shares: list[Decimal]) -> Int64Array:
    """Shares of the whole in units of 2^-62, rounded down but at least 1: no topic is impossible."""
    scale = _REAL.divide(Decimal(UNIT), _total(shares))
    units = (int(_REAL.multiply(share, scale)) for share in shares)
    return frozen(np.fromiter((max(1, unit) for unit in units), np.int64, len(shares)))


def _total(shares: list[Decimal]) -> Decimal:
    total = Decimal(0)
    for share in shares:
        total = _REAL.add(total, share)
    return total


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
        return exponential_weights(workload.topics, workload.rate)
    return uniform_weights(workload.topics)


def size_weights(workload: Workload) -> Int64Array:
    """Integer weight of every subscription size 0, 1, … up to the largest."""
    if workload.min_size is None or workload.max_size is None:
        smallest, given = workload.subscriptions, uniform_weights(1)
    else:
        smallest, shift = workload.min_size, workload.size_shift
        given = power_weights(smallest - shift, workload.max_size - shift, workload.size_exponent)
    return frozen(np.concatenate([np.zeros(smallest, np.int64), given]))


def node_names(ids: npt.ArrayLike, count: int) -> pa.Array:
    """Labels of nodes among ``count``, as Arrow strings.

    Examples
    --------
    >>> node_names([0, 123], 1000).to_pylist()
    ['n000', 'n123']
    """
    return _padded("n", ids, count)


def topic_names(ids: npt.ArrayLike, count: int) -> pa.Array:
    """Labels of topics among ``count``, as Arrow strings.

    Examples
    --------
    >>> topic_names([7], 100).to_pylist()
    ['t07']
    """
    return _padded("t", ids, count)


def _padded(prefix: str, ids: npt.ArrayLike, count: int) -> pa.Array:
    digits = pc.utf8_lpad(pa.array(ids, pa.int64()).cast(pa.string()), width=len(str(max(count - 1, 0))), padding="0")
    return pc.binary_join_element_wise(pa.scalar(prefix), digits, pa.scalar(""))
