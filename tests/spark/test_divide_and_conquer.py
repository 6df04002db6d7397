import numpy as np
import pytest

import topicloom as tl
from support.small_interests import label_rows, labelled
from topicloom.errors import InvalidOptionError, NotEnoughMemoryError
from topicloom.methods.registry import spec_of
from topicloom.pipeline import design_overlay
from topicloom.runs.memory_limits import check_memory
from topicloom.runs.stages import Stages
from topicloom.spark.dc.run import divide_and_conquer
from topicloom.spark.dc.work import run_folder
from topicloom.spark.steps.prepare import prepare

WORKLOAD = {"nodes": 150, "topics": 40, "subscriptions": 6, "popularity": "zipf", "alpha": 1.0, "seed": 4}


@pytest.fixture(scope="module")
def interest():
    return labelled(tl.generate(**WORKLOAD))


@pytest.fixture(scope="module")
def table(spark, interest):
    return spark.createDataFrame(label_rows(interest), "node string, topic string").persist()


@pytest.fixture(scope="module")
def prepared(table):
    return prepare(table)


OPTIONS = {
    "as in the paper": {},
    "alike, with a core": {"division": "similar", "partitions": 6},
    "a tree of merges": {"partitions": 12, "merge_limit": 40},
    "a small core leaves stars": {"division": "similar", "core": 2, "merge_limit": 30},
    "low-oda": {"inner": "low-oda", "rho": 2, "core": 10, "partitions": 4},
    "two-topic-connected": {"inner": "gm2", "division": "similar", "core": 10, "partitions": 5, "merge_limit": 40},
    "in rounds, with a core": {"inner": "rounds-gm", "core": 10, "partitions": 5, "merge_limit": 40},
    "refined": {"inner": "weighted-gm", "inner_effort": 30, "partitions": 3},
    "refined at k = 2": {"inner": "gm2", "inner_effort": 5, "partitions": 3},
    "in rounds, sparing": {"inner": "rounds-gm", "rho": 2, "division": "similar", "partitions": 4},
    "low-oda, a tree of merges": {"inner": "low-oda", "partitions": 12, "merge_limit": 30},
    "chosen": {"partitions": "auto"},
    "chosen, alike with a core": {"partitions": "auto", "division": "similar"},
    "one": {"partitions": 1},
    "as many as nodes": {"partitions": 150},
    "more than nodes": {"partitions": 1000},
    "empty partitions": {"partitions": 140, "core": 60},
}


ONE_TASK = ("a small core leaves stars", "in rounds, with a core")


@pytest.mark.parametrize(("name", "tasks"), [*((name, 3) for name in OPTIONS), *((name, 1) for name in ONE_TASK)])
def test_the_same_links_and_report_as_in_memory(prepared, interest, name, tasks):
    options = OPTIONS[name]
    expected = tl.design(interest, "dc", seed=7, **options)
    shuffled = prepared.interest.repartition(tasks)
    counts = {"n_nodes": interest.n_nodes, "n_topics": interest.n_topics}
    found = divide_and_conquer(shuffled, seed=7, options=options, **counts)
    rows = found.links.orderBy("order").collect()
    assert [row["order"] for row in rows] == list(range(expected.n_links))
    assert [[row["src_id"], row["dst_id"]] for row in rows] == expected.links.tolist()
    assert found.report == expected.report
    for kept in found.persisted:
        kept.unpersist()


def test_the_pipeline_designs_verifies_reports_and_removes_its_work_folder(table, interest, tmp_path):
    stages, work = Stages(), tmp_path / "work"
    options = {"partitions": 5, "seed": 2}
    result = design_overlay(table, method="dc", **options, work=work, stages=stages)
    assert result.work.parent == work and len(list(result.work.glob("*.parquet"))) == 5
    assert {"design/divide", "design/core", "design/conquer", "design/merge 1"} <= set(stages.seconds)
    assert stages.total < sum(stages.seconds.values())
    expected = tl.design(interest, "dc", **options)
    found = [(row["src"], row["dst"]) for row in result.links.orderBy("order").collect()]
    assert found == [(interest.node_label(u), interest.node_label(v)) for u, v in expected.links]
    assert result.verdict.ok and result.run["report"] == expected.report
    result.release()
    assert not list(work.iterdir())


def test_bad_options_are_refused_before_spark_works(table):
    with pytest.raises(InvalidOptionError, match="gm2"):
        design_overlay(table, method="dc", inner="ring-pt")
    with pytest.raises(InvalidOptionError, match="not 2"):
        design_overlay(table, method="dc", k=2)


