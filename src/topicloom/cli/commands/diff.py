"""``topicloom diff``: the steps from one plan to another, or the links that differ between two overlays."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from topicloom.cli.commands.routes import load_inventory
from topicloom.cli.console import counted, format_number, narrated, print_table, tell, visible
from topicloom.cli.given import notes_on
from topicloom.cli.option_groups import Json, Lenient, LinkOptions, TextOptions
from topicloom.deploy import Steps, diff
from topicloom.files.read.read_options import ReadOptions
from topicloom.files.read.source_plan import plan_source
from topicloom.files.read.table import read_table
from topicloom.files.write.overlay_directory import read_network
from topicloom.files.write.run_file import RUN_FILE
from topicloom.measures import measure_network
from topicloom.model import Overlay
from topicloom.routing import Plan
from topicloom.runs.sources import part_of_overlay

EXAMPLE = "Example: topicloom diff plan plan-2    (exit code 0: nothing to do, 1: changes, 2: impossible or bad input)"
_SHOWN = 20


def command(
    old: Annotated[Path, typer.Argument(help="Plan that runs now; or an overlay directory, or a table of links.")],
    new: Annotated[Path, typer.Argument(help="Plan to change to; or an overlay directory, or a table of links.")],
    inventory: Annotated[
        Path | None,
        typer.Option(help="Says by kind and version how each broker takes a change.", show_default=False),
    ] = None,
    *,
    links: LinkOptions,
    text: TextOptions,
    lenient: Lenient = False,  # main asks for it
    as_json: Json = False,
) -> int:
    """Say which rows go off, then which go on, and which brokers are touched. Needs no Spark.

    Given two overlays, or tables with src and dst, it says which links to remove and which to add.

    Between the two steps lies a barrier: every broker has shut its rows before any opens one, because two trees of one
    topic form a cycle together. The judge checks that the live rows of every topic are a forest at every moment.
    """
    if not any((source / "plan.json").exists() for source in (old, new)):
        return _diff_links(old, new, links.wanted_as(text), as_json=as_json)
    with narrated("reading both plans") as narrator:
        before, after = Plan.load(old), Plan.load(new)
        narrator("comparing rows")
        steps = diff(before, after, inventory=load_inventory(inventory, text)[0])
    if as_json:
        print(json.dumps(steps.to_dict()))
    elif steps.empty:
        print(f"nothing to do: kept {counted(steps.kept, 'row')}")
    else:
        _print(steps)
    return 0 if steps.empty else 1


def _diff_links(old: Path, new: Path, links: ReadOptions, *, as_json: bool) -> int:
    before, after = _links(old, links), _links(new, links)
    removed, added = sorted(before - after), sorted(after - before)
    prices = [_price(source) for source in (old, new)]
    if as_json:
        priced = {} if None in prices else {"prices": prices}
        print(json.dumps({"kept": len(before & after), "removed": removed, "added": added, **priced}))
    else:
        print(f"{counted(len(removed), 'link')} to remove")
        _print_rows("-", [f"{src} – {dst}" for src, dst in removed])
        print(f"{counted(len(added), 'link')} to add")
        _print_rows("+", [f"{src} – {dst}" for src, dst in added])
        print(f"kept: {counted(len(before & after), 'link')}")
        if None not in prices:
            print(f"price: {format_number(prices[0])} before, {format_number(prices[1])} after")
    return 1 if removed or added else 0


def _price(source: Path) -> float | None:
    """The price of an overlay directory on its network. Returns None without one."""
    if not (source / RUN_FILE).is_file() or read_network(source) is None:
        return None
    return measure_network(Overlay.load(source)).price


def _links(source: Path, options: ReadOptions) -> set[tuple[str, str]]:
    """Read links as pairs of names, the smaller one first. Links from a node to itself are left out."""
    place = part_of_overlay(str(source), "links")
    ours = place != str(source)  # an overlay directory, whose columns are known
    reading = read_table(plan_source(place, ReadOptions.of_links() if ours else options))
    for note in () if ours else notes_on(reading):
        tell(note)
    table = reading.table
    ends = (table[name].to_pylist() for name in table.column_names[:2])
    return {(min(pair), max(pair)) for pair in zip(*ends) if pair[0] != pair[1]}


def _print(steps: Steps) -> None:
    print(f"step 1: {counted(len(steps.off), 'row')} off")
    _print_rows("-", [f"{topic}: {src} – {dst}" for topic, src, dst in steps.off])
    print("barrier: go on when every broker has finished step 1; every topic's live rows are a forest (judged)")
    print(f"step 2: {counted(len(steps.on), 'row')} on")
    _print_rows("+", [f"{topic}: {src} – {dst}" for topic, src, dst in steps.on])
    print(f"kept: {counted(steps.kept, 'row')}; made standby: {counted(len(steps.standby), 'row')}")
    for what, links in (("new link", steps.new_links), ("retired link", steps.retired_links)):
        if links:
            print(counted(len(links), what) + (" (firewalls!)" if links is steps.new_links else ""))
            _print_rows(" ", [f"{src} – {dst}" for src, dst in links])
    if steps.cut:
        worst = sorted(steps.cut, key=lambda cut: (-cut.cut_off, cut.topic))[:_SHOWN]
        print_table(
            (f"{counted(len(steps.cut), 'topic')} cut between the steps", "parts", "nodes cut off"),
            [(cut.topic, f"{cut.parts:,}", f"{cut.cut_off:,}") for cut in worst],
        )
    if steps.start:
        print(f"start before step 2, in this order: {counted(len(steps.start), 'broker')}")
        _print_rows("+", steps.start)
    if steps.sessions:
        print(f"{counted(len(steps.sessions), 'queue')} of retired links can be cleared")
        _print_rows(" ", [f"at {owner} for {peer}" for owner, peer in steps.sessions])
    if steps.touched:
        print_table(
            (f"{counted(len(steps.touched), 'broker')} touched", "how", "rows"),
            [(broker.node, broker.how, f"{broker.rows:,}") for broker in steps.touched[:_SHOWN]],
        )
    if steps.make_first:
        print("these brokers may open step 2 before step 1 is done: duplicates, but no storm")


def _print_rows(sign: str, texts: Sequence[str]) -> None:
    shown = _SHOWN if sys.stdout.isatty() else len(texts)
    for text in texts[:shown]:
        print(f"  {sign} {visible(text)}")
    if len(texts) > shown:
        print(f"  … and {len(texts) - shown:,} more (a file or --json gets all)")
