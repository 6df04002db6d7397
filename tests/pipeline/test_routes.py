"""Routes on Spark are those in memory."""

import pytest

import topicloom as tl
from topicloom.errors import NotTopicConnectedError
from topicloom.pipeline import route_overlay


def tables(spark, interest, links):
    names = interest.node_label
    topics = [interest.topic_label(t) for t in interest.topics.tolist()]
    wanted = list(zip([names(v) for v in interest.nodes.tolist()], topics))
    pairs = [(names(u), names(v)) for u, v in links.tolist()]
    return spark.createDataFrame(wanted, "node string, topic string"), spark.createDataFrame(pairs, ["src", "dst"])


@pytest.mark.parametrize("rated", [False, True])
def test_the_rows_are_those_in_memory(spark, monkeypatch, rated):
    monkeypatch.setattr("topicloom.pipeline.topic_links._SUBSCRIPTIONS_A_BUCKET", 60)
    drawn = tl.generate(nodes=40, topics=30, subscriptions=6, seed=3)
    pairs = [(f"n{v:02}", f"t{t:02}") for v, t in zip(drawn.nodes.tolist(), drawn.topics.tolist())]
    interest = tl.Interest.from_pairs([v for v, _ in pairs], [t for _, t in pairs])
    overlay = tl.full_mesh(interest)
    rates = {f"t{t:02}": float(t % 4) for t in range(30)} if rated else None
    found = route_overlay(*tables(spark, interest, overlay.links), rates=rates)
    assert found.columns == tl.routes(overlay).table().column_names
    expected = tl.routes(overlay, rates=rates).table().to_pylist()
    assert sorted(tuple(row) for row in found.collect()) == sorted(tuple(row.values()) for row in expected)


def test_a_topic_without_a_tree_is_named(spark):
    interest = tl.Interest.from_pairs(list("abcd"), list("xxyy"))
    overlay = tl.Overlay(interest, [(0, 1)])
    with pytest.raises(NotTopicConnectedError, match="'y'"):
        route_overlay(*tables(spark, interest, overlay.links))
