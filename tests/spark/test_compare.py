"""Methods side by side: the same metrics as in memory, a task each, the Pareto-best marked."""

import sys
from dataclasses import replace

import pytest
from pyspark.sql import functions as F

import topicloom as tl
from topicloom.methods.selection import MethodChoice
from topicloom.runs.comparison import Compared, evaluate, results_table, with_pareto_best
from topicloom.spark.steps.construct import _separate_keys, compare_methods

CHOICES = [MethodChoice.parse(text) for text in ("gm", "2d-oda", "low-oda:rho=8", "cycle-pt", "hub", "full-mesh")]


@pytest.fixture
def interest() -> tl.Interest:
    return tl.generate(nodes=80, topics=15, subscriptions=4, seed=7)


@pytest.fixture
def encoded(spark, interest):
    rows = list(zip(interest.nodes.tolist(), interest.topics.tolist()))
    return spark.createDataFrame(rows, "node_id int, topic_id int")


def test_figures_are_those_of_the_overlay_in_memory(encoded, interest) -> None:
    compared = compare_methods(encoded, CHOICES, seed=3, n_nodes=80, n_topics=15)
    assert [one.name for one in compared] == [choice.text for choice in CHOICES]
    for one, choice in zip(compared, CHOICES):
        overlay = tl.design(interest, choice.method, seed=3, **choice.options)
        metrics = tl.measure(interest, overlay.links)
        assert (one.links, one.max_degree, one.max_topic_diameter) == (
            overlay.n_links,
            metrics.max_degree,
            metrics.max_topic_diameter,
        )
        assert one.broken_topics + one.relayed_topics == len(tl.verify(interest, overlay.links).broken)
        assert one.survives_one_failure == tl.verify(interest, overlay.links, 2).ok
        assert one.reference == tl.METHODS[choice.method].reference
        assert one.refused is None and one.seconds is not None and one.seconds >= 0
    by_name = {one.name: one for one in compared}
    assert by_name["gm"].unwanted_relays == 0
    assert by_name["hub"].unwanted_relays > 0
    assert by_name["hub"].mean_hops is None and by_name["full-mesh"].mean_hops == 1.0


@pytest.mark.parametrize("count", [1, 2, 7, 13])
def test_every_method_is_a_task_of_its_own(spark, count: int) -> None:
    keys = _separate_keys(spark.range(1), count)
    table = spark.createDataFrame([(key,) for key in keys], "task bigint").repartition(count, "task")
    assert table.select(F.spark_partition_id().alias("p")).distinct().count() == len(keys) == count


def test_a_method_that_refuses_does_not_stop_the_others(interest, monkeypatch) -> None:
    monkeypatch.setattr(sys.modules["topicloom.methods.references.full_mesh"], "MOST_LINKS", 100)
    assert "up to 100 are accepted" in evaluate(interest, MethodChoice.parse("full-mesh"), 0)["refused"]


def compared(
    name: str, links: int, max_degree: int = 5, hops: float | None = 3.0, *, survives: bool = False
) -> Compared:
    return Compared(
        name=name,
        reference=False,
        links=links,
        average_degree=2.0,
        max_degree=max_degree,
        mean_topic_diameter=3.0,
        max_topic_diameter=4,
        mean_hops=hops,
        hops_standard_error=0.0,
        unwanted_relays=0,
        broken_topics=0,
        idle_links=0,
        survives_one_failure=survives,
        seconds=1.0,
        refused=None,
    )


def test_pareto_best() -> None:
    few, more, even = compared("few", 10), compared("more", 11), compared("even", 10)
    lost = compared("lost", 10, hops=None)
    safe = compared("safe", 20, survives=True)
    refused = replace(few, name="refused", links=None, refused="too large")
    broken = replace(compared("broken", 1), broken_topics=92)  # the fewest links of all, and no use
    everyone = [few, more, even, lost, safe, refused, broken]
    best = {one.name for one in with_pareto_best(everyone) if one.pareto_best}
    assert best == {"few", "even", "safe"}


def test_results_are_a_table_with_nulls_for_infinite() -> None:
    table = results_table([compared("a", 10), compared("b", 3, hops=None)])
    assert table["mean_hops"].to_pylist() == [3.0, None]
    assert set(table.column_names) == set(compared("a", 1).to_dict())
