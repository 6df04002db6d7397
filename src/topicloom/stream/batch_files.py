"""Files by batch, whole or not at all, for a controller that acts on link changes.

``changes/batch-000000000012.jsonl`` (one line: the batch, its events, links added and removed) and ``.parquet`` (a row
per link), ``rejected/batch-000000000012.jsonl`` and ``.parquet`` (a row per event that was not applied, and why). The
same batch gives the same bytes.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.churn.event_json import BATCH_REJECTED, CHANGES, change_rows, table
from topicloom.churn.journal import Entry
from topicloom.storage.atomic import whole_file

CHANGES_FOLDER, REJECTED_FOLDER = "changes", "rejected"


def make_folders(out: Path) -> None:
    """Make the folders, and remove half-written files of a process that died."""
    for name in (CHANGES_FOLDER, REJECTED_FOLDER):
        (out / name).mkdir(parents=True, exist_ok=True)
        for left in (out / name).glob(".batch-*.partial*"):  # one stream at a time writes here
            left.unlink(missing_ok=True)


def write_files(out: Path, entry: Entry) -> None:
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
    directory = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _write_whole(path: Path, content: bytes) -> None:
    with whole_file(path, durable=True) as file:
        file.write(content)
