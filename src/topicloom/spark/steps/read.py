"""Tables as users have them to rows of two labels, on Spark.

The rules are those of `topicloom.files.read`: its functions list, look and parse, here inside Spark's tasks.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike, fspath
from typing import Unpack

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from topicloom.errors import TopicloomError
from topicloom.files.read.byte_streams import plain
from topicloom.files.read.delimited import count_lines, quotes_within_lines
from topicloom.files.read.notes import notes_of
from topicloom.files.read.read_options import ReadOptions, SubscriptionWords
from topicloom.files.read.source_plan import SPLIT, Plan, Unit, open_local, parts_of, plan_source, read_unit
from topicloom.files.read.table import row_batches
from topicloom.model.labels import ROWS
from topicloom.spark.session.columns import ROLE, mark, schema_text
from topicloom.spark.steps.answers import error_named, from_bytes, to_bytes
from topicloom.spark.steps.remote import is_remote_path, remote_rows

_LEAST_TASK = 1 << 20
_TASKS = 8
_SENTENCE = re.compile(r"^topicloom\.errors\.(\w+): (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class SparkTable:
    """A table that was looked at.

    Attributes
    ----------
    rows : DataFrame
        (file, line, raw, node, topic[, role], reason): every row. A null reason means usable, and only rows with a
        reason keep their file, line and text. Links are rows, too: their ends are called node and topic here.
    notes : tuple of str
        What was found out about the files, a sentence each.
    plan : Plan
        The files, looked at.
    read : callable or None
        Reads all rows in the process that calls it; None where only Spark can open the files.
    """

    rows: DataFrame
    notes: tuple[str, ...]
    plan: Plan
    read: "Callable[[], Iterator[pa.RecordBatch]] | None" = None


def read_subscriptions(
    spark: SparkSession, source: str | PathLike[str], **words: Unpack[SubscriptionWords]
) -> DataFrame:
    r"""Read every row of a table of subscriptions: (file, line, raw, node, topic[, role], reason).

    A null reason means usable. Rows with a reason are those that cannot be used; `design_overlay` and the others leave
    them out, count them, and keep them as ``rejected``. Repeats are allowed.

    Parameters
    ----------
    spark : SparkSession
    source : str or path
        A file, a folder with all below it, or a pattern; also where only Spark can read, such as ``s3a://``. Of an
        overlay directory name its ``subscriptions/``.
    **words
        node_column, topic_column, role_column, format, separator, encoding, header and topics_separator, as for
        `topicloom.read_subscriptions`.

    Returns
    -------
    DataFrame
        The files are looked at in the call, and read when an action asks for the rows.

    Raises
    ------
    InputNotFoundError, MissingColumnError, UnreadableInputError, InvalidOptionError

    See Also
    --------
    topicloom.read_subscriptions : the same rules in memory.
    design_overlay : an overlay for the rows.

    Notes
    -----
    O(bytes) over all tasks; large files without quotes are read in parts. The driver holds no rows.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from topicloom.pipeline import read_subscriptions
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "subs.csv"
    ...     _ = path.write_text("Broker;Filter\na;news\nc\n")
    ...     rows = read_subscriptions(spark, path, node_column="Broker", topic_column="Filter")  # spark is your session
    ...     rows.where("reason is not null").select("line", "raw", "reason").toArrow().to_pylist()
    [{'line': 3, 'raw': 'c', 'reason': '1 field, 2 are expected'}]
    """
    return open_table(spark, source, ReadOptions.of_subscriptions(**words)).rows


def open_table(
    spark: SparkSession,
    source: str | PathLike[str],
    options: ReadOptions,
    *,
    split: int = SPLIT,
    plan: Plan | None = None,
) -> SparkTable:
    """Look at all files of a source, to be read in parts of about ``split`` bytes when Spark needs the rows.

    ``plan`` is that of a source of this machine which was looked at already, and is not listed again.
    """
    path, options = fspath(source), options.checked()
    read = None
    if is_remote_path(path):
        with worker_sentences():
            plan, rows = remote_rows(spark, path, options)
    else:
        path = os.path.abspath(path.removeprefix("file://"))  # noqa: PTH100 - keeps undecodable bytes
        plan, units = _planned(spark, path, options, split) if plan is None else (plan, cut(plan, split))
        rows = _read(spark, plan, numbered_parts(spark, units))
        read = partial(row_batches, plan)
    rows = mark(rows if options.role is not None else rows.drop(ROLE))
    return SparkTable(rows, notes_of(plan), plan, read)


@contextmanager
def worker_sentences() -> Iterator[None]:
    """Raise what a worker raised on purpose as it was, and not wrapped into PySpark's own exception."""
    try:
        yield
    except PySparkException as error:
        found = _SENTENCE.search(str(error))
        if found is None:
            raise
        raise error_named(found[1])(found[2]) from None


