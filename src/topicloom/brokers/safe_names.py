"""Names that are safe to write into a broker's files: what does not fit is refused, and slugs stand for brokers."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256

from topicloom.errors import NameDoesNotFitError

_SHOWN = 20
_LONGEST_SLUG = 40
_HASH = 6


def unsafe_everywhere(name: str) -> str | None:
    r"""Say why no target takes a name: control characters, lone surrogates, noncharacters, the empty name.

    Returns
    -------
    str or None
        The reason with the code point and its place (from 1), or None.

    Examples
    --------
    >>> unsafe_everywhere("a\nb")
    'it holds a control character (U+000A at 2)'
    >>> unsafe_everywhere("a/b") is None
    True
    """
    if not name:
        return "it is empty"
    for place, char in enumerate(name, 1):
        kind = unicodedata.category(char)
        if kind == "Cc":
            return f"it holds a control character ({code_point(char, place)})"
        if kind == "Cs":
            return f"it holds a lone surrogate ({code_point(char, place)})"
        if ord(char) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(char) <= 0xFDEF:
            return f"it holds a noncharacter ({code_point(char, place)})"
        if char in "\u2028\u2029":
            return f"it holds a line separator ({code_point(char, place)})"
    return None


def code_point(char: str, place: int) -> str:
    """Name a character without printing it: ``U+0020 at 2``."""
    return f"U+{ord(char):04X} at {place}"


def first_of(name: str, chars: str) -> str | None:
    """Code point and place of the first of these characters in a name, or None."""
    return next((code_point(char, place) for place, char in enumerate(name, 1) if char in chars), None)


def refuse_misfits(names: Iterable[str], misfit: Callable[[str], str | None], *, what: str, target: str) -> None:
    """Refuse names that do not fit. The message lists them all, up to twenty.

    Raises
    ------
    NameDoesNotFitError
        With `offenders`, every name that does not fit and the reason.
    """
    offenders = {name: reason for name in names if (reason := unsafe_everywhere(name) or misfit(name)) is not None}
    if not offenders:
        return
    listed = "; ".join(f"{what} {name!r}: {reason}" for name, reason in list(offenders.items())[:_SHOWN])
    more = f"; … and {len(offenders) - _SHOWN:,} more" if len(offenders) > _SHOWN else ""
    raise NameDoesNotFitError(
        f"{len(offenders):,} {what} name(s) cannot be written for {target}, nothing was written: {listed}{more}",
        offenders,
    )


def injective(names: Iterable[str], mapped: Callable[[str], str], *, target: str) -> dict[str, str]:
    """Map every name, and refuse a map that gives two names one value.

    Raises
    ------
    NameDoesNotFitError
        Two names share a value; the message has all such pairs.
    """
    owner: dict[str, str] = {}
    clashes: dict[str, str] = {}
    result = {}
    for name in names:
        value = mapped(name)
        first = owner.setdefault(value, name)
        if first != name:
            clashes[name] = f"shares {value!r} with {first!r}"
        result[name] = value
    if clashes:
        listed = "; ".join(f"{name!r} {reason}" for name, reason in list(clashes.items())[:_SHOWN])
        raise NameDoesNotFitError(f"names clash for {target}, rename one of each pair: {listed}", clashes)
    return result


def slugs(nodes: Iterable[str]) -> Mapping[str, str]:
    """Give every broker a file-safe name: ``[a-z0-9-]``, at most 40 characters, no two alike.

    Letters and digits stay, everything else becomes a dash. Brokers that would share a slug get six hexadecimal digits
    of the SHA-256 of their names.

    Examples
    --------
    >>> dict(slugs(["Edge 1", "/sensing/lidar", "edge-1", "€"]))
    {'Edge 1': 'edge-1-951a05', '/sensing/lidar': 'sensing-lidar', 'edge-1': 'edge-1-df594d', '€': 'node'}
    """
    names = list(nodes)
    plain = {name: _plain(name) for name in names}
    for digits in (0, _HASH, 16, 32):
        shared = _repeated(plain.values())
        if not shared:
            break
        more = digits or _HASH
        plain = {name: _hashed(name, more) if slug in shared else slug for name, slug in plain.items()}
    return plain


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[:_LONGEST_SLUG].strip("-") or "node"


def _hashed(name: str, digits: int) -> str:
    stem = _plain(name)[: _LONGEST_SLUG - digits - 1].rstrip("-")
    return f"{stem}-{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:digits]}".lstrip("-")


def _repeated(values: Iterable[str]) -> set[str]:
    seen: set[str] = set()
    return {value for value in values if value in seen or seen.add(value)}  # type: ignore[func-returns-value]
