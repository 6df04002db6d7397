"""``topicloom methods``: what there is to choose from."""

import json

from topicloom.cli.options import Json
from topicloom.methods import METHODS

EXAMPLE = "Example: topicloom methods --json"


def command(as_json: Json = False) -> None:
    """List every method: the problem it solves, its guarantee, its cost and its paper."""
    if as_json:
        print(json.dumps([spec.to_dict() for spec in METHODS.values()], indent=2))
        return
    for spec in METHODS.values():
        print(f"{spec.name}{'  (reference)' if spec.reference else ''}")
        for what in ("problem", "guarantee", "cost", "paper"):
            print(f"    {what:<10}{getattr(spec, what)}")
        options = [name if value is None else f"{name}={value}" for name, value in spec.options.items()]
        if options:
            print(f"    {'options':<10}{', '.join(options)}")
