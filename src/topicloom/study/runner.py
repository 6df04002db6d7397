"""Run cells on Spark: the grid is a DataFrame, a task measures one cell or a few on the same interest."""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from topicloom.study.cell_store import SCHEMA, Store
from topicloom.study.cells import Cell, canonical
from topicloom.study.measurements import MEASUREMENTS
from topicloom.study.progress import Progress

_COLUMNS = "`key` string, fingerprint string, cell string, metric string, `at` double, value double, seconds double"
# A wave is a Spark job whose figures are stored together; a killed run loses one.
WAVE_SECONDS = 20.0
NEW_CELLS = 4  # of a kind that none is known of, in a wave of one core
LARGEST_WAVE = 400


def run_cells(
    spark: SparkSession, cells: Sequence[Cell], store: Store, *, cores: int, say: Callable[[str], None]
) -> None:
    """Measure the cells that the store does not hold yet.

    Cells that take times for ratios come last, one at a time with nothing else running. The others go in waves of
    some seconds each, tasks side by side on all cores.
    """
    store.fold()
    fingerprints = {name: kind.fingerprint for name, kind in MEASUREMENTS.items()}
    missing = store.missing(cells, fingerprints)
    progress = Progress(missing, done=len(cells) - len(missing), cores=cores, say=say)
    together = [cell for cell in missing if not MEASUREMENTS[cell.measurement].alone]
    alone = [cell for cell in missing if MEASUREMENTS[cell.measurement].alone]
    while together:
        wave = _next_wave(together, progress, cores)
        _measure(spark, _tasks(wave), store, progress)
        together = together[len(wave) :]
    for cell in alone:
        _measure(spark, [[cell]], store, progress)
    store.fold()


def _next_wave(cells: Sequence[Cell], progress: Progress, cores: int) -> Sequence[Cell]:
    """The first cells, as many as are estimated to take the seconds of a wave; few of a kind that is new.

    However long they take, there is a task for each core.
    """
    seconds, tasks = 0.0, set()
    for count, cell in enumerate(cells[:LARGEST_WAVE]):
        estimate = progress.seconds_of(cell)
        seconds += WAVE_SECONDS / NEW_CELLS if estimate is None else estimate
        tasks.add(_interest_key(cell))
        if seconds > cores * WAVE_SECONDS and len(tasks) >= cores:
            return cells[: count + 1]
    return cells[:LARGEST_WAVE]


def _measure(spark: SparkSession, tasks: Sequence[Sequence[Cell]], store: Store, progress: Progress) -> None:
    try:
        figures = measured(grid(spark, tasks)).toArrow()
    except Exception as error:
        if isinstance(error.__context__, KeyboardInterrupt):  # PySpark asks the job for its result even then
            raise KeyboardInterrupt from error
        raise
    store.add(figures)
    seconds = dict(zip(figures["key"].to_pylist(), figures["seconds"].to_pylist()))
    progress.advance([(cell, seconds.get(cell.key, 0.0)) for task in tasks for cell in task])


def _tasks(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Cells on the same interest that follow each other make a task, which draws it once."""
    return [list(task) for _, task in groupby(cells, key=_interest_key)]


def _interest_key(cell: Cell) -> tuple[str, int]:
    return canonical(cell.workload), cell.seed


def grid(spark: SparkSession, tasks: Sequence[Sequence[Cell]]) -> DataFrame:
    """(task, cells): a row and a partition a task, its cells as JSON."""
    rows = [(number, [cell.text for cell in task]) for number, task in enumerate(tasks)]
    texts = spark.createDataFrame(rows, "task bigint, cells array<string>")
    # range() makes exactly one partition a task, which hashing would not
    numbers = spark.range(0, len(tasks), 1, len(tasks)).withColumnRenamed("id", "task")
    return numbers.join(F.broadcast(texts), "task").select("task", "cells")


def measured(tasks: DataFrame) -> DataFrame:
    """(task, cells) -> a row a figure."""
    return tasks.select("cells").mapInArrow(_measure_batches, _COLUMNS)


def _measure_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for texts in batch["cells"].to_pylist():
            for text in texts:
                yield from figures_of(Cell.parse(text)).to_batches()


def figures_of(cell: Cell) -> pa.Table:
    """Measure a cell; a row a figure."""
    kind = MEASUREMENTS[cell.measurement]
    start = time.perf_counter()
    figures = list(kind.function(cell))
    seconds = time.perf_counter() - start
    count = len(figures)
    columns = [
        [cell.key] * count,
        [kind.fingerprint] * count,
        [cell.text] * count,
        [figure.metric for figure in figures],
        [figure.at for figure in figures],
        [float(figure.value) for figure in figures],
        [seconds] * count,
    ]
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, SCHEMA)], schema=SCHEMA)
