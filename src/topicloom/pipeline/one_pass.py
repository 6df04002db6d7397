"""Small runs on Spark in one pass: one task reads all rows, does the whole work over them, and answers in bytes.

The work is a function of `topicloom.engine`, the one that ``--engine memory`` calls. Its answer comes back to the
driver through an ordinary DataFrame, which a cluster and Spark Connect carry as well. The task opens files itself where
Python can. Otherwise Spark brings it the rows, those of several tables with the number of their table.
"""

import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from topicloom.engine.memory_limits import ONE_TASK, text_bytes
from topicloom.errors import TopicloomError
from topicloom.pipeline.read import SparkTable, worker_sentences
from topicloom.reading.rows import ROWS
from topicloom.spark.stages import Stages

Answer = TypeVar("Answer")
Work = Callable[[Sequence[pa.Table], Stages], Answer]
_FEW_ROWS = 1_000_000  # of a DataFrame, whose bytes nobody knows
_TABLE = "table"
_TAGGED = pa.schema([(_TABLE, pa.int32()), *ROWS])
_MOST = 4 * ONE_TASK  # bytes of rows in Arrow, at which a task gives up
_PIECE = 4 << 20  # bytes of an answer in one row: Spark Connect limits its messages
_SCHEMA = "task bigint, piece bigint, payload binary"


class TooManyRowsError(TopicloomError):
    """Files held more than their sizes let expect: the distributed pipeline takes over."""


def fits_one_task(*tables: SparkTable) -> bool:
    """Whether one task can read these tables: 64 MiB of text, some millions of subscriptions, or less."""
    return text_bytes([file for table in tables for file in table.plan.files]) <= ONE_TASK


def few_rows(*tables: DataFrame) -> bool:
    """Whether one task can take the rows of these tables, 1 to 1,000,000. Spark counts them."""
    with worker_sentences():
        return 0 < sum(table.count() for table in tables) <= _FEW_ROWS


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


def rows_in_one_task(tables: Sequence[DataFrame], work: Work[Answer], *, stages: Stages, sentence: str) -> Answer:
    """`in_one_task` for rows that are no files: DataFrames with the columns of `ROWS`, or most of them."""
    stages.say(sentence)
    answers = partial(_tagged(tables).repartition(1).mapInArrow, _runner([None] * len(tables), [work]), _SCHEMA)
    answer: Answer = _answers(answers, 1, stages)[0]
    return answer


def in_tasks(
    spark: SparkSession, tables: Sequence[SparkTable], works: Sequence[Work[Answer]], *, stages: Stages, sentence: str
) -> list[Answer]:
    """`in_one_task` for several functions side by side, a task each, which all read the tables."""
    stages.say(sentence)
    return _answers(partial(_started, spark, tables, works), len(works), stages)


def _answers(started: Callable[[], DataFrame], tasks: int, stages: Stages) -> list[Any]:
    """The answers of all tasks; what the first of them noted and took becomes known to ``stages``."""
    start = time.perf_counter()
    with worker_sentences():
        found = started().toArrow()
    elapsed = time.perf_counter() - start
    answers = [pickle.loads(_joined(found, task)) for task in range(tasks)]
    _, notes, seconds = answers[0]
    for note in notes:
        stages.note(note)
    stages.add({**seconds, "spark": max(0.0, elapsed - sum(seconds.values()))})
    for answer, _, _ in answers:
        if isinstance(answer, TopicloomError):
            raise answer
    return [answer for answer, _, _ in answers]


def _started(spark: SparkSession, tables: Sequence[SparkTable], works: Sequence[Work[Any]]) -> DataFrame:
    """The answers of all tasks, as pieces. Where only Spark can open the files, there is one task."""
    run = _runner([table.read for table in tables], works)
    if all(table.read is not None for table in tables):
        return spark.range(0, len(works), 1, len(works)).mapInArrow(run, _SCHEMA)
    return _tagged([table.rows for table in tables]).coalesce(1).mapInArrow(run, _SCHEMA)


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
        payload = pickle.dumps((answer, notes, stages.seconds))
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
