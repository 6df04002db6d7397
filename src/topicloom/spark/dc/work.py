"""A work folder: finished pieces on disk, so that a run that died goes on where it stopped, and progress can be seen.

Executors write, the driver looks: both must see the folder under the same path. A file is written under a hidden name
and renamed when complete, so that what is there is whole even if a task is killed.
"""

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.errors import OutputExistsError
from topicloom.files.write.atomic import whole_file
from topicloom.files.write.destination import check_local
from topicloom.runs.stages import Stages
from topicloom.spark.dc.pieces import PieceCounts
from topicloom.version import __version__

_COUNTS = b"topicloom"
_SECONDS_BETWEEN_LOOKS = 1.0


def run_folder(work: Path, fingerprint: str, options: Mapping[str, Any], seed: int) -> Path:
    """The folder of a run: another one for other subscriptions, options, seed or version."""
    check_local(work)
    facts = json.dumps([fingerprint, sorted(options.items()), seed, __version__], default=str)
    return work / hashlib.sha256(facts.encode()).hexdigest()[:16]


def keep_piece(folder: Path, number: int, table: pa.Table, counts: PieceCounts) -> None:
    """Write a finished piece. Runs on an executor."""
    folder.mkdir(parents=True, exist_ok=True)
    with whole_file(_path(folder, number)) as file:
        pq.write_table(table.replace_schema_metadata({_COUNTS: json.dumps(counts)}), file, write_page_checksum=True)


def kept_pieces(folder: Path, known: Mapping[int, PieceCounts] | None = None) -> dict[int, PieceCounts]:
    """The counts of every finished piece that can be read. Those ``known`` are not read again."""
    known = known or {}
    numbered = ((int(path.stem), path) for path in folder.glob("[0-9]*.parquet"))
    found = ((number, known.get(number) or _counts(path)) for number, path in numbered)
    return {number: counts for number, counts in found if counts is not None}


@contextmanager
def watched(folder: Path, total: int, stages: Stages) -> Iterator[None]:
    """Tell every second how many pieces are finished, while the block runs."""
    done = threading.Event()

    def watch() -> None:
        seen: dict[int, PieceCounts] = {}
        while not done.wait(_SECONDS_BETWEEN_LOOKS):
            seen = kept_pieces(folder, seen)
            stages.say(
                f"conquered {len(seen):,} of {total:,} partitions: {sum(one.stars for one in seen.values()):,} star "
                f"nodes, {sum(one.links for one in seen.values()):,} links so far"
            )

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def open_folder(folder: Path) -> None:
    """Make the folder, and remove what killed tasks left unfinished in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for leftover in folder.glob(".*"):
            leftover.unlink(missing_ok=True)
    except OSError as error:
        raise OutputExistsError(f"cannot write the work folder {folder}: {error.strerror}") from None


def _path(folder: Path, number: int) -> Path:
    return folder / f"{number:07}.parquet"


def _counts(path: Path) -> PieceCounts | None:
    try:
        return PieceCounts(*json.loads(pq.read_metadata(path).metadata[_COUNTS]))
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
        return None
