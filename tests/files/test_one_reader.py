"""One set of rules for every table: names of columns, lines above them, blanks, roles, sheets, lists in a field."""

import gzip
import io

import pytest

import topicloom as tl
from files.hand_made import workbook
from topicloom.churn import Event
from topicloom.deploy import Inventory
from topicloom.errors import InvalidInterestError, InvalidInventoryError, InvalidOptionError, MissingColumnError
from topicloom.files.read import read_links, read_subscriptions
from topicloom.model.labels import label_of

JUNK = "Needs of all plants;;\nas of 14.03.2026;;\n;;\nBroker;Site;Topic\n"


def write(path, text, encoding="utf-8"):
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return path


def pairs(reading):
    return [tuple(row.values())[:2] for row in reading.table.to_pylist()]


def test_names_of_columns_further_down_are_noticed_and_reached(tmp_path):
    path = write(tmp_path / "s.csv", JUNK + "a;x;t\nb;x;t\n")
    told = "column names seem to stand in line 4: say skip_lines=3, node_column='Broker', topic_column='Topic'"
    with pytest.raises(MissingColumnError) as refused:
        read_subscriptions(path)
    assert str(refused.value).endswith(told) and "header=False" not in str(refused.value)
    reading = read_subscriptions(path, skip_lines=3, node_column="Broker", topic_column="Topic")
    assert pairs(reading) == [("a", "t"), ("b", "t")]
    named = write(tmp_path / "named.csv", JUNK.replace("Broker", "NODE ") + "a;x;t\n;x;t\n")
    with pytest.raises(MissingColumnError, match=r"in line 4: say skip_lines=3\Z"):
        read_subscriptions(named)
    reading = read_subscriptions(named, skip_lines=3)
    assert pairs(reading) == [("a", "t")] and reading.rejected["line"].to_pylist() == [6]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_skipped_lines_end_as_all_lines_do(tmp_path, end, encoding):
    text = end.join(["above, all", "", "node,topic", "a,x", ",y", ""])
    reading = read_subscriptions(write(tmp_path / "s.csv", text, encoding), skip_lines=2)
    assert pairs(reading) == [("a", "x")] and reading.rejected["line"].to_pylist() == [5]
    reading = read_subscriptions(tmp_path / "s.csv", skip_lines=3, header=False)
    assert pairs(reading) == [("a", "x")] and reading.rejected["line"].to_pylist() == [5]
    with pytest.raises(MissingColumnError, match="nothing behind 9 skipped lines"):
        read_subscriptions(tmp_path / "s.csv", skip_lines=9)


def test_lines_are_skipped_where_there_are_any(tmp_path):
    with pytest.raises(InvalidOptionError, match="no lines to skip"):
        read_subscriptions(write(tmp_path / "s.jsonl", '{"node":"a","topic":"x"}\n'), skip_lines=1)
    with pytest.raises(InvalidOptionError, match="-1 lines cannot be skipped"):
        read_subscriptions(tmp_path / "s.jsonl", skip_lines=-1)


def test_a_sheet_is_named_and_lines_above_its_names_are_noticed(tmp_path):
    import openpyxl

    book = openpyxl.Workbook()
    book.active.title = "Cover"
    book.active.append(["Needs of topics, as of today"])
    sheet = book.create_sheet("Needs")
    for row in (["Needs"], [None, "Broker", "Topic"], [None, "a", "x"]):
        sheet.append(row)
    sink = io.BytesIO()
    book.save(sink)
    path = write(tmp_path / "s.xlsx", sink.getvalue())
    with pytest.raises(InvalidOptionError, match="no sheet 'Need'; it has 'Cover', 'Needs'"):
        read_subscriptions(path, sheet="Need")
    with pytest.raises(MissingColumnError, match="in line 2: say skip_lines=1, node_column='Broker'"):
        read_subscriptions(path, sheet="Needs")
    reading = read_subscriptions(path, sheet="Needs", skip_lines=1, node_column="broker", topic_column="topic")
    assert pairs(reading) == [("a", "x")]
    assert "sheet 'Needs' of a workbook" in reading.notes[0] and "'Cover' are not read" in reading.notes[0]


