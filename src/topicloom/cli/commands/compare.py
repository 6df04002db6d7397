"""``topicloom compare``: several methods on the same subscriptions, in one table and one picture."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.cli.console import COLUMNS, Narrator, cells, counted, format_number, narrated, print_table, tell
from topicloom.cli.engines import Engine, check_engine, prepared_rows, spark_tables, tables_in_memory
from topicloom.cli.option_groups import Json, LinkOptions, Overwrite, Seed, SparkOptions, Subscriptions, TableOptions
from topicloom.errors import InvalidOptionError, NotEnoughMemoryError
from topicloom.files.write.atomic import whole_directory
from topicloom.files.write.destination import check_destination
from topicloom.files.write.run_file import run_header, write_json, write_run
from topicloom.methods.selection import MethodChoice
from topicloom.model import Network
from topicloom.model.checks import checked_seed
from topicloom.runs.request import DISTRIBUTED, MEMORY, SPARK
from topicloom.spark.session.memory import available_memory
from topicloom.spark.session.session import cores_of, is_embedded
from topicloom.spark.session.warm import COMPILING, warm

if TYPE_CHECKING:
    from topicloom.methods.registry import Size
    from topicloom.runs.comparison import Compared, Comparison
    from topicloom.runs.stages import Stages
    from topicloom.spark.steps.read import SparkTable

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
    check_destination(out, overwrite=overwrite, inputs=[subscriptions])
    check_engine(engine, spark_options)
    if network is not None and engine == DISTRIBUTED:
        raise InvalidOptionError("--network is for comparisons in one process; --engine memory makes them")
    engine = engine if network is None else MEMORY
    there = None
    if network is not None:
        there = Network.read(network, separator=table.separator, encoding=table.encoding, trim=table.trim)
    given = [(subscriptions, table.wanted), *([] if links is None else [(links, link_table.wanted_as(table))])]
    where = spark_options.master, spark_options.remote
    with narrated("starting") as narrator:
        from topicloom.runs.comparison import compare_rows, with_pareto_best
        from topicloom.runs.memory_limits import check_side_by_side
        from topicloom.runs.stages import Stages

        stages = Stages(narrator, narrator.note)
        cores = 1 if engine == MEMORY else cores_of(*where)
        available = available_memory() if engine == MEMORY or is_embedded(*where) else sys.maxsize
        check = partial(check_side_by_side, choices=choices, cores=cores, available=available)
        task = partial(compare_rows, seed=seed, expand=table.expand, check=check)
        if engine == MEMORY:
            found = task(
                tables_in_memory(given, narrator), stages, choices=choices, held=links is not None, network=there
            )
        else:
            with spark_tables(given, spark_options, narrator) as (spark, tables):
                from topicloom.spark.session.workers import check_workers

                check_workers(spark)
                found = _side_by_side(engine, tables, task, choices, stages) or _spread(
                    tables, table.expand, choices, seed, check, narrator, stages
                )
    compared = with_pareto_best(found.compared)
    title = ", ".join(f"{found.counts[what]:,} {what}" for what in ("nodes", "topics", "subscriptions"))
    about = {} if found.findings is None else {"link_findings": found.findings.to_dict()}
    run = {
        **run_header(),
        "methods": [choice.text for choice in choices],
        **about,
        "seed": seed,
        "input_fingerprint": found.fingerprint,
        "counts": found.counts,
        "seconds": stages.seconds,
    }
    _write(compared, title, run, out, subscriptions, overwrite=overwrite)
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


def _side_by_side(
    engine: str,
    tables: "Sequence[SparkTable]",
    task: "Callable[..., Comparison]",
    choices: Sequence[MethodChoice],
    stages: "Stages",
) -> "Comparison | None":
    """Make a task for each row. Returns None where the files do not fit one task, or Python cannot read them."""
    from topicloom.spark.steps.one_pass import in_tasks

    works = [partial(task, choices=[], held=True)] if len(tables) > 1 else []
    works += [partial(task, choices=[choice], held=False) for choice in choices]
    sentence = f"running {len(choices)} methods side by side"
    parts = in_tasks(tables, works, engine=engine, stages=stages, sentence=sentence)
    if parts is None:
        return None
    return replace(parts[0], compared=tuple(one for part in parts for one in part.compared))


def _spread(
    tables: "Sequence[SparkTable]",
    expand: str | None,
    choices: Sequence[MethodChoice],
    seed: int,
    check: "Callable[[Size], None]",
    narrator: Narrator,
    stages: "Stages",
) -> "Comparison":
    """Compare by the distributed pipeline: encoded once, and a task for each row."""
    from topicloom.runs.comparison import Comparison, HeldLinks
    from topicloom.spark.steps.construct import compare_methods
    from topicloom.spark.steps.links import BROUGHT_HERE, fits_driver, fitted_to

    prepared = prepared_rows(tables[0], expand, narrator, stages)
    check(prepared.size)
    if len(tables) > 1 and not fits_driver(tables[1].rows, prepared.counts["nodes"]):
        raise NotEnoughMemoryError(
            f"--links and the nodes are more than {BROUGHT_HERE:,} together, which is too many for this process; "
            "topicloom measure takes them"
        )
    given = fitted_to(tables[1].rows, prepared.nodes) if len(tables) > 1 else None
    for sentence in () if given is None else given.findings.sentences:
        narrator.note(sentence)
    held = [] if given is None else [HeldLinks(given.links, prepared.counts["nodes"] + len(given.strangers))]
    with stages("compile", COMPILING):
        for choice in choices:
            warm(choice.method)
    sizes = {"n_nodes": prepared.counts["nodes"], "n_topics": prepared.counts["topics"]}
    with stages("compare", f"running {len(choices)} methods side by side"):
        compared = compare_methods(prepared.encoded, [*held, *choices], seed=seed, **sizes)
    findings = None if given is None else given.findings
    return Comparison(tuple(compared), prepared.counts, prepared.fingerprint, findings)


def _write(
    compared: "Sequence[Compared]", title: str, run: Mapping[str, Any], out: Path, source: str, *, overwrite: bool
) -> None:
    from pyarrow import parquet

    from topicloom.cli.commands.comparison_picture import draw_comparison
    from topicloom.runs.comparison import results_table

    with whole_directory(out, overwrite=overwrite, inputs=[source]) as staging:
        parquet.write_table(results_table(compared), staging / "results.parquet")
        write_json(staging / "results.json", {**run, "results": [one.to_dict() for one in compared]})
        draw_comparison(compared, title, staging)
        write_run(staging, run)


def _costs(one: "Compared") -> tuple[str, ...]:
    if one.refused is not None or one.links_that_may_not_be is None:
        return ("–",) * len(_ON_NETWORK)
    price = "–" if one.price is None else format_number(one.price)
    return (price, f"{one.wan_links:,}", f"{one.links_that_may_not_be:,}")


def _row(one: "Compared") -> tuple[str, ...]:
    name = f"{one.name}{' *' if one.pareto_best else ''}{' (reference)' if one.reference else ''}"
    if one.refused is not None:
        return (name, *["–"] * (len(_HEADER) - 1))
    return (name, *cells(one.to_dict()), "–" if one.seconds is None else format_number(one.seconds))


def _saving(held: "Compared", others: "Sequence[Compared]") -> str:
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
