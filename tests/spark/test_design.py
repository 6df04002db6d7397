import gc
import re
import time
from functools import partial

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F

import topicloom as tl
from support.small_interests import label_rows
from topicloom import pipeline
from topicloom.errors import (
    InputNotFoundError,
    InvalidLinksError,
    InvalidOptionError,
    MissingColumnError,
    NotEnoughMemoryError,
)
from topicloom.methods.registry import Size
from topicloom.pipeline import read_subscriptions, route_overlay, write_overlay
from topicloom.runs.memory_limits import check_memory
from topicloom.spark.session import kept_tables
from topicloom.spark.session.columns import NODE_ID, TOPIC_ID
from topicloom.spark.steps.encode import ranked
from topicloom.spark.steps.prepare import prepare

# Few rows would be one task's; the tests below are about many tasks unless they say otherwise.
design_overlay, verify_overlay, measure_overlay = (
    partial(function, engine="distributed")
    for function in (pipeline.design_overlay, pipeline.verify_overlay, pipeline.measure_overlay)
)
WORKLOAD = {"nodes": 120, "topics": 25, "subscriptions": 5, "popularity": "zipf", "alpha": 1.0, "seed": 4}


@pytest.fixture(scope="module")
def interest():
    return tl.generate(**WORKLOAD)


@pytest.fixture(scope="module")
def table(spark, interest):
    return spark.createDataFrame(label_rows(interest), "node string, topic string").persist()


@pytest.fixture(scope="module")
def designed(table):
    """One design that several tests look at."""
    return design_overlay(table, method="gm", seed=7)


def links_of(result):
    return [(row["src"], row["dst"]) for row in result.links.orderBy("order").collect()]


def in_memory(interest, method, **options):
    links = tl.design(interest, method, **options).links
    return [(interest.node_label(u), interest.node_label(v)) for u, v in links]


@pytest.mark.parametrize("labels", [20, 6000], ids=["one range", "many ranges"])
def test_dense_ids_are_those_of_the_model(spark, labels):
    rng = np.random.default_rng(labels)
    letters = ["a", "B", "9", "10", "é", "日", "\U0001f600", "z\u0301", "~", "\uffff"]
    names = sorted({"".join(rng.choice(letters, 5)) + str(i) for i in range(labels)})
    table = spark.createDataFrame([(name,) for name in names], "node string").repartition(5)
    encoded, count = ranked(table.distinct(), "node", NODE_ID)
    ids = {row["node"]: row[NODE_ID] for row in encoded.collect()}
    assert count == labels
    assert sorted(ids, key=ids.get) == tl.Interest.from_pairs(names, ["t"] * labels).node_labels.tolist()
    assert sorted(ids.values()) == list(range(labels))


@pytest.mark.parametrize(("method", "options"), [("cycle-pt", {}), ("low-oda", {"rho": 2.0})])
def test_the_same_links_as_in_memory(table, interest, method, options):
    result = design_overlay(table, method=method, seed=7, **options)
    assert links_of(result) == in_memory(interest, method, seed=7, **options)
    assert result.verdict.ok and result.run["options"] == options


def test_one_task_and_many_give_the_same(spark, table):
    mixed = table.withColumn("role", F.when(F.col("node") < "n05", "publish")).unionByName(
        spark.createDataFrame(
            [("a", None, None), ("", "x", None), ("b", "x", "reads")], "node string, topic string, role string"
        )
    )
    one, many = (function(mixed, role_column="role", seed=3) for function in (pipeline.design_overlay, design_overlay))
    assert "spark" in one.run["seconds"] and "spark" not in many.run["seconds"]
    for name in ("links", "nodes", "topics", "subscriptions", "rejected"):
        tables = [getattr(result, name) for result in (one, many)]
        kinds, rows = zip(*((dict(found.dtypes), sorted(map(str, found.collect()))) for found in tables))
        assert rows[0] == rows[1] and kinds[0] == kinds[1] and list(kinds[0]) == list(kinds[1]), name
    assert one.metrics == many.metrics and one.verdict == many.verdict
    assert one.run["counts"] == many.run["counts"] and one.run["input_fingerprint"] == many.run["input_fingerprint"]


OTHERS = {"text": "'signup'", "numbers": "7", "structs": "named_struct('x', 1)"}