FORMATS = {
    "s.csv": b"node,topic\n mq-3 ,x\nmq-3,\xe2\x80\x83y\n\xc2\xa0mq-3,x \n",
    "quoted.csv": b'node,topic\n" mq-3 ",x\nmq-3,"\xe2\x80\x83y"\n\xc2\xa0mq-3,x \nb,"q\n"\n',
    "s.jsonl": b'{"node":" mq-3 ","topic":"x"}\n{"node":"mq-3","topic":"\\u2003y"}\n'
    b'{"node":"\\u00a0mq-3","topic":"x "}\n',
    "s.xlsx": workbook(("node", "topic"), (" mq-3 ", "x"), ("mq-3", "\u2003y"), ("\u00a0mq-3", "x ")),
}


@pytest.mark.parametrize("name", FORMATS)
def test_blanks_at_the_ends_of_labels_stay_or_go_in_every_format_alike(tmp_path, name):
    path = write(tmp_path / name, FORMATS[name])
    kept = pairs(read_subscriptions(path))
    assert kept[:3] == [(" mq-3 ", "x"), ("mq-3", "\u2003y"), ("\u00a0mq-3", "x ")]
    warned = [one for one in read_subscriptions(path).findings if one.kind == "blanks"]
    assert [(one.what, one.number) for one in warned] == [("node", 2), ("topic", 2 + (name == "quoted.csv"))]
    reading = read_subscriptions(path, trim=True)
    assert pairs(reading)[:2] == [("mq-3", "x"), ("mq-3", "y")] and reading.counts["repeated"] == 1
    assert not reading.findings


def test_blanks_go_from_parquet_and_links_and_blank_labels_stay_blank(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"node": [b" a ", b" "], "topic": [["x ", "y"], ["z"]]}), tmp_path / "s.parquet")
    reading = read_subscriptions(tmp_path / "s.parquet", trim=True)
    assert pairs(reading) == [("a", "x"), ("a", "y")] and reading.rejected["reason"].to_pylist() == ["node is blank"]
    links = write(tmp_path / "l.csv", "src;dst\na ;b\na; b\n ;b\n")
    assert pairs(read_links(links)) == [("a ", "b"), ("a", " b")]
    trimmed = read_links(links, trim=True)
    assert pairs(trimmed) == [("a", "b")] and trimmed.rejected["reason"].to_pylist() == ["src is blank"]


def test_a_byte_order_mark_comes_before_the_encoding_that_is_asked(tmp_path):
    path = write(tmp_path / "s.csv", "node,topic\né,ü\n", "utf-8-sig")
    assert pairs(read_subscriptions(path, encoding="latin-1")) == [("é", "ü")]


@pytest.mark.parametrize("sign", [",", ";", "|", "\n"])
def test_topics_that_are_lists_are_noticed(tmp_path, sign):
    rows = "".join(f'b{n}\t"t{n}{sign} t{n + 1}"\n' for n in range(5))
    path = write(tmp_path / "s.tsv", "node\ttopic\n" + rows)
    (found,) = read_subscriptions(path).findings
    assert (found.kind, found.number) == ("several", 5)
    said = {"\n": "\\n"}.get(sign, sign)
    assert found.sentence.endswith(f"unless topics_separator='{said}' is given")
    reading = read_subscriptions(path, topics_separator=said, trim=True)
    assert len(pairs(reading)) == 10 and not reading.findings


def test_a_comma_alone_makes_no_list_of_a_topic(tmp_path):
    path = write(tmp_path / "s.tsv", "node\ttopic\n" + "".join(f"b{n}\tt{n},u{n}\n" for n in range(5)))
    assert read_subscriptions(path).findings == ()
    few = write(tmp_path / "few.tsv", "node\ttopic\na\tx,y\nb\ty,z\n" + "".join(f"b\tt{n}\n" for n in range(9)))
    assert read_subscriptions(few).findings == ()


