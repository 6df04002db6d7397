"""Rounds on Spark: the links of memory, rounds that are kept, and what becomes of damaged files."""

import numpy as np
import pytest

import topicloom as tl
from support.small_interests import label_rows, labelled
from topicloom.errors import OutputExistsError
from topicloom.methods.rounds import round_steps
from topicloom.pipeline import design_overlay
from topicloom.runs.stages import Stages
from topicloom.spark.rounds.design_in_rounds import design_in_rounds
from topicloom.spark.steps import shared_files
from topicloom.spark.steps.prepare import prepare

OPTIONS = {"orders": 2, "block": 20, "best": 2, "floor": 0.8}


@pytest.fixture(scope="module")
def interest():
    return labelled(tl.generate(nodes=300, topics=40, subscriptions=6, popularity="zipf", alpha=1.0, seed=4))


@pytest.fixture(scope="module")
def prepared(spark, interest):
    return prepare(spark.createDataFrame(label_rows(interest), "node string, topic string").persist())


def designed(prepared, interest, work, *, tasks=3, stages=None, seed=7, options=OPTIONS):
    return design_in_rounds(
        prepared.interest.repartition(tasks),
        seed=seed,
        options=options,
        n_nodes=interest.n_nodes,
        n_topics=interest.n_topics,
        subscribers=np.diff(interest.topic_indptr),
        work=work,
        stages=stages,
    )


def links_of(found):
    rows = found.links.orderBy("order").collect()
    assert [row["order"] for row in rows] == list(range(found.n_links))
    return [[row["src_id"], row["dst_id"]] for row in rows]


@pytest.mark.parametrize("tasks", [1, 5])
def test_the_same_links_and_report_as_in_memory(prepared, interest, tmp_path, monkeypatch, tasks):
    """Chunks and stretches are cut small, so that there are several of each."""
    monkeypatch.setattr(shared_files, "_CHUNK_NODES", 64)
    monkeypatch.setattr(round_steps, "BLOCKS_A_STRETCH", 4)
    stages = Stages()
    found = designed(prepared, interest, tmp_path / "work", tasks=tasks, stages=stages)
    expected = tl.design(interest, "rounds-gm", seed=7, **OPTIONS)
    assert links_of(found) == expected.links.tolist() and found.report == expected.report
    assert {"design/files", "design/orders", "design/candidates", "design/merge"} <= set(stages.seconds)


def test_stretches_that_add_links_give_those_of_memory(prepared, interest, tmp_path, monkeypatch):
    """As above 2^28 subscriptions. All nodes are one stretch for the tasks, which do not see what is patched here."""
    monkeypatch.setattr(round_steps, "ONE_MERGE_UP_TO", 0)
    found = designed(prepared, interest, tmp_path / "work")
    expected = tl.design(interest, "rounds-gm", seed=7, **OPTIONS)
    assert links_of(found) == expected.links.tolist() and found.report == expected.report


def test_finished_rounds_are_kept_and_not_played_again(prepared, interest, tmp_path):
    """A round that was begun is played again; one that is finished shows in the result, whatever its file holds."""
    work, said = tmp_path / "work", []
    stop = RuntimeError("the driver dies in its third round")

    def listener(sentence):
        if sentence.startswith("round 3") and "merging" in sentence:
            raise stop

    with pytest.raises(RuntimeError):
        designed(prepared, interest, work, stages=Stages(listener))
    assert len(list(work.glob("links-*.parquet"))) == 2
    (work / ".label-3.npy-of-a-killed-task").write_bytes(b"half")
    found = designed(prepared, interest, work, stages=Stages(keeper=said.append))
    expected = tl.design(interest, "rounds-gm", seed=7, **OPTIONS)
    assert said == ["reused 2 rounds that an earlier run had finished"]
    assert links_of(found) == expected.links.tolist() and found.report == expected.report
    assert not list(work.glob(".*")) and not list(work.glob("order-*"))


def test_nothing_to_connect_gives_no_links(spark, tmp_path):
    interest = tl.Interest.from_pairs(["a", "b"], ["x", "y"])
    prepared = prepare(spark.createDataFrame(label_rows(interest), "node string, topic string"))
    found = designed(prepared, interest, tmp_path / "work")
    assert found.n_links == 0 and links_of(found) == [] and found.report == {"rounds": []}


def test_files_that_the_driver_does_not_see_are_a_sentence(prepared, interest, tmp_path, monkeypatch):
    monkeypatch.setattr(shared_files, "run_tasks", lambda *_: [])
    with pytest.raises(OutputExistsError, match="both share"):
        designed(prepared, interest, tmp_path / "work")


def test_auto_says_what_it_chose_and_why(spark, interest):
    said = []
    table = spark.createDataFrame(label_rows(interest), "node string, topic string")
    result = design_overlay(table, method="auto", stages=Stages(keeper=said.append))
    assert "auto: weighted-gm, because 300 nodes are at most 10,000: all pairs are looked at" in said
    assert result.run["method"] == "weighted-gm" and result.verdict.ok
    assert result.metrics.links == tl.design(interest, "auto").n_links
    result.release()