def with_others(table, kind):
    """The table with columns of the user's that have the names of ours."""
    return table.withColumns({name: F.expr(OTHERS[kind]) for name in ("reason", "role", "raw", "line", "file")})


@pytest.mark.parametrize("engine", ["spark", "distributed"])
@pytest.mark.parametrize("kind", OTHERS)
def test_columns_of_the_user_change_nothing_whatever_their_names(table, interest, kind, engine):
    rows = with_others(table, kind).withColumn("table", F.lit("t")).withColumn("node_id", F.lit(-1))
    result = pipeline.design_overlay(rows, "gm", seed=7, engine=engine)
    assert links_of(result) == in_memory(interest, "gm", seed=7)
    assert (result.run["counts"]["rejected"], result.rejected.count()) == (0, 0)
    assert result.subscriptions.where("role is not null").count() == 0
    links = with_others(result.links, kind)
    assert pipeline.verify_overlay(rows, links, engine=engine).ok
    assert pipeline.measure_overlay(rows, links, engine=engine) == result.metrics


def test_routes_do_not_look_at_other_columns(table, designed):
    rows, links = (with_others(found, "text") for found in (table, designed.links))
    routed = (route_overlay(found, drawn) for found, drawn in ((table, designed.links), (rows, links)))
    expected, found = (sorted(map(str, one.collect())) for one in routed)
    assert found == expected and expected


def test_rows_of_a_reader_keep_their_reasons_through_filters_and_lose_them_with_the_column(spark, tmp_path):
    (tmp_path / "subs.csv").write_text("node,topic,role\na,x,\nb,x,both\nc,x,reads\n,y,\n")
    rows = read_subscriptions(spark, tmp_path / "subs.csv", role_column="role").withColumn("team", F.lit("t"))
    reasons = [row["reason"] for row in design_overlay(rows.where("topic = 'x'")).rejected.collect()]
    assert reasons == ["role is 'reads', not publish, subscribe or both"]
    renamed = rows.withColumn("node", F.concat(F.lit("n-"), "node"))
    result = design_overlay(renamed)
    assert sorted(row["reason"] for row in result.rejected.collect()) == ["node is empty", *reasons]
    assert {row["node"] for row in result.subscriptions.collect()} == {"n-a", "n-b"}
    overwritten = rows.withColumns({"reason": F.lit("signup"), "role": F.lit(3)})
    assert design_overlay(overwritten).run["counts"]["rejected"] == 1


def test_columns_go_by_the_names_that_are_given_and_by_the_case_of_the_session(spark, table, interest):
    named = table.toDF("Broker.Id", "its `filter`")
    expected = in_memory(interest, "gm", seed=7)
    names = {"node_column": "Broker.Id", "topic_column": "its `filter`"}
    result = pipeline.design_overlay(named, "gm", seed=7, **names)
    assert links_of(result) == expected
    assert verify_overlay(named, result.links, **names).ok
    assert measure_overlay(named, result.links, **names) == result.metrics
    assert route_overlay(named, result.links, **names).count() > 0
    upper = table.toDF("Node", "TOPIC")
    assert links_of(pipeline.design_overlay(upper, "gm", seed=7)) == expected
    assert verify_overlay(upper, result.links.withColumnRenamed("src", "Src")).ok
    with pytest.raises(MissingColumnError, match="missing column 'Broker'; the table has node, topic"):
        design_overlay(table, node_column="Broker")
    with pytest.raises(MissingColumnError, match="columns 'node', 'Node' cannot be told apart"):
        design_overlay(table.withColumn("other", F.lit("n")).toDF("node", "topic", "Node"))
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        with pytest.raises(MissingColumnError, match="missing column 'node'; the table has Node, TOPIC"):
            design_overlay(upper)
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