def test_roles_are_taken_as_people_write_them(tmp_path):
    said = ["P", "S", "PS", "Pub", "Sub", "publisher", "Subscriber", "BOTH", " p ", "", "pub/sub"]
    text = "node,topic,role\n" + "".join(f"n{number},x,{role}\n" for number, role in enumerate(said))
    meant = [
        "publish",
        "subscribe",
        "both",
        "publish",
        "subscribe",
        "publish",
        "subscribe",
        "both",
        "publish",
        None,
        "both",
    ]
    for more in ("", 'q,"x\n",S\n'):  # a line end within quotes takes the exact rules
        reading = read_subscriptions(write(tmp_path / "s.csv", text + more), role_column="role")
        assert reading.table["role"].to_pylist()[: len(said)] == meant and not len(reading.rejected)


def test_one_rule_says_which_labels_can_be_used():
    reasons = {"": "empty", " \u3000": "blank", "x" * 65_537: "over 64 KiB", "\ud800": "half a surrogate"}
    for label, why in reasons.items():
        assert why in label_of(label, "node")[1]
        with pytest.raises(InvalidInterestError):
            tl.Interest.from_pairs([label], ["t"])
        with pytest.raises(tl.errors.InvalidEventError):
            Event.read({"event": "join", "node": label})
    assert label_of("x" * 65_536, "node") == ("x" * 65_536, None)


INVENTORIES = {
    "semicolons.csv": b"Node;HOST; Port \nmq-1;h;1\nmq 2;h;2\n",
    "tabs.tsv": b"node\thost\tport\nmq-1\th\t1\nmq 2\th\t2\n",
    "marked.csv": b"\xef\xbb\xbfnode,host,port\r\nmq-1,h, 1 \r\nmq 2,h,2\r\n",
    "wide.csv": "node,host,port\nmq-1,h,1\nmq 2,h,2\n".encode("utf-16"),
    "said.csv": b"sep=;\nnode;host;port\nmq-1;h;1\nmq 2;h;2\n",
    "packed.csv.gz": gzip.compress(b"node,host,port\nmq-1,h,1\nmq 2,h,2\n"),
    "text.txt": b"node|host|port\nmq-1|h|1\nmq 2|h|2\n",
}


@pytest.mark.parametrize("name", INVENTORIES)
def test_an_inventory_is_read_as_other_tables_are(tmp_path, name):
    brokers = Inventory.load(write(tmp_path / name, INVENTORIES[name])).brokers
    assert {node: (one.host, one.port) for node, one in brokers.items()} == {"mq-1": ("h", 1), "mq 2": ("h", 2)}


@pytest.mark.parametrize("name", ["i.csv", "i.json", "i.yaml"])
def test_names_in_an_inventory_keep_their_blanks_unless_asked(tmp_path, name):
    pytest.importorskip("yaml")
    text = {"i.csv": "node,host,port\nmq-3 , h ,1\n", "i.json": '[{"node": "mq-3 ", "host": "h", "port": 1}]',
            "i.yaml": "- {node: 'mq-3 ', host: h, port: 1}\n"}[name]  # fmt: skip
    path = write(tmp_path / name, text)
    inventory = Inventory.load(path)
    assert list(inventory.brokers) == ["mq-3 "]
    with pytest.raises(InvalidInventoryError, match="'mq-3' of the plan is not in the inventory, which has 'mq-3 '"):
        inventory.of_node("mq-3")
    assert list(Inventory.load(path, trim=True).brokers) == ["mq-3"]


@pytest.mark.parametrize("name", ["i.csv", "i.json", "i.yaml"])
def test_the_encoding_of_an_inventory_is_named_where_it_is_not_utf8(tmp_path, name):
    pytest.importorskip("yaml")
    text = {"i.csv": "node;host;port;site\nz\u00e4hler;h;1;M\u00fcnchen\n",
            "i.json": '[{"node": "z\u00e4hler", "host": "h", "port": 1}]',
            "i.yaml": "- {node: z\u00e4hler, host: h, port: 1}\n"}[name]  # fmt: skip
    path = write(tmp_path / name, text, "latin-1")
    with pytest.raises(InvalidInventoryError, match=f"{name} line .: not UTF-8; .*encoding='latin-1'"):
        Inventory.load(path)
    assert list(Inventory.load(path, encoding="latin-1").brokers) == ["z\u00e4hler"]


