"""``topicloom status``: the state of an overlay under churn, and how far it has drifted from a fresh design."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from topicloom.churn import read_state
from topicloom.churn.options import history_of, recorded_k
from topicloom.cli.console import format_number, narrated, print_table
from topicloom.cli.given import SubscriptionsFile, given_overlay
from topicloom.cli.option_groups import Json, LinkOptions, TableOptions
from topicloom.errors import InputNotFoundError
from topicloom.files.write.atomic import recover
from topicloom.files.write.destination import check_local
from topicloom.judge import verify
from topicloom.methods import METHODS, design
from topicloom.methods.registry import spec_of
from topicloom.methods.selection import method_for, options_for
from topicloom.model import Overlay
from topicloom.model.arrays import degrees
from topicloom.model.checks import checked_whole

EXAMPLE = "Example: topicloom status live    (the OUT of topicloom stream, its state.db, or any overlay directory)"


@dataclass(frozen=True)
class Standing:
    """An overlay, the connectivity that it keeps, and what is known of its life. Times are seconds since 1970."""

    overlay: Overlay
    k: int
    rho: float
    events: int = 0
    since: float | None = None
    last_event: float | None = None
    last_batch: int | None = None
    options: dict[str, Any] | None = None


def command(
    source: Annotated[
        Path,
        typer.Argument(
            help="OUT of topicloom stream, a durable state, or an overlay directory; or a table of links (src, dst), "
            "with --subscriptions."
        ),
    ],
    k: Annotated[
        int | None, typer.Option(help="Connectivity of the fresh design.  [default: that of the overlay]")
    ] = None,
    drift: Annotated[bool, typer.Option("--drift/--no-drift", help="Compare with a fresh design.")] = True,
    subscriptions: SubscriptionsFile = None,
    *,
    table: TableOptions,
    link_table: LinkOptions,
    as_json: Json = False,
) -> int:
    """Show the size, degrees and age of an overlay, judge it, and compare it with a fresh design. Needs no Spark.

    Works while a stream writes: it looks at the last batch committed. The fresh design is by the method that the
    overlay was designed with; where that is not known, low-oda at k = 1 and the method of topicloom design --k above.
    Exit code 1 if a topic is not connected as it should be.
    """
    with narrated("reading") as narrator:
        findings = None
        if subscriptions is None:
            standing = _standing(source)
        else:
            overlay, findings = given_overlay(source, subscriptions, table, link_table, narrator.note)
            standing = Standing(overlay, 1, 3.0)
        if k is not None:
            checked_whole("k", k, 1)
        narrator("judging")
        facts = _facts(standing)
        if drift and standing.overlay.interest.n_nodes:
            narrator("designing again from scratch, to compare")
            facts["fresh"] = _fresh(standing, standing.k if k is None else k)
    if findings is not None:
        facts["link_findings"] = findings.to_dict()
    if as_json:
        print(json.dumps(facts, allow_nan=False))
    else:
        print_table(("status", ""), _rows(facts))
    return 0 if facts["ok"] else 1


def _standing(source: Path) -> Standing:
    if "://" not in str(source):
        recover(source)
    state = source / "state.db" if source.is_dir() else source
    check_local(source)
    if not source.exists():
        raise InputNotFoundError(f"{source} does not exist")
    if state.is_file():
        kept = read_state(state)
        facts = kept.facts
        names = ("policy", "backups", "coverage", "rho", "k", "seed", "rebalance", "release")
        return Standing(
            kept.overlay,
            facts["k"],
            facts["rho"],
            history_of(kept.overlay)["events"],
            facts["since"],
            facts.get("changed") if facts["events"] else None,
            facts.get("batch"),
            {name: facts.get(name) for name in names},
        )
    overlay = Overlay.load(source)
    rho = overlay.options.get("rho", 3.0)
    return Standing(
        overlay,
        recorded_k(overlay),
        float(rho) if isinstance(rho, int | float) else 3.0,
        history_of(overlay)["events"],
    )


def _facts(standing: Standing) -> dict[str, Any]:
    interest, overlay = standing.overlay.interest, standing.overlay
    broken = len(verify(interest, overlay.links, standing.k).broken)
    return {
        "nodes": interest.n_nodes,
        "topics": interest.n_topics,
        "subscriptions": interest.n_subscriptions,
        "links": overlay.n_links,
        **_degrees(overlay),
        "k": standing.k,
        "ok": not broken,
        "broken_topics": broken,
        "events": standing.events,
        "last_batch": standing.last_batch,
        "since": _moment(standing.since),
        "last_event": _moment(standing.last_event),
        "options": standing.options,
    }


def _fresh(standing: Standing, k: int) -> dict[str, Any]:
    """Measure the degrees of a fresh design, and their ratio to those of the overlay."""
    method, options = _same_method(standing, k)
    now = _degrees(standing.overlay)
    fresh = _degrees(design(standing.overlay.interest, method, seed=standing.overlay.seed, **options))
    ratios = {f"{name}_ratio": now[name] / fresh[name] if fresh[name] else 1.0 for name in fresh}
    return {"method": method, **fresh, **ratios}


def _same_method(standing: Standing, k: int) -> tuple[str, dict[str, Any]]:
    """Find the method and options of the overlay. Where these are not known, a method that reaches k."""
    life = history_of(standing.overlay)
    if k == standing.k and life["method"] in METHODS:
        spec = spec_of(life["method"])
        return spec.name, {name: value for name, value in life["options"].items() if name in spec.options}
    method = "low-oda" if k == 1 else method_for(k)
    return method, {"rho": standing.rho} if k == 1 else options_for(spec_of(method), k)


def _degrees(overlay: Overlay) -> dict[str, Any]:
    degree = degrees(overlay.links, overlay.interest.n_nodes)
    return {
        "average_degree": float(degree.mean()) if len(degree) else 0.0,
        "max_degree": int(degree.max(initial=0)),
    }


def _rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    names = ("nodes", "topics", "subscriptions", "links", "average_degree", "max_degree")
    rows = [(name.replace("_", " "), format_number(facts[name])) for name in names]
    connected = "topic-connected" if facts["k"] == 1 else f"{facts['k']}-topic-connected"
    broken = f"NOT {connected}: {facts['broken_topics']:,} topics are broken"
    rows.append(("judged", f"{connected}, verified" if facts["ok"] else broken))
    rows.append(("events applied", format_number(facts["events"])))
    if facts["last_batch"] is not None:
        rows.append(("last batch", format_number(facts["last_batch"])))
    rows += [
        (name.replace("_", " "), facts[name].replace("T", " ").replace("Z", " UTC"))
        for name in ("since", "last_event")
        if facts[name] is not None
    ]
    fresh = facts.get("fresh")
    if fresh is not None:
        for name in ("average_degree", "max_degree"):
            ratio = f"{format_number(fresh[name])}; now {fresh[f'{name}_ratio']:.2f} ×"
            rows.append((f"fresh {fresh['method']}, {name.replace('_', ' ')}", ratio))
    return rows


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
