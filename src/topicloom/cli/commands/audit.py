"""``topicloom audit``: what existing configurations of brokers do to messages."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from topicloom.auditing import Finding, Findings, audit
from topicloom.cli.commands.routes import load_inventory
from topicloom.cli.console import tell, visible
from topicloom.cli.given import given_interest
from topicloom.cli.option_groups import Json, TableOptions

EXAMPLE = "Example: topicloom audit etc --interest subs.csv    (exit code 0: clean, 1: findings, 2: unreadable)"
_SHOWN = 20


def command(
    configs: Annotated[
        list[Path], typer.Argument(help="Configuration files of Mosquitto or NATS, or folders of them.")
    ],
    interest: Annotated[
        Path | None,
        typer.Option(help="Table of subscriptions: says also what is missing.", show_default=False),
    ] = None,
    inventory: Annotated[
        Path | None, typer.Option(help="Where brokers listen, if their files do not tell.", show_default=False)
    ] = None,
    *,
    table: TableOptions,
    as_json: Json = False,
) -> int:
    """Find loops, duplicates and gaps in the configurations of running brokers. Needs no Spark.

    Follows every message from broker to broker, as the configurations send it, and counts the copies that arrive.
    """
    wanted = None if interest is None else given_interest(str(interest), table, tell)
    found = audit(configs, wanted, inventory=load_inventory(inventory, table)[0])
    if as_json:
        print(found.to_json())
    else:
        _print(found)
    return 0 if found.ok else 1


def _print(found: Findings) -> None:
    for kind, number in found.kinds.items():
        print(f"{kind}: {number:,}")
        _print_texts([finding for finding in found.findings if finding.kind == kind])
    followed = f"{len(found.brokers):,} brokers, {len(found.rows):,} rows, {found.points:,} publish points followed"
    print(f"{followed}: {'nothing found' if found.ok else f'{len(found.findings):,} findings'}")


def _print_texts(findings: Sequence[Finding]) -> None:
    for finding in findings[:_SHOWN]:
        print(f"  {visible(finding.text, longest=1000)}")
    if len(findings) > _SHOWN:
        print(f"  … and {len(findings) - _SHOWN:,} more (--json lists all)")
