"""A method with its options, as people write it: ``low-oda:rho=8``."""

import ast
from dataclasses import dataclass
from typing import Any, Self

from topicloom.errors import InvalidOptionError
from topicloom.methods.registry import check_options, spec_of


@dataclass(frozen=True)
class MethodChoice:
    """A method and the options to call it with; ``text`` is how it was asked for."""

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
