"""``topicloom design``: from a table of subscriptions to a verified overlay."""

import json
import shutil
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.cli.commands.verify import broken_sentence
from topicloom.cli.console import figure, narrated, print_table, tell
from topicloom.cli.forbidding import forbidden_faults, forbidden_ids
from topicloom.cli.options import Json, Overwrite, Seed, SparkOptions, Subscriptions, TableOptions
from topicloom.cli.tables import opened_table, tell_of_rows
from topicloom.methods.registry import check_bars, check_options, spec_of
from topicloom.methods.selection import method_for, options_for
from topicloom.model.arrays import Int32Array
from topicloom.model.checks import checked_seed
from topicloom.spark.memory import available_memory
from topicloom.spark.session import cores_of, is_embedded, spark_session
from topicloom.spark.warm import COMPILING, warm, warm_workers
from topicloom.storage.atomic import whole_directory
from topicloom.storage.destination import check_destination

if TYPE_CHECKING:
    from topicloom.model import Metrics, Verdict
    from topicloom.pipeline.prepare import Prepared
    from topicloom.spark.stages import Stages

CHOICES = {
    "stacked-gm": " (gm2 without the links that no topic needs)",
    "harary-pt": " (--method stacked-gm takes longer and needs far fewer links)",
}
EXAMPLE = "Example: topicloom design subscriptions.parquet overlay --node-column client_id --method gm"


def command(
    subscriptions: Subscriptions,
    out: Annotated[Path, typer.Argument(help="Folder for the overlay directory.")],
    method: Annotated[
        str | None,
        typer.Option(help="Construction method; topicloom methods lists them.  [default: gm, or by --k]"),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(help="Keep every topic connected while fewer than K of its nodes are down; judged at it."),
    ] = None,
    sequence: Annotated[
        str | None,
        typer.Option(help="harary-pt: arbitrary (node ids) or similarity (fewer links).  [default: arbitrary]"),
    ] = None,
    rho: Annotated[
        float | None,
        typer.Option(
            help="low-oda, also inside dc: contribution that may be given up for a lower maximum degree.  [default: 3]"
        ),
    ] = None,
    partitions: Annotated[
        str | None, typer.Option(help="dc: number of partitions, or auto.  [default: 10]", show_default=False)
    ] = None,
    division: Annotated[
        str | None,
        typer.Option(
            help="dc: random, or similar (like interests together and a core: fewer links).  [default: random]"
        ),
    ] = None,
    inner: Annotated[
        str | None, typer.Option(help="dc: method for the partitions: gm, low-oda, weighted-gm or gm2.  [default: gm]")
    ] = None,
    core: Annotated[
        int | None,
        typer.Option(help="dc: nodes that every partition sees.  [default: 0, with similar a partition's worth]"),
    ] = None,
    aim: Annotated[
        str | None,
        typer.Option(
            help="dc: what --partitions auto makes small: time, parallel-time or candidates.  [default: time]"
        ),
    ] = None,
    merge_limit: Annotated[
        int | None, typer.Option(help="dc: star nodes in one merge.  [default: 20000]", show_default=False)
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option(
            help="dc: folder for finished partitions, from which the same command goes on after a crash.  "
            "[default: hidden, beside OUT]",
            show_default=False,
        ),
    ] = None,
    forbid: Annotated[
        Path | None,
        typer.Option(help="CSV with src and dst: pairs that may not be linked (gm, minmax-oda, low-oda, gm2)."),
    ] = None,
    inventory: Annotated[
        Path | None,
        typer.Option(help="Brokers with dials and accepts: pairs of which neither may dial are not linked."),
    ] = None,
    seed: Seed = 0,
    *,
    table: TableOptions,
    overwrite: Overwrite = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read and count, say what would be done, and stop.")
    ] = False,
    as_json: Json = False,
    spark_options: SparkOptions,
) -> int:
    """Design an overlay for a table of subscriptions, verify and measure it, and write it as Parquet."""
    given = {
        "rho": rho,
        "partitions": _whole_or_text(partitions),
        "division": division,
        "inner": inner,
        "core": core,
        "aim": aim,
        "merge_limit": merge_limit,
        "sequence": sequence,
    }
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if method is None:
        method = "gm" if k is None else method_for(k)
        if k is not None:
            tell(f"k = {k}: designing with {method}{CHOICES.get(method, '')}")
    check_options(spec_of(method), options)
    options |= options_for(spec_of(method), k, options)
    checked_seed(seed)
    if forbid is not None or inventory is not None:
        check_bars(spec_of(method))
    out = out.absolute()
    check_destination(out, overwrite=overwrite, inputs=[subscriptions])
    # The output is outermost: what an interrupted run leaves is removed when Spark no longer writes.
    output = nullcontext(out) if dry_run else whole_directory(out, overwrite=overwrite, inputs=[subscriptions])
    with (
        output as staging,
        narrated("starting Spark") as narrator,
        spark_session(**vars(spark_options)) as spark,
    ):
        from topicloom.pipeline.design import check_memory, design_prepared
        from topicloom.pipeline.prepare import prepare
        from topicloom.pipeline.write import write_tables
        from topicloom.spark.stages import Stages
        from topicloom.spark.workers import check_workers

        stages = Stages(narrator, narrator.note)
        rows = opened_table(spark, narrator, subscriptions, table, spark_options.remote)
        check_workers(spark)
        prepared = prepare(rows, stages=stages)
        tell_of_rows(narrator, prepared)
        where = (spark_options.master, spark_options.remote)
        embedded = is_embedded(*where)
        available = available_memory() if embedded else sys.maxsize
        needed = check_memory(prepared, method, available, workers=cores_of(*where), options=options)
        narrator.note(_plan(prepared, method, options, needed))
        numbers, barred = _barred(prepared, forbid, inventory)
        if dry_run:
            return 0
        with stages("compile", COMPILING):
            warm(method)
            if embedded:
                warm_workers(spark, method)
        result = design_prepared(
            prepared,
            method=method,
            seed=seed,
            work=_work_folder(out, work),
            forbid=barred,
            stages=stages,
            **{**options, "k": k},
        )
        faults = [] if barred is None else forbidden_faults(result, numbers, barred)
        write_tables(result, staging, stages=stages)
    _remove_work(out, result.work)
    if as_json:
        print(
            json.dumps(
                {"out": str(out), "metrics": result.metrics.to_dict(), "run": dict(result.run)},
                allow_nan=False,
            )
        )
    else:
        _report(result.metrics, result.verdict, stages, out)
    for broken in result.verdict.broken[:5]:
        tell(broken_sentence(broken, result.verdict.k))
    for sentence in faults:
        tell(sentence)
    return 0 if (result.verdict.ok and not faults) or spec_of(method).reference else 1


