"""``topicloom verify``: whether every message reaches all who want it."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from topicloom.cli.console import narrated, tell, visible
from topicloom.cli.options import Json, LinkOptions, Links, SparkOptions, Subscriptions, TableOptions
from topicloom.cli.sources import links_of, unreplaced
from topicloom.cli.tables import opened_table
from topicloom.judge import checked_k
from topicloom.spark.session import spark_session

if TYPE_CHECKING:
    from topicloom.model import BrokenTopic

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
    as_json: Json = False,
    spark_options: SparkOptions,
) -> int:
    """Judge links, whoever made them, against the subscriptions: exit code 0 if every topic is connected, 1 if not."""
    checked_k(k)
    with (
        narrated("starting Spark") as narrator,
        spark_session(**vars(spark_options)) as spark,
    ):
        from topicloom.pipeline.design import verify_overlay
        from topicloom.spark.stages import Stages

        with unreplaced(subscriptions, links):
            rows = opened_table(spark, narrator, subscriptions, table, spark_options.remote)
            given = links_of(spark, links, spark_options.remote, link_table)
        verdict = verify_overlay(rows, given, k=k, stages=Stages(narrator, narrator.note))
    if as_json:
        shown = [broken._asdict() for broken in verdict.broken]
        facts = {"ok": verdict.ok, "k": k, "topics": verdict.topics, "broken_topics": verdict.broken_topics}
        print(json.dumps({**facts, "idle_links": verdict.idle_links, "broken": shown}))
        return 0 if verdict.ok else 1
    if verdict.idle_links:
        tell(f"warning: {verdict.idle_links:,} links join nodes that share no topic")
    for broken in verdict.broken[:_SHOWN]:
        print(broken_sentence(broken, k))
    if verdict.broken_topics > _SHOWN:
        print(f"… and {verdict.broken_topics - _SHOWN:,} more")
    connected = f"{k}-topic-connected" if k > 1 else "topic-connected"
    if verdict.ok:
        print(f"holds: all {verdict.topics:,} topics are {connected}")
    else:
        print(f"broken: {verdict.broken_topics:,} of {verdict.topics:,} topics are not {connected}")
    return 0 if verdict.ok else 1


def broken_sentence(broken: "BrokenTopic", k: int) -> str:
    """How a topic is broken."""
    names = [visible(label) for label in broken.witness]
    start = f"topic {visible(broken.topic)}: "
    if broken.components > 1:
        return start + f"{broken.components:,} components; {names[0]} cannot reach {names[1]}"
    return start + f"not {k}-connected; its weak point: {', '.join(names)}"
