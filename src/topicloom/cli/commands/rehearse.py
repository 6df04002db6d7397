"""``topicloom rehearse``: a plan on real brokers on loopback."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from topicloom.brokers.rehearsal.failover import Failover
from topicloom.cli.commands.routes import load_inventory
from topicloom.cli.console import counted, format_number, narrated, print_table, visible
from topicloom.cli.option_groups import Json, TextOptions
from topicloom.deploy import TARGETS, Network, Rehearsal, rehearse
from topicloom.routing import Plan

EXAMPLE = "Example: topicloom rehearse plan --kill worst    (exit code 0: every copy once, 1: not)"
_WORST = "worst"


def command(
    plan: Annotated[Path, typer.Argument(help="Plan, as topicloom routes writes it.")],
    to: Annotated[str, typer.Option(help=f"Kind of broker: {', '.join(TARGETS)}.")] = "mosquitto",
    inventory: Annotated[
        Path | None,
        typer.Option(
            help="Who has TLS and credentials; hosts, ports and secrets are replaced by throw-away ones.",
            show_default=False,
        ),
    ] = None,
    kill: Annotated[
        list[str],
        typer.Option(help="Broker to kill under traffic, or worst; may be given several times.", show_default=False),
    ] = [],  # noqa: B006 - typer reads it and never writes
    switch: Annotated[
        Path | None, typer.Option(help="Plan to change to under traffic, in two steps.", show_default=False)
    ] = None,
    *,
    text: TextOptions,
    as_json: Json = False,
) -> int:
    """Run a plan on real brokers on 127.0.0.1, publish every topic at every subscriber, count every copy.

    The brokers have to be installed. Everything ends with the command: processes, ports and files. Needs no Spark.
    """
    network = Network.from_plan(Plan.load(plan))
    new = None if switch is None else Network.from_plan(Plan.load(switch))
    busiest = network.busiest()[:1]
    victims = [node for name in kill for node in (busiest if name == _WORST and name not in network.nodes else [name])]
    with narrated("preparing") as narrator:
        result = rehearse(
            network,
            to,
            inventory=load_inventory(inventory, text)[0],
            kill=victims,
            new=new,
            tell=narrator,
        )
    if as_json:
        print(json.dumps(result.to_dict()))
    else:
        _print(result)
    return 0 if result.ok else 1


def _print(result: Rehearsal) -> None:
    counts, travel = result.counts, result.travel
    rows = [
        ("brokers", format_number(result.brokers)),
        ("links", format_number(result.links)),
        ("messages published", format_number(counts.published)),
        ("copies expected", format_number(counts.expected)),
        ("exactly once", format_number(counts.exactly_once)),
        ("missing", format_number(counts.missing)),
        ("extra", format_number(counts.extra)),
        ("unwanted", format_number(counts.unwanted)),
        ("hops, mean / max", f"{format_number(travel.mean_hops)} / {format_number(travel.max_hops)}"),
        ("latency in ms, median / 95 %", f"{format_number(travel.median_ms)} / {format_number(travel.p95_ms)}"),
        ("memory of all brokers in MB", format_number(result.memory / 1e6, 0)),
        ("seconds until up / in all", f"{format_number(result.up_seconds)} / {format_number(result.seconds)}"),
    ]
    if result.excess is not None:
        rows.append(("messages received beyond the wanted", format_number(result.excess)))
    if result.transit is not None:
        least, most = map(format_number, result.transit)
        rows.append(("copies that pass through brokers that did not ask", f"{least} to {most}"))
    print_table((f"rehearsal on {result.broker}", ""), rows)
    if result.switched is not None:
        changed = result.switched.to_dict()
        print_table(("switch of trees", ""), [(name, str(value)) for name, value in changed.items()])
    if result.failovers:
        print_table(_FAILOVER, [_failover(one) for one in result.failovers])
    for sentence in _broken(result):
        print(f"NOT {sentence}")
    if result.counts.ok:
        print("every copy arrived exactly once" + ("" if result.ok else ", with every broker up"))


def _broken(result: Rehearsal) -> Iterator[str]:
    """What did not go as promised, as sentences."""
    for one in result.failovers:
        if not one.healed:
            yield f"healed after the death of {visible(one.node)}: {counted(one.still_cut, 'topic')} stayed cut"
        elif not one.ok:
            yield f"without mistakes after the death of {visible(one.node)}"
    if result.switched is not None and not result.switched.ok:
        yield "without mistakes while trees were switched"
    if result.excess:
        yield "without messages that servers received in vain"
    if not result.counts.ok:
        yield "every copy arrived exactly once"


_FAILOVER = (
    "killed", "healed", "topics cut", "still cut", "outage s", "lost", "duplicates", "wrong elsewhere", "clients cut",
    "gates at", "on return",
)  # fmt: skip


def _failover(one: Failover) -> tuple[str, ...]:
    watched = f"not healed within {format_number(one.watched_seconds, 2)} s"
    return (
        one.node,
        "yes" if one.healed else "NO",
        format_number(one.cut_topics),
        format_number(one.still_cut),
        watched if one.outage_seconds is None else format_number(one.outage_seconds, 3),
        *map(format_number, (one.lost, one.duplicates, one.wrong_elsewhere, one.clients_cut, one.brokers_signalled)),
        format_number(one.return_wrong),
    )
