"""Small runs on Spark in one pass: one task reads all rows, does the whole work over them, and answers in bytes.

The work is a function of `topicloom.runs`, the one that ``--engine memory`` calls. Its answer comes back to the
driver as JSON in an ordinary DataFrame, which a cluster and Spark Connect carry as well. The task opens files itself
where Python can. Otherwise Spark brings it the rows, those of several tables with the number of their table.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial, reduce
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.errors import TopicloomError
from topicloom.files.read.listing import ONE_TASK, text_bytes
from topicloom.model.labels import ROWS
from topicloom.runs.request import SPARK
from topicloom.runs.stages import Stages
from topicloom.spark.steps.answers import from_bytes, to_bytes
from topicloom.spark.steps.read import SparkTable, worker_sentences

Answer = TypeVar("Answer")
Work = Callable[[Sequence[pa.Table], Stages], Answer]
Tables = Sequence[SparkTable] | Sequence[DataFrame]
_FEW_ROWS = 1_000_000  # of a DataFrame, whose bytes nobody knows
_TABLE = "table"
_TAGGED = pa.schema([(_TABLE, pa.int32()), *ROWS])
_MOST = 4 * ONE_TASK  # bytes of rows in Arrow, at which a task gives up
_PIECE = 4 << 20  # bytes of an answer in one row: Spark Connect limits its messages
_SCHEMA = "task bigint, piece bigint, payload binary"


class TooManyRowsError(TopicloomError):
    """Files held more than their sizes let expect: the distributed pipeline takes over."""


def in_tasks(
    tables: Tables, works: Sequence[Work[Answer]], *, engine: str, stages: Stages, sentence: str
) -> list[Answer] | None:
    """Answers of functions over the rows of tables, by one task of Spark for each function.

    Notes and seconds of the first task's stages become those of ``stages``; the stage ``spark`` is what Spark took
    beyond.

    Parameters
    ----------
    tables : sequence of SparkTable, or of DataFrame
        Files that were looked at, which every task reads; or rows with the columns of `ROWS`, or most of them, which
        Spark brings to the task.
    works : sequence of callable
        Each gets the rows of all tables and the stages. There can be several only where tasks can open the files.
    engine : str
        None is returned for any but ``spark``.

    Returns
    -------
    list or None
        None where the tables are too large for one task; the distributed pipeline takes over.

    Raises
    ------
    TopicloomError
        What a function raises.
    """
    if engine != SPARK or not _fit(tables) or (len(works) > 1 and None in _readers(tables)):
        return None
    stages.say(sentence)
    with suppress(TooManyRowsError):
        return _answers(partial(_started, tables, works), len(works), stages)
    return None


def _fit(tables: Tables) -> bool:
    """Whether one task can take the tables: 64 MiB of text, or 1 to 1,000,000 rows, which Spark counts."""
    files = [table.plan.files for table in tables if isinstance(table, SparkTable)]
    if files:
        return text_bytes([file for some in files for file in some]) <= ONE_TASK
    with worker_sentences():
        return 0 < sum(table.count() for table in tables if isinstance(table, DataFrame)) <= _FEW_ROWS


def _readers(tables: Tables) -> list[Callable[[], Iterator[pa.RecordBatch]] | None]:
    return [table.read if isinstance(table, SparkTable) else None for table in tables]


def _answers(started: Callable[[], DataFrame], tasks: int, stages: Stages) -> list[Any]:
    """Return the answers of all tasks. Notes and times of the first task go to ``stages``."""
    start = time.perf_counter()
    with worker_sentences():
        found = started().toArrow()
    elapsed = time.perf_counter() - start
    answers = [from_bytes(_joined(found, task)) for task in range(tasks)]
    _, notes, seconds = answers[0]
    for note in notes:
        stages.note(note)
    stages.add({**seconds, "spark": max(0.0, elapsed - sum(seconds.values()))})
    for answer, _, _ in answers:
        if isinstance(answer, TopicloomError):
            raise answer
    return [answer for answer, _, _ in answers]


def _started(tables: Tables, works: Sequence[Work[Any]]) -> DataFrame:
    """The answers of all tasks, as pieces. Where Spark brings the rows, there is one task."""
    readers = _readers(tables)
    run = _runner(readers, works)
    rows = [table.rows if isinstance(table, SparkTable) else table for table in tables]
    if None not in readers:
        return rows[0].sparkSession.range(0, len(works), 1, len(works)).mapInArrow(run, _SCHEMA)
    # what a DataFrame takes to compute stays in its own tasks
    together = _tagged(rows).coalesce(1) if isinstance(tables[0], SparkTable) else _tagged(rows).repartition(1)
    return together.mapInArrow(run, _SCHEMA)


def _tagged(tables: Sequence[DataFrame]) -> DataFrame:
    """The rows of all tables, with the number of their table."""
    tagged = []
    for number, table in enumerate(tables):
        known = [F.col(n) if n in table.columns else F.lit(None).cast("string").alias(n) for n in ROWS.names]
        tagged.append(table.select(F.lit(number).alias(_TABLE), *known))
    return reduce(lambda rows, more: rows.unionAll(more), tagged)


def _runner(
    readers: Sequence[Callable[[], Iterator[pa.RecordBatch]] | None], works: Sequence[Work[Any]]
) -> Callable[..., Iterator[pa.RecordBatch]]:
    most = _MOST

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if None in readers:
            yield from answered(0, lambda: _untagged(batches, len(readers), most))
            return
        for batch in batches:
            for task in batch.column(0).to_pylist():
                yield from answered(task, lambda: [_gathered(read(), most) for read in readers if read is not None])

    def answered(task: int, rows: Callable[[], list[pa.Table]]) -> Iterator[pa.RecordBatch]:
        notes: list[str] = []
        stages = Stages(keeper=notes.append)
        try:
            with stages("read", "reading"):
                read = rows()
            answer: object = works[task](read, stages)
        except TopicloomError as error:
            answer = error
        payload = to_bytes((answer, notes, stages.seconds))
        for piece in range(-(-len(payload) // _PIECE)):
            part = payload[piece * _PIECE : (piece + 1) * _PIECE]
            yield pa.record_batch({"task": [task], "piece": [piece], "payload": pa.array([part], pa.binary())})

    return run


def _untagged(batches: Iterator[pa.RecordBatch], tables: int, most: int) -> list[pa.Table]:
    rows = _gathered(batches, most, _TAGGED)
    return [rows.filter(pc.equal(rows[_TABLE], number)).drop_columns(_TABLE) for number in range(tables)]


def _gathered(batches: Iterator[pa.RecordBatch], most: int, schema: pa.Schema = ROWS) -> pa.Table:
    kept, size = [], 0
    for batch in batches:
        kept.append(pa.record_batch(batch.columns, names=batch.schema.names).cast(schema))
        size += batch.nbytes
        if size > most:
            raise TooManyRowsError(f"more than {most:,} bytes of rows are too many for one task")
    return pa.Table.from_batches(kept, schema)


def _joined(found: pa.Table, task: int) -> bytes:
    rows = [row for row in found.to_pylist() if row["task"] == task]
    return b"".join(row["payload"] for row in sorted(rows, key=lambda row: row["piece"]))
