"""``topicloom export``: a plan as configuration files of brokers."""

import json
from pathlib import Path
from typing import Annotated

import typer

from topicloom.cli.commands.routes import load_inventory
from topicloom.cli.console import tell
from topicloom.cli.option_groups import Json, Overwrite, TextOptions
from topicloom.deploy import TARGETS, export, write_export
from topicloom.errors import InvalidOptionError
from topicloom.routing import Plan

EXAMPLE = "Example: topicloom export plan etc --to mosquitto --inventory brokers.csv"


def command(
    plan: Annotated[Path, typer.Argument(help="Plan, as topicloom routes writes it.")],
    out: Annotated[Path, typer.Argument(help="Folder to write: one configuration per broker, brokers.csv, MANIFEST.")],
    to: Annotated[str, typer.Option(help=f"Kind of broker: {', '.join(TARGETS)}.", show_default=False)],
    version: Annotated[
        str | None,
        typer.Option(help="Version of the brokers.  [default: the inventory's, else the oldest]", show_default=False),
    ] = None,
    inventory: Annotated[
        Path | None,
        typer.Option(help="CSV, JSON or YAML: node, host, port and optional columns.", show_default=False),
    ] = None,
    prefix: Annotated[
        str, typer.Option(help="Folder of the files on the brokers' machines.  [default: none]", show_default=False)
    ] = "",
    gates: Annotated[
        bool | None,
        typer.Option(
            "--gates/--no-gates",
            help="Mosquitto: make rows that can be opened and shut.  [default: where there are standby rows]",
            show_default=False,
        ),
    ] = None,
    *,
    text: TextOptions,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> int:
    """Write the configuration files of brokers that carry a plan. Needs no Spark.

    The folder is written whole or not at all, the same plan gives the same bytes, and no file holds a secret.
    """
    if inventory is None:
        raise InvalidOptionError("export needs --inventory FILE: CSV, JSON or YAML with node, host and port")
    given = Plan.load(plan)
    folder = f"{prefix.rstrip('/')}/" if prefix else ""
    brokers = load_inventory(inventory, text)[0]
    made = export(given, to, brokers, version=version, gates=gates, prefix=folder)
    number = write_export(made, out, overwrite=overwrite, inputs=[plan, inventory])
    if as_json:
        facts = {"out": str(out), "to": to, "brokers": len(made.brokers), "files": number, "notes": made.notes}
        print(json.dumps({**facts, "generation": given.generation, "failover_files": "failover.csv" in made.files}))
    for note in made.notes:
        tell(f"warning: {note}")
    tell(f"{number:,} files for {len(made.brokers):,} {to} brokers in {out}; start them in the order of START_ORDER")
    return 0
