"""Checking from files gives what checking by joins gives."""

import numpy as np
import pytest

import topicloom as tl
from topicloom.pipeline import design, design_overlay, mapped_check
from topicloom.pipeline.mapped_check import bucketed


@pytest.fixture(scope="module")
def interest():
    drawn = tl.generate(nodes=200, topics=30, subscriptions=5, popularity="zipf", alpha=1.0, seed=6)
    return tl.Interest.from_pairs([f"n{v:03}" for v in drawn.nodes], [f"t{t:02}" for t in drawn.topics])


@pytest.fixture(scope="module")
def table(spark, interest):
    rows = [(interest.node_label(v), interest.topic_label(t)) for v, t in zip(interest.nodes, interest.topics)]
    return spark.createDataFrame(rows, "node string, topic string").repartition(3).persist()


@pytest.fixture
def from_files(monkeypatch):
    """Every interest counts as large, and its topics are checked in several tasks."""
    monkeypatch.setattr(design, "SUBSCRIPTIONS_A_TASK", 0)
    monkeypatch.setattr(mapped_check, "_SUBSCRIPTIONS_A_BUCKET", 300)


def rows_of(table, *order):
    return [tuple(row) for row in table.orderBy(*order).collect()]


@pytest.mark.parametrize("method", ["gm", "dc", "rounds-gm"])
def test_a_design_checked_from_files_is_that_of_memory(table, interest, from_files, tmp_path, method):
    result = design_overlay(table, method=method, seed=3, work=tmp_path / "work")
    expected = tl.design(interest, method, seed=3)
    found = rows_of(result.links, "order")
    assert [(src, dst) for src, dst, _, _ in found] == [
        (interest.node_label(u), interest.node_label(v)) for u, v in expected.links
    ]
    shared = [len(np.intersect1d(interest.topics_of(u), interest.topics_of(v))) for u, v in expected.links.tolist()]
    assert [count for _, _, count, _ in found] == shared
    assert result.verdict.ok and result.metrics.to_dict() == tl.measure(interest, expected.links).to_dict()
    degree = dict(zip([interest.node_label(v) for v in range(interest.n_nodes)], expected.degree().tolist()))
    assert {row["id"]: row["degree"] for row in result.nodes.collect()} == degree
    assert len(rows_of(result.topics, "topic")) == interest.n_topics
    assert result.work.exists()
    result.release()
    assert not result.work.exists()


def test_buckets_have_about_equal_loads_and_every_topic_is_in_one():
    sizes = np.array([100, 1, 1, 50, 49, 30, 30, 30])
    bucket = bucketed(sizes, 3)
    loads = np.bincount(bucket, weights=sizes, minlength=3)
    assert len(bucket) == len(sizes)
    assert loads.max() <= 4 / 3 * max(sizes.max(), sizes.sum() / 3)  # the bound of this rule (Graham, 1969)
