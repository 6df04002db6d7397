"""Files read on Spark: the same rows, reasons and refusals as in memory."""

import threading

import pytest
from pyspark.sql import Row

import topicloom as tl
from files.fuzz import write as write_fuzz
from files.hand_made import ALL, FOLDERS
from topicloom.errors import MissingColumnError, TopicloomError, UnreadableInputError
from topicloom.files.read import ReadOptions
from topicloom.files.read import read_subscriptions as read_in_memory
from topicloom.files.read.read_options import SUBSCRIPTIONS
from topicloom.pipeline import read_subscriptions
from topicloom.runs.sources import plans_of, unreplaced
from topicloom.runs.stages import Stages
from topicloom.spark.steps.clean import accepted, expanded, rejected, with_reasons
from topicloom.spark.steps.links import read_links
from topicloom.spark.steps.prepare import label_findings, prepare
from topicloom.spark.steps.read import numbered_parts, open_table, plan_and_cut, worker_sentences
from topicloom.spark.steps.remote import remote_rows
from topicloom.spark.tasks import look_at_tables

COLUMNS = ("file", "line", "raw", "node", "topic", "reason")


def options_of(given):
    words = {"node_column": "first", "topic_column": "second", "role_column": "role"}
    return ReadOptions(SUBSCRIPTIONS, **{words.get(name, name): value for name, value in given.items()})


def assert_same(rows, reading):
    """The rows of Spark are those of the reading in memory, rejected ones in the same order."""
    with worker_sentences():
        found = rows.collect()
    unused = [tuple(row[name] for name in COLUMNS) for row in found if row["reason"] is not None]
    assert unused == list(zip(*(reading.rejected[name].to_pylist() for name in COLUMNS)))
    used = [(row["node"], row["topic"]) for row in found if row["reason"] is None]
    assert len(used) == reading.counts["used"] + reading.counts["repeated"]
    assert set(used) == set(zip(*reading.table.select(["node", "topic"]).to_pydict().values()))


@pytest.mark.parametrize("made", [*ALL[::6], *FOLDERS[::2]], ids=lambda made: made.name)
def test_hand_made_files_are_read_on_spark_as_in_memory(spark, made, tmp_path):
    source = made.write(tmp_path)
    try:
        reading = read_in_memory(source, **made.options)
    except TopicloomError as refusal:
        with pytest.raises(type(refusal)) as refused, worker_sentences():
            open_table(spark, source, options_of(made.options)).rows.collect()
        assert str(refused.value) == str(refusal)
        return
    assert_same(open_table(spark, source, options_of(made.options)).rows, reading)


def test_files_of_the_fuzzer_are_read_on_spark_as_in_memory(spark, tmp_path):
    import random

    for seed in range(1000, 1012):
        folder = tmp_path / str(seed)
        folder.mkdir()
        written = write_fuzz(random.Random(seed), folder)
        reading = read_in_memory(written.source, **written.options)
        assert_same(open_table(spark, written.source, options_of(written.options), split=100).rows, reading)


def many_rows(extra=b""):
    rows = [b"n%d,%s" % (number, b'"q,%d"' % number if number % 7 == 0 else b"t") for number in range(300)]
    rows[50], rows[200] = b"only", b"a,b,c"
    return b"node,topic\r\n" + b"\r\n".join(rows) + b"\r\n" + extra


@pytest.mark.parametrize(
    "extra", [b"", b'x,"line\nend"\r\n', b'y,"open\r\nz,t\r\n'], ids=["lines", "enclosed", "unclosed"]
)
def test_a_large_file_is_read_in_parts_with_the_numbers_of_its_lines(spark, tmp_path, extra):
    path = tmp_path / "large.csv"
    path.write_bytes(b"\xef\xbb\xbf" + many_rows(extra))
    table = open_table(spark, path, ReadOptions(), split=400)
    _, units = plan_and_cut(str(path), ReadOptions(), 400)
    assert len(units) > 3
    assert (len(numbered_parts(spark, units)) == len(units)) is (extra == b"")
    reading = read_in_memory(path)
    assert reading.rejected["line"].to_pylist()[:2] == [52, 202]
    assert_same(table.rows, reading)


