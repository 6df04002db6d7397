"""``topicloom plan``: what changed between an overlay and the table of today."""

import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from topicloom.churn import Event, Maintainer
from topicloom.cli.console import narrated, tell, visible
from topicloom.cli.given import given_interest
from topicloom.cli.option_groups import Json, TableOptions
from topicloom.errors import OutputExistsError
from topicloom.files.write.atomic import whole_file
from topicloom.files.write.destination import check_local
from topicloom.model import Change, Interest, Overlay

EXAMPLE = "Example: topicloom plan today.csv --from overlay --events events.jsonl    (exit code 0: nothing, 1: changes)"
_SHOWN = 20
_TOPICS = 5


def command(
    today: Annotated[
        Path,
        typer.Argument(help="Table with a node and a topic per row, in a file or folder: the subscriptions of today."),
    ],
    overlay: Annotated[Path, typer.Option("--from", help="Overlay directory that runs now.", show_default=False)],
    events: Annotated[
        Path | None, typer.Option(help="Write the events there, for topicloom churn.", show_default=False)
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file of --events if it is there.")
    ] = False,
    links: Annotated[
        bool, typer.Option("--links", help="Also apply the events, and say which links would come and go.")
    ] = False,
    *,
    table: TableOptions,
    as_json: Json = False,
) -> int:
    """Compare the table of today with an overlay, and say who joins, leaves and changes topics. Needs no Spark.

    Nothing is changed. topicloom churn OVERLAY EVENTS OUT applies what --events wrote.
    """
    with narrated("reading both") as narrator:
        given = Overlay.load(overlay)
        made = churn_events(given.interest, given_interest(str(today), table, narrator.note))
        change = None
        if links and made:
            narrator(f"applying {len(made):,} events")
            change = Maintainer(given.interest, given).apply(made)
    if events is not None:
        _write(events, made, overwrite)
    if as_json:
        print(json.dumps(_facts(made, change), ensure_ascii=False))
    else:
        _print(made, change)
    return 1 if made else 0


def churn_events(now: Interest, today: Interest) -> list[Event]:
    """Events that turn one interest into the other, nodes by name.

    Nodes join and subscribe before others unsubscribe and leave, so that no topic loses its last path in between.
    """
    before, after = _wanted(now), _wanted(today)
    joins = [Event("join", node, tuple(sorted(after[node]))) for node in sorted(after.keys() - before.keys())]
    leaves = [Event("leave", node) for node in sorted(before.keys() - after.keys())]
    both = sorted(before.keys() & after.keys())
    more = [Event("subscribe", node, tuple(sorted(after[node] - before[node]))) for node in both]
    less = [Event("unsubscribe", node, tuple(sorted(before[node] - after[node]))) for node in both]
    return [*joins, *(e for e in more if e.topics), *(e for e in less if e.topics), *leaves]


def _wanted(interest: Interest) -> dict[str, set[str]]:
    names = [interest.topic_label(t) for t in range(interest.n_topics)]
    return {
        interest.node_label(v): {names[t] for t in interest.topics[interest.indptr[v] : interest.indptr[v + 1]]}
        for v in range(interest.n_nodes)
    }


def _lines(made: Sequence[Event]) -> list[dict[str, Any]]:
    return [
        {"event": event.event, "node": event.node, **({"topics": list(event.topics)} if event.topics else {})}
        for event in made
    ]


def _write(path: Path, made: Sequence[Event], overwrite: bool) -> None:
    lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in _lines(made))
    check_local(path)
    if os.path.lexists(path) and not overwrite:
        raise OutputExistsError(f"cannot write {path}: it exists; choose another place, or replace it with --overwrite")
    if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
        raise OutputExistsError(f"cannot write {path}: it is no regular file; choose another place")
    with whole_file(path) as file:
        file.write(lines.encode())
    tell(f"wrote {len(made):,} events to {path}")


def _facts(made: Sequence[Event], change: Change | None) -> dict[str, Any]:
    kinds = [event.event for event in made]
    counts = {kind: kinds.count(kind) for kind in ("join", "leave", "subscribe", "unsubscribe")}
    links = {} if change is None else {"links": {"added": list(change.added), "removed": list(change.removed)}}
    return {"changes": counts, "events": _lines(made), **links}


def _print(made: Sequence[Event], change: Change | None) -> None:
    if not made:
        print("no changes: the overlay was made for the table of today")
        return
    by_node: dict[str, list[Event]] = {}
    for event in made:
        by_node.setdefault(event.node, []).append(event)
    for node in sorted(by_node)[:_SHOWN]:
        print(_sentence(node, by_node[node]))
    if len(by_node) > _SHOWN:
        print(f"  … and {len(by_node) - _SHOWN:,} more nodes (--json lists all)")
    kinds = [event.event for event in made]
    changed = len({event.node for event in made if event.event in ("subscribe", "unsubscribe")})
    print(f"plan: {kinds.count('join'):,} to join, {changed:,} to change, {kinds.count('leave'):,} to leave")
    if change is not None:
        print(f"links: {len(change.added):,} to add, {len(change.removed):,} to remove")


def _sentence(node: str, made: Sequence[Event]) -> str:
    name = visible(node)
    if made[0].event == "join":
        return f"  + {name}  joins with {_some(made[0].topics)}"
    if made[0].event == "leave":
        return f"  - {name}  leaves"
    signs = {"subscribe": "+", "unsubscribe": "-"}
    return f"  ~ {name}  " + "; ".join(f"{signs[event.event]} {_some(event.topics)}" for event in made)


def _some(topics: Sequence[str]) -> str:
    shown = ", ".join(visible(topic) for topic in topics[:_TOPICS])
    return shown if len(topics) <= _TOPICS else f"{shown} and {len(topics) - _TOPICS:,} more"
