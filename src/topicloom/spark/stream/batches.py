"""Take in micro-batches exactly once, whatever is killed on the way."""

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from topicloom.churn import Event, Maintainer
from topicloom.churn.event_json import BATCH_REJECTED, CHANGES, change_rows, rejected_row, table
from topicloom.churn.journal import JournalEntry
from topicloom.errors import OutputExistsError, StateFormatError
from topicloom.files.write.atomic import flush_one, whole_file
from topicloom.model import Change
from topicloom.spark.stream.arrivals import Arrival, arrivals, fingerprint

CHANGES_FOLDER, REJECTED_FOLDER = "changes", "rejected"


def make_folders(out: Path) -> None:
    """Make the folders, and remove half-written files of a process that died."""
    for name in (CHANGES_FOLDER, REJECTED_FOLDER):
        (out / name).mkdir(parents=True, exist_ok=True)
        for left in (out / name).glob(".batch-*.partial*"):  # one stream at a time writes here
            left.unlink(missing_ok=True)


def write_files(out: Path, entry: JournalEntry) -> None:
    """Write the files of a batch. They are on disk when it returns."""
    rejected = [{"batch": entry.batch, **row} for row in entry.rejected]
    if rejected:
        _write_both(out / REJECTED_FOLDER, entry.batch, rejected, table(rejected, BATCH_REJECTED))
    _write_both(out / CHANGES_FOLDER, entry.batch, [entry.changes], table(change_rows(entry.changes), CHANGES))


def _write_both(folder: Path, batch: int, lines: Sequence[dict[str, Any]], rows: pa.Table) -> None:
    stem = f"batch-{batch:012}"
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink)
    _write_whole(folder / f"{stem}.parquet", sink.getvalue().to_pybytes())
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    _write_whole(folder / f"{stem}.jsonl", text.encode())
    flush_one(folder)


def _write_whole(path: Path, content: bytes) -> None:
    with whole_file(path, durable=True) as file:
        file.write(content)


@dataclass(frozen=True)
class BatchReport:
    """What a batch did, for a listener.

    Attributes
    ----------
    batch : int
    events, rejected, repeated : int
        Events applied, not applicable, and ignored since their id had been seen.
    added, removed : int
        Links.
    nodes, links : int
        Of the overlay afterwards.
    seconds : float
    rows : (int, int), optional
        Rows that went off and that came on, where routes are followed.
    """

    batch: int
    events: int
    rejected: int
    repeated: int
    added: int
    removed: int
    nodes: int
    links: int
    seconds: float
    rows: tuple[int, int] | None = None


Listener = Callable[[BatchReport], None]


class BatchSink:
    """Applies batches to a maintainer with a durable state, and writes their files.

    A batch is committed with its number, the ids of its events and what it has to tell, in one transaction; then its
    files are written from that. A batch that comes again after a crash is known by its number: only its files are made
    good. One that comes under the number of another is refused.
    """

    def __init__(self, maintainer: Maintainer, out: Path, listener: Listener | None = None) -> None:
        self._maintainer, self._out, self._listener = maintainer, out, listener
        self._journal = maintainer.journal
        self._busy = threading.Lock()
        self.failure: Exception | None = None
        self._journal.prepare()
        self._hand_out()

    @property
    def checkpoint(self) -> Path:
        """Where Spark keeps what it has read."""
        return self._out / "checkpoint"

    def check_checkpoint(self) -> None:
        """Refuse a checkpoint that does not belong to the state: batches would be lost, or applied twice.

        Raises
        ------
        StateFormatError
        """
        known, query = self._journal.query, self._query()
        commits = self.checkpoint / "commits"
        if known is not None and known != query:
            raise StateFormatError(
                f"the state has taken in batches of a stream whose checkpoint is not in {self.checkpoint}: events "
                "could be applied twice; put the checkpoint back, or start in another folder"
            )
        if known is None and commits.is_dir() and any(path.name.isdigit() for path in commits.iterdir()):
            raise StateFormatError(
                f"{self.checkpoint} is of a stream whose batches are not in the state: events would be lost; "
                "put the state back, or start in another folder"
            )

    def close(self) -> None:
        """Close the state when the current batch is done."""
        with self._busy:
            self._maintainer.close()

    def __call__(self, rows: DataFrame, batch: int) -> None:
        """Take in a batch. Spark's foreachBatch calls this."""
        try:
            with self._busy:
                self._take(rows, batch)
        except Exception as error:
            self.failure = error
            raise

    def _take(self, rows: DataFrame, batch: int) -> None:
        started = time.perf_counter()
        found = arrivals(rows)
        mark = fingerprint(found)
        last = self._journal.last_batch
        if last is not None and batch <= last:
            if batch < last or mark != self._journal.fingerprint:
                raise StateFormatError(
                    f"batch {batch} comes again with other events; the checkpoint in {self.checkpoint} is not that of "
                    "the state"
                )
            self._hand_out()
            return
        fresh, repeated = self._without_repeats(found)
        keys = [arrival.key for arrival in fresh if arrival.key is not None]
        found_in = {id(arrival.raw): arrival for arrival in fresh}
        unread = [rejected_row(a.file, a.raw, a.reason) for a in fresh if a.reason is not None]
        query = self._query()
        assert query is not None, "Spark writes the checkpoint's metadata before its first batch"

        def record(database: sqlite3.Connection, *, events: Sequence[Event], change: Change) -> None:
            found = ((found_in[id(raw)].file, raw, reason) for raw, reason in change.rejected)
            self._journal.record(
                database,
                events=events,
                change=change,
                batch=batch,
                query=query,
                fingerprint=mark,
                keys=keys,
                rejected=unread + [rejected_row(*one) for one in found],
            )

        events = [arrival.event for arrival in fresh if arrival.event is not None]
        change = self._maintainer.apply(events, strict=False, also=record)
        self._hand_out()
        if self._listener is not None:
            counts = (
                change.events,
                len(unread) + len(change.rejected),
                repeated,
                len(change.added),
                len(change.removed),
            )
            size = (self._maintainer.n_nodes, self._maintainer.n_links)
            moved = None if change.rows is None else (len(change.rows.removed), len(change.rows.added))
            self._listener(BatchReport(batch, *counts, *size, time.perf_counter() - started, moved))

    def _without_repeats(self, found: list[Arrival]) -> tuple[list[Arrival], int]:
        """Drop arrivals whose id was seen before. Of several with one id the first counts.

        Returns the others, and how many were dropped.
        """
        seen = self._journal.seen(arrival.key for arrival in found if arrival.key is not None)
        fresh = []
        for arrival in found:
            if arrival.key is None:
                fresh.append(arrival)
            elif arrival.key not in seen:
                seen.add(arrival.key)
                fresh.append(arrival)
        return fresh, len(found) - len(fresh)

    def _hand_out(self) -> None:
        """Write the files of what was committed."""
        try:
            make_folders(self._out)
            for entry in self._journal.to_hand_out():
                write_files(self._out, entry)
                self._journal.handed_out(entry.batch)
        except OSError as error:
            raise OutputExistsError(f"cannot write {self._out}: {error.strerror}") from None

    def _query(self) -> str | None:
        try:
            facts = json.loads((self.checkpoint / "metadata").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return str(facts["id"]) if isinstance(facts, dict) and "id" in facts else None
