"""``topicloom routes``: one tree per topic, so that brokers deliver every message exactly once."""

import json
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.parquet as pq
import typer

from topicloom.brokers.inventory import Inventory
from topicloom.brokers.kinds import KINDS
from topicloom.cli.console import format_number, narrated, print_table, tell
from topicloom.cli.option_groups import Json, Overwrite, RateOptions, SparkOptions, TextOptions
from topicloom.errors import InvalidOptionError
from topicloom.files.read.read_options import ReadOptions
from topicloom.files.read.table import every_row
from topicloom.files.write.atomic import check_destination
from topicloom.files.write.overlay_directory import NETWORK, RELAYS
from topicloom.model import Overlay
from topicloom.routing import Plan, Routes, routes
from topicloom.routing.ownership import check_kinds
from topicloom.runs.memory import available_memory
from topicloom.runs.request import MEMORY, SPARK
from topicloom.runs.stages import Stages
from topicloom.spark.session.session import spark_session

EXAMPLE = "Example: topicloom routes overlay plan --inventory brokers.csv --for mosquitto"
_IN_FORESTS = [name for name, kind in KINDS.items() if kind.target.needs_forests]
# Measured on twitter_follow: 0.9 GB for 1.77 million subscriptions, the judge and the writing included.
_BYTES_A_SUBSCRIPTION, _BYTES_A_LINK = 500, 100


