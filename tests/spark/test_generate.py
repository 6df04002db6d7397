"""Spark draws the same subscriptions as memory, however the work is divided."""

import pytest

import topicloom as tl
from topicloom.errors import InvalidOptionError
from topicloom.pipeline import generate_subscriptions
from topicloom.spark.steps import synthetic


def pairs_in_memory(**options):
    interest = tl.generate(**options)
    return list(zip(interest.node_labels[interest.nodes].tolist(), interest.topic_labels[interest.topics].tolist()))


def pairs_by_spark(spark, **options):
    return sorted(tuple(row) for row in generate_subscriptions(spark, **options).collect())


@pytest.mark.parametrize(
    "options",
    [
        {"nodes": 300, "topics": 120, "subscriptions": 20, "popularity": "zipf", "alpha": 0.8, "seed": 3},
        {
            "nodes": 300,
            "topics": 50,
            "subscriptions": 4,
            "popularity": "exponential",
            "sizes": "mean",
            "seed": 4,
        },
        {"nodes": 300, "topics": 120, "sizes": "power-law", "min_size": 2, "max_size": 30, "seed": 5},
    ],
    ids=lambda options: options.get("sizes", "fixed"),
)
def test_spark_equals_memory_under_any_partitioning(spark, options, monkeypatch):
    expected = pairs_in_memory(**options)
    assert pairs_by_spark(spark, **options) == expected
    monkeypatch.setattr(synthetic, "_ROWS_AT_ONCE", 300)  # many blocks, uneven ones included
    assert pairs_by_spark(spark, partitions=5, **options) == expected


def test_columns_and_laziness(spark):
    subscriptions = generate_subscriptions(spark, nodes=2_000_000_000, partitions=3)
    assert [(field.name, field.dataType.simpleString()) for field in subscriptions.schema] == [
        ("node", "string"),
        ("topic", "string"),
    ]


def test_no_nodes_give_no_rows(spark):
    assert generate_subscriptions(spark, nodes=0).count() == 0


def test_bad_options_are_refused_before_spark_is_asked():
    with pytest.raises(InvalidOptionError, match="there are 10 topics"):
        generate_subscriptions(None, topics=10)
    with pytest.raises(InvalidOptionError, match="partitions is 0"):
        generate_subscriptions(None, partitions=0)
    with pytest.raises(InvalidOptionError, match="partitions is 'x'; a whole number from 1 up"):
        generate_subscriptions(None, partitions="x")