@pytest.mark.parametrize("engine", ["spark", "distributed"])
def test_a_design_by_gm2_is_judged_at_2_by_one_task_and_by_many(table, interest, engine):
    options = {"partitions": 3, "inner": "gm2", "seed": 2}
    result = design_overlay(table, method="dc", **options, engine=engine)
    assert ("design/conquer" in result.run["seconds"]) == (engine == "distributed")
    assert result.verdict.ok and result.verdict.k == 2
    expected = tl.design(interest, "dc", **options)
    found = [(row["src"], row["dst"]) for row in result.links.orderBy("order").collect()]
    assert found == [(interest.node_label(u), interest.node_label(v)) for u, v in expected.links]
    assert result.run["report"] == expected.report
    result.release()


def test_a_work_folder_keeps_partitions_and_gives_them_back(prepared, interest, tmp_path):
    """What is there is not conquered again: a partition whose file was changed shows in the result."""
    options = {"partitions": 6, "merge_limit": 30}
    expected = tl.design(interest, "dc", seed=7, **options)
    given = {"n_nodes": interest.n_nodes, "n_topics": interest.n_topics, "seed": 7, "options": options}
    work, said = tmp_path / "work", []

    def links(found):
        return [[row["src_id"], row["dst_id"]] for row in found.links.orderBy("order").collect()]

    first = divide_and_conquer(prepared.interest, work=work, **given)
    assert links(first) == expected.links.tolist() and first.report == expected.report
    assert len(list(work.glob("*.parquet"))) == 6
    (work / "0000002.parquet").unlink()
    (work / "0000004.parquet").write_bytes(b"half of it")
    (work / ".0000005-of-a-killed-task").write_bytes(b"PAR1")
    kept = {path.name: path.stat().st_mtime_ns for path in work.glob("*.parquet") if path.stem != "0000004"}
    again = divide_and_conquer(prepared.interest, work=work, stages=Stages(keeper=said.append), **given)
    assert links(again) == expected.links.tolist() and again.report == expected.report
    assert said == ["reused 4 of 6 partitions that an earlier run had finished"]
    assert {name: (work / name).stat().st_mtime_ns for name in kept} == kept
    assert len(list(work.iterdir())) == 6


def test_a_work_folder_belongs_to_one_run(tmp_path):
    runs = [("a", 2, 0), ("b", 2, 0), ("a", 3, 0), ("a", "auto", 0), ("a", 2, 1)]
    folders = {run_folder(tmp_path, data, {"partitions": count}, seed) for data, count, seed in runs}
    assert len(folders) == 5


def test_one_topic_for_everyone(spark):
    rows = [(f"n{v:03}", "all") for v in range(300)]
    table = spark.createDataFrame(rows, "node string, topic string")
    result = design_overlay(table, method="dc", partitions=7, engine="distributed")
    assert result.verdict.ok and result.metrics.links == 299
    result.release()


def test_memory_is_estimated_for_partitions_not_for_the_whole(prepared):
    options = {"partitions": 50, "merge_limit": 2}
    small = check_memory(prepared.size, "dc", 10**9, workers=1, options=options)
    assert small < check_memory(prepared.size, "dc", 10**9, workers=1, options={"partitions": 2})
    with pytest.raises(NotEnoughMemoryError, match="more partitions"):
        check_memory(prepared.size, "dc", 2 * small - 1, workers=2, options=options)


def test_memory_of_one_process_is_that_of_the_interest_and_of_two_partitions(prepared):
    partition = spec_of("dc").bytes_needed(prepared.size, {"partitions": 5})
    held = check_memory(prepared.size, "gm", 10**9) - spec_of("gm").bytes_needed(prepared.size)
    assert check_memory(prepared.size, "dc", 10**9, options={"partitions": 5}) == held + 2 * partition


def test_skew(spark):
    """A topic that everyone wants and a node with very many topics."""
    rng = np.random.default_rng(0)
    rows = [("all", f"t{t:04}") for t in range(3000)] + [(f"n{v:03}", "t0000") for v in range(600)]
    rows += [(f"n{v:03}", f"t{t:04}") for v in range(600) for t in rng.choice(3000, 3)]
    table = spark.createDataFrame(rows, "node string, topic string")
    result = design_overlay(table, method="dc", partitions=8, engine="distributed")
    assert result.verdict.ok
    result.release()
