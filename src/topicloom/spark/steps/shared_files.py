"""An interest in files that driver and executors share, and tasks that map them into memory.

Rows that Spark sends to Python are paid for each time. What looks at all subscriptions again and again reads them from
here instead: every task maps the same pages. Driver and executors must see the folder under the same path. A file
appears whole, even if its writer is killed.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from topicloom.errors import OutputExistsError
from topicloom.files.write.atomic import whole_file
from topicloom.model.arrays import Int32Array
from topicloom.spark.session.columns import NODE_ID, TOPICS, require_columns, spread
from topicloom.spark.session.workers import settle

_CHUNK = "chunk"
_CHUNK_NODES = 1 << 16


@dataclass(frozen=True)
class SharedFolder:
    """A folder of arrays and of small facts."""

    path: Path

    def keep(self, name: str, array: npt.NDArray[Any]) -> None:
        """Write an array."""
        with whole_file(self.path / f"{name}.npy") as file:
            np.save(file, array)

    def read(self, name: str, *, writable: bool = False) -> npt.NDArray[Any]:
        """An array, mapped into memory. Changes to a ``writable`` one stay with the process."""
        return np.asarray(np.load(self.path / f"{name}.npy", mmap_mode="c" if writable else "r"))

    def keep_chunks(self, name: str, size: int, chunks: Iterator[Int32Array]) -> None:
        """Write int32 chunks, of the given size together, as one array."""
        with whole_file(self.path / f"{name}.npy") as file:
            np.lib.format.write_array_header_1_0(file, {"descr": "<i4", "fortran_order": False, "shape": (size,)})
            for chunk in chunks:
                file.write(np.ascontiguousarray(chunk, np.int32).data)

    def keep_facts(self, name: str, facts: dict[str, Any]) -> None:
        """Write a few facts as JSON."""
        with whole_file(self.path / f"{name}.json") as file:
            file.write(json.dumps(facts).encode())

    def facts(self, name: str) -> dict[str, Any] | None:
        """Those facts, or None if they are not there."""
        try:
            found: dict[str, Any] = json.loads((self.path / f"{name}.json").read_bytes())
        except (OSError, ValueError):
            return None
        return found

    def forget(self, *patterns: str) -> None:
        """Remove files that are no longer needed."""
        for pattern in patterns:
            for path in self.path.glob(pattern):
                path.unlink(missing_ok=True)


def interest_files(work: Path) -> SharedFolder:
    """Where the interest of a run is kept: in a folder that Spark does not see when it reads the tables beside it."""
    return SharedFolder(work / "_files")


def keep_interest(interest: DataFrame, folder: SharedFolder, n_nodes: int) -> None:
    """(node_id, topics) -> the files ``indptr`` and ``topics``, a CSR. Does nothing if they are there.

    Chunks of nodes are written side by side and then put together by one task. Runs two jobs.

    Raises
    ------
    OutputExistsError
        The executors write elsewhere.
    """
    require_columns(interest, NODE_ID, TOPICS)
    if folder.facts("interest") is not None:
        return
    folder.path.mkdir(parents=True, exist_ok=True)
    n_chunks = -(-n_nodes // _CHUNK_NODES)

    def keep_chunk(table: pa.Table) -> pa.Table:
        chunk = table[_CHUNK][0].as_py()
        lists = table.sort_by(NODE_ID)[TOPICS]
        folder.keep(f"chunk-{chunk}-sizes", pc.list_value_length(lists).to_numpy())
        folder.keep(f"chunk-{chunk}-topics", pc.list_flatten(lists).to_numpy())
        settle()
        return table.slice(0, 1).select([_CHUNK])

    def put_together(_: int) -> int:
        sizes = [folder.read(f"chunk-{chunk}-sizes") for chunk in range(n_chunks)]
        indptr = np.cumsum(np.concatenate([np.zeros(1, np.int64), *sizes]), dtype=np.int64)
        topics = (folder.read(f"chunk-{chunk}-topics") for chunk in range(n_chunks))
        folder.keep("indptr", indptr)
        folder.keep_chunks("topics", int(indptr[-1]), topics)
        folder.keep_facts("interest", {"nodes": len(indptr) - 1, "subscriptions": int(indptr[-1])})
        folder.forget("chunk-*")
        return int(indptr[-1])

    chunked = interest.select(NODE_ID, TOPICS, F.expr(f"{NODE_ID} div {_CHUNK_NODES}").cast("int").alias(_CHUNK))
    spread(chunked, _CHUNK, n_chunks).groupBy(_CHUNK).applyInArrow(keep_chunk, f"{_CHUNK} int").count()
    run_tasks(interest.sparkSession, 1, put_together)
    if folder.facts("interest") is None:
        raise OutputExistsError(
            f"the executors do not write where this process reads ({folder.path}): choose a folder that both share"
        )


def run_tasks(spark: SparkSession, count: int, work: Callable[[int], int]) -> list[int]:
    """Run tasks on the executors, each given its number. Returns what each returned, in order."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for task in batch.column(0).to_pylist():
                value = work(task)
                settle()
                yield pa.RecordBatch.from_pydict({"task": [task], "value": [value]})

    if not count:
        return []
    rows = spark.range(0, count, 1, count).mapInArrow(run, "task bigint, value bigint").collect()
    return [row["value"] for row in sorted(rows, key=lambda row: int(row["task"]))]
