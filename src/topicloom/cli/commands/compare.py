"""``topicloom compare``: several methods on the same subscriptions, in one table and one picture."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.cli.console import figure, narrated, print_table, tell
from topicloom.cli.figures import COLUMNS, cells
from topicloom.cli.options import Json, LinkOptions, Overwrite, Seed, SparkOptions, Subscriptions, TableOptions
from topicloom.cli.sources import is_small, part_of_overlay
from topicloom.cli.tables import held_links, opened_table, tell_of_rows
from topicloom.errors import InvalidOptionError, NotEnoughMemoryError
from topicloom.methods.selection import MethodChoice
from topicloom.model.checks import checked_seed
from topicloom.spark.memory import available_memory
from topicloom.spark.session import cores_of, is_embedded, spark_session
from topicloom.spark.warm import COMPILING, warm
from topicloom.storage.atomic import whole_directory
from topicloom.storage.destination import check_destination
from topicloom.storage.run_file import run_header, write_json, write_run

if TYPE_CHECKING:
    from topicloom.methods.registry import Size
    from topicloom.pipeline.compare import Compared

EXAMPLE = "Example: topicloom compare subscriptions.csv.gz comparison --links today.csv --methods gm,low-oda:rho=3,hub"
_HEADER = ("method", *COLUMNS.values(), "seconds")


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
    seed: Seed = 0,
    *,
    table: TableOptions,
    link_table: LinkOptions,
    overwrite: Overwrite = False,
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
    with (
        narrated("starting Spark") as narrator,
        spark_session(**vars(spark_options), small=is_small(part_of_overlay(subscriptions, "subscriptions"))) as spark,
    ):
        from topicloom.pipeline.compare import HeldLinks, compare_methods
        from topicloom.pipeline.prepare import prepare
        from topicloom.spark.stages import Stages
        from topicloom.spark.workers import check_workers

        stages = Stages(narrator, narrator.note)
        rows = opened_table(spark, narrator, subscriptions, table, spark_options.remote)
        check_workers(spark)
        prepared = prepare(rows, stages=stages)
        tell_of_rows(narrator, prepared)
        if is_embedded(spark_options.master, spark_options.remote):
            _check_memory(prepared.size, choices, cores_of(spark_options.master, spark_options.remote))
        given = None if links is None else held_links(spark, links, link_table, prepared, spark_options.remote)
        for sentence in () if given is None else given.findings.sentences:
            narrator.note(sentence)
        held = [] if given is None else [HeldLinks(given.links, prepared.counts["nodes"] + len(given.strangers))]
        with stages("compile", COMPILING):
            for choice in choices:
                warm(choice.method)
        with stages("compare", f"running {len(choices)} methods side by side"):
            compared = compare_methods(
                prepared.encoded,
                [*held, *choices],
                seed=seed,
                n_nodes=prepared.counts["nodes"],
                n_topics=prepared.counts["topics"],
            )
    title = ", ".join(f"{prepared.counts[what]:,} {what}" for what in ("nodes", "topics", "subscriptions"))
    run = {
        **run_header(),
        "methods": [choice.text for choice in choices],
        **({} if given is None else {"link_findings": given.findings.to_dict()}),
        "seed": seed,
        "input_fingerprint": prepared.fingerprint,
        "counts": prepared.counts,
        "seconds": stages.seconds,
    }
    _write(compared, title, run, out, subscriptions, overwrite=overwrite)
    if as_json:
        about = {} if given is None else {"link_findings": given.findings.to_dict()}
        results = [one.to_dict() for one in compared]
        print(json.dumps({"out": str(out), "results": results, **about}, allow_nan=False))
    else:
        print_table(_HEADER, [_row(one) for one in compared], title=title)
        tell(
            "* Pareto-best: all topics are connected, and no other such method is as good by links, maximum degree, "
            "hops, unwanted relays and survival, and better by one"
        )
        if held:
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


def _check_memory(size: "Size", choices: Sequence[MethodChoice], cores: int) -> None:
    """Refuse what would not fit while as many methods run at once as Spark has cores."""
    from topicloom.engine.memory import check_memory

    available = available_memory()
    needed = sorted(
        (check_memory(size, choice.method, available, options=choice.options) for choice in choices), reverse=True
    )
    at_once = sum(needed[:cores])
    if at_once > available:
        raise NotEnoughMemoryError(
            f"these methods need about {at_once / 2**30:.1f} GiB side by side, and {available / 2**30:.1f} GiB are at "
            "hand; run them one by one with --master 'local[1]'"
        )


def _write(
    compared: "Sequence[Compared]", title: str, run: Mapping[str, Any], out: Path, source: str, *, overwrite: bool
) -> None:
    from pyarrow import parquet

    from topicloom.cli.commands.comparison_picture import draw_comparison
    from topicloom.pipeline.compare import results_table

    with whole_directory(out, overwrite=overwrite, inputs=[source]) as staging:
        parquet.write_table(results_table(compared), staging / "results.parquet")
        write_json(staging / "results.json", {**run, "results": [one.to_dict() for one in compared]})
        draw_comparison(compared, title, staging)
        write_run(staging, run)


def _row(one: "Compared") -> tuple[str, ...]:
    name = f"{one.name}{' *' if one.pareto_best else ''}{' (reference)' if one.reference else ''}"
    if one.refused is not None:
        return (name, *["–"] * (len(_HEADER) - 1))
    return (name, *cells(one.to_dict()), "–" if one.seconds is None else figure(one.seconds))


def _saving(held: "Compared", others: "Sequence[Compared]") -> str:
    """What the method with the fewest links saves against the links that there are."""
    usable = [one for one in others if one.refused is None and not one.broken_topics and one.links is not None]
    broken = f", which leave {held.broken_topics:,} topics in pieces" if held.broken_topics else ""
    have = f"you have {held.links:,} links{broken}"
    if not usable or held.links is None:
        return f"{have}; none of these methods connects every topic"
    best = min(usable, key=lambda one: one.links or 0)
    change = (best.links or 0) - held.links
    share = f" ({abs(change) / held.links:.0%} {'fewer' if change < 0 else 'more'})" if held.links and change else ""
    return f"{have}; {best.name} connects every topic with {best.links:,}{share}"
