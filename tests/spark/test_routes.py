"""Routes on Spark are those in memory."""

import json

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


def labelled(drawn):
    pairs = [(f"n{v:02}", f"t{t:02}") for v, t in zip(drawn.nodes.tolist(), drawn.topics.tolist())]
    return tl.Interest.from_pairs([v for v, _ in pairs], [t for _, t in pairs])


@pytest.mark.parametrize("rated", [False, True])
def test_the_rows_are_those_in_memory(spark, monkeypatch, rated):
    monkeypatch.setattr("topicloom.spark.steps.topic_links._SUBSCRIPTIONS_A_BUCKET", 60)
    interest = labelled(tl.generate(nodes=40, topics=30, subscriptions=6, seed=3))
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


def test_a_plan_from_spark_is_the_plan_from_memory_and_a_wrong_row_is_found(spark, tmp_path, capsys):
    from topicloom.cli.app import main
    from topicloom.spark.steps import spark_routes

    overlay = tl.greedy_merge(labelled(tl.generate(nodes=40, topics=30, subscriptions=6, seed=3)))
    overlay.save(tmp_path / "overlay")
    tables = [spark.read.parquet(str(tmp_path / "overlay" / part)) for part in ("subscriptions", "links")]
    facts = spark_routes.write_plan(*tables, tmp_path / "plan", target="mosquitto")
    plan, expected = tl.Plan.load(tmp_path / "plan"), tl.Plan(tl.routes(overlay))
    assert (facts["broken"], facts["rows"], plan.target) == (0, expected.routes.n_rows, "mosquitto")
    assert facts["generation"] == plan.generation == expected.generation
    assert plan.routes.links.tolist() == overlay.links.tolist() and plan.routes.verify().ok
    assert plan.routes.order.tolist() == expected.routes.order.tolist()
    assert plan.routes.exact.tolist() == expected.routes.exact.tolist()
    prepared = spark_routes.prepare(tables[0])
    rows = spark.read.parquet(str(tmp_path / "plan" / "routes"))
    for wrong in ("topic <> 't03' OR src <> first", "topic <> 't03'"):
        first = rows.where("topic = 't03'").orderBy("src").first()["src"]
        assert spark_routes._broken(rows.where(wrong.replace("first", f"'{first}'")), prepared, tables[1]) == 1
    doubled = rows.union(rows.where("topic = 't05'").limit(1))
    assert spark_routes._broken(doubled, prepared, tables[1]) == 1
    assert (
        main(["routes", str(tmp_path / "overlay"), str(tmp_path / "new"), "--engine", "spark", "--standby", "1"]) == 2
    )
    assert "--standby" in capsys.readouterr().err


def test_an_overlay_that_does_not_fit_goes_to_spark_by_itself(shared_session, tmp_path, monkeypatch, capsys):
    from topicloom.cli.app import main
    from topicloom.cli.commands import routes

    overlay = tl.greedy_merge(labelled(tl.generate(nodes=10, topics=5, subscriptions=3, seed=3)))
    overlay.save(tmp_path / "overlay")

    def routed(plan, *more):
        code = main(["routes", str(tmp_path / "overlay"), str(tmp_path / plan), "--json", *more])
        printed = capsys.readouterr()
        return code, json.loads(printed.out or "{}"), printed.err

    code, asked, _ = routed("asked", "--engine", "spark")
    assert code == 0 and asked["ok"]
    code, small, _ = routed("small")
    assert code == 0 and set(asked) - set(small), "facts that only a run on Spark has"
    monkeypatch.setattr(routes, "available_memory", lambda: 10_000)
    code, sent, _ = routed("sent")
    assert code == 0 and set(sent) == set(asked)
    code, _, error = routed("kept", "--standby", "1")
    assert code == 2 and "GiB are at hand" in error
    code, kept, _ = routed("kept", "--engine", "memory")
    assert code == 0 and set(kept) == set(small)
    generations = {tl.Plan.load(tmp_path / plan).generation for plan in ("asked", "small", "sent", "kept")}
    assert generations == {tl.Plan(tl.routes(overlay)).generation}
