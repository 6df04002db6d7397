"""Checking from files gives what checking by joins gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.small_interests import interests, label_rows, labelled
from topicloom.errors import InvalidLinksError
from topicloom.files.read.read_options import ReadOptions
from topicloom.pipeline import design_overlay
from topicloom.runs.stages import Stages
from topicloom.spark.steps import check, design, links, mapped_check
from topicloom.spark.steps.check import measure_prepared, verify_prepared
from topicloom.spark.steps.mapped_check import bucketed
from topicloom.spark.steps.measure import topic_metrics
from topicloom.spark.steps.prepare import prepare
from topicloom.spark.steps.read import open_table
from topicloom.spark.steps.topic_links import TopicBucket


@pytest.fixture(scope="module")
def interest():
    return labelled(tl.generate(nodes=200, topics=30, subscriptions=5, popularity="zipf", alpha=1.0, seed=6))


@pytest.fixture(scope="module")
def table(spark, interest):
    return spark.createDataFrame(label_rows(interest), "node string, topic string").repartition(3).persist()


@pytest.fixture
def from_files(monkeypatch):
    """Every interest counts as large, and its topics are checked in several tasks."""
    monkeypatch.setattr(design, "SUBSCRIPTIONS_A_TASK", 0)
    monkeypatch.setattr(check, "SUBSCRIPTIONS_A_TASK", 0)
    monkeypatch.setattr(mapped_check, "_SUBSCRIPTIONS_A_BUCKET", 300)


def rows_of(table, *order):
    return [tuple(row) for row in table.orderBy(*order).collect()]


@pytest.mark.parametrize("method", ["gm", "dc", "rounds-gm"])
def test_a_design_checked_from_files_is_that_of_memory(table, interest, from_files, tmp_path, method):
    result = design_overlay(table, method=method, seed=3, work=tmp_path / "work", engine="distributed")
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


@settings(deadline=None, max_examples=80)
@given(interests(), st.sampled_from(["gm", "gm2", "cycle-pt"]), st.integers(0, 3))
def test_a_bucket_has_a_fragile_topic_exactly_if_its_overlay_is_not_two_connected(interest, method, missing):
    links = tl.design(interest, method).links[missing:]
    bucket = TopicBucket(interest, links, np.arange(interest.n_nodes), np.arange(interest.n_topics))
    fragile = topic_metrics(interest.n_subscriptions).answer(bucket)["fragile"].to_numpy(zero_copy_only=False)
    assert fragile.any() == (not tl.verify(interest, links, k=2).ok)
    assert {found.topic for found in tl.verify(interest, links, k=2).broken} >= set(np.flatnonzero(fragile))


def test_links_too_many_for_the_driver_are_matched_verified_and_measured_on_spark(
    spark, table, interest, from_files, tmp_path, monkeypatch
):
    monkeypatch.setattr(links, "BROUGHT_HERE", 0)
    given = tl.design(interest, "gm").links
    pairs = [(interest.node_label(u), interest.node_label(v)) for u, v in given]
    text = "\n".join(["src,dst", *(f"{src},{dst}" for src, dst in [*pairs, pairs[0][::-1]])])
    (tmp_path / "links.csv").write_text(text)
    rows = open_table(spark, tmp_path / "links.csv", ReadOptions.of_links()).rows
    prepared = prepare(table)
    assert not links.fits_driver(rows, interest.n_nodes)
    by_id, findings = links.matched(rows, prepared, "links.csv")
    assert (findings.rows, findings.links, findings.repeated) == (len(given) + 1, len(given), 1)
    assert findings.sentences == ()
    metrics = measure_prepared(prepared, by_id, stages=Stages(), work=tmp_path / "measured")
    assert metrics.to_dict() == tl.measure(interest, given).to_dict()
    fewer = by_id.where(by_id.src_id != int(given[0, 0]))
    verdict = verify_prepared(prepared, fewer, k=1, stages=Stages(), work=tmp_path / "verified")
    expected = tl.verify(interest, given[given[:, 0] != given[0, 0]])
    assert not verdict.ok and verdict.broken == expected.broken
    (tmp_path / "strange.csv").write_text("src,dst\nn000,nobody")
    strange = open_table(spark, tmp_path / "strange.csv", ReadOptions.of_links()).rows
    with pytest.raises(InvalidLinksError, match="'nobody'"):
        links.matched(strange, prepared, "strange.csv")