@pytest.mark.parametrize("engine", ["spark", "distributed"])
def test_every_subscription_keeps_its_own_role(spark, tmp_path, engine):
    """Ids of nodes and of topics order the subscriptions differently, and every pair of them has another role."""
    rng = np.random.default_rng(3)
    pairs = sorted({(f"n{rng.integers(9)}", f"t{rng.integers(9)}") for _ in range(50)}, key=lambda pair: pair[::-1])
    given = {pair: ("publish", "subscribe", "both", None)[number % 4] for number, pair in enumerate(pairs)}
    rows = spark.createDataFrame([(*pair, role) for pair, role in given.items()], "node string, topic string, r string")
    result = pipeline.design_overlay(rows, role_column="r", engine=engine)
    assert {(row["node"], row["topic"]): row["role"] for row in result.subscriptions.collect()} == given
    write_overlay(result, tmp_path / "overlay")
    loaded = tl.Overlay.load(tmp_path / "overlay").interest
    kept = {
        (loaded.node_label(v), loaded.topic_label(t)): (None, "publish", "subscribe", "both")[role]
        for v, t, role in zip(loaded.nodes, loaded.topics, loaded.roles)
    }
    assert kept == given


def kept_by(spark):
    return spark._jsparkSession.sharedState().cacheManager().numCachedEntries()


def test_spark_frees_its_tables_when_the_result_and_its_tables_are_collected(spark):
    rows = spark.createDataFrame([("a", "x"), ("b", "x"), ("c", "x")], "node string, topic string")
    before = kept_by(spark)
    result = design_overlay(rows, "gm")
    links, routes = result.links, route_overlay(rows, result.links)
    assert kept_by(spark) > before
    del result
    wait_until_freed()
    held = kept_by(spark)
    assert held > before and links.count() == 2 and routes.count() == 2
    del links
    wait_until_freed()
    assert before < kept_by(spark) < held
    del routes
    wait_until_freed()
    assert kept_by(spark) == before


def wait_until_freed():
    gc.collect()
    while not kept_tables.is_idle():
        time.sleep(0.01)


def test_one_task_judges_and_measures_as_the_model(spark, table, interest):
    pairs = in_memory(interest, "gm")[1:]
    links = spark.createDataFrame(pairs, "src string, dst string")
    assert pipeline.verify_overlay(table, links, k=2) == tl.verify(interest, pairs, 2)
    assert pipeline.measure_overlay(table, links).to_dict() == tl.measure(interest, pairs).to_dict()


@pytest.mark.parametrize("engine", ["spark", "distributed"])
def test_links_that_are_none_are_refused_by_both_engines(spark, table, engine):
    judge = partial(pipeline.verify_overlay, table, engine=engine)
    with pytest.raises(InvalidLinksError, match="links name 2 nodes that are not in the subscriptions, such as 'x1'"):
        judge(spark.createDataFrame([("x2", "n001"), ("n001", "x1")], "src string, dst string"))
    with pytest.raises(InvalidLinksError, match="a link joins node 'n001' with itself"):
        judge(spark.createDataFrame([("n001", "n001")], "src string, dst string"))
    with pytest.raises(InvalidLinksError, match=r"node is null|not in the subscriptions, such as 'null'"):
        judge(spark.createDataFrame([(None, "n001")], "src string, dst string"))
    with pytest.raises(InvalidLinksError, match="these are not links: missing column 'src'"):
        judge(table)


def test_an_engine_that_there_is_not_and_a_table_of_nothing(spark, table):
    with pytest.raises(InvalidOptionError, match="no engine 'memory' for a DataFrame; spark and distributed are"):
        pipeline.design_overlay(table, engine="memory")
    with pytest.raises(InputNotFoundError, match="there are no rows"):
        pipeline.design_overlay(table.limit(0))


def test_rows_that_a_file_cannot_give_are_kept_and_counted_in_the_library_too(spark, tmp_path):
    (tmp_path / "subs.csv").write_text("node,topic\na,x\nb,x\n,x\na,x\na, \n")
    result = design_overlay(read_subscriptions(spark, tmp_path / "subs.csv"))
    counts = {name: result.run["counts"][name] for name in ("rows", "rejected", "repeated", "subscriptions")}
    assert counts == {"rows": 5, "rejected": 2, "repeated": 1, "subscriptions": 2}
    write_overlay(result, tmp_path / "overlay")
    kept = spark.read.parquet(str(tmp_path / "overlay" / "rejected")).orderBy("reason").collect()
    assert [row["reason"] for row in kept] == ["node is empty", "topic is blank"]


