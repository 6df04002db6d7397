"""Run cells on Spark: the grid is a DataFrame, a task measures one cell or a few on the same interest."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from topicloom_papers.cells.cell_store import SCHEMA, CellStore
from topicloom_papers.cells.cells import Cell, canonical
from topicloom_papers.measurements import MEASUREMENTS

_COLUMNS = "`key` string, fingerprint string, cell string, metric string, `at` double, value double, seconds double"
# A wave is a Spark job whose values are stored together; a killed run loses one.
WAVE_SECONDS = 20.0
NEW_CELLS = 4  # of a kind that none is known of, in a wave of one core
LARGEST_WAVE = 400


def run_cells(
    spark: SparkSession, cells: Sequence[Cell], store: CellStore, *, cores: int, say: Callable[[str], None]
) -> None:
    """Measure the cells that the store does not hold yet.

    Cells that take times for ratios come last, one at a time with nothing else running. The others go in waves of
    some seconds each, tasks side by side on all cores.
    """
    store.fold()
    missing = store.missing(cells, lambda cell: MEASUREMENTS[cell.measurement].fingerprint(cell))
    progress = RunProgress(missing, done=len(cells) - len(missing), cores=cores, say=say)
    together = [cell for cell in missing if not MEASUREMENTS[cell.measurement].alone]
    alone = [cell for cell in missing if MEASUREMENTS[cell.measurement].alone]
    while together:
        wave = _next_wave(together, progress, cores)
        _measure(spark, _tasks(wave), store, progress)
        together = together[len(wave) :]
    for cell in alone:
        _measure(spark, [[cell]], store, progress)
    store.fold()


def _next_wave(cells: Sequence[Cell], progress: "RunProgress", cores: int) -> Sequence[Cell]:
    """Take as many cells as are estimated to fill the seconds of a wave, and few of a kind that is new.

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


def _measure(spark: SparkSession, tasks: Sequence[Sequence[Cell]], store: CellStore, progress: "RunProgress") -> None:
    try:
        values = measured(grid(spark, tasks)).toArrow()
    except Exception as error:
        if isinstance(error.__context__, KeyboardInterrupt):  # PySpark asks the job for its result even then
            raise KeyboardInterrupt from error
        raise
    store.add(values)
    seconds = dict(zip(values["key"].to_pylist(), values["seconds"].to_pylist()))
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
    """(task, cells) -> a row for each value."""
    return tasks.select("cells").mapInArrow(_measure_batches, _COLUMNS)


def _measure_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for texts in batch["cells"].to_pylist():
            for text in texts:
                yield from values_of(Cell.parse(text)).to_batches()


def values_of(cell: Cell) -> pa.Table:
    """Measure a cell. Returns a row for each value."""
    kind = MEASUREMENTS[cell.measurement]
    start = time.perf_counter()
    values = list(kind.function(cell))
    seconds = time.perf_counter() - start
    count = len(values)
    columns = [
        [cell.key] * count,
        [kind.fingerprint(cell)] * count,
        [cell.text] * count,
        [value.metric for value in values],
        [value.at for value in values],
        [float(value.value) for value in values],
        [seconds] * count,
    ]
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, SCHEMA)], schema=SCHEMA)


class RunProgress:
    """Tells after each wave how many cells are done and an estimate of what is left.

    The estimate takes the seconds per weight of finished cells of the same measurement and method, and the mean of all
    finished cells where there is none yet.
    """

    def __init__(self, missing: Sequence[Cell], *, done: int, cores: int, say: Callable[[str], None]) -> None:
        self._left = {cell.key: cell for cell in missing}
        self._total = done + len(missing)
        self._cores, self._say = cores, say
        self._spent: dict[tuple[str, str], tuple[float, float]] = {}
        self._finished = 0
        self._began = time.monotonic()
        if done:
            say(f"{done:,} of {self._total:,} cells were measured before")

    def advance(self, finished: Iterable[tuple[Cell, float]]) -> None:
        """Count finished cells, given with the seconds each took, and say where the run stands."""
        for cell, seconds in finished:
            self._left.pop(cell.key, None)
            self._finished += 1
            kind = (cell.measurement, cell.method)
            before = self._spent.get(kind, (0.0, 0.0))
            self._spent[kind] = before[0] + seconds, before[1] + cell.weight
        elapsed = time.monotonic() - self._began
        rest = f"about {_duration(self.seconds_left())} left" if self._left else "done"
        self._say(f"{self._total - len(self._left):,} of {self._total:,} cells, {_duration(elapsed)}; {rest}")

    def seconds_of(self, cell: Cell) -> float | None:
        """Estimate the seconds that a cell takes. Returns None while no cell like it is finished."""
        spent = self._spent.get((cell.measurement, cell.method))
        return None if spent is None else cell.weight * spent[0] / spent[1]

    def seconds_left(self) -> float:
        """Estimate of the seconds that the other cells take."""
        mean = sum(spent for spent, _ in self._spent.values()) / max(self._finished, 1)
        known = [self.seconds_of(cell) for cell in self._left.values()]
        return sum(mean if seconds is None else seconds for seconds in known) / self._cores


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


_TINY = {"nodes": 200, "topics": 12, "subscriptions": 4}
_COMPILED_ELSEWHERE = ("star-bound",)  # a linear program, which would take long on so dense an interest


def warm(cells: Iterable[Cell]) -> None:
    """Run each kind of cell once on a tiny interest. With cached code that takes a moment."""
    kinds = {(cell.measurement, cell.method, cell.workload.get("sizes")): cell for cell in cells}
    kinds = {kind: cell for kind, cell in kinds.items() if cell.measurement not in _COMPILED_ELSEWHERE}
    for cell in kinds.values():
        options = {**cell.options, **({"rounds": 30, "every": 10} if "rounds" in cell.options else {})}
        sizes = {"sizes": cell.workload["sizes"]} if cell.workload.get("sizes") == "mean" else {}
        list(MEASUREMENTS[cell.measurement].function(Cell(cell.measurement, cell.method, {**_TINY, **sizes}, options)))
