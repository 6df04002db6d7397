"""The options of construction methods, made from the signatures and the docstrings of the registered functions."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

import typer

from topicloom.cli.option_groups import OptionGroup
from topicloom.cli.panels import OF_METHODS
from topicloom.methods import METHODS, MethodSpec

_OPTIONS_OF_DESIGN = ("k",)  # for every method


class MethodOptions(OptionGroup):
    """The options of all construction methods but ``k`` and ``seed``. An option that is not given is None."""

    panel = OF_METHODS

    def __init__(self, **values: Any) -> None:
        kinds = {name: _kinds(specs[0], name) for name, specs in _methods_by_option().items()}
        self.given = {name: _value(value, kinds[name]) for name, value in values.items() if value is not None}

    @classmethod
    def parameters(cls) -> list[inspect.Parameter]:
        """Return the options of the methods that are registered now."""
        return [_parameter(name, specs) for name, specs in _methods_by_option().items()]


class Described(NamedTuple):
    """An entry of a numpydoc section: what stands behind the colon, and the first sentence."""

    kind: str
    sentence: str


def described(function: Callable[..., Any]) -> dict[str, Described]:
    """Read the "Parameters" of a docstring.

    Examples
    --------
    >>> from topicloom.methods import low_oda
    >>> described(low_oda)["rho"].kind
    'float'
    """
    entries: dict[str, tuple[str, list[str]]] = {}
    text: list[str] = []
    for line in _section(inspect.getdoc(function) or "", "Parameters"):
        if line[:1].strip():
            names, _, kind = line.partition(" : ")
            text = []
            entries |= dict.fromkeys(names.split(", "), (kind, text))
        else:
            text.append(line)
    return {name: Described(kind, _first_sentence(" ".join(text))) for name, (kind, text) in entries.items()}


def _section(docstring: str, title: str) -> list[str]:
    """The lines below a title that is underlined, up to the next one."""
    _, _, below = f"\n{docstring}".partition(f"\n{title}\n{'-' * len(title)}\n")
    return re.split(r"\n[^\n]+\n---+(?:\n|$)", f"\n{below}", maxsplit=1)[0].splitlines()


def _first_sentence(text: str) -> str:
    """The first sentence of a text, in one line and without marks of code. A small letter goes on after "e.g."."""
    line = " ".join(text.split()).replace("`", "")
    return re.split(r"\.(?= [^a-z]|$)", line, maxsplit=1)[0]


def _methods_by_option() -> dict[str, list[MethodSpec]]:
    """The methods that have each option; the one that explains it best is the first.

    That is the method with the fewest options, and among these one that has a default of its own.
    """
    found: dict[str, list[MethodSpec]] = {}
    for spec in METHODS.values():
        for name in spec.options:
            if name not in _OPTIONS_OF_DESIGN:
                found.setdefault(name, []).append(spec)
    return {
        name: sorted(specs, key=lambda spec: (len(spec.options), spec.options[name] is None))
        for name, specs in found.items()
    }


def _parameter(name: str, specs: Sequence[MethodSpec]) -> inspect.Parameter:
    kind = next(kind for kind in (bool, str, float, int) if kind in _kinds(specs[0], name))
    flag = f"--{name.replace('_', '-')}"
    declared = [f"{flag}/{_opposite(name)}"] if kind is bool else [flag]
    option = typer.Option(*declared, help=_help(name, specs), show_default=False, rich_help_panel=OF_METHODS)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, option]
    )


def _opposite(name: str) -> str:
    """The flag that says no: ``--unweighted`` for ``weighted``, ``--no-cache`` for ``cache``."""
    return f"--un{name}" if name.endswith("ed") else f"--no-{name.replace('_', '-')}"


def _kinds(spec: MethodSpec, name: str) -> tuple[type, ...]:
    """The types that an option takes by the signature of the method; None is not among them."""
    annotation = inspect.signature(spec.function, eval_str=True).parameters[name].annotation
    kinds = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    return tuple(kind for kind in kinds if kind in (bool, str, float, int)) or (str,)


def _value(value: Any, kinds: Sequence[type]) -> Any:
    """A text as the number that it is, where the method takes whole numbers beside texts."""
    return int(value) if isinstance(value, str) and int in kinds and value.isdecimal() else value


def _help(name: str, specs: Sequence[MethodSpec]) -> str:
    """The methods, what the option does, the words that it takes, and its default."""
    entry = described(specs[0].function).get(name, Described("", ""))
    words = " ({})".format(entry.kind.replace('"', "")) if '"' in entry.kind else ""
    sentence = entry.sentence or name.replace("_", " ")
    if sentence[1:2].islower():
        sentence = sentence[0].lower() + sentence[1:]
    default = _default(name, {spec.name: spec.options[name] for spec in specs})
    return f"{', '.join(spec.name for spec in specs)}: {sentence}{words}.{default}"


def _default(name: str, defaults: Mapping[str, Any]) -> str:
    known = {method: value for method, value in defaults.items() if value is not None}
    if not known:
        return ""
    if len(known) == len(defaults) and len(set(known.values())) == 1:
        return f"  [default: {_shown(name, next(iter(known.values())))}]"
    return "  [default: " + ", ".join(f"{_shown(name, value)} with {method}" for method, value in known.items()) + "]"


def _shown(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return name.replace("_", "-") if value else _opposite(name).removeprefix("--")
    return f"{value:.15g}" if isinstance(value, float) else str(value)
