"""Help pages in panels: plain text under named headings, the same on a terminal, in a pipe and without colours."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from typer.core import TyperCommand, TyperGroup

ARGUMENTS, OPTIONS, COMMANDS = "Arguments", "Options", "Commands"
OF_METHODS = "Options of single methods"
OF_TABLES = "How tables are read"
OF_LINKS = "How links are read"
OF_REPAIRS = "How repairs are made"
OF_NETWORKS = "The network that there is"
OF_SPARK = "How Spark is reached"


class PanelCommand(TyperCommand):
    """A command whose help page shows the options of each panel under its name, those without a panel first."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options."""
        _write_panels(formatter, _parameters(self, ctx))


class PanelGroup(TyperGroup):
    """The command ``topicloom``, whose help page shows its commands by panels."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, each with the first words of its help, and then the options."""
        commands: Mapping[str, Any] = self.commands
        _write_panels(
            formatter,
            ((command.rich_help_panel or COMMANDS, (name, _summary(command))) for name, command in commands.items()),
        )
        _write_panels(formatter, _parameters(self, ctx))


def _parameters(command: Any, ctx: Any) -> list[tuple[str, tuple[str, str]]]:
    """The panel of each parameter, with its name and its help, those without a panel of their own first."""
    found = []
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None:
            usual = ARGUMENTS if parameter.param_type_name == "argument" else OPTIONS
            found.append((getattr(parameter, "rich_help_panel", None) or usual, record))
    return sorted(found, key=lambda shown: {ARGUMENTS: 0, OPTIONS: 1}.get(shown[0], 2))


def _write_panels(formatter: Any, rows: Iterable[tuple[str, tuple[str, str]]]) -> None:
    panels: dict[str, list[tuple[str, str]]] = {}
    for panel, row in rows:
        panels.setdefault(panel, []).append(row)
    for panel, shown in panels.items():
        with formatter.section(panel):
            formatter.write_dl(shown)


def _summary(command: Any) -> str:
    """The help of a command up to its first colon or full stop."""
    return re.split(r"[:.](?:\s|$)", " ".join((command.help or "").split()), maxsplit=1)[0]