def test_files_that_only_spark_reaches_have_the_same_rules(spark, tmp_path, monkeypatch):
    folder = tmp_path / "d"
    for name in ("a.csv", "sub/q[1].csv", "day=1/c.csv"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(many_rows())
    (folder / "x.csv.bak").write_text("node,topic\nold,gone\n")
    (folder / "l.jsonl").write_text('{"node":"a","topic":["x","y"]}\nnonsense\n')

    def outcome(large):
        monkeypatch.setattr("topicloom.spark.steps.remote.LARGE", large)
        plan, rows = remote_rows(spark, f"file://{folder}", ReadOptions())
        assert [one.path.rsplit("/", 1)[-1] for one in plan.skipped] == ["x.csv.bak"]
        found = [
            (row["file"], row["line"], row["raw"], row["node"], row["topic"], row["reason"]) for row in rows.collect()
        ]
        return sorted(found, key=str)

    reading = read_in_memory(folder)
    whole = outcome(1 << 30)
    assert outcome(100) == whole
    unused = sorted((row[1], row[2], row[5]) for row in whole if row[5])
    assert unused == sorted(zip(*(reading.rejected[name].to_pylist() for name in ("line", "raw", "reason"))))
    assert len(whole) == reading.counts["rows"]
    _, one = remote_rows(spark, f"file://{folder}/sub/q[1].csv", ReadOptions())
    assert one.count() == 300
    with pytest.raises(TopicloomError, match="does not exist"):
        remote_rows(spark, f"file://{folder}/none", ReadOptions())


def test_paths_that_spark_cannot_reach_are_refused_with_a_sentence(spark):
    with pytest.raises(TopicloomError, match="cannot be listed by Spark") as refused:
        read_subscriptions(spark, "s3a://nobucket/x.csv")
    assert "\n" not in str(refused.value)


def test_a_truncated_archive_is_one_sentence_when_rows_are_counted(spark, tmp_path):
    import gzip
    import random

    rng = random.Random(0)
    text = b"node,topic\n" + b"".join(b"%x,%x\n" % (rng.getrandbits(64), rng.getrandbits(64)) for _ in range(60_000))
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(gzip.compress(text)[:-100_000])
    with pytest.raises(UnreadableInputError, match=r"cut.csv.gz ends in the middle of its gzip data") as refused:
        prepare(read_subscriptions(spark, path))
    assert "\n" not in str(refused.value)


def test_dataframes_of_arrays_are_exploded_and_fractions_refused(spark):
    table = spark.createDataFrame([("a", ["t", "u"]), ("b", []), ("", ["t"])], "node string, topic array<string>")
    rows = with_reasons(table)
    assert sorted(map(tuple, accepted(rows).collect())) == [("a", "t"), ("a", "u")]
    assert sorted(row["reason"] for row in rejected(rows).collect()) == ["node is empty", "topic is null"]
    with pytest.raises(MissingColumnError, match="column 'node' holds double"):
        with_reasons(spark.createDataFrame([Row(node=1.5, topic="x")]))


def test_roles_become_the_third_column_of_the_subscriptions(spark, tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("node,topic,role\na,x,publish\na,x,subscribe\nb,x,\nc,x,both\n")
    prepared = prepare(read_subscriptions(spark, path, role_column="role"))
    assert sorted(map(tuple, prepared.subscriptions.collect()), key=str) == [
        ("a", "x", "both"), ("b", "x", None), ("c", "x", "both"),
    ]  # fmt: skip
    prepared.release()
    prepared = prepare(read_subscriptions(spark, path))
    assert prepared.subscriptions.columns == ["node", "topic", "role"]
    prepared.release()


def test_findings_are_the_same_whether_labels_are_few_or_many(spark, tmp_path, monkeypatch):
    path = tmp_path / "s.csv"
    path.write_text("node,topic\nA,t/#\na,c\nb,C\nB ,x.>\n", encoding="utf-8")
    prepared = prepare(read_subscriptions(spark, path))
    few = label_findings(prepared)
    monkeypatch.setattr("topicloom.spark.steps.prepare._BROUGHT_HERE", 0)
    assert label_findings(prepared) == few == read_in_memory(path).findings
    assert [one.kind for one in few].count("blanks") and len(few) >= 3
    prepared.release()


def test_patterns_are_expanded_on_spark_as_in_memory(spark, tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("node,topic\na,t.1\nb,t.2\nc,t.*\nd,z.>\n,t.1\n")
    reading = read_in_memory(path, expand="nats")
    rows, more = expanded(read_subscriptions(spark, path), "nats")
    assert more == reading.counts["expanded"] == 1
    assert sorted(map(tuple, accepted(rows).collect())) == sorted(
        zip(*reading.table.select(["node", "topic"]).to_pydict().values())
    )
    assert sorted(row["reason"] for row in rejected(rows).collect()) == sorted(reading.rejected["reason"].to_pylist())


def test_links_of_other_names_are_refused_with_the_likeliest_pair(spark, tmp_path):
    path = tmp_path / "l.csv"
    path.write_text("from;to\na;b\n")
    with pytest.raises(MissingColumnError, match="perhaps src_column='from', dst_column='to'"):
        read_links(spark, path)
    assert [tuple(row) for row in read_links(spark, path, src_column="from", dst_column="to").collect()] == [("a", "b")]


def saved_overlay(nodes, topic):
    interest = tl.Interest.from_pairs(list(nodes), [topic] * len(nodes))
    return tl.ring_per_topic(interest)


@pytest.mark.parametrize("part", ["subscriptions", "links"])
def test_an_overlay_that_was_replaced_since_it_was_looked_at_is_refused(spark, tmp_path, part):
    saved_overlay("abcdef", "t").save(tmp_path / "ov")
    read = {"subscriptions": read_subscriptions, "links": read_links}[part]
    rows = read(spark, tmp_path / "ov" / part)
    saved_overlay("ghijkl", "u").save(tmp_path / "ov", overwrite=True)
    with (
        pytest.raises(UnreadableInputError, match="ov was replaced while it was read; run it again"),
        worker_sentences(),
    ):
        rows.collect()
    assert len(read(spark, tmp_path / "ov" / part).collect()) == 6


def test_an_overlay_on_spark_is_one_of_those_that_take_turns_in_a_place(spark, tmp_path):
    place = tmp_path / "ov"
    overlays = [saved_overlay("abcdef", "t"), saved_overlay("ghijkl", "u")]
    overlays[0].save(place)
    done = threading.Event()

    def take_turns():
        number = 0
        while not done.wait(0.05 * (number % 7)):
            number += 1
            overlays[number % 2].save(place, overwrite=True)

    writer = threading.Thread(target=take_turns)
    writer.start()
    whole = refused = 0
    try:
        while whole < 2 and refused < 8:
            try:
                with worker_sentences():
                    with unreplaced(str(place)):
                        subscriptions = read_subscriptions(spark, place / "subscriptions")
                        links = read_links(spark, place / "links")
                    nodes = {row["node"] for row in subscriptions.collect()}
                    ends = {row[name] for row in links.collect() for name in ("src", "dst")}
            except UnreadableInputError as error:
                assert "was replaced" in str(error)
                refused += 1
            else:
                assert nodes == ends
                whole += 1
    finally:
        done.set()
        writer.join()


def test_an_overlay_that_is_replaced_while_spark_starts_is_looked_at_again(spark, tmp_path):
    before, after = (tl.design(tl.Interest.from_pairs(nodes, ["x", "x"])) for nodes in (["a", "b"], ["c", "d"]))
    before.save(tmp_path / "overlay")
    given = [(str(tmp_path / "overlay"), ReadOptions(SUBSCRIPTIONS))]
    plans = plans_of(given)
    after.save(tmp_path / "overlay", overwrite=True)
    (table,) = look_at_tables(spark, given, plans, Stages())
    assert sorted(row["node"] for row in table.rows.collect()) == ["c", "d"]
    assert plans[0].version != table.plan.version
    (same,) = look_at_tables(spark, given, [table.plan], Stages())
    assert same.plan is table.plan
