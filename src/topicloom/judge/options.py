"""Checks of the numbers that users hand to the judge."""

import numbers

from topicloom.errors import InvalidOptionError


def whole_number(value: object, what: str, low: int, high: int | None = None) -> int:
    """The value as an int, or an error that says which numbers are accepted."""
    if is_whole(value) and low <= int(value) and (high is None or int(value) <= high):  # type: ignore[call-overload]
        return int(value)  # type: ignore[call-overload, no-any-return]
    accepted = f"of at least {low}" if high is None else f"from {low} to {high}"
    raise InvalidOptionError(f"{what} is {value!r}; a whole number {accepted} is accepted")


def is_whole(value: object) -> bool:
    """Whether it is an integer of any type (numpy's too), but no bool."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)
