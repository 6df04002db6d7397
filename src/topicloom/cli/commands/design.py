"""``topicloom design``: from a table of subscriptions to a verified overlay."""

import json
import shutil
import sys
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.cli.commands.verify import broken_sentence
from topicloom.cli.console import Narrator, format_number, narrated, print_table, seconds_since_start, tell
from topicloom.cli.engines import (
    Engine,
    check_engine,
    in_one_task_or,
    looked_at_table,
    prepared_rows,
    rows_in_memory,
)
from topicloom.cli.method_options import MethodOptions
from topicloom.cli.network_facts import network_json, print_network
from topicloom.cli.option_groups import (
    ExactDiameters,
    Json,
    LinkOptions,
    NetworkOptions,
    Overwrite,
    Seed,
    SparkOptions,
    Subscriptions,
    TableOptions,
)
from topicloom.cli.panels import OF_METHODS
from topicloom.cli.sources import is_small, part_of_overlay
from topicloom.errors import InvalidOptionError
from topicloom.files.write.atomic import whole_directory
from topicloom.files.write.destination import check_destination
from topicloom.model import Network, Overlay
from topicloom.runs.request import DISTRIBUTED, MEMORY, SPARK, DesignRequest, NetworkRequest
from topicloom.spark.session.memory import available_memory
from topicloom.spark.session.session import cores_of, is_embedded, spark_session
from topicloom.spark.session.warm import COMPILING, warm, warm_workers

if TYPE_CHECKING:
    from topicloom.methods.bounds import LowerBound
    from topicloom.runs.design_rows import Designed
    from topicloom.runs.stages import Stages
    from topicloom.spark.steps.prepare import Prepared
    from topicloom.spark.steps.read import SparkTable

CHOICES = {
    "stacked-gm": " (gm2 without the links that no topic needs)",
    "harary-pt": " (--method stacked-gm takes longer and needs far fewer links)",
}
_ONE_TASK = "--network is for designs of one task; with --engine memory it tries whatever its size"
_COUNTED_HERE = 2_000_000  # subscriptions
EXAMPLE = "Example: topicloom design subscriptions.parquet overlay --node-column client_id --method gm"


