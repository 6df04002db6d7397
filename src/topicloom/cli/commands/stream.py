"""``topicloom stream``: an overlay that follows a stream of events."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.churn import holds_state, read_state
from topicloom.churn.state_file import names_of
from topicloom.cli.commands.churn import UpkeepOptions, kept_k
from topicloom.cli.console import narrated, tell
from topicloom.cli.option_groups import Conf, Master, Verbose
from topicloom.errors import InputNotFoundError, InvalidOptionError, OutputExistsError
from topicloom.judge import verify
from topicloom.model import Overlay
from topicloom.routing import Plan
from topicloom.spark.session.session import spark_session

if TYPE_CHECKING:
    from topicloom.stream import BatchReport, MaintainedQuery

EXAMPLE = "Example: topicloom stream overlay events/ live --trigger '5 seconds'    (Ctrl-C stops it, exit code 0)"
_STATE = "state.db"
_LOOK_EVERY = 0.5  # seconds between looks at whether the query still runs


def command(
    overlay: Annotated[Path, typer.Argument(help="Overlay directory to begin with; not read when OUT is resumed.")],
    events: Annotated[Path, typer.Argument(help="Folder in which files of events appear: JSON lines or Parquet.")],
    out: Annotated[Path, typer.Argument(help="Folder for changes/, rejected/ and the state; repeat to resume.")],
    once: Annotated[bool, typer.Option("--once", "--available-now", help="Take in what is there, and stop.")] = False,
    trigger: Annotated[
        str | None,
        typer.Option(help="How often a batch is made, such as '5 seconds'.  [default: at once]", show_default=False),
    ] = None,
    files_per_batch: Annotated[int, typer.Option(min=1, help="Files that make a batch at most, oldest first.")] = 100,
    format: Annotated[
        str | None, typer.Option(help="json (lines) or parquet.  [default: by the files there]", show_default=False)
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(help="Plan that runs now: its trees follow; not read when OUT is resumed.", show_default=False),
    ] = None,
    *,
    upkeep: UpkeepOptions,
    master: Master = None,
    conf: Conf = [],  # noqa: B006 - typer reads it and never writes
    verbose: Verbose = False,
) -> int:
    """Repair an overlay while events stream in, exactly once, and write the link changes batch by batch.

    Every batch gives changes/batch-N.jsonl (a line with its events and links) and .parquet (a row per link); events
    that cannot be applied go to rejected/ with the reason. With --plan the line also has the rows of the topics' trees
    that go off and then those that come on, and OUT/plan is the next plan when the stream ends.

    If it is killed at any moment, repeat the command with the same OUT to resume it. Ctrl-C (or SIGTERM) stops it
    after the current batch, and leaves the overlay in OUT/overlay. The driver of Spark is this process; a Spark
    Connect server cannot be used.
    """
    options = upkeep.given
    if once and trigger is not None:
        raise InvalidOptionError("--once and --trigger exclude each other")
    if not events.is_dir():
        raise InputNotFoundError(f"{events} is not a directory; events are read from the files that appear in one")
    goes_on = _goes_on(out)
    with narrated("reading the overlay") as narrator:
        base = None if goes_on else Overlay.load(overlay)
        if base is None:
            tell(f"resuming in {out}; {overlay} is not read again")
        else:
            options["k"] = kept_k(base, overlay, upkeep.k)
        narrator("starting Spark")
        with spark_session(master=master, conf=conf, verbose=verbose) as spark, _asked_to_stop() as asked:
            from topicloom.stream import maintain, read_events

            found = read_events(spark, events, format=format, files_per_batch=files_per_batch)
            narrator("building backups" if base is not None else "opening the state")
            query = maintain(
                found,
                out=out,
                overlay=base,
                plan=None if base is None or plan is None else Plan.load(plan),
                trigger=trigger,
                once=once,
                listener=lambda report: narrator.note(_sentence(report)),
                **options,
            )
            narrator.note(f"streaming from {events}" + ("" if once else "; Ctrl-C stops"))
            narrator("waiting for events")
            _wait(query, asked)
        narrator("writing the overlay")
        return _finish(out)


def _goes_on(out: Path) -> bool:
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise OutputExistsError(f"{out} exists and is not a directory; choose another place")
    if holds_state(out / _STATE):
        return True
    if out.is_dir() and any(path.name not in names_of(out / _STATE) for path in out.iterdir()):
        raise OutputExistsError(f"{out} exists and holds no stream to resume; choose another place")
    return False


@contextmanager
def _asked_to_stop() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set: an exception in the middle of a call to the JVM would break the session."""
    asked = threading.Event()
    ours = threading.current_thread() is threading.main_thread()
    before = {way: signal.getsignal(way) for way in (signal.SIGINT, signal.SIGTERM)} if ours else {}

    def stop(number: int, frame: Any) -> None:
        asked.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # the second Ctrl-C does not wait

    for way in before:
        signal.signal(way, stop)
    try:
        yield asked
    finally:
        for way, handler in before.items():
            signal.signal(way, handler)


def _wait(query: "MaintainedQuery", asked: threading.Event) -> None:
    try:
        while not asked.wait(_LOOK_EVERY) and query.isActive:
            pass
        if query.isActive:
            tell("stopping after the current batch")
    finally:
        query.stop()
    query.awaitTermination()  # raises what it failed of


def _sentence(report: "BatchReport") -> str:
    bad = f", {report.rejected:,} rejected" if report.rejected else ""
    again = f", {report.repeated:,} seen before" if report.repeated else ""
    rows = "" if report.rows is None else f", +{report.rows[1]:,} −{report.rows[0]:,} rows"
    return (
        f"batch {report.batch}: {report.events:,} events{bad}{again}; +{report.added:,} −{report.removed:,} links"
        f"{rows}; {report.nodes:,} nodes, {report.links:,} links; {report.seconds:.2f} s"
    )


def _finish(out: Path) -> int:
    """Judge the overlay as it is now, and write it."""
    kept = read_state(out / _STATE)
    k = int(kept.facts["k"])
    verdict = verify(kept.interest, kept.overlay.links, k)
    kept.overlay.save(out / "overlay", overwrite=True)
    if kept.plan is not None:
        kept.plan.save(out / "plan", overwrite=True)
    tell(
        f"{kept.facts['events']:,} events applied in all; {kept.interest.n_nodes:,} nodes, {kept.overlay.n_links:,} "
        f"links, {'verified' if verdict.ok else 'NOT topic-connected'}; wrote {out}/overlay"
    )
    return 0 if verdict.ok else 1
