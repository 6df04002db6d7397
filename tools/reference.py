"""Write docs/reference/: the public functions, classes and commands with their own docstrings and help pages.

``make reference`` runs it. tests/test_docs.py asserts that the pages are those of the code.
"""

import inspect
import json
import os
import sys
from importlib import import_module
from pathlib import Path

os.environ.update(COLUMNS="100", NO_COLOR="1", TERM="dumb")  # before the command line asks how wide it is

from typer.testing import CliRunner

from topicloom import errors
from topicloom.cli.app import COMMANDS, app_for

# The pages of the library: file, title, and the names of `topicloom.__all__` on it. Each name is on one page.
SUBJECTS = {
    "interests.md": (
        "Interests, overlays and files",
        "Interest Overlay Network Rejection Reading read_subscriptions read_links generate datasets __version__",
    ),
    "designing.md": ("Designing", "design design_network automatic METHODS MethodSpec refine drop_redundant_links"),
    "few-links.md": (
        "Methods for few links and low degrees",
        "greedy_merge weighted_greedy_merge rounds_greedy_merge divide_and_conquer minmax_oda low_oda exact",
    ),
    "failures.md": (
        "Methods that survive failures",
        "gm2 stacked_greedy_merge harary_per_topic repeated_greedy_merge cycle_per_topic ring_per_topic",
    ),
    "short-paths.md": (
        "Methods for short paths, and references",
        "cd_oda cd_oda_1 cd_oda_2 two_diameter_oda full_mesh hub spanning_tree random_regular",
    ),
    "checking.md": (
        "Checking and measuring",
        "verify Verdict BrokenTopic measure Metrics disjoint_paths drill DrillReport CutTopic random_drills "
        "DrillSummary weak_nodes WeakNode",
    ),
    "bounds.md": (
        "Bounds and proofs",
        "lower_bound LowerBound soc SocAnswer soc_exists tco_exists Existence",
    ),
    "routes.md": ("Routes and plans", "routes Routes Plan diff Steps RouteFollower RouteChange"),
    "brokers.md": ("Brokers and audits", "Inventory export rehearse audit Findings Finding"),
    "churn.md": ("Churn", "Maintainer Event Change"),
    "joining.md": (
        "Joining overlays",
        "join JOIN_METHODS topic_digest TopicDigest star_set StarSet join_stars StarJoin StarLink",
    ),
    "simulation.md": (
        "Simulation",
        "simulate_dc DcSimulation simulate_leaves LeavesSimulation Faults",
    ),
    "errors.md": ("Errors", "TopicloomError"),
}
VALUES = {
    "__version__": "The version of the package, as text.",
    "datasets": "A module: `datasets.example()` returns a small interest to try things on; `generate` is there, too.",
    "METHODS": "All construction methods: a read-only mapping from name to `MethodSpec`.",
    "JOIN_METHODS": "The methods that `join` takes.",
}
MODULES = {"topicloom.pipeline": "The pipeline on Spark", "topicloom.stream": "Churn as a stream"}
WRITTEN = "Written by `make reference` from the code."


def pages() -> dict[str, str]:
    """Return the text of every page of the reference by its file name."""
    subjects = {file: _page("topicloom", title, names.split()) for file, (title, names) in SUBJECTS.items()}
    modules = {
        f"{name.replace('.', '-')}.md": _page(name, title, sorted(import_module(name).__all__, key=str.lower))
        for name, title in MODULES.items()
    }
    subjects["errors.md"] += _subclasses()
    return {"README.md": _contents()} | subjects | modules | {"commands.md": _page_of_commands()}


def _contents() -> str:
    lines = ["# Reference", "", WRITTEN, "", "| page | names |", "|---|---|"]
    for file, (title, names) in SUBJECTS.items():
        shown = (f"[`{name}`]({file}#{name.lower()})" for name in names.split())
        lines.append(f"| [{title}]({file}) | {', '.join(shown)} |")
    for name, title in MODULES.items():
        lines.append(f"| [{title}]({name.replace('.', '-')}.md) | `{name}` |")
    return "\n".join([*lines, "| [The commands](commands.md) | `topicloom COMMAND --help` |", ""])


def _page(module: str, title: str, names: list[str]) -> str:
    lines = [f"# {title}: `{module}`", "", WRITTEN, ""]
    for name in names:
        thing = getattr(import_module(module), name)
        shown = inspect.isclass(thing) or inspect.isfunction(thing)
        lines += _entry(name, thing) if shown else [f"## `{name}`", "", VALUES[name], ""]
    return "\n".join(lines)


def _subclasses() -> str:
    """Return an entry for each error that is not a public name of its own, in the order of their module."""
    found = [value for value in vars(errors).values() if inspect.isclass(value) and value is not errors.TopicloomError]
    return "\n".join(line for error in found for line in ["", *_entry(error.__name__, error)[:-1]]) + "\n"


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
    texts = pages()
    for old in Path(folder).glob("*.md"):
        if old.name not in texts:
            old.unlink()
    for name, text in texts.items():
        Path(folder, name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