def _barred(
    prepared: "Prepared", forbid: Path | None, inventory: Path | None
) -> tuple[dict[str, int], Int32Array | None]:
    """Id of every node by label, and the forbidden pairs; nothing is collected when none are given."""
    if forbid is None and inventory is None:
        return {}, None
    from topicloom.spark.columns import NODE, NODE_ID

    table = prepared.nodes.select(NODE, NODE_ID).toArrow()
    numbers = dict(zip(table[NODE].to_pylist(), table[NODE_ID].to_pylist()))
    return numbers, forbidden_ids(numbers, forbid, inventory)


def _work_folder(out: Path, work: Path | None = None) -> Path:
    return out.parent / f".{out.name}.work" if work is None else work.absolute()


def _remove_work(out: Path, folder: Path | None) -> None:
    """Remove what the run kept for the case that it dies; and the folder beside the output, if it was used."""
    for used in (folder, _work_folder(out)):
        if used is not None:
            shutil.rmtree(used, ignore_errors=True)


def _whole_or_text(value: str | None) -> int | str | None:
    return int(value) if value is not None and value.isdecimal() else value


def _plan(prepared: "Prepared", method: str, options: dict[str, Any], needed: int) -> str:
    counts = prepared.counts
    given = "".join(f", {name} = {value}" for name, value in options.items())
    return (
        f"{counts['nodes']:,} nodes, {counts['topics']:,} topics, {counts['subscriptions']:,} subscriptions"
        f"; {method}{given}, about {needed / 2**20:,.0f} MiB in one Python worker"
    )


def _report(metrics: "Metrics", verdict: "Verdict", stages: "Stages", out: Path) -> None:
    at_least = "≥ " if metrics.sampled_diameters else ""
    rows = [
        ("links", figure(metrics.links)),
        ("average degree", figure(metrics.average_degree)),
        ("maximum degree", figure(metrics.max_degree)),
        ("mean topic diameter", at_least + figure(metrics.mean_topic_diameter)),
        ("maximum topic diameter", at_least + figure(metrics.max_topic_diameter)),
        (
            "links / a tree per topic",
            figure(metrics.links_per_topic_tree, 3) if metrics.links_per_topic_tree is not None else "–",
        ),
        (f"topics {_connected(verdict.k)}", f"{verdict.topics - verdict.broken_topics:,} of {verdict.topics:,}"),
        ("design", f"{stages.seconds['design']:,.1f} s"),
        ("all stages", f"{stages.total:,.1f} s"),
    ]
    print_table(("overlay", ""), rows)
    tell(f"{'verified' if verdict.ok else f'NOT topic-{_connected(verdict.k)}'}; wrote {out}")


def _connected(k: int) -> str:
    return "connected" if k == 1 else f"{k}-connected"
