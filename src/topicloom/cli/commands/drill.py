"""``topicloom drill``: what breaks when nodes fail."""

import json
from collections import Counter
from typing import Annotated, Any

import typer

from topicloom.cli.console import format_number, print_table, tell, visible
from topicloom.cli.given import GivenOverlay, SubscriptionsFile, given_overlay
from topicloom.cli.option_groups import Json, LinkOptions, Seed, TableOptions
from topicloom.errors import InvalidOptionError
from topicloom.judge import drill, random_drills, verify, verify_network, weak_nodes
from topicloom.model import DrillReport, DrillSummary, Interest, Overlay, WeakNode

EXAMPLE = "Example: topicloom drill overlay --random 1000 --size 2    (exit code 0: no topic is cut, 1: some are)"
_SHOWN = 20


def command(
    overlay: GivenOverlay,
    fail: Annotated[
        list[str], typer.Option(help="Node that is down; may be given several times.", show_default=False)
    ] = [],  # noqa: B006 - typer reads it and never writes
    random: Annotated[int | None, typer.Option(help="Number of drills with random nodes down.")] = None,
    size: Annotated[int, typer.Option(help="--random: nodes that are down at once.")] = 1,
    seed: Seed = 0,
    subscriptions: SubscriptionsFile = None,
    *,
    table: TableOptions,
    link_table: LinkOptions,
    as_json: Json = False,
) -> int:
    """Rehearse failures of nodes: which topics are cut, how many pairs of subscribers lose each other, the worst nodes.

    Without --fail and --random only the single points of failure are listed. Needs no Spark.
    """
    if fail and random is not None:
        raise InvalidOptionError("--fail and --random exclude each other: name the nodes, or let them be drawn")
    given, findings = given_overlay(overlay, subscriptions, table, link_table, tell)
    interest, links = given.carried, given.links  # a relay counts as one of those that a failure may cut off
    report = drill(interest, links, fail=_nodes(interest, fail)) if fail else None
    summary = None if random is None else random_drills(interest, links, size=size, count=random, seed=seed)
    weak = weak_nodes(interest, links, top=None)
    apart = verify(interest, links).broken_topics
    units = _units(given)
    if as_json:
        about = {} if findings is None else {"link_findings": findings.to_dict()}
        print(json.dumps({**_facts(interest, report, summary, weak), "broken_topics": apart, **about, **units}))
    else:
        if report is not None:
            _print_report(interest, report)
        if summary is not None:
            _print_summary(interest, summary)
        if apart:
            print(f"{apart:,} topics are in pieces before anything fails; topicloom verify says which")
        _print_weak(interest, weak, apart)
        _print_units(units)
    holds = report.ok if report is not None else summary.ok if summary is not None else not weak
    return 0 if holds and not (apart and findings is not None) else 1


def _units(overlay: Overlay) -> dict[str, Any]:
    """What breaks when all nodes of a site are down, or of another unit that the overlay was designed for."""
    column = overlay.options.get("survive", "site")
    if overlay.network is None or (column == "site" and len(overlay.network.site_names) < 2):
        return {}
    verdict = verify_network(overlay.interest, overlay, overlay.network, survive=column)
    cut = Counter(fault.names[1] for fault in verdict.faults if fault.kind == "broken-without")
    return {"units": {"column": column, "count": verdict.units, "topics_cut": dict(cut.most_common())}}


def _print_units(found: dict[str, Any]) -> None:
    if not found:
        return
    column, count, cut = (found["units"][name] for name in ("column", "count", "topics_cut"))
    if not cut:
        print(f"every topic survives the loss of any one of {count:,} {column}s")
        return
    print(f"the loss of {len(cut):,} of {count:,} {column}s cuts a topic among those outside it")
    print_table((column, "topics cut"), [(unit, format_number(topics)) for unit, topics in list(cut.items())[:_SHOWN]])
    _print_rest(len(cut))


def _nodes(interest: Interest, names: list[str]) -> list[int | str]:
    """Nodes as they were given, as ids where the overlay has no labels."""
    if interest.node_labels is not None:
        return list(names)
    wrong = [name for name in names if not name.isdecimal()]
    if wrong:
        raise InvalidOptionError(f"there is no node {wrong[0]!r} to fail; this overlay names its nodes by number")
    return [int(name) for name in names]


def _facts(
    interest: Interest, report: DrillReport | None, summary: DrillSummary | None, weak: tuple[WeakNode, ...]
) -> dict[str, Any]:
    """Return what --json prints, with nodes and topics by name."""
    facts: dict[str, Any] = {}
    if report is not None:
        facts["drill"] = _named(interest, report)
    if summary is not None:
        worst = None if summary.worst is None else _named(interest, summary.worst)
        facts["random"] = {**summary.to_dict(), "worst": worst}
    facts["weak_nodes"] = [{**node._asdict(), "node": str(node.node)} for node in weak]
    return facts


def _named(interest: Interest, report: DrillReport) -> dict[str, Any]:
    facts = report.to_dict()
    facts["failed"] = [str(node) for node in report.failed]
    facts["cut"] = [{**cut, "topic": str(cut["topic"])} for cut in facts["cut"]]
    return facts


def _print_report(interest: Interest, report: DrillReport) -> None:
    down = ", ".join(visible(str(node)) for node in report.failed)
    print(
        f"down: {down}\n{len(report.cut):,} topics cut, {report.topics_holding:,} hold, {report.topics_untouched:,} "
        f"untouched; {report.lost_pairs:,} pairs of subscribers lost each other"
    )
    if report.cut:
        worst = sorted(report.cut, key=lambda cut: (-cut.lost_pairs, cut.topic))
        rows = [
            (
                str(cut.topic),
                format_number(len(cut.pieces)),
                format_number(cut.pieces[0]),
                format_number(cut.lost_pairs),
            )
            for cut in worst[:_SHOWN]
        ]
        print_table(("topic cut", "pieces", "largest piece", "pairs lost"), rows)
        _print_rest(len(worst))


def _print_summary(interest: Interest, summary: DrillSummary) -> None:
    print_table(
        (f"{summary.count:,} drills, {summary.size:,} random nodes down", ""),
        [
            ("drills in which a topic is cut", format_number(summary.drills_with_cuts)),
            ("topics cut, mean", format_number(summary.mean_topics_cut)),
            ("topics cut, worst", format_number(summary.max_topics_cut)),
            ("pairs lost, mean", format_number(summary.mean_lost_pairs)),
            ("pairs lost, worst", format_number(summary.max_lost_pairs)),
        ],
    )
    if summary.worst is not None and summary.worst.cut:
        print("the worst of them")
        _print_report(interest, summary.worst)


def _print_weak(interest: Interest, weak: tuple[WeakNode, ...], apart: int) -> None:
    if not weak:
        survives = "every topic survives the loss of any one node"
        print(f"no single point of failure{'' if apart else f': {survives}'}")
        return
    print(f"{len(weak):,} of {interest.n_nodes:,} nodes are single points of failure")
    rows = [(str(w.node), format_number(w.topics_cut), format_number(w.lost_pairs)) for w in weak[:_SHOWN]]
    print_table(("node", "topics cut", "pairs lost"), rows)
    _print_rest(len(weak))


def _print_rest(number: int) -> None:
    if number > _SHOWN:
        print(f"… and {number - _SHOWN:,} more")
