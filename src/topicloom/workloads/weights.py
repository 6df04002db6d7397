"""Integer weights of topic popularities and subscription sizes, the same on every machine.

A share of the whole becomes an integer in units of 2^-62. Shares are computed with `decimal`, whose
``exp``, ``ln`` and products are correctly rounded, unlike those of C libraries, whose last bits differ
between machines.
"""

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal, Overflow

import numpy as np
import numpy.typing as npt

from topicloom.model.arrays import Int64Array, frozen

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


def exponential_weights(count: int) -> Int64Array:
    """Weights proportional to exp(-λ t / count) for t = 0, 1, …: 55 % of the mass is on the first 10 %.

    λ is `EXPONENTIAL_RATE`. The mass is exact where ``count`` is a multiple of 10; in general the first m
    topics have (1 - exp(-λ m / count)) / (1 - exp(-λ)).

    Examples
    --------
    >>> weights = exponential_weights(100)
    >>> round(float(weights[:10].sum() / weights.sum()), 6)
    0.55
    """
    ratio = _REAL.exp(_REAL.divide(EXPONENTIAL_RATE.copy_negate(), Decimal(count)))
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
