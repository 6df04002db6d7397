"""``topicloom churn``: apply a file of events to an overlay."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.parquet as pq
import typer

from topicloom.churn import Event, Maintainer
from topicloom.churn.event_json import CHANGES, change_line, change_rows, parse_line, rejected_row, table
from topicloom.churn.options import BUILDERS, POLICIES, Options, recorded_k
from topicloom.churn.route_store import check_fits
from topicloom.cli.console import format_number, narrated, print_table, tell
from topicloom.cli.given import GivenOverlay, SubscriptionsFile, given_overlay
from topicloom.cli.option_groups import Json, LinkOptions, OptionGroup, Overwrite, TableOptions
from topicloom.cli.panels import OF_REPAIRS
from topicloom.errors import InputNotFoundError, InvalidEventError, MissingColumnError, UnreadableInputError
from topicloom.files.write.atomic import whole_directory
from topicloom.files.write.destination import check_destination
from topicloom.files.write.run_file import update_run
from topicloom.model import Change, Overlay, Rejection
from topicloom.model.labels import REJECTED
from topicloom.routing import Plan

EXAMPLE = "Example: topicloom churn overlay events.jsonl overlay-2 --policy shadow"
_SUFFIXES = (".json", ".jsonl", ".ndjson", ".parquet")


@dataclass(frozen=True)
class UpkeepOptions(OptionGroup):
    """How an overlay is kept connected while nodes come and go."""

    panel = OF_REPAIRS
    policy: Annotated[
        str | None,
        typer.Option(help=f"Where new links are sought: {', '.join(POLICIES)}.  [default: {Options.policy}]"),
    ] = None
    backups: Annotated[
        str | None, typer.Option(help=f"How backups are chosen: {', '.join(BUILDERS)}.  [default: {Options.backups}]")
    ] = None
    coverage: Annotated[
        int | None, typer.Option(help=f"Backups per topic of a node.  [default: {Options.coverage}]")
    ] = None
    rho: Annotated[float | None, typer.Option(help=f"Of Low-ODA's link rule.  [default: {Options.rho:g}]")] = None
    k: Annotated[int | None, typer.Option(help="Connectivity to maintain.  [default: that of the overlay]")] = None
    release: Annotated[
        int | None,
        typer.Option(
            help="Links between remaining nodes that a repair may release; 0 is the paper's algorithm.  [default: 0]"
        ),
    ] = None
    rebalance: Annotated[
        float | None, typer.Option(help="Exchange links while degrees exceed this many times a fresh design's.")
    ] = None
    seed: Annotated[int | None, typer.Option(help="Same seed and events, same links.  [default: 0]")] = None

    @property
    def given(self) -> dict[str, Any]:
        """The options that were given. The library has defaults for the others."""
        return {name: value for name, value in vars(self).items() if value is not None}


def command(
    overlay: GivenOverlay,
    events: Annotated[Path, typer.Argument(help="JSON lines or Parquet, a file or a folder of them; see above.")],
    out: Annotated[Path, typer.Argument(help="Overlay directory to write, with changes/ and changes.jsonl.")],
    plan: Annotated[
        Path | None,
        typer.Option(help="Plan that runs now: its trees follow, and OUT/plan is the next one.", show_default=False),
    ] = None,
    batch: Annotated[int, typer.Option(min=1, help="Events that are repaired together.")] = 1,
    subscriptions: SubscriptionsFile = None,
    *,
    upkeep: UpkeepOptions,
    table: TableOptions,
    link_table: LinkOptions,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> int:
    """Let nodes join, leave, subscribe and unsubscribe, and keep every topic connected. Needs no Spark.

    An event is {"event": "join", "node": "x", "topics": ["a", "b"]}, or leave, subscribe, unsubscribe; at and id are
    optional and give the order. OUT is written whole or not at all: the overlay after the last event, the link changes
    (changes.jsonl a line per batch, changes/ a row per link), and in rejected/ the events that cannot be applied. With
    --plan, changes.jsonl also has the rows that go and then those that come. Exit code 1 if there were events and none
    of them could be applied.
    """
    inputs: list[str | Path] = [overlay, events] if subscriptions is None else [overlay, events, subscriptions]
    check_destination(out.absolute(), overwrite=overwrite, inputs=inputs)
    with narrated("reading the overlay") as narrator:
        given, findings = given_overlay(overlay, subscriptions, table, link_table, narrator.note)
        rows = list(_read(events))
        narrator("building backups")
        m = Maintainer(given.interest, given, **{**upkeep.given, "k": kept_k(given, overlay, upkeep.k)})
        accepted, rejected = m.split_valid([row for row in rows if not isinstance(row, Rejection)])
        rejected = [row for row in rows if isinstance(row, Rejection)] + rejected
        narrator(f"applying {len(accepted):,} events")
        batches = [accepted[at : at + batch] for at in range(0, len(accepted), batch)]
        if plan is not None:
            check_fits(m.follow_routes(Plan.load(plan)))
        changes = [m.apply(part) for part in batches]
        narrator("writing")
        with whole_directory(out, overwrite=overwrite, inputs=inputs) as staging:
            _write(staging, m, str(events), batches, changes, rejected)
    added, removed = (sum(len(getattr(change, what)) for change in changes) for what in ("added", "removed"))
    facts = {
        "events": len(accepted), "rejected": len(rejected), "links_added": added, "links_removed": removed,
        "nodes": m.interest.n_nodes, "topics": m.interest.n_topics, "links": m.overlay.n_links,
        "seconds": sum(change.seconds for change in changes),
    }  # fmt: skip
    if plan is not None:
        moved = [change.rows for change in changes if change.rows is not None]
        facts |= {
            "rows_off": sum(len(rows.removed) for rows in moved),
            "rows_on": sum(len(rows.added) for rows in moved),
        }
    if as_json:
        about = {} if findings is None else {"link_findings": findings.to_dict()}
        print(json.dumps({**facts, **about}))
    else:
        print_table(("churn", ""), [(name.replace("_", " "), format_number(value)) for name, value in facts.items()])
    if rejected:
        none = "no event could be applied: " if not accepted else ""
        tell(
            f"{none}{len(rejected):,} events were rejected, the first because {rejected[0].reason}; see {out}/rejected"
        )
    tell(f"wrote {out}")
    return 1 if rejected and not accepted else 0


def kept_k(overlay: Overlay, source: Path, given: int | None) -> int:
    """Return the connectivity to maintain: the one given, or else the overlay's. Warns if the former is less."""
    recorded = recorded_k(overlay)
    if given is not None and given < recorded:
        tell(f"{source} was designed for k = {recorded}; only k = {given} is maintained from here on")
    return recorded if given is None else given