def plan_and_cut(path: str, options: ReadOptions, split: int) -> tuple[Plan, list[Unit]]:
    """The plan of a source of this machine, with large files cut into parts."""
    plan = plan_source(path, options)
    return plan, cut(plan, split)


def cut(plan: Plan, split: int) -> list[Unit]:
    """The files of a plan, large ones in parts of about ``split`` bytes."""
    units: list[Unit] = []
    for file in plan.files:
        with plan.opened(file) as raw:
            units += parts_of(file, raw, split)
    return units


def _planned(spark: SparkSession, path: str, options: ReadOptions, split: int) -> tuple[Plan, list[Unit]]:
    """`plan_and_cut` where Spark reads: in this process, or in a task of a Connect server."""
    if not type(spark).__module__.startswith("pyspark.sql.connect"):
        return plan_and_cut(path, options, split)

    def there(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            answer: object = plan_and_cut(path, options, split)
        except TopicloomError as error:
            answer = error
        yield pa.record_batch([pa.array([to_bytes(answer)], pa.binary())], names=["answer"])

    answer = from_bytes(spark.range(0, 1, 1, 1).mapInArrow(there, "answer binary").collect()[0]["answer"])
    if isinstance(answer, TopicloomError):
        raise answer
    plan, units = answer
    return plan, units


def numbered_parts(spark: SparkSession, units: list[Unit]) -> list[Unit]:
    """Parts of files with the numbers of their lines. Files in which a quote encloses a line end become whole again.

    Reads the files that are in parts once, which costs little beside parsing them.
    """
    parts = [unit for unit in units if unit.end is not None and not unit.file.group_rows]
    if not parts:
        return units

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                with open_local(parts[number].file.path) as raw:
                    raw.seek(parts[number].start)
                    text = b"".join(plain(raw, parts[number].end))
                separator = parts[number].file.layout.separator
                whole = parts[number].file.format == "json" or quotes_within_lines(text, separator)
                yield pa.record_batch({"part": [number], "lines": [count_lines(text)], "whole": [whole]})

    with worker_sentences():
        counted = spark.range(0, len(parts), 1, len(parts)).mapInArrow(count, "part long, lines long, whole boolean")
        found = {row["part"]: (row["lines"], row["whole"]) for row in counted.collect()}
    broken = {part.file.path for number, part in enumerate(parts) if not found[number][1]}
    numbered, line = [], 0
    for unit in units:
        if unit.end is None or unit.file.group_rows:
            numbered.append(unit)
        elif unit.file.path in broken:
            if unit.start == unit.file.text_start:
                numbered.append(Unit(unit.file, line=unit.line))
        else:
            line = unit.line if unit.start == unit.file.text_start else line
            numbered.append(replace(unit, line=line))
            line += found[parts.index(unit)][0]
    return numbered


def _read(spark: SparkSession, plan: Plan, units: Sequence[Unit]) -> DataFrame:
    """The rows of all units, a task for some megabytes of them, in their order."""
    tasks, light = _tasks(units), replace(plan, files=(), skipped=())

    def parse(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for task in batch.column(0).to_pylist():
                for unit in tasks[task]:
                    with light.opened(unit.file) as raw:
                        yield from read_unit(unit, light, raw)

    return spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(parse, schema_text(ROWS))


def _tasks(units: Sequence[Unit]) -> list[list[Unit]]:
    sizes = [_size(unit) for unit in units]
    enough = max(_LEAST_TASK, min(SPLIT, sum(sizes) // _TASKS))
    tasks: list[list[Unit]] = []
    filled = enough
    for unit, size in zip(units, sizes):
        if filled >= enough:
            tasks.append([])
            filled = 0
        tasks[-1].append(unit)
        filled += size
    return tasks


def _size(unit: Unit) -> int:
    if unit.end is None:
        return unit.file.size * (4 if unit.file.compression else 1)
    if unit.file.group_rows:
        return unit.file.size * (unit.end - unit.start) // len(unit.file.group_rows)
    return unit.end - unit.start
