"""Which method with which options: as people write it (``low-oda:rho=8``), or for a k alone."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from topicloom.errors import InvalidOptionError
from topicloom.methods.registry import MethodSpec, Size, check_options, method_for, registered, spec_of
from topicloom.model.checks import checked_whole

__all__ = ["MethodChoice", "chosen", "method_for", "options_for", "promised"]


@dataclass(frozen=True)
class MethodChoice:
    """A method and the options to call it with. ``text`` is how it was asked for."""

    text: str
    method: str
    options: dict[str, Any]

    @classmethod
    def parse(cls, text: str) -> Self:
        """A choice from ``name`` or ``name:option=value:option=value``.

        Raises
        ------
        InvalidOptionError
            There is no such method or option, or an option has no value.

        Examples
        --------
        >>> MethodChoice.parse("low-oda:rho=8")
        MethodChoice(text='low-oda:rho=8', method='low-oda', options={'rho': 8})
        """
        method, *given = text.strip().split(":")
        options = {}
        for option in given:
            name, equals, value = option.partition("=")
            if not equals or not value:
                raise InvalidOptionError(f"{text!r} is not of the form method:option=value")
            options[name.strip()] = _value(value.strip())
        check_options(spec_of(method), options)
        return cls(text.strip(), method, options)


def _value(text: str) -> Any:
    """A number where it is one, else the text."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, int | float) else text


def options_for(spec: MethodSpec, k: int | None, options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Options that make a method reach k: its own option ``k``, or none if it promises as much anyway.

    Without a k, a method with that option is asked for its default.

    Raises
    ------
    InvalidOptionError
        ``k`` is not a whole number of at least 1, or the method does not reach it; the message names those that do.
    """
    if "k" in spec.options:
        return {"k": spec.options["k"] if k is None else checked_whole("k", k, 1)}
    if spec.promises is not None and k is not None and checked_whole("k", k, 1) <= spec.promises(options or {}):
        return {}
    if k is not None and spec.max_k is not None and checked_whole("k", k, 1) > spec.max_k:
        able = [
            name
            for name, other in registered().items()
            if not other.reference and (other.max_k is None or other.max_k >= k)
        ]
        raise InvalidOptionError(
            f"{spec.name} makes overlays that are {spec.max_k}-topic-connected, not {k}; "
            f"these reach {k}: {', '.join(able)}"
        )
    return {}


def chosen(method: str, size: Size, say: Callable[[str], object], *, barred: bool = False) -> str:
    """Find the method to use for an interest of that size. A method that chooses gives its choice and the reason."""
    chooses = spec_of(method).chooses
    if chooses is None:
        return method
    name, why = chooses(size, barred)
    say(f"{method}: {name}, because {why}")
    return name


def promised(spec: MethodSpec, k: int | None, options: Mapping[str, Any] | None = None) -> int:
    """The k at which to judge a design: the one asked for, or else what the method makes of its options or default."""
    if k is not None:
        return k
    if spec.promises is not None:
        return spec.promises(options or {})
    return int(spec.options["k"]) if spec.max_k is None else 1
