"""The tables that a command reads, and the engine that does its work on them."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from topicloom.cli.console import Narrator, narrated
from topicloom.cli.option_groups import SparkOptions
from topicloom.cli.sources import is_small, part_of_overlay, said_whose, unreplaced
from topicloom.errors import InvalidOptionError
from topicloom.files.read.notes import example_notes
from topicloom.files.read.read_options import SUBSCRIPTIONS, ReadOptions
from topicloom.runs.request import ENGINES, MEMORY
from topicloom.spark.session.memory import available_memory
from topicloom.spark.session.session import is_embedded, spark_session

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from topicloom.files.read.link_findings import LinkFindings
    from topicloom.runs.stages import Stages
    from topicloom.spark.steps.one_pass import Work
    from topicloom.spark.steps.prepare import Prepared
    from topicloom.spark.steps.read import SparkTable

Given = tuple[str, ReadOptions]  # an argument of the command line, and how the table it names is read


def prepared_rows(table: "SparkTable", expand: str | None, narrator: Narrator, stages: "Stages") -> "Prepared":
    """Prepare the rows of a table that was looked at, with patterns replaced if asked for. Tells what is odd."""
    from topicloom.spark.steps.clean import expanded
    from topicloom.spark.steps.prepare import prepare

    rows, more = (table.rows, None) if expand is None else expanded(table.rows, expand)
    prepared = prepare(rows, stages=stages, expanded=more)
    tell_of_rows(narrator, prepared)
    return prepared


def looked_at_table(
    spark: "SparkSession", narrator: Narrator, argument: str, options: ReadOptions, remote: str | None
) -> "SparkTable":
    """Look at the table, or the part of an overlay directory, that an argument names. Prints notes on its files."""
    from topicloom.spark.steps.read import open_table

    source = part_of_overlay(argument, options.kind.what, remote)
    narrator(f"looking at {source}")
    with said_whose(remote):
        table = open_table(spark, source, options)
    for note in table.notes if options.kind is SUBSCRIPTIONS else ():
        narrator.note(note)
    return table


def prepared_links(
    tables: "Sequence[SparkTable]", expand: str | None, narrator: Narrator, stages: "Stages"
) -> "tuple[Prepared, DataFrame, LinkFindings]":
    """Prepare subscriptions with nodes that only links name. Returns them, links by id, and oddities of the links.

    Of more than 5,000,000 links and nodes none is brought here, and every link must name nodes of the subscriptions.
    """
    from topicloom.spark.steps.links import fits_driver, fitted_to, matched, widened

    prepared = prepared_rows(tables[0], expand, narrator, stages)
    if not fits_driver(tables[1].rows, prepared.counts["nodes"]):
        return prepared, *matched(tables[1].rows, prepared, "the links")
    fitted = fitted_to(tables[1].rows, prepared.nodes)
    for sentence in fitted.findings.sentences:
        narrator.note(sentence)
    return *widened(prepared, fitted), fitted.findings


@contextmanager
def _check_folder(spark: SparkOptions, findings: "LinkFindings") -> Iterator[Path | None]:
    """Make a folder to check links in. Returns None where executors may not see it, or links have strangers."""
    if not is_embedded(spark.master, spark.remote) or findings.unknown or findings.transit:
        yield None
        return
    with TemporaryDirectory(prefix="topicloom-check-") as folder:
        yield Path(folder)


def tell_of_rows(narrator: Narrator, prepared: "Prepared") -> None:
    """Show the first rows that were rejected, and labels that deserve a look."""
    from topicloom.spark.steps.prepare import first_rejected, label_findings

    for note in example_notes(first_rejected(prepared)):
        narrator.note(note)
    for finding in label_findings(prepared):
        narrator.note(finding.sentence)


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


def links_checked(
    given: Sequence[Given],
    expand: str | None,
    engine: str,
    options: SparkOptions,
    work: "Work[tuple[Answer, LinkFindings]]",
    spread: "Callable[[], Callable[..., Answer]]",
    *,
    sentence: str,
) -> "tuple[Answer, LinkFindings]":
    """Answer about the links that an argument names for the subscriptions of another, and what is odd about the links.

    ``work`` answers in this process or in one task of Spark, as the engine says. Where the tables do not fit one task,
    ``spread`` gives the function that answers about them when they are prepared.
    """
    check_engine(engine, options)
    with narrated("starting") as narrator:
        from topicloom.runs.stages import Stages

        stages = Stages(narrator, narrator.note)
        if engine == MEMORY:
            return work(tables_in_memory(given, narrator), stages)

        def otherwise() -> "tuple[Answer, LinkFindings]":
            check = spread()
            prepared, links, findings = prepared_links(tables, expand, narrator, stages)
            with _check_folder(options, findings) as folder:
                return check(prepared, links, stages=stages, work=folder), findings

        with spark_tables(given, options, narrator) as (_, tables):
            return in_one_task_or(otherwise, engine, tables, work, stages=stages, sentence=sentence)


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
    tables: Sequence["SparkTable"],
    work: "Work[Answer]",
    *,
    stages: "Stages",
    sentence: str,
) -> Answer:
    """Answer of a function that one task of Spark runs, or of ``otherwise`` where the tables do not fit one task."""
    from topicloom.spark.steps.one_pass import in_tasks

    found = in_tasks(tables, [work], engine=engine, stages=stages, sentence=sentence)
    if found is None:
        return otherwise()
    if "connect" not in type(tables[0].rows).__module__:  # whose files may be the server's
        stages.note(HINT)
    return found[0]


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

    from topicloom.files.read.notes import notes_of
    from topicloom.files.read.source_plan import plan_source
    from topicloom.files.read.table import row_batches
    from topicloom.model.labels import ROWS
    from topicloom.runs.memory_limits import check_reading

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