def test_what_is_no_table_of_spark_is_refused_with_what_would_do(table, tmp_path):
    frame = pd.DataFrame({"node": ["a"], "topic": ["x"]})
    with pytest.raises(InvalidOptionError, match=r"pandas\..*DataFrame; a Spark DataFrame .* spark.createDataFrame"):
        design_overlay(frame)
    with pytest.raises(InvalidOptionError, match=r"is of type str; .*read_subscriptions reads one from a file"):
        measure_overlay("subs.csv", table)
    with pytest.raises(InvalidOptionError, match=r"links is of type .*Interest"):
        verify_overlay(table, tl.generate(nodes=3, topics=2, subscriptions=1))
    with pytest.raises(InvalidOptionError, match="k is 0; a whole number from 1 up is accepted"):
        verify_overlay(table, table, k=0)


def test_a_k_alone_chooses_the_method_as_in_memory(table, interest):
    result = design_overlay(table, k=2)
    assert (result.run["method"], result.run["options"]) == ("stacked-gm", {"k": 2})
    assert result.verdict.ok and result.verdict.k == 2
    chosen = tl.design(interest, k=2)
    assert links_of(result) == [(interest.node_label(u), interest.node_label(v)) for u, v in chosen.links]
    assert chosen.links.tolist() == tl.drop_redundant_links(interest, tl.gm2(interest).links, 2).tolist()


def test_a_written_overlay_holds_parquet_and_json_alone_and_loads_without_spark(designed, interest, tmp_path):
    write_overlay(designed, tmp_path / "overlay")
    assert [path.name for path in tmp_path.iterdir()] == ["overlay"]
    files = [path.name for path in (tmp_path / "overlay").rglob("*") if path.is_file()]
    assert all(name.endswith((".parquet", ".json")) for name in set(files) - {"links.csv"}) and len(files) > 7, files
    for part in ("subscriptions", "links", "nodes", "topics", "rejected"):
        for file in (tmp_path / "overlay" / part).iterdir():
            assert pq.ParquetFile(file).metadata.num_columns
    loaded = tl.Overlay.load(tmp_path / "overlay")
    assert loaded.links.tolist() == tl.design(interest, "gm", seed=7).links.tolist()
    assert loaded.interest.topics.tolist() == interest.topics.tolist()
    assert loaded.method == "gm"


def test_no_window_of_ours_lacks_partitions(table, capsys):
    """Spark would warn of each, in its user's own log."""
    ranked(table.select("node").distinct(), "node", NODE_ID)[0].explain()
    assert re.findall(r"windowspecdefinition\((\w+)#", capsys.readouterr().out) == ["range"]


def test_the_same_links_with_the_rows_shuffled_repeated_and_spread(table, interest):
    shuffled = table.union(table.limit(50)).orderBy(F.xxhash64("topic", "node")).repartition(7)
    result = design_overlay(shuffled, method="gm", seed=7)
    assert links_of(result) == in_memory(interest, "gm", seed=7)
    assert result.run["counts"]["repeated"] == 50


def test_links_figures_and_verdict_are_those_of_the_model(table, designed, interest):
    overlay, result = tl.design(interest, "gm", seed=7), designed
    assert links_of(result) == in_memory(interest, "gm", seed=7)
    assert result.verdict.ok and result.run["options"] == {}
    expected = tl.measure(interest, overlay.links).to_dict()
    for metrics in (result.metrics, measure_overlay(table, result.links)):
        found = metrics.to_dict()
        assert found.pop("degree_histogram") == tl.measure(interest, overlay.links).to_dict()["degree_histogram"]
        assert found == pytest.approx({name: expected[name] for name in found})
    assert {row["topic"] for row in result.topics.collect()} == set(interest.topic_labels.tolist())
    degrees = {row["id"]: row["degree"] for row in result.nodes.collect()}
    assert degrees == {interest.node_label(v): d for v, d in enumerate(overlay.degree())}


def test_broken_topics_are_named_with_a_witness(spark, table, interest):
    links = tl.design(interest, "gm").links[1:]
    verdict = tl.verify(interest, links)
    assert not verdict.ok
    rows = [(interest.node_label(u), interest.node_label(v)) for u, v in links]
    on_spark = verify_overlay(table, spark.createDataFrame(rows, "src string, dst string"))
    assert not on_spark.ok and on_spark.broken_topics == len(verdict.broken)
    assert on_spark.broken == verdict.broken  # by label on both sides
    measured = measure_overlay(table, spark.createDataFrame(rows, "src string, dst string"))
    expected = tl.measure(interest, links)
    assert measured.unwanted_relays == expected.unwanted_relays and expected.unwanted_relays != 0
    assert (measured.mean_hops, measured.survives_one_failure) == (None, False)
    facts = [{name: value for name, value in one.to_dict().items() if "relay" in name} for one in (measured, expected)]
    assert facts[0] == pytest.approx(facts[1]) and len(facts[0]) == 6


