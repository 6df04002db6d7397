"""Cells on real Spark: stored, resumed, the same for the same seeds."""

from dataclasses import replace

import pytest
from pyarrow import compute, parquet

from topicloom_papers.cells import runner
from topicloom_papers.cells.cell_store import CellStore, write_whole
from topicloom_papers.cells.cells import Cell, distinct
from topicloom_papers.cells.runner import RunProgress, run_cells, values_of
from topicloom_papers.cells.studies import Scale
from topicloom_papers.studies import STUDIES, known_kinds

QUICK = Scale("quick", seeds=1)


@pytest.fixture(scope="module")
def cells():
    return distinct([*STUDIES["gm-fig4a"].grid(QUICK), *STUDIES["dc-fig5"].grid(QUICK)])


def test_run_resume_and_repeat(spark, cells, tmp_path):
    said = []
    store = CellStore(tmp_path / "one")
    run_cells(spark, cells, store, cores=2, say=said.append)
    first = store.load()
    assert set(first["key"].to_pylist()) == {cell.key for cell in cells}
    assert said[-1].endswith("done") and "left" in said[0]
    assert not list((tmp_path / "one" / "cells").iterdir())

    # one cell is lost: it alone is measured again, and comes out the same
    lost = next(cell for cell in cells if cell.measurement == "design")
    kept = first.filter(compute.not_equal(first["key"], lost.key))
    write_whole(kept, store.path)
    said.clear()
    run_cells(spark, cells, store, cores=2, say=said.append)
    assert said[0] == f"{len(cells) - 1} of {len(cells)} cells were measured before"
    assert len(said) == 2
    untimed = ["key", "fingerprint", "cell", "metric", "at", "value"]
    again = store.load().filter(compute.equal(store.load()["key"], lost.key)).select(untimed)
    assert again.equals(first.filter(compute.equal(first["key"], lost.key)).select(untimed))

    # another folder, the same seeds: the same values, times aside
    other = CellStore(tmp_path / "two")
    run_cells(spark, [cell for cell in cells if "time" not in cell.measurement], other, cores=2, say=said.append)
    values = {(row["key"], row["metric"], row["at"]): row["value"] for row in first.to_pylist()}
    for row in other.load().to_pylist():
        assert values[row["key"], row["metric"], row["at"]] == row["value"]


def test_a_cell_is_a_task_of_its_own_partition(spark, cells):
    tasks = runner._tasks(cells)
    grid = runner.grid(spark, tasks)
    assert grid.columns == ["task", "cells"]
    from pyspark.sql import functions as F

    placed = grid.select(F.spark_partition_id().alias("partition"), "task").collect()
    assert len({row["partition"] for row in placed}) == len(tasks) == len(placed)


def test_a_killed_run_keeps_its_waves(tmp_path, cells):
    store = CellStore(tmp_path)
    store.add(values_of(cells[0]))
    store.add(values_of(cells[1]))
    reopened = CellStore(tmp_path)  # nothing was folded

    def fingerprint(cell):
        return runner.MEASUREMENTS[cell.measurement].fingerprint(cell)

    assert [cell.key for cell in reopened.missing(cells[:3], fingerprint)] == [cells[2].key]
    reopened.fold()
    assert len(set(parquet.read_table(reopened.path)["key"].to_pylist())) == 2
    # other code: measured again, and the later values count
    assert len(reopened.missing(cells[:2], lambda _: "other")) == 2
    reopened.add(values_of(cells[0]))
    assert len(reopened.load()) == len(parquet.read_table(reopened.path))


def test_cells_that_no_study_asks_for_are_forgotten(tmp_path, cells):
    known = known_kinds()
    assert {cell.kind for cell in cells} <= known
    store = CellStore(tmp_path)
    store.add(values_of(cells[0]))
    store.add(values_of(Cell("design", "gm", {"nodes": 77, "topics": 10, "subscriptions": 3})))
    store.add(values_of(replace(cells[0], seed=99)))  # another seed of a cell that is asked for
    assert store.prune(known) == 1
    assert set(CellStore(tmp_path).load()["key"].to_pylist()) == {cells[0].key, replace(cells[0], seed=99).key}
    assert store.prune(known) == 0


def test_estimate_of_what_is_left():
    made = [Cell("design", "gm", {"nodes": nodes}, seed=seed) for nodes in (100, 400) for seed in range(2)]
    said = []
    progress = RunProgress(made, done=3, cores=2, say=said.append)
    progress.advance([(made[0], 1.0), (made[1], 1.0)])
    assert progress.seconds_left() == pytest.approx(2 * 8 / 2)  # four times the nodes: eight times the weight
    assert said == ["3 of 7 cells were measured before", "5 of 7 cells, 0 s; about 8 s left"]


def test_a_wave_of_long_cells_has_a_task_for_each_core():
    cells = [Cell("design", "gm", {"nodes": 10, "topics": 3, "subscriptions": 2}, seed=seed // 2) for seed in range(12)]
    progress = RunProgress(cells, done=0, cores=2, say=lambda _: None)
    progress.advance([(cells[0], 1000.0)])  # as long as that takes one, the others are expected to take
    wave = runner._next_wave(cells, progress, cores=2)
    assert len(wave) == 3 and len(runner._tasks(wave)) == 2
