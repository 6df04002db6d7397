"""``topicloom design``: from a table of subscriptions to a verified overlay."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.cli.commands.verify import broken_sentence
from topicloom.cli.console import format_number, narrated, print_table, seconds_since_start, tell
from topicloom.cli.engines import Engine, carrier_of, check_engine, narrated_stages
from topicloom.cli.forbidden_links import bars_of
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
from topicloom.errors import InvalidOptionError
from topicloom.files.write.atomic import whole_directory
from topicloom.files.write.destination import check_destination
from topicloom.methods.bounds import LowerBound, lower_bound
from topicloom.model import Network, Overlay
from topicloom.runs.request import DISTRIBUTED, SPARK, DesignRequest, NetworkRequest
from topicloom.runs.stages import Stages

if TYPE_CHECKING:
    from topicloom.runs.design_rows import Designed

CHOICES = {
    "stacked-gm": " (gm2 without the links that no topic needs)",
    "harary-pt": " (--method stacked-gm takes longer and needs far fewer links)",
}
_ONE_TASK = "--network is for designs of one task; with --engine memory it tries whatever its size"
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
    given, expand = [(subscriptions, table.wanted)], table.expand
    with _output(out, dry_run=dry_run, overwrite=overwrite, inputs=[subscriptions]) as folder:
        if barred:
            request = replace(request, bars=bars_of(forbid, inventory, pairs, table))
        if net.network is not None:
            request = replace(request, network=_network_request(net.network, net, table, engine))
        with narrated_stages() as stages:
            start = partial(_add_start, stages)
            chosen = request.spread_by(engine, work)
            with carrier_of(given, expand, chosen, spark_options, stages, started=start) as carrier:
                result = carrier.design(request, stages, folder=folder, work=_work_folder(out, work))
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


@contextmanager
def _output(out: Path, *, dry_run: bool, overwrite: bool, inputs: list[str]) -> Iterator[Path | None]:
    """Yield the folder to write to, or None if nothing is to be written.

    It is around all else: what an interrupted run leaves is removed when Spark no longer writes.
    """
    if dry_run:
        check_destination(out, overwrite=overwrite, inputs=inputs)
        yield None
        return
    with whole_directory(out, overwrite=overwrite, inputs=inputs) as staging:
        yield staging


def _add_start(stages: Stages) -> None:
    stages.add({"start": seconds_since_start()})


def _refuse_beside_network(**given: Any) -> None:
    """Refuse options that mean nothing to a design for a network."""
    wrong = [f"--{name.replace('_', '-')}" for name, value in given.items() if value is not None]
    if wrong:
        raise InvalidOptionError(f"{', '.join(wrong)} cannot stand beside --network, whose tables say what has to hold")


def _network_request(folder: Path, net: NetworkOptions, table: TableOptions, engine: str) -> NetworkRequest:
    if engine == DISTRIBUTED:
        raise InvalidOptionError(_ONE_TASK)
    there = Network.read(folder, separator=table.separator, encoding=table.encoding, trim=table.trim)
    return NetworkRequest(there, net.survive, net.keep or 0.0)


def _effort(refine: float | None) -> float | None:
    if refine is not None and not refine > 0:
        raise InvalidOptionError(f"--refine must be above 0, not {refine:g}")
    return refine


def _bound(out: Path) -> LowerBound:
    """Prove how few links the interest of an overlay directory needs."""
    with narrated("proving how few links are possible"):
        return lower_bound(Overlay.load(out).interest)


def _work_folder(out: Path, work: Path | None = None) -> Path:
    return out.parent / f".{out.name}.work" if work is None else work.absolute()


def _remove_work(out: Path, folder: Path | None) -> None:
    """Remove the folder for finished partitions beside the output."""
    if folder is None:
        shutil.rmtree(_work_folder(out), ignore_errors=True)


def _report(result: "Designed", stages: Stages, out: Path) -> None:
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
