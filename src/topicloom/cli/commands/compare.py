"""``topicloom compare``: several methods on the same subscriptions, in one table and one picture."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from pyarrow import parquet

from topicloom.cli.commands.comparison_picture import draw_comparison
from topicloom.cli.console import COLUMNS, cells, counted, format_number, print_table, tell
from topicloom.cli.engines import Engine, carrier_of, check_engine, narrated_stages
from topicloom.cli.option_groups import Json, LinkOptions, Overwrite, Seed, SparkOptions, Subscriptions, TableOptions
from topicloom.errors import InvalidOptionError
from topicloom.files.write.atomic import whole_directory
from topicloom.files.write.run_file import run_header, write_json, write_run
from topicloom.methods.selection import MethodChoice
from topicloom.model import Network
from topicloom.model.checks import checked_seed
from topicloom.runs.comparison import Compared, Comparison, results_table, with_pareto_best
from topicloom.runs.request import DISTRIBUTED, MEMORY, SPARK

EXAMPLE = "Example: topicloom compare subscriptions.csv.gz comparison --links have.csv --methods gm,low-oda:rho=3,hub"
_HEADER = ("method", *COLUMNS.values(), "seconds")
_ON_NETWORK = ("price", "links between sites", "links that may not be")


def command(
    subscriptions: Subscriptions,
    out: Annotated[Path, typer.Argument(help="Folder for the results and the picture.")],
    methods: Annotated[
        str,
        typer.Option(help="Methods, comma-separated, with options as in low-oda:rho=8; topicloom methods lists them."),
    ] = "gm,low-oda,cd-oda-2,ring-pt,hub",
    links: Annotated[
        str | None,
        typer.Option(
            help="Links of today, a table with src and dst or an overlay directory: a row of its own, what you have.",
            show_default=False,
        ),
    ] = None,
    network: Annotated[
        Path | None,
        typer.Option(
            help="Folder of a network, as for design: adds a row for a design for it, and what all rows cost on it.",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
    *,
    table: TableOptions,
    link_table: LinkOptions,
    overwrite: Overwrite = False,
    engine: Engine = SPARK,
    as_json: Json = False,
    spark_options: SparkOptions,
) -> int:
    """Run several methods side by side on the same subscriptions: one table, one picture, the Pareto-best marked.

    With --links the first row is what you have, beside what you could have.
    """
    choices = _choices(methods)
    checked_seed(seed)
    out = out.absolute()
    check_engine(engine, spark_options)
    if network is not None and engine == DISTRIBUTED:
        raise InvalidOptionError("--network is for comparisons in one process; --engine memory makes them")
    engine = engine if network is None else MEMORY
    there = None
    if network is not None:
        there = Network.read(network, separator=table.separator, encoding=table.encoding, trim=table.trim)
    given = [(subscriptions, table.wanted), *([] if links is None else [(links, link_table.wanted_as(table))])]
    with whole_directory(out, overwrite=overwrite, inputs=[subscriptions]) as staging:
        with narrated_stages() as stages, carrier_of(given, table.expand, engine, spark_options, stages) as carrier:
            found = carrier.compare(choices, stages, seed=seed, network=there)
        compared, about = with_pareto_best(found.compared), _findings(found)
        title = ", ".join(f"{found.counts[what]:,} {what}" for what in ("nodes", "topics", "subscriptions"))
        run = {
            **run_header(),
            "methods": [choice.text for choice in choices],
            **about,
            "seed": seed,
            "input_fingerprint": found.fingerprint,
            "counts": found.counts,
            "seconds": stages.seconds,
        }
        _write(compared, title, run, staging)
    if as_json:
        results = [one.to_dict() for one in compared]
        print(json.dumps({"out": str(out), "results": results, **about}, allow_nan=False))
    else:
        priced = () if there is None else _ON_NETWORK
        rows = [(*_row(one), *(() if there is None else _costs(one))) for one in compared]
        print_table((*_HEADER, *priced), rows, title=title)
        tell(
            "* Pareto-best: all topics are connected, and no other such method is as good by links, maximum degree, "
            "hops, unwanted relays and survival, and better by one"
        )
        if links is not None:
            tell(_saving(compared[0], compared[1:]))
    for one in compared:
        if one.refused is not None:
            tell(f"{one.name} was not run: {one.refused}")
    tell(f"wrote {out}")
    return 0


def _choices(methods: str) -> list[MethodChoice]:
    choices = [MethodChoice.parse(text) for text in methods.split(",") if text.strip()]
    if not choices:
        raise InvalidOptionError("--methods names no method; topicloom methods lists them")
    texts = [choice.text for choice in choices]
    for text in texts:
        if texts.count(text) > 1:
            raise InvalidOptionError(f"--methods names {text} twice")
    return choices


def _findings(found: Comparison) -> dict[str, Any]:
    return {} if found.findings is None else {"link_findings": found.findings.to_dict()}


def _write(compared: Sequence[Compared], title: str, run: Mapping[str, Any], folder: Path) -> None:
    parquet.write_table(results_table(compared), folder / "results.parquet")
    write_json(folder / "results.json", {**run, "results": [one.to_dict() for one in compared]})
    draw_comparison(compared, title, folder)
    write_run(folder, run)


def _costs(one: Compared) -> tuple[str, ...]:
    if one.refused is not None or one.links_that_may_not_be is None:
        return ("–",) * len(_ON_NETWORK)
    price = "–" if one.price is None else format_number(one.price)
    return (price, f"{one.wan_links:,}", f"{one.links_that_may_not_be:,}")


def _row(one: Compared) -> tuple[str, ...]:
    name = f"{one.name}{' *' if one.pareto_best else ''}{' (reference)' if one.reference else ''}"
    if one.refused is not None:
        return (name, *["–"] * (len(_HEADER) - 1))
    return (name, *cells(one.to_dict()), "–" if one.seconds is None else format_number(one.seconds))


def _saving(held: Compared, others: Sequence[Compared]) -> str:
    """What the method with the fewest links saves against the links that there are."""
    usable = [one for one in others if one.connects_every_topic and one.links is not None]
    broken = f", which leave {counted(held.broken_topics, 'topic')} in pieces" if held.broken_topics else ""
    if held.relayed_topics and held.relaying_nodes:
        nodes = counted(held.relaying_nodes, "node")
        broken += f", over which {counted(held.relayed_topics, 'topic')} pass {nodes} that did not ask"
    idle = f", {held.idle_links:,} of which serve no topic" if held.idle_links else ""
    have = f"you have {held.links:,} links{idle}{broken}"
    if not usable or held.links is None:
        return f"{have}; none of these methods connects every topic"
    best = min(usable, key=lambda one: one.links or 0)
    change = (best.links or 0) - held.links
    share = f" ({abs(change) / held.links:.0%} {'fewer' if change < 0 else 'more'})" if held.links and change else ""
    firm = min((one for one in usable if one.survives_one_failure), key=lambda one: one.links or 0, default=None)
    survives = f"; {firm.name} survives any one failure with {firm.links:,}" if firm and firm is not best else ""
    return f"{have}; {best.name} connects every topic with {best.links:,}{share}{survives}"