def _read(source: Path) -> Iterator[Any]:
    """Yield events as they were written, in the order of the files, and a `Rejection` for a line that is no JSON."""
    if not source.exists():
        raise InputNotFoundError(f"{source} does not exist")
    files = [source]
    if source.is_dir():
        files = sorted(path for path in source.iterdir() if path.suffix in _SUFFIXES and path.name[0] not in "._")
    if not files:
        raise InputNotFoundError(f"{source} holds no file of {', '.join(_SUFFIXES)}")
    for path in files:
        yield from _parquet_events(path) if path.suffix == ".parquet" else _json_events(path)


def _json_events(path: Path) -> Iterator[Any]:
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if line.strip():
            try:
                yield parse_line(line)
            except InvalidEventError as error:
                yield Rejection(line, f"line {number} of {path.name}: {error}")


def _parquet_events(path: Path) -> Iterator[Any]:
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise UnreadableInputError(f"{path} cannot be read as Parquet: {error}") from None
    missing = {"event", "node"} - set(table.column_names)
    if missing:
        raise MissingColumnError(f"{path} has no column {sorted(missing)[0]!r}; it has {', '.join(table.column_names)}")
    for part in table.to_batches():
        yield from part.to_pylist()


def _write(
    staging: Path,
    m: Maintainer,
    source: str,
    batches: Sequence[Sequence[Event]],
    changes: Sequence[Change],
    rejected: Sequence[Rejection],
) -> None:
    m.overlay.save(staging / "overlay")  # `save` only writes a new folder of its own
    for part in sorted((staging / "overlay").iterdir()):
        part.rename(staging / part.name)
    (staging / "overlay").rmdir()
    told = [change_line(number, *pair) for number, pair in enumerate(zip(batches, changes))]
    if m.plan is not None:
        m.plan.save(staging / "plan")
    lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in told)
    (staging / "changes.jsonl").write_text(lines, encoding="utf-8")
    (staging / "changes").mkdir()
    rows = [row for line in told for row in change_rows(line)]
    pq.write_table(table(rows, CHANGES), staging / "changes" / "part-00000.parquet")
    rejected_rows = [rejected_row(source, event, reason) for event, reason in rejected]
    pq.write_table(table(rejected_rows, REJECTED), staging / "rejected" / "part-00000.parquet")
    update_run(staging)
