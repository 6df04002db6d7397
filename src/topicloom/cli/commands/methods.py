"""``topicloom methods``: what there is to choose from."""

import inspect
import json
from typing import Annotated

import typer

from topicloom.cli.option_groups import Json
from topicloom.methods import METHODS, MethodSpec
from topicloom.methods.registry import spec_of

EXAMPLE = "Example: topicloom methods gm    (one method, explained)"


def command(
    name: Annotated[str | None, typer.Argument(help="A method to explain; all of them unless given.")] = None,
    as_json: Json = False,
) -> None:
    """List every method, or explain one: the problem it solves, its guarantee, its cost and its paper."""
    chosen = list(METHODS.values()) if name is None else [spec_of(name)]
    if as_json:
        facts = [spec.to_dict() for spec in chosen]
        print(json.dumps(facts if name is None else facts[0], indent=2))
        return
    for spec in chosen:
        _print(spec)
    if name is not None:
        print(f"\n{_explained(chosen[0])}\n\nDesign with it: topicloom design SUBSCRIPTIONS OUT --method {name}")


def _print(spec: MethodSpec) -> None:
    print(f"{spec.name}{'  (reference)' if spec.reference else ''}")
    for what in ("problem", "guarantee", "cost", "paper"):
        print(f"    {what:<10}{getattr(spec, what)}")
    options = [name if value is None else f"{name}={value}" for name, value in spec.options.items()]
    if options:
        print(f"    {'options':<10}{', '.join(options)}")


def _explained(spec: MethodSpec) -> str:
    """The summary and the first paragraphs of the docstring of a method, without its sections."""
    paragraphs = (inspect.getdoc(spec.function) or "").split("\n\n")
    ends = next((n for n, text in enumerate(paragraphs) if "\n---" in text), len(paragraphs))
    return "\n\n".join(paragraphs[:ends])
