import numpy as np
import pytest

import topicloom as tl
from topicloom.errors import InvalidOptionError
from topicloom.pipeline import design_overlay
from topicloom.pipeline.divide_and_conquer import divide_and_conquer
from topicloom.pipeline.prepare import prepare

WORKLOAD = {"nodes": 150, "topics": 40, "subscriptions": 6, "popularity": "zipf", "alpha": 1.0, "seed": 4}


@pytest.fixture(scope="module")
def interest():
    drawn = tl.generate(**WORKLOAD)
    return tl.Interest.from_pairs([f"n{v:03}" for v in drawn.nodes], [f"t{t:02}" for t in drawn.topics])


@pytest.fixture(scope="module")
def table(spark, interest):
    rows = [(interest.node_label(v), interest.topic_label(t)) for v, t in zip(interest.nodes, interest.topics)]
    return spark.createDataFrame(rows, "node string, topic string").persist()


@pytest.fixture(scope="module")
def prepared(table):
    return prepare(table)


OPTIONS = {
    "as in the paper": {},
    "alike, with a core": {"division": "similar", "partitions": 6},
    "a tree of merges": {"partitions": 12, "merge_limit": 40},
    "a small core leaves stars": {"division": "similar", "core": 2, "merge_limit": 30},
    "low-oda": {"inner": "low-oda", "rho": 2, "core": 10, "partitions": 4},
    "chosen": {"partitions": "auto"},
    "one": {"partitions": 1},
    "more than nodes": {"partitions": 1000},
}


@pytest.mark.parametrize(("name", "tasks"), [*((name, 3) for name in OPTIONS), ("a small core leaves stars", 1)])
def test_the_same_links_and_report_as_in_memory(prepared, interest, name, tasks):
    options = OPTIONS[name]
    expected = tl.design(interest, "dc", seed=7, **options)
    shuffled = prepared.encoded.repartition(tasks)
    counts = {"n_nodes": interest.n_nodes, "n_topics": interest.n_topics}
    found = divide_and_conquer(shuffled, seed=7, options=options, **counts)
    rows = found.links.orderBy("order").collect()
    assert [row["order"] for row in rows] == list(range(expected.n_links))
    assert [[row["src_id"], row["dst_id"]] for row in rows] == expected.links.tolist()
    assert found.report == expected.report
    for kept in found.persisted:
        kept.unpersist()


def test_the_pipeline_designs_verifies_and_reports(table, interest):
    result = design_overlay(table, method="dc", partitions=5, division="similar", seed=2)
    expected = tl.design(interest, "dc", partitions=5, division="similar", seed=2)
    found = [(row["src"], row["dst"]) for row in result.links.orderBy("order").collect()]
    assert found == [(interest.node_label(u), interest.node_label(v)) for u, v in expected.links]
    assert result.verdict.ok and result.run["report"] == expected.report
    result.release()


def test_bad_options_are_refused_before_spark_works(table):
    with pytest.raises(InvalidOptionError, match="gm2"):
        design_overlay(table, method="dc", inner="gm2")


def test_skew(spark):
    """A topic that everyone wants and a node with very many topics."""
    rng = np.random.default_rng(0)
    rows = [("all", f"t{t:05}") for t in range(10_000)] + [(f"n{v:04}", "t00000") for v in range(2000)]
    rows += [(f"n{v:04}", f"t{t:05}") for v in range(2000) for t in rng.choice(10_000, 3)]
    result = design_overlay(spark.createDataFrame(rows, "node string, topic string"), method="dc", partitions=8)
    assert result.verdict.ok
    result.release()