def command(
    subscriptions: Subscriptions,
    out: Annotated[Path, typer.Argument(help="Folder for the overlay directory.")],
    method: Annotated[
        str | None,
        typer.Option(
            help="Construction method, or auto (by size); topicloom methods lists them.  [default: gm, or by --k]"
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(help="Keep every topic connected while fewer than K of its nodes are down; judged at it."),
    ] = None,
    *,
    overwrite: Overwrite = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read and count, say what would be done, and stop.")
    ] = False,
    engine: Engine = SPARK,
    forbid: Annotated[
        Path | None,
        typer.Option(help="Table with src and dst: pairs that may not be linked; most greedy methods can."),
    ] = None,
    inventory: Annotated[
        Path | None,
        typer.Option(help="Brokers with dials and accepts: pairs of which neither may dial are not linked."),
    ] = None,
    net: NetworkOptions,
    refine: Annotated[
        float | None,
        typer.Option(help="Refine what the method designed; 1 takes about as long as gm.", show_default=False),
    ] = None,
    bound: Annotated[bool, typer.Option("--bound", help="Prove how near to the fewest links it is.")] = False,
    exact_diameters: ExactDiameters = False,
    seed: Seed = 0,
    as_json: Json = False,
    options: MethodOptions,
    work: Annotated[
        Path | None,
        typer.Option(
            help="dc, rounds-gm: folder for finished work; after a crash repeat the command to resume. dc is spread "
            "over tasks then.  [default: hidden, beside OUT, where the work is spread]",
            show_default=False,
            rich_help_panel=OF_METHODS,
        ),
    ] = None,
    table: TableOptions,
    pairs: LinkOptions,
    spark_options: SparkOptions,
) -> int:
    """Design an overlay for a table of subscriptions, verify and measure it, and write it as Parquet."""
    check_engine(engine, spark_options)
    barred = forbid is not None or inventory is not None
    if net.network is None and (net.survive is not None or net.keep is not None):
        raise InvalidOptionError("--survive and --keep are for a design with --network")
    if net.network is not None:
        _refuse_beside_network(
            method=method, k=k, forbid=forbid, inventory=inventory, work=work, refine=refine, bound=bound or None,
            **options.given,
        )  # fmt: skip
    request = DesignRequest.of(method, options.given, seed=seed, k=k, barred=barred)
    request = replace(request, refine=_effort(refine), exact_diameters=exact_diameters)
    if method is None and k is not None:
        tell(f"k = {k}: designing with {request.method}{CHOICES.get(request.method, '')}")
    out = out.absolute()
    check_destination(out, overwrite=overwrite, inputs=[subscriptions])
    if barred:
        from topicloom.cli.forbidden_links import bars_of

        request = replace(request, bars=bars_of(forbid, inventory, pairs, table))
    if net.network is not None:
        if engine == DISTRIBUTED:
            raise InvalidOptionError(_ONE_TASK)
        there = Network.read(net.network, separator=table.separator, encoding=table.encoding, trim=table.trim)
        request = replace(request, network=NetworkRequest(there, net.survive, net.keep or 0.0))
    # The output is outermost: what an interrupted run leaves is removed when Spark no longer writes.
    output = nullcontext(out) if dry_run else whole_directory(out, overwrite=overwrite, inputs=[subscriptions])
    with output as staging, narrated("starting") as narrator:
        from topicloom.runs.design_rows import design_rows, dry_run_rows, write_designed
        from topicloom.runs.stages import Stages

        stages = Stages(narrator, narrator.note)
        task = partial(dry_run_rows if dry_run else design_rows, request=request, expand=table.expand)
        where = spark_options.master, spark_options.remote
        if engine == MEMORY:
            stages.add({"start": seconds_since_start()})
            with stages("read", "reading"):
                rows = rows_in_memory(narrator, subscriptions, table.wanted)
            result = task([rows], stages, available=available_memory())
        else:
            small = is_small(part_of_overlay(subscriptions, "subscriptions"))
            with spark_session(**vars(spark_options), small=small) as spark:
                from topicloom.spark.session.workers import check_workers

                stages.add({"start": seconds_since_start()})
                source = looked_at_table(spark, narrator, subscriptions, table.wanted, spark_options.remote)
                check_workers(spark)
                available = available_memory() if is_embedded(*where) else sys.maxsize
                spread = partial(
                    _spread, source, table.expand, request, narrator, stages, available=available,
                    cores=cores_of(*where), work=_work_folder(out, work), staging=None if dry_run else staging,
                )  # fmt: skip
                result = in_one_task_or(
                    spread,
                    request.spread_by(engine, work),
                    [source],
                    partial(task, available=available),
                    stages=stages,
                    sentence="designing for the network" if request.network else f"designing with {request.method}",
                )
        if result is not None and result.files:
            network = None if request.network is None else request.network.network
            write_designed(result, staging, forbidden=request.forbidden, network=network, stages=stages)
    if result is None:
        return 0
    _remove_work(out, work)
    made = None if request.network is None else Overlay.load(out)
    proved = _bound(out) if bound and result.verdict.ok else None
    if as_json:
        run = {**result.run, "seconds": stages.seconds}
        facts = {"out": str(out), "metrics": result.metrics.to_dict(), "run": run, "beside": dict(result.beside)}
        if made is not None:
            facts |= network_json(made)
        if proved is not None:
            facts["bound"] = proved.facts(result.metrics.links)
        print(json.dumps(facts, allow_nan=False))
    else:
        _report(result, stages, out)
        if made is not None:
            print_network(made)
        if exact := result.run["report"].get("exact"):
            print(f"{result.metrics.links:,} links: {exact['sentence']}")
        if proved is not None:
            print(f"{result.metrics.links:,} links: {proved.sentence(result.metrics.links)}")
    for broken in result.verdict.broken[:5]:
        tell(broken_sentence(broken, result.verdict.k))
    for sentence in result.faults:
        tell(sentence)
    if made is not None and not result.run["verified"]["ok"]:
        return 1
    return 0 if (result.verdict.ok and not result.faults) or request.spec.reference else 1


def _refuse_beside_network(**given: Any) -> None:
    """Refuse options that mean nothing to a design for a network."""
    wrong = [f"--{name.replace('_', '-')}" for name, value in given.items() if value is not None]
    if wrong:
        raise InvalidOptionError(f"{', '.join(wrong)} cannot stand beside --network, whose tables say what has to hold")


def _effort(refine: float | None) -> float | None:
    if refine is not None and not refine > 0:
        raise InvalidOptionError(f"--refine must be above 0, not {refine:g}")
    return refine


def _bound(out: Path) -> "LowerBound":
    """Prove how few links the interest of an overlay directory needs."""
    from topicloom.methods.bounds import lower_bound

    with narrated("proving how few links are possible"):
        return lower_bound(Overlay.load(out).interest)


