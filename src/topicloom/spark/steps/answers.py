"""What workers answer, as JSON. Nothing that comes back from them is unpickled.

The operator of the workers, such as that of a Spark Connect server, could run code in this process by a pickle. JSON
holds values only. It becomes objects of the types that `_ANSWERS` names and of those that their fields have, each
checked against its annotations.
"""

import json
import types
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from inspect import isclass
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from topicloom.errors import SparkFailedError, TopicloomError
from topicloom.files.read.link_findings import LinkFindings
from topicloom.files.read.source_plan import Plan, TableFile, Unit
from topicloom.methods.bounds import LowerBound
from topicloom.model import Metrics, Verdict
from topicloom.runs.comparison import Comparison
from topicloom.runs.design_rows import Designed

_ANSWERS = (Designed, Verdict, Metrics, LinkFindings, LowerBound, Comparison, Plan, TableFile, Unit)
_NUMBERS = "biuf"  # kinds of arrays that travel


def to_bytes(answer: object) -> bytes:
    """Write an answer, or an error that is one, as JSON."""
    return json.dumps(_told(answer)).encode()


def from_bytes(payload: bytes) -> Any:
    """Read what `to_bytes` wrote, or what claims to be that.

    Raises
    ------
    SparkFailedError
        It is nothing that topicloom's workers answer.
    """
    try:
        return _made(json.loads(payload))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise SparkFailedError(f"a worker of Spark answered what topicloom does not: {str(error)[:200]!r}") from None


def error_named(name: str) -> type[TopicloomError]:
    """The error of that name, or the base of all."""
    return next((kind for kind in _below(TopicloomError) if kind.__name__ == name), TopicloomError)


def _below(kind: type[TopicloomError]) -> Iterator[type[TopicloomError]]:
    yield kind
    for one in kind.__subclasses__():
        yield from _below(one)


def _told(value: object) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, TopicloomError):
        return {"error": [type(value).__name__, str(value)]}
    kind: Any = type(value)
    if kind in _types().values():
        return {kind.__name__: {name: _told(getattr(value, name)) for name in _fields(kind)}}
    if isinstance(value, bytes):
        return {"bytes": b64encode(value).decode()}
    if isinstance(value, np.ndarray) and value.dtype.kind in _NUMBERS:
        return {"array": [value.dtype.str, list(value.shape), b64encode(value.tobytes()).decode()]}
    if isinstance(value, Mapping):
        return {"mapping": [[_told(key), _told(one)] for key, one in value.items()]}
    if isinstance(value, tuple):
        return {"tuple": [_told(one) for one in value]}
    if isinstance(value, list):
        return [_told(one) for one in value]
    raise TypeError(f"an answer cannot hold a {type(value).__name__}")


def _made(value: Any) -> Any:
    if isinstance(value, list):
        return [_made(one) for one in value]
    if not isinstance(value, dict):
        return value
    ((tag, content),) = value.items()
    if tag == "error":
        name, text = map(str, content)
        kind = error_named(name)
        return (kind if kind.__init__ is TopicloomError.__init__ else TopicloomError)(text)
    if tag == "bytes":
        return b64decode(content)
    if tag == "array":
        dtype = np.dtype(str(content[0]))
        if dtype.kind not in _NUMBERS:
            raise TypeError(f"an array of {dtype}")
        return np.frombuffer(b64decode(content[2]), dtype).reshape(content[1])
    if tag == "mapping":
        return {_made(key): _made(one) for key, one in content}
    if tag == "tuple":
        return tuple(_made(one) for one in content)
    return _object(_types()[tag], {name: _made(one) for name, one in content.items()})


def _object(kind: type, values: dict[str, Any]) -> object:
    fields = _fields(kind)
    wrong = sorted(fields.keys() ^ values.keys())
    wrong += [name for name, hint in fields.items() if name in values and not _fits(values[name], hint)]
    if wrong:
        raise TypeError(f"{wrong[0]} of {kind.__name__}")
    return kind(**values)


@cache
def _types() -> dict[str, type]:
    """The answers and every type of their fields, by name."""
    found: dict[str, type] = {}
    waiting: list[Any] = list(_ANSWERS)
    while waiting:
        hint = waiting.pop()
        waiting += get_args(hint)
        if isclass(hint) and (is_dataclass(hint) or hasattr(hint, "_fields")) and hint.__name__ not in found:
            found[hint.__name__] = hint
            waiting += _fields(found[hint.__name__]).values()
    return found


@cache
def _fields(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _fits(value: object, hint: Any) -> bool:
    """Whether a value is what an annotation says."""
    origin, within = get_origin(hint), get_args(hint)
    if hint is Any or isinstance(hint, TypeVar):
        return True
    if hint is None:
        return value is None
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in within)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if within[-1] is Ellipsis:
            return all(_fits(one, within[0]) for one in value)
        return len(value) == len(within) and all(map(_fits, value, within))
    if isclass(origin) and issubclass(origin, Mapping):
        return isinstance(value, dict) and all(
            _fits(key, within[0]) and _fits(one, within[1]) for key, one in value.items()
        )
    if isclass(origin) and issubclass(origin, Sequence):
        return isinstance(value, list | tuple) and all(_fits(one, within[0]) for one in value)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, origin or hint)
