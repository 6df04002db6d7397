import gzip

import pytest
from pyspark.sql import Row

from topicloom.errors import InputNotFoundError, InvalidOptionError, MissingColumnError
from topicloom.pipeline import read_subscriptions
from topicloom.pipeline.clean import accepted, rejected


def usable(spark, source, **options):
    rows = accepted(read_subscriptions(spark, source, **options)).collect()
    return sorted((row["node"], row["topic"]) for row in rows)


def reasons(spark, source, **options):
    rows = rejected(read_subscriptions(spark, source, **options)).collect()
    return sorted((row["reason"], row["raw"], row["node"], row["topic"]) for row in rows)


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("header.csv", "node,topic\na,x\nb,y\n", {}),
        ("capitals.csv", "Node,TOPIC\na,x\nb,y\n", {}),
        ("no-header.csv", "a,x\nb,y\n", {}),
        ("gzipped.csv.gz", "node,topic\na,x\nb,y\n", {}),
        ("swapped.csv", "weight,topic,node\n1,x,a\n2,y,b\n", {}),
        ("named.csv", "who,what\na,x\nb,y\n", {"node_column": "who", "topic_column": "what"}),
        ("odd names.csv", '"wh`o.","wha t"\na,x\nb,y\n', {"node_column": "wh`o.", "topic_column": "wha t"}),
        ("bom.csv", b"\xef\xbb\xbfnode,topic\na,x\nb,y\n", {}),
        ("crlf.csv", "node,topic\r\na,x\r\nb,y\r\n", {}),
        ("quoted.csv", '"node","topic"\n"a","x"\nb,"y"\n', {}),
        ("tabs.tsv", "node\ttopic\na\tx\nb\ty\n", {}),
        ("lines.jsonl", '{"node": "a", "topic": "x"}\n\n{"topic": "y", "node": "b", "more": [1]}\n', {}),
        ("said.txt", "a,x\nb,y\n", {"format": "csv"}),
        ("named-node", "node,topic\na,x\nb,y\n", {"format": "csv", "header": True}),
    ],
)
def test_formats(spark, write, name, content, options):
    assert usable(spark, write(name, content), **options) == [("a", "x"), ("b", "y")]


def test_a_header_may_be_declared_to_be_data(spark, write):
    assert ("node", "topic") in usable(spark, write("t.csv", "node,topic\na,x\n"), header=False)


def test_parquet_of_strings_and_numbers(spark, tmp_path):
    spark.createDataFrame([Row(node=10, topic="x"), Row(node=9, topic="y")]).write.parquet(str(tmp_path / "p"))
    assert usable(spark, tmp_path / "p") == [("10", "x"), ("9", "y")]


def test_parquet_of_fractions_is_refused(spark, tmp_path):
    spark.createDataFrame([Row(node=1.5, topic="x")]).write.parquet(str(tmp_path / "p"))
    with pytest.raises(MissingColumnError, match="holds double"):
        read_subscriptions(spark, str(tmp_path / "p"))


def test_folders_and_globs(spark, write, tmp_path):
    write("folder/one.csv", "node,topic\na,x\n")
    write("folder/two.csv", "node,topic\nb,y\n")
    assert usable(spark, tmp_path / "folder") == [("a", "x"), ("b", "y")]
    assert usable(spark, tmp_path / "folder" / "t*.csv") == [("b", "y")]


def test_labels_are_kept_as_they_are(spark, write):
    content = 'node,topic\n" a ",x \n"q""e","c,d"\n"new\nline",é\n日本,"crlf\r\nx"\n'
    assert usable(spark, write("labels.csv", content)) == sorted(
        [(" a ", "x "), ('q"e', "c,d"), ("new\nline", "é"), ("日本", "crlf\r\nx")]
    )


def test_unusable_csv_rows_keep_their_text_and_get_a_reason(spark, write):
    big = "x" * (64 * 1024 + 1)
    content = b"node,topic\na,x\nonly\nb,y,z\n,x\na,\n \xe2\x80\x83,x\nbad\xff,x\n" + f"{big},x\n".encode()
    path = write("bad.csv", content)
    assert usable(spark, path) == [("a", "x")]
    assert reasons(spark, path) == sorted(
        [
            ("node is blank", None, " \u2003", "x"),
            ("node is not valid UTF-8", None, "bad\ufffd", "x"),
            ("node is null", None, None, "x"),
            ("node is over 64 KiB", None, big, "x"),
            ("topic is null", None, "a", None),
            ("wrong number of fields, 2 are expected", "b,y,z", "b", "y"),
            ("wrong number of fields, 2 are expected", "only", "only", None),
        ],
        key=lambda row: tuple(str(cell) for cell in row),
    ) or {row[0] for row in reasons(spark, path)}


def test_unusable_json_lines_keep_their_text_and_get_a_reason(spark, write):
    content = b'{"node": "a", "topic": "x"}\n{"node": "a"}\nnot json\n{"node": null, "topic": "x"}\n{"node": "\xff"}\n'
    path = write("bad.json", content)
    assert usable(spark, path) == [("a", "x")]
    assert sorted(row[0] for row in reasons(spark, path)) == [
        "line is not a JSON object",
        "node is null",
        "text is not valid UTF-8",
        "topic is null",
    ]


@pytest.mark.parametrize(
    ("name", "content", "options", "error", "sentence"),
    [
        ("empty.csv", "", {}, InputNotFoundError, "is empty"),
        ("three.csv", "a,b,c\n", {}, MissingColumnError, "first line has 3 fields"),
        (
            "half.csv",
            "node,subject\na,x\n",
            {},
            MissingColumnError,
            "no column 'topic'; its columns: 'node', 'subject'",
        ),
        ("other.csv", "node,topic\na,x\n", {"node_column": "who"}, MissingColumnError, "no column 'who'"),
        ("twice.csv", "node,topic,x,x\na,b,c,d\n", {}, MissingColumnError, "names a column twice"),
        ("keys.json", '{"who": "a", "what": "x"}\n', {}, MissingColumnError, "its columns: 'what', 'who'"),
        ("what.bin", "a,x\n", {}, InputNotFoundError, "--format"),
        ("a.csv", "a,x\n", {"format": "xml"}, InvalidOptionError, "the formats are csv"),
    ],
)
def test_tables_that_cannot_be_read_are_refused_with_the_reason(spark, write, name, content, options, error, sentence):
    with pytest.raises(error, match=sentence):
        read_subscriptions(spark, str(write(name, content)), **options)


def test_a_missing_path_and_an_empty_folder_are_refused(spark, tmp_path):
    with pytest.raises(InputNotFoundError, match="does not exist"):
        read_subscriptions(spark, str(tmp_path / "none.csv"))
    with pytest.raises(InputNotFoundError, match="is empty"):
        read_subscriptions(spark, str(tmp_path))