def _spread(
    source: "SparkTable",
    expand: str | None,
    request: DesignRequest,
    narrator: Narrator,
    stages: "Stages",
    *,
    available: int,
    cores: int,
    work: Path,
    staging: Path | None,
) -> "Designed | None":
    """Design by the distributed pipeline, and write. Without a folder to write to, only look at the rows."""
    if request.network is not None:
        raise InvalidOptionError(_ONE_TASK)
    if request.refine is not None:
        raise InvalidOptionError(
            "--refine is for designs of one task; design without it, then: topicloom refine OUT BETTER"
        )
    from topicloom.runs.design_rows import Designed, plan_sentence
    from topicloom.runs.memory_limits import check_memory
    from topicloom.spark.rounds.design_in_rounds import SUBSCRIPTIONS_A_TASK
    from topicloom.spark.steps.design import design_prepared
    from topicloom.spark.steps.write import write_tables

    prepared = prepared_rows(source, expand, narrator, stages)
    request = request.at(prepared.size, narrator.note)
    mapped = request.spec.in_rounds and prepared.size.subscriptions > SUBSCRIPTIONS_A_TASK
    needed = check_memory(
        prepared.size, request.method, available, workers=cores, options=request.options, mapped=mapped
    )
    narrator.note(plan_sentence(prepared.counts, request, needed))
    numbers, barred = _barred(prepared, request, narrator)
    if staging is None:
        return None
    with stages("compile", COMPILING):
        warm(request.method)
        if available < sys.maxsize:
            warm_workers(source.rows.sparkSession, request.method)
    result = design_prepared(prepared, request, work=work, forbid=barred, stages=stages)
    faults: list[str] = []
    if barred is not None:
        from topicloom.cli.forbidden_links import forbidden_faults

        faults = forbidden_faults(result, numbers, barred, request.forbidden)
    write_tables(result, staging, forbidden=request.forbidden, stages=stages)
    if result.work is not None:
        shutil.rmtree(result.work, ignore_errors=True)
    return Designed({}, result.metrics, result.verdict, result.run, tuple(faults), _beside(prepared))


def _beside(prepared: "Prepared") -> "dict[str, dict[str, Any]]":
    """What the usual ways would take, of an interest that the driver can hold."""
    if prepared.counts["subscriptions"] > _COUNTED_HERE:
        return {}
    from topicloom.methods.references.beside import usual_ways
    from topicloom.model import Interest

    ids = [column.to_numpy() for column in prepared.encoded.toArrow().columns]
    return usual_ways(Interest.from_ids(*ids, n_nodes=prepared.counts["nodes"], n_topics=prepared.counts["topics"]))


def _barred(prepared: "Prepared", request: DesignRequest, narrator: Narrator) -> "tuple[dict[str, int], Any]":
    """Find the id of every node by label, and the forbidden pairs. Collects nothing where none are given."""
    if request.bars is None:
        return {}, None
    from topicloom.spark.session.columns import NODE, NODE_ID

    table = prepared.nodes.select(NODE, NODE_ID).toArrow()
    numbers = dict(zip(table[NODE].to_pylist(), table[NODE_ID].to_pylist()))
    barred, note = request.bars.ids(numbers)
    if note is not None:
        narrator.note(note)
    return numbers, barred


def _work_folder(out: Path, work: Path | None = None) -> Path:
    return out.parent / f".{out.name}.work" if work is None else work.absolute()


def _remove_work(out: Path, folder: Path | None) -> None:
    """Remove the folder for finished partitions beside the output."""
    if folder is None:
        shutil.rmtree(_work_folder(out), ignore_errors=True)


def _report(result: "Designed", stages: "Stages", out: Path) -> None:
    metrics, verdict, beside = result.metrics, result.verdict, result.beside
    at_least = "≥ " if metrics.sampled_diameters else ""
    mean, most = metrics.mean_topic_diameter, metrics.max_topic_diameter
    if metrics.relayed_topics:  # which are as wide as the way over their relays
        mean, most = metrics.mean_diameter_with_relays, metrics.max_diameter_with_relays
    rows = [
        ("links", format_number(metrics.links)),
        ("average degree", format_number(metrics.average_degree)),
        ("maximum degree", format_number(metrics.max_degree)),
        ("mean topic diameter", at_least + format_number(mean)),
        ("maximum topic diameter", at_least + format_number(most)),
        (
            "links / a tree per topic",
            format_number(metrics.links_per_topic_tree, 3) if metrics.links_per_topic_tree is not None else "–",
        ),
        (f"topics {_connected(verdict.k)}", f"{verdict.topics - verdict.broken_topics:,} of {verdict.topics:,}"),
        ("topics of a single subscriber", format_number(result.run["counts"]["topics_of_one"])),
        ("design", f"{stages.seconds['design']:,.1f} s"),
        ("all stages", f"{stages.total:,.1f} s"),
    ]
    keys, ways = ("links", "average_degree", "max_degree"), {"ring-pt": "ring per topic", "full-mesh": "full mesh"}
    others = [[format_number(beside[way][key]) for key in keys] for way in ways if way in beside]
    filled = [
        (*row, *(other[place] if place < len(keys) else "" for other in others)) for place, row in enumerate(rows)
    ]
    print_table(("overlay", "", *(ways[way] for way in ways if way in beside)), filled)
    sheet = "; its links.csv opens in a spreadsheet" if (out / "links.csv").exists() else ""
    kept_to = result.run["verified"]["ok"]
    wrong = "NOT as the network asks" if verdict.ok else f"NOT topic-{_connected(verdict.k)}"
    tell(f"{'verified' if kept_to else wrong}; wrote {out}{sheet}")


def _connected(k: int) -> str:
    return "connected" if k == 1 else f"{k}-connected"
