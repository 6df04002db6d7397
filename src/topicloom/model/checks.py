"""Checks of option values that several layers share."""

import math
import numbers
from typing import Any

import numpy as np

from topicloom.errors import InvalidArgumentError, InvalidOptionError

MAX_SEED = 2**63 - 1


def plain(value: Any) -> Any:
    """Convert a number of numpy to Python's. Anything else is returned as it is."""
    return value.item() if isinstance(value, np.generic) else value


def checked_kind(what: str, value: Any, kind: type, accepted: str) -> Any:
    """``value`` if it is of a kind, or an error that says what is accepted."""
    if not isinstance(value, kind):
        raise InvalidArgumentError(f"{what} is {type(value).__name__}; {accepted} is accepted")
    return value


def checked_whole(name: str, value: Any, lowest: int, highest: int = MAX_SEED) -> int:
    """``value`` as an int between ``lowest`` and ``highest``, or an error that says what is accepted."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or not lowest <= value <= highest:
        accepted = f"from {lowest} up" if highest == MAX_SEED else f"from {lowest} to {highest:,}"
        raise InvalidOptionError(f"{name} is {value!r}; a whole number {accepted} is accepted")
    return int(value)


def checked_above_zero(name: str, value: Any) -> float:
    """``value`` as a finite float above 0, or an error that says what is accepted."""
    number = isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)
    if not number or value <= 0:
        raise InvalidOptionError(f"{name} is {value!r}; a number above 0 is accepted")
    return float(value)


def checked_rho(rho: Any, *, without: float | None = None) -> float:
    """``rho`` of Low-ODA's rule as a float from 1 up, or an error that says what is accepted.

    None is accepted where ``without`` says which ``rho`` it stands for.
    """
    if rho is None and without is not None:
        return without
    if isinstance(rho, bool) or not isinstance(rho, numbers.Real) or not float(rho) >= 1:
        none = "" if without is None else ", or none"
        raise InvalidOptionError(f"rho is {rho!r}; a number from 1 up is accepted{none}")
    return float(rho)


def checked_seed(seed: Any) -> int:
    """The seed as an int, or an error."""
    return checked_whole("seed", seed, 0)