def command(
    overlay: Annotated[Path, typer.Argument(help="Overlay directory, as topicloom design writes it.")],
    plan: Annotated[Path, typer.Argument(help="Folder for the plan.")],
    inventory: Annotated[
        Path | None,
        typer.Option(help="CSV, JSON or YAML: node, host, port; dials and accepts say who may.", show_default=False),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--for", help=f"Kind of broker: {', '.join(KINDS)}. {' and '.join(_IN_FORESTS)} get few forests."),
    ] = None,
    keep: Annotated[
        Path | None, typer.Option(help="Older plan, whose trees stay where they can.", show_default=False)
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Choose all trees again, also those that could stay.")] = False,
    standby: Annotated[int, typer.Option(help="1: add rows that are ready and shut, for the failure of a node.")] = 0,
    rates: Annotated[
        Path | None, typer.Option(help="Table with topic and rate (messages per second).", show_default=False)
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(help="memory or spark.  [default: memory, where the overlay fits]", show_default=False),
    ] = None,
    *,
    rate_table: RateOptions,
    text: TextOptions,
    spark_options: SparkOptions,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> int:
    """Choose one tree per topic over an overlay's links, and who dials whom. Needs no Spark unless it is too large.

    Links alone are not enough: where a topic's links form a cycle, brokers would send messages round for ever. A plan
    that exists is replaced only with --overwrite; its trees are then kept where they can be, unless --fresh is given.
    An overlay that takes more memory than is at hand (500 bytes a subscription) goes to Spark, which chooses all trees
    again and knows no inventory, no standby rows and no forests.
    """
    plan = plan.absolute()
    check_destination(plan, overwrite=overwrite)
    if target is not None and target not in KINDS:
        raise InvalidOptionError(f"--for {target!r} is not known; {', '.join(KINDS)} are accepted")
    if fresh and keep is not None:
        raise InvalidOptionError("--keep and --fresh exclude each other: keep the trees of a plan, or choose all again")
    check_choice(engine)
    weights = None if rates is None else read_rates(rates, rate_table.wanted_as(text))
    reason = "" if engine == SPARK else _too_large(overlay) if engine is None else None
    if reason is not None:
        if inventory or keep or standby or target in _IN_FORESTS or (plan.exists() and not fresh):
            raise InvalidOptionError(
                "on Spark all trees are chosen again (--fresh), and --inventory, --keep, --standby and --for with "
                f"{' or '.join(_IN_FORESTS)} cannot be taken{reason}"
            )
        if any((overlay / part).exists() for part in (RELAYS, NETWORK)):
            raise InvalidOptionError(f"on Spark routes know no relays and no network, and {overlay} has them")
        return _on_spark(overlay, plan, target, weights, spark_options, overwrite=overwrite, as_json=as_json)
    older = keep if keep is not None else plan if plan.exists() and not fresh else None
    with narrated("reading the overlay") as narrator:
        old = None if older is None else Plan.load(older)
        given = Overlay.load(overlay)
        brokers, fingerprint = load_inventory(inventory, text)
        if brokers is not None:
            check_kinds(map(given.interest.node_label, range(given.interest.n_nodes)), brokers.brokers, target)
        narrator(f"choosing the trees of {given.interest.n_topics:,} topics")
        made = routes(
            given,
            keep=old,
            standby=standby,
            rates=weights,
            forests=target in _IN_FORESTS,
            inventory=brokers,
        )
        narrator("asking the judge")
        verdict = made.verify()
        narrator("writing")
        result = Plan(made, target, fingerprint)
        result.save(plan, overwrite=overwrite)
    facts = _facts(made, old)
    if as_json:
        print(json.dumps({"plan": str(plan), "ok": verdict.ok, "generation": result.generation, **facts}))
    else:
        print_table(("routes", ""), [(name.replace("_", " "), format_number(value)) for name, value in facts.items()])
    for broken in verdict.broken[:5]:
        tell(f"{broken.kind}: topic {broken.topic!r}, {', '.join(broken.nodes[:5])}")
    tell(f"{'verified' if verdict.ok else 'BROKEN'}; wrote {plan}")
    return 0 if verdict.ok else 1


def check_choice(engine: str | None) -> None:
    """Refuse an engine that there is not."""
    if engine not in (None, MEMORY, SPARK):
        raise InvalidOptionError(f"there is no engine {engine!r}; {MEMORY} and {SPARK} are accepted")


def _too_large(overlay: Path) -> str | None:
    """Say why the routes of an overlay do not fit in this process. Returns None where they do, or nothing is known."""
    counts = [_row_count(overlay / part) for part in ("subscriptions", "links")]
    needed, available = _BYTES_A_SUBSCRIPTION * counts[0] + _BYTES_A_LINK * counts[1], available_memory()
    if needed <= available:
        return None
    return f"; in memory the routes take about {needed / 2**30:.1f} GiB, and {available / 2**30:.1f} GiB are at hand"


def _row_count(folder: Path) -> int:
    try:
        return sum(pq.read_metadata(path).num_rows for path in folder.glob("*.parquet"))
    except (OSError, pa.ArrowException):
        return 0  # the reader of the rows says what is wrong


def _on_spark(
    overlay: Path, plan: Path, target: str | None, rates: dict[str, float] | None, options: SparkOptions,
    *, overwrite: bool, as_json: bool,
) -> int:  # fmt: skip
    with narrated("starting Spark") as narrator, spark_session(**vars(options)) as spark:
        from topicloom.spark.steps.spark_routes import write_plan

        wanted, links = (spark.read.parquet(str(overlay.absolute() / part)) for part in ("subscriptions", "links"))
        stages = Stages(narrator)
        facts = write_plan(wanted, links, plan, rates=rates, target=target, overwrite=overwrite, stages=stages)
    ok = not facts["broken"]
    if as_json:
        print(json.dumps({"plan": str(plan), "ok": ok, **facts}))
    else:
        print_table(("routes", ""), [(name, str(value)) for name, value in facts.items()])
    tell(f"{'verified' if ok else 'BROKEN'}; wrote {plan}")
    return 0 if ok else 1


def load_inventory(path: Path | None, text: TextOptions) -> tuple[Any, str | None]:
    """Read the inventory in a file, and its fingerprint. Without a file there is neither."""
    if path is None:
        return None, None
    inventory = Inventory.load(path, separator=text.separator, encoding=text.encoding, trim=text.trim)
    return inventory, inventory.fingerprint


def _facts(made: Routes, old: Plan | None) -> dict[str, Any]:
    """What is printed: counts, diameters, and how much differs from the plan that was kept."""
    shared = made.diameters[made.interest.topic_indptr[1:] - made.interest.topic_indptr[:-1] > 1]
    facts: dict[str, Any] = {
        "topics": made.interest.n_topics,
        "links": len(made.links),
        "links_used": len(set(zip(made.src.tolist(), made.dst.tolist()))),
        "rows": made.n_rows,
        "standby_rows": len(made.topic) - made.n_rows,
        "forests": made.n_forests,
        "mean_tree_diameter": float(shared.mean()) if len(shared) else 0.0,
        "max_tree_diameter": int(shared.max(initial=0)),
        "trees_not_proven_shortest": int((~made.exact).sum()),
    }
    if old is not None:
        names = [_rows(routes) for routes in (old.routes, made)]
        facts |= {"rows_off": len(names[0] - names[1]), "rows_on": len(names[1] - names[0])}
    return facts


def _rows(routes: Routes) -> set[tuple[str, str, str]]:
    table = routes.table().select(["topic", "src", "dst", "active"]).to_pylist()
    return {(row["topic"], row["src"], row["dst"]) for row in table if row["active"]}


def read_rates(path: Path, wanted: ReadOptions) -> dict[str, float]:
    """Rates by topic from a table with the columns topic and rate.

    Raises
    ------
    InputNotFoundError, MissingColumnError, UnreadableInputError, InvalidOptionError
        The table cannot be read, or holds a rate that is no number, or two rates of a topic.
    """
    rates: dict[str, float] = {}
    table = every_row(str(path), wanted).table
    for topic, said in zip(table["node"].to_pylist(), table["topic"].to_pylist()):
        try:
            rate = float(said)
        except ValueError:
            raise InvalidOptionError(f"{path}: rate {said!r} of topic {topic!r} is not a number") from None
        if rates.setdefault(topic, rate) != rate:
            raise InvalidOptionError(f"{path}: topic {topic!r} has two rates, {rates[topic]:g} and {said}")
    return rates
