"""``topicloom verify``: whether every message reaches all who want it."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from topicloom.cli.console import tell, visible
from topicloom.cli.engines import Engine, carrier_of, check_engine, narrated_stages
from topicloom.cli.forbidden_links import forbidden_of, tell_of_forbidden
from topicloom.cli.network_facts import judge_network, network_overlay
from topicloom.cli.option_groups import Json, LinkOptions, Links, SparkOptions, Subscriptions, TableOptions
from topicloom.judge import checked_k
from topicloom.runs.request import SPARK

if TYPE_CHECKING:
    from topicloom.model import BrokenTopic, Overlay

EXAMPLE = "Example: topicloom verify subscriptions.csv.gz overlay    (exit code 0: holds, 1: broken)"
_SHOWN = 20


def command(
    subscriptions: Subscriptions,
    links: Links,
    k: Annotated[
        int,
        typer.Option(help="1: every topic in one piece; k: also while fewer than k of its nodes are down."),
    ] = 1,
    *,
    table: TableOptions,
    link_table: LinkOptions,
    engine: Engine = SPARK,
    as_json: Json = False,
    spark_options: SparkOptions,
) -> int:
    """Judge links of any origin against the subscriptions: exit code 0 if every topic is connected, 1 if not.

    Links that an overlay directory forbids break it, too. One with a network is judged by its rules in this process.
    """
    checked_k(k)
    check_engine(engine, spark_options)
    own = network_overlay(subscriptions, links, table, engine)
    if own is not None:
        return _verify_on_network(own, k, as_json=as_json)
    given = [(subscriptions, table.wanted), (links, link_table.wanted_as(table))]
    with narrated_stages() as stages, carrier_of(given, table.expand, engine, spark_options, stages) as carrier:
        verdict, findings = carrier.verify(stages, k=k)
    forbidden = forbidden_of(subscriptions, links, link_table.wanted_as(table))
    tell_of_forbidden(forbidden)
    ok = verdict.ok and not forbidden
    if as_json:
        shown = [broken._asdict() for broken in verdict.broken]
        facts = {"ok": ok, "k": k, "topics": verdict.topics, "broken_topics": verdict.broken_topics}
        about = {"idle_links": verdict.idle_links, "broken": shown, "link_findings": findings.to_dict()}
        print(json.dumps({**facts, **about, "forbidden_links": forbidden}))
        return 0 if ok else 1
    if verdict.idle_links:
        tell(f"warning: {verdict.idle_links:,} links serve no topic: the nodes that they join share none")
    for broken in verdict.broken[:_SHOWN]:
        print(broken_sentence(broken, k))
    if verdict.broken_topics > _SHOWN:
        print(f"… and {verdict.broken_topics - _SHOWN:,} more")
    connected = f"{k}-topic-connected" if k > 1 else "topic-connected"
    if ok:
        print(f"holds: all {verdict.topics:,} topics are {connected}")
    elif verdict.ok:
        print(f"broken: {len(forbidden):,} links are forbidden; all topics are {connected}")
    else:
        print(f"broken: {verdict.broken_topics:,} of {verdict.topics:,} topics are not {connected}")
    return 0 if ok else 1


def _verify_on_network(overlay: "Overlay", k: int, *, as_json: bool) -> int:
    """Judge an overlay by the rules of its network."""
    verdict, judged = overlay.verify(k), judge_network(overlay)
    ok = judged is None or (verdict.ok and judged.ok)
    faults = () if judged is None else judged.faults
    if as_json:
        facts = {"ok": ok, "k": k, "topics": verdict.topics, "broken_topics": verdict.broken_topics}
        about = {"idle_links": verdict.idle_links, "broken": [broken._asdict() for broken in verdict.broken]}
        print(json.dumps({**facts, **about, "network": None if judged is None else judged.to_dict()}))
        return 0 if ok else 1
    for fault in faults[:_SHOWN]:
        print(visible(fault.sentence))
    if len(faults) > _SHOWN:
        print(f"… and {len(faults) - _SHOWN:,} more")
    lost = ""
    if judged is not None and judged.survive is not None:
        lost = f", also without any one of {judged.units:,} {judged.survive}s"
    held = f"all {verdict.topics:,} topics are connected inside their subscribers and relays{lost}"
    print(f"holds: {held}, by the rules of the network" if ok else f"broken: {len(faults):,} faults on the network")
    return 0 if ok else 1


def broken_sentence(broken: "BrokenTopic", k: int) -> str:
    """How a topic is broken."""
    names = [visible(label) for label in broken.witness]
    start = f"topic {visible(broken.topic)}: "
    if broken.components > 1:
        return start + f"{broken.components:,} components; {names[0]} cannot reach {names[1]}"
    return start + f"not {k}-connected; its weak point: {', '.join(names)}"
