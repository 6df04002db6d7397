"""Write docs/reference/: the public functions, classes and commands with their own docstrings and help pages.

``make reference`` runs it. tests/test_docs.py asserts that the pages are those of the code.
"""

import inspect
import json
import os
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

os.environ.update(COLUMNS="100", NO_COLOR="1", TERM="dumb")  # before the command line asks how wide it is

from typer.testing import CliRunner

from topicloom.cli.app import COMMANDS, app_for

TITLES = {
    "topicloom": "The library",
    "topicloom.pipeline": "The pipeline on Spark",
    "topicloom.stream": "Churn as a stream",
}


def pages() -> dict[str, str]:
    """Return the text of every page of the reference by its file name."""
    texts = {f"{name.replace('.', '-')}.md": _page_of(import_module(name)) for name in TITLES}
    return texts | {"commands.md": _page_of_commands()}


def _page_of(module: ModuleType) -> str:
    lines = [f"# {TITLES[module.__name__]}: `{module.__name__}`", "", "Written by `make reference` from the code.", ""]
    for name in sorted(module.__all__, key=str.lower):
        thing = getattr(module, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            lines += _entry(name, thing)
    return "\n".join(lines)


def _entry(name: str, thing: type | object) -> list[str]:
    lines = [f"## {name}", "", "```python", *_signature(name, thing), "```", "", *_fenced(inspect.getdoc(thing))]
    if inspect.isclass(thing):
        for method, function in sorted(vars(thing).items()):
            described = function.__func__ if isinstance(function, (classmethod, staticmethod)) else function
            if not method.startswith("_") and inspect.isfunction(described):
                lines += [f"### {name}.{method}", "", *_fenced(inspect.getdoc(described))]
    return lines


def _signature(name: str, thing: type | object) -> list[str]:
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return [f"class {name}({thing.__bases__[0].__name__})"]
    parameters = inspect.signature(thing).parameters.values()  # type: ignore[arg-type]
    shown = [_parameter(parameter) for parameter in parameters]
    return [f"{name}({', '.join(shown)})"]


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    given = parameter.default
    plain = given is None or isinstance(given, str | int | float | bool | tuple)
    default = "" if given is parameter.empty else f"={given!r}" if plain else "=…"
    return f"{stars}{parameter.name}{default}"


def _fenced(text: str | None) -> list[str]:
    return ["```text", text, "```", ""] if text else []


def _page_of_commands() -> str:
    lines = ["# The commands", "", "Written by `make reference` from `topicloom COMMAND --help`.", ""]
    for name in COMMANDS:
        shown = CliRunner().invoke(app_for([name, "--help"]), [name, "--help"], prog_name="topicloom")
        lines += [
            f"## {name}",
            "",
            "```text",
            *(line.rstrip() for line in shown.output.strip().splitlines()),
            "```",
            "",
        ]
    return "\n".join(lines)


def main(folder: str | None = None) -> None:
    """Write the pages into a folder, or print them as JSON."""
    if folder is None:
        print(json.dumps(pages()))
        return
    for name, text in pages().items():
        Path(folder, name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