def test_no_links_at_all(spark, table, interest):
    nothing = spark.createDataFrame([], "src string, dst string")
    assert verify_overlay(table, nothing).broken_topics == len(tl.verify(interest, []).broken)
    metrics = measure_overlay(table, nothing)
    assert metrics.max_topic_diameter is None and metrics.links == 0


def test_idle_links_are_counted(spark):
    table = spark.createDataFrame([("a", "x"), ("b", "x"), ("c", "y")], "node string, topic string")
    links = spark.createDataFrame([("a", "b"), ("c", "a"), ("b", "a")], "src string, dst string")
    verdict = verify_overlay(table, links)
    assert verdict.ok and verdict.idle_links == 1
    assert measure_overlay(table, links).links == 2


@pytest.mark.parametrize(("src", "dst", "sentence"), [("a", "nobody", "'nobody'"), ("a", "a", "with itself")])
def test_links_that_cannot_be_are_refused(spark, table, src, dst, sentence):
    known = spark.createDataFrame([("a", "x"), ("b", "x")], "node string, topic string")
    with pytest.raises(InvalidLinksError, match=sentence):
        verify_overlay(known, spark.createDataFrame([(src, dst)], "src string, dst string"))


def test_links_without_the_columns_are_refused(spark, table):
    with pytest.raises(InvalidLinksError, match="missing column 'src'"):
        verify_overlay(table, spark.createDataFrame([("a", "b")], "x string, y string"))


def test_unusable_rows_are_set_aside_with_the_reason(spark):
    rows = [("a", "x"), ("b", "x"), (None, "x"), ("c", " "), ("a", "x")]
    result = design_overlay(spark.createDataFrame(rows, "node string, topic string"))
    assert result.run["counts"] == {
        "rows": 5, "rejected": 2, "repeated": 1, "subscriptions": 2, "nodes": 2, "topics": 1, "topics_of_one": 0,
        "links": 1,
    }  # fmt: skip
    assert sorted(row["reason"] for row in result.rejected.collect()) == ["node is null", "topic is blank"]


def test_no_usable_row_is_an_error_that_says_why(spark):
    with pytest.raises(InputNotFoundError, match="none of the 1 rows can be used: 1 × node is null"):
        design_overlay(spark.createDataFrame([(None, "x")], "node string, topic string"))
    with pytest.raises(InputNotFoundError, match="no rows"):
        design_overlay(spark.createDataFrame([], "node string, topic string"))


def test_unknown_methods_and_options_are_refused_before_anything_runs(spark):
    table = spark.createDataFrame([("a", "x")], "node string, topic string")
    with pytest.raises(InvalidOptionError, match="no method"):
        design_overlay(table, method="best")
    with pytest.raises(InvalidOptionError, match="no option"):
        design_overlay(table, method="gm", rho=2)


def test_a_method_that_does_not_fit_is_refused_with_one_that_does(table):
    size = prepare(table).size
    assert check_memory(size, "gm", 10**9) > 0
    with pytest.raises(NotEnoughMemoryError, match="no method fits"):
        check_memory(size, "gm", 10)
    with pytest.raises(NotEnoughMemoryError, match=r"would fit: .*ring-pt"):
        check_memory(size, "gm", check_memory(size, "gm", 10**9) - 1)


def test_ten_million_nodes_in_rounds_are_taken_by_22_gb_where_tasks_map_the_interest():
    size = Size(10_000_000, 5_000, 200_000_000)
    assert check_memory(size, "rounds-gm", 22 << 30, mapped=True) < check_memory(size, "rounds-gm", 22 << 30)


def test_the_fingerprint_depends_on_the_subscriptions_alone(spark, table):
    again = prepare(table.orderBy(F.desc("node")).repartition(3))
    assert again.fingerprint == prepare(table).fingerprint
    assert prepare(table.limit(40)).fingerprint != again.fingerprint
    assert {NODE_ID, TOPIC_ID} == set(again.encoded.columns)
