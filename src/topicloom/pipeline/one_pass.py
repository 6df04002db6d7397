"""Small runs on Spark in one pass: one task reads all rows, does the whole work over them, and answers in bytes.

The work is a function of `topicloom.engine`, the one that ``--engine memory`` calls. Its answer comes back to the
driver through an ordinary DataFrame, which a cluster and Spark Connect carry as well.
"""

import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from topicloom.engine.memory_limits import ONE_TASK, text_bytes
from topicloom.errors import TopicloomError
from topicloom.pipeline.read import SparkTable, worker_sentences
from topicloom.reading.rows import ROWS
from topicloom.spark.columns import ROLE
from topicloom.spark.stages import Stages

Answer = TypeVar("Answer")
Work = Callable[[Sequence[pa.Table], Stages], Answer]
_MOST = 4 * ONE_TASK  # bytes of rows in Arrow, at which a task gives up
_PIECE = 4 << 20  # bytes of an answer in one row: Spark Connect limits its messages
_SCHEMA = "task bigint, piece bigint, payload binary"


class TooManyRowsError(TopicloomError):
    """Files held more than their sizes let expect: the distributed pipeline takes over."""


def fits_one_task(*tables: SparkTable) -> bool:
    """Whether one task can read these tables: 64 MiB of text, some millions of subscriptions, or less.

    Several tables have to be such that Python can open them.
    """
    readable = len(tables) == 1 or all(table.read is not None for table in tables)
    return readable and text_bytes([file for table in tables for file in table.plan.files]) <= ONE_TASK


def in_one_task(
    spark: SparkSession, tables: Sequence[SparkTable], work: Work[Answer], *, stages: Stages, sentence: str
) -> Answer:
    """Answer of a function over the rows of tables, which one task on an executor reads and hands to it.

    Notes and seconds of the task's stages become those of ``stages``; the stage ``spark`` is what Spark took beyond.

    Raises
    ------
    TooManyRowsError
        The rows take more than 256 MiB.
    TopicloomError
        What the function raises.
    """
    return in_tasks(spark, tables, [work], stages=stages, sentence=sentence)[0]


def in_tasks(
    spark: SparkSession, tables: Sequence[SparkTable], works: Sequence[Work[Answer]], *, stages: Stages, sentence: str
) -> list[Answer]:
    """`in_one_task` for several functions side by side, a task each, which all read the tables."""
    stages.say(sentence)
    start = time.perf_counter()
    with worker_sentences():
        found = _started(spark, tables, _runner(tables, works), len(works)).toArrow()
    elapsed = time.perf_counter() - start
    answers = [pickle.loads(_joined(found, task)) for task in range(len(works))]
    _, notes, seconds = answers[0]
    for note in notes:
        stages.note(note)
    stages.add({**seconds, "spark": max(0.0, elapsed - sum(seconds.values()))})
    for answer, _, _ in answers:
        if isinstance(answer, TopicloomError):
            raise answer
    return [answer for answer, _, _ in answers]


def _started(spark: SparkSession, tables: Sequence[SparkTable], run: Callable[..., Any], tasks: int) -> DataFrame:
    """The answers of all tasks. Where only Spark can open the files, it brings the rows of the one table."""
    if all(table.read is not None for table in tables):
        return spark.range(0, tasks, 1, tasks).mapInArrow(run, _SCHEMA)
    rows = tables[0].rows
    rows = rows if ROLE in rows.columns else rows.selectExpr(*ROWS.names[:-2], "cast(null as string) role", "reason")
    return rows.coalesce(1).mapInArrow(run, _SCHEMA)


def _runner(tables: Sequence[SparkTable], works: Sequence[Work[Any]]) -> Callable[..., Iterator[pa.RecordBatch]]:
    readers, most = [table.read for table in tables], _MOST

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if None in readers:
            yield from answered(0, [batches])
            return
        for batch in batches:
            for task in batch.column(0).to_pylist():
                yield from answered(task, [read() for read in readers if read is not None])

    def answered(task: int, sources: Sequence[Iterator[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
        notes: list[str] = []
        stages = Stages(keeper=notes.append)
        try:
            with stages("read", "reading"):
                read = [_gathered(source, most) for source in sources]
            answer: object = works[task](read, stages)
        except TopicloomError as error:
            answer = error
        payload = pickle.dumps((answer, notes, stages.seconds))
        for piece in range(-(-len(payload) // _PIECE)):
            part = payload[piece * _PIECE : (piece + 1) * _PIECE]
            yield pa.record_batch({"task": [task], "piece": [piece], "payload": pa.array([part], pa.binary())})

    return run


def _gathered(batches: Iterator[pa.RecordBatch], most: int) -> pa.Table:
    kept, size = [], 0
    for batch in batches:
        kept.append(pa.record_batch(batch.columns, names=batch.schema.names).cast(ROWS))
        size += batch.nbytes
        if size > most:
            raise TooManyRowsError(f"more than {most:,} bytes of rows are too many for one task")
    return pa.Table.from_batches(kept, ROWS)


def _joined(found: pa.Table, task: int) -> bytes:
    rows = [row for row in found.to_pylist() if row["task"] == task]
    return b"".join(row["payload"] for row in sorted(rows, key=lambda row: row["piece"]))
