"""Which engine does the work, and the reading of tables without Spark."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from topicloom.cli.console import Narrator
from topicloom.cli.input_tables import Given, looked_at_table
from topicloom.cli.option_groups import SparkOptions
from topicloom.cli.sources import is_small, part_of_overlay, unreplaced
from topicloom.engine.request import ENGINES, MEMORY, SPARK
from topicloom.errors import InvalidOptionError
from topicloom.reading.read_options import SUBSCRIPTIONS, ReadOptions
from topicloom.spark.memory import available_memory
from topicloom.spark.session import spark_session

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from topicloom.pipeline.one_pass import Work
    from topicloom.pipeline.read import SparkTable
    from topicloom.spark.stages import Stages

Answer = TypeVar("Answer")

Engine = Annotated[
    str,
    typer.Option(
        envvar="TOPICLOOM_ENGINE",
        help="spark: one task where the input fits one, else spread; distributed: always spread; memory: this process "
        "alone, without Java.",
    ),
]
HINT = "so small an input needs no Spark: --engine memory gives the same in a fraction of the time"


def check_engine(engine: str, spark: SparkOptions) -> None:
    """Refuse an engine that there is not, and settings of Spark where none starts.

    Raises
    ------
    InvalidOptionError
    """
    if engine not in ENGINES:
        raise InvalidOptionError(f"there is no engine {engine!r}; the engines are {', '.join(ENGINES)}")
    if engine == MEMORY and (spark.master or spark.remote or spark.conf):
        raise InvalidOptionError("--engine memory starts no Spark, so --master, --remote and --conf mean nothing to it")


def answer_about(
    given: Sequence[Given],
    engine: str,
    options: SparkOptions,
    work: "Work[Answer]",
    spread: "Callable[[Sequence[SparkTable], Narrator, Stages], Answer]",
    *,
    narrator: Narrator,
    sentence: str,
) -> Answer:
    """Answer of ``work`` over the tables that arguments name, or of ``spread`` where they do not fit one task of Spark.

    The engine says where ``work`` runs: in this process or in one task of Spark.
    """
    from topicloom.spark.stages import Stages

    stages = Stages(narrator, narrator.note)
    if engine == MEMORY:
        return work(tables_in_memory(given, narrator), stages)
    with spark_tables(given, options, narrator) as (spark, tables):
        otherwise = partial(spread, tables, narrator, stages)
        return in_one_task_or(otherwise, engine, spark, tables, work, stages=stages, sentence=sentence)


@contextmanager
def spark_tables(
    given: Sequence[Given], options: SparkOptions, narrator: Narrator
) -> "Iterator[tuple[SparkSession, list[SparkTable]]]":
    """Start Spark and look at the tables that arguments name. Spark stops when the block ends."""
    small = is_small(*(part_of_overlay(argument, wanted.kind.what) for argument, wanted in given))
    with spark_session(**vars(options), small=small) as spark:
        with unreplaced(*(argument for argument, _ in given)):
            tables = [looked_at_table(spark, narrator, *one, options.remote) for one in given]
        yield spark, tables


def in_one_task_or(
    otherwise: Callable[[], Answer],
    engine: str,
    spark: "SparkSession",
    tables: Sequence["SparkTable"],
    work: "Work[Answer]",
    *,
    stages: "Stages",
    sentence: str,
) -> Answer:
    """Answer of a function that one task of Spark runs, or of ``otherwise`` where the tables do not fit one task."""
    from topicloom.pipeline.one_pass import TooManyRowsError, fits_one_task, in_one_task

    if engine == SPARK and fits_one_task(*tables):
        with suppress(TooManyRowsError):
            answer = in_one_task(spark, tables, work, stages=stages, sentence=sentence)
            if "connect" not in type(spark).__module__:  # whose files may be the server's
                stages.note(HINT)
            return answer
    return otherwise()


def tables_in_memory(given: Sequence[Given], narrator: Narrator) -> "list[pa.Table]":
    """Rows of each table that an argument names, all of the same state of an overlay directory."""
    with unreplaced(*(argument for argument, _ in given)):
        return [rows_in_memory(narrator, *one) for one in given]


def rows_in_memory(narrator: Narrator, argument: str, options: ReadOptions) -> "pa.Table":
    """Rows of the table, or of the overlay directory, that an argument names, after a line on its files.

    Raises
    ------
    InputNotFoundError, MissingColumnError, UnreadableInputError, InvalidOptionError, NotEnoughMemoryError
    """
    import pyarrow as pa

    from topicloom.engine.memory_limits import check_reading
    from topicloom.reading.notes import notes_of
    from topicloom.reading.rows import ROWS
    from topicloom.reading.source_plan import plan_source
    from topicloom.reading.table import row_batches

    source = part_of_overlay(argument, options.kind.what).removeprefix("file://")
    if "://" in source:
        raise InvalidOptionError(f"{source} can be opened by Spark alone; --engine spark reads it")
    narrator(f"reading {source}")
    plan = plan_source(os.path.abspath(source), options)  # noqa: PTH100 - keeps undecodable bytes
    if options.kind is SUBSCRIPTIONS:
        for note in notes_of(plan):
            narrator.note(note)
    check_reading(plan.files, available_memory())
    return pa.Table.from_batches(row_batches(plan), ROWS)