def test_a_field_over_128_kib_is_a_sentence_in_an_inventory(tmp_path):
    path = write(tmp_path / "i.csv", "node,host,port\n" + "x" * 140_000 + ",h,1\n")
    with pytest.raises(InvalidInventoryError, match=r"i\.csv line 2: node is over 64 KiB"):
        Inventory.load(path)
    path = write(tmp_path / "j.csv", 'node,host,port\na,"' + "x" * 140_000 + '",1\n')
    with pytest.raises(InvalidInventoryError, match=r"j\.csv line 2: host is not a host name"):
        Inventory.load(path)


# Deliberate errors in files/read/layout.py that earlier tests let through.
def test_the_line_behind_a_header_with_line_ends_is_counted(tmp_path):
    text = '\n\n"node","topic","a\nb\r\nc"\na,x,1\n,y,2\n'
    reading = read_subscriptions(write(tmp_path / "s.csv", text))
    assert pairs(reading) == [("a", "x")] and reading.rejected["line"].to_pylist() == [7]


def test_the_separator_is_the_one_that_finds_the_columns_and_then_the_regular_one(tmp_path):
    text = "node;topic,more;x\na;b,c;d\n"  # commas are regular, too, but name one column only
    reading = read_subscriptions(write(tmp_path / "s.csv", text), topic_column="topic,more")
    assert pairs(reading) == [("a", "b,c")]
    rows = "a|x,1\nb|y\nc|z,1,2\n"
    assert pairs(read_subscriptions(write(tmp_path / "n.csv", rows), header=False)) == [
        ("a", "x,1"),
        ("b", "y"),
        ("c", "z,1,2"),
    ]
    two = "1,2,3;4\n5,6,7;8\n"  # equally regular: two fields are what is expected
    assert pairs(read_subscriptions(write(tmp_path / "t.csv", two), header=False)) == [("1,2,3", "4"), ("5,6,7", "8")]


def test_a_name_that_is_exactly_a_column_is_meant_before_one_that_is_so_but_for_case(tmp_path):
    path = write(tmp_path / "s.csv", "Node, node ,node,topic\n1,2,a,x\n")
    assert pairs(read_subscriptions(path)) == [("a", "x")]
    with pytest.raises(MissingColumnError, match="names a column twice"):
        read_subscriptions(write(tmp_path / "t.csv", "Node, node ,topic\n1,2,x\n"))
    reading = read_subscriptions(tmp_path / "t.csv", node_column=" node ")
    assert pairs(reading) == [("2", "x")]


# Deliberate errors of our own that the tests above let through.
def test_all_blanks_of_an_end_go_and_those_within_stay(tmp_path):
    path = write(tmp_path / "s.csv", "node,topic\n\t a  b \u3000 ,x\u00a0\u2003\n")
    assert pairs(read_subscriptions(path, trim=True)) == [("a  b", "x")]


def test_a_line_that_says_the_separator_may_stand_behind_skipped_ones(tmp_path):
    path = write(tmp_path / "s.csv", "a title, of two\nsep=^\nnode^topic\na,b^x\n^y\n")
    reading = read_subscriptions(path, skip_lines=1)
    assert pairs(reading) == [("a,b", "x")] and reading.rejected["line"].to_pylist() == [5]
    with pytest.raises(InvalidInventoryError, match=r"i\.csv line 4: port is not a number"):
        Inventory.load(write(tmp_path / "i.csv", "sep=;\nnode;host;port\na;h;1\nb;h;x\n"))


def test_a_first_line_of_likely_names_is_the_header_whatever_follows(tmp_path):
    path = write(tmp_path / "s.csv", "Broker;Filter\na;x\nnode;topic\n")
    with pytest.raises(MissingColumnError, match="perhaps node_column='Broker', topic_column='Filter'"):
        read_subscriptions(path)


def test_lists_among_many_other_topics_are_no_finding(tmp_path):
    lists = "a\tx,y\nb\ty,z\nc\tz,x\n"
    for others, found in ((3, 1), (4, 0)):
        rows = lists + "".join(f"d\tt{n}\n" for n in range(others))
        reading = read_subscriptions(write(tmp_path / "s.tsv", "node\ttopic\n" + rows))
        assert len(reading.findings) == found
