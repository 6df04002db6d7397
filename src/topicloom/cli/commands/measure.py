"""``topicloom measure``: the metrics of an overlay made by any tool."""

import json
from collections.abc import Mapping
from typing import Annotated

import typer

from topicloom.cli.console import COLUMNS, cells, counted, format_number, print_table, tell
from topicloom.cli.engines import Engine, carrier_of, check_engine, narrated_stages
from topicloom.cli.forbidden_links import forbidden_of, tell_of_forbidden
from topicloom.cli.network_facts import network_json, network_overlay, print_network
from topicloom.cli.option_groups import Json, LinkOptions, Links, SparkOptions, Subscriptions, TableOptions
from topicloom.errors import InvalidOptionError
from topicloom.files.read.link_findings import LinkFindings
from topicloom.runs.request import SPARK

EXAMPLE = "Example: topicloom measure subscriptions.csv.gz my-links.csv --json"


def command(
    subscriptions: Subscriptions,
    links: Links,
    *,
    table: TableOptions,
    link_table: LinkOptions,
    bound: Annotated[bool, typer.Option("--bound", help="Prove how near to the fewest links they are.")] = False,
    engine: Engine = SPARK,
    as_json: Json = False,
    spark_options: SparkOptions,
) -> None:
    """Measure links of any origin: degrees, diameters, hops, unwanted relays, and what one failure does."""
    check_engine(engine, spark_options)
    own = network_overlay(subscriptions, links, table, engine)
    if own is not None and bound:
        raise InvalidOptionError("--bound proves how few links there can be, and the links of this overlay have prices")
    if own is None:
        given = [(subscriptions, table.wanted), (links, link_table.wanted_as(table))]
        with narrated_stages() as stages, carrier_of(given, table.expand, engine, spark_options, stages) as carrier:
            (metrics, proved), findings = carrier.measure(stages, bound=bound)
    else:
        metrics, proved, findings = own.measure(), None, LinkFindings(own.n_links, own.n_links, 0, 0)
    forbidden = forbidden_of(subscriptions, links, link_table.wanted_as(table))
    tell_of_forbidden(forbidden)
    values = metrics.to_dict()
    if as_json:
        odd = {"link_findings": findings.to_dict()} if findings.sentences else {}
        barred = {"forbidden_links": forbidden} if forbidden else {}
        certified = {} if proved is None else {"bound": proved.facts(metrics.links)}
        priced = {} if own is None else network_json(own)
        print(json.dumps({**values, **odd, **barred, **certified, **priced}, allow_nan=False))
        return
    broken = metrics.disconnected_topics - metrics.relayed_topics
    if broken:
        tell(f"warning: {counted(broken, 'topic')} broken, some subscribers cannot be reached: no diameter, no hops")
    if metrics.relayed_topics:
        tell(
            f"warning: {counted(metrics.relayed_topics, 'topic')} relayed: {counted(metrics.relaying_nodes, 'node')} "
            "that did not ask must pass on messages; diameters and hops are those over them"
        )
    compared = {**values, "broken_topics": broken}
    rows_shown = [
        *((name, format_number(values[name])) for name in ("nodes", "topics", "subscriptions")),
        *zip(COLUMNS.values(), cells(compared)),
        ("links / a tree per topic", _ratio(metrics.links_per_topic_tree)),
        ("topics that a link serves", _ratio(metrics.mean_shared_topics)),
        ("links that serve no topic", format_number(metrics.idle_links)),
    ]
    print_table(("measure", ""), rows_shown)
    print_table(
        ("degree", "nodes"),
        [(degree, f"{count:,}") for degree, count in _condensed(metrics.degree_histogram).items()],
    )
    if own is not None:
        print_network(own)
    if proved is not None:
        print(f"{metrics.links:,} links: {proved.sentence(metrics.links)}")


def _ratio(value: float | None) -> str:
    return "–" if value is None else format_number(value, 3)


def _condensed(histogram: Mapping[int, int], rows: int = 16) -> dict[str, int]:
    """A histogram of a bounded number of rows, neighbouring degrees taken together."""
    degrees = sorted(histogram)
    width = -(-len(degrees) // rows) or 1
    groups = [degrees[start : start + width] for start in range(0, len(degrees), width)]
    named = {f"{group[0]}" if len(group) == 1 else f"{group[0]}–{group[-1]}": group for group in groups}
    return {name: sum(histogram[degree] for degree in group) for name, group in named.items()}
