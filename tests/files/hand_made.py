"""Files as people have them, made by hand: what each holds, and how it is to be read or refused."""

# ruff: noqa: E501 - a file a line reads best

import bz2
import gzip
import io
import lzma
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

AX_BY = (("a", "x"), ("b", "y"))
TWO = b"node,topic\na,x\nb,y\n"
BROKER = {"node_column": "Broker", "topic_column": "Filter"}


@dataclass(frozen=True)
class HandMade:
    """Files, what is read of them, and how.

    ``pairs`` are the subscriptions that their author meant, ``rejected`` the (line, start of the reason) of the other
    rows, ``refused`` words of the sentence that refuses them.
    """

    name: str
    files: Mapping[str, bytes]
    pairs: tuple[tuple[str, str], ...] = ()
    rejected: tuple[tuple[int, str], ...] = ()
    refused: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    source: str | None = None

    def write(self, folder: Path) -> Path:
        """Write the files and return the source to read."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        if self.source is not None:
            return folder / self.source
        return folder / next(iter(self.files))


def parquet(**columns: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def workbook(*rows: tuple[Any, ...], sheets: tuple[str, ...] = ()) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for title in sheets:
        book.create_sheet(title)
    sink = io.BytesIO()
    book.save(sink)
    return sink.getvalue()


def good(name: str, content: bytes, *, pairs: Any = AX_BY, **options: Any) -> HandMade:
    return HandMade(name, {name: content}, tuple(pairs), options=options)


def some(name: str, content: bytes, pairs: Any, *rejected: tuple[int, str], **options: Any) -> HandMade:
    return HandMade(name, {name: content}, tuple(pairs), rejected, options=options)


def bad(name: str, content: bytes, refused: str, **options: Any) -> HandMade:
    return HandMade(name, {name: content}, refused=refused, options=options)


def folder(title: str, files: dict[str, bytes], pairs: Any = (), refused: str | None = None, **given: Any) -> HandMade:
    source = given.pop("source", "d")
    return HandMade(title, {f"d/{k}" if source == "d" else k: v for k, v in files.items()}, tuple(pairs),
                    given.pop("rejected", ()), refused, given, source)  # fmt: skip


def zst(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


COMPRESSORS: Mapping[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress, "bz2": bz2.compress, "zst": zst, "xz": lzma.compress,
}  # fmt: skip

DELIMITED = [
    good("plain.csv", TWO),
    good("capitals.csv", b"Node,TOPIC\na,x\nb,y\n"),
    good("spaces in the header.csv", b" node , topic \na,x\nb,y\n"),
    good("semicolons.csv", b"node;topic\na;x\nb;y\n"),
    good("spreadsheet.csv", b"\xef\xbb\xbfBroker;Filter;Note\r\na;x;1\r\nb;y;\r\n", **BROKER),
    good("pipes.csv", b"node|topic\na|x\nb|y\n"),
    good("tabs.tsv", b"node\ttopic\na\tx\nb\ty\n"),
    good("tabs called csv.csv", b"node\ttopic\na\tx\nb\ty\n"),
    good("commas called tsv.tsv", TWO),
    good("sep line.csv", b"sep=;\r\nnode;topic\r\na;x\r\nb;y\r\n"),
    good("carets.csv", b"node^topic\na^x\nb^y\n", separator="^"),
    good("no header.csv", b"a,x\nb,y\n", header=False),
    good("no header, three columns.csv", b"1,a,x\n2,b,y\n", header=False, node_column="2", topic_column="3"),
    good("header declared to be data.csv", TWO, header=False, pairs=[("node", "topic"), *AX_BY]),
    good("others first.csv", b"weight,topic,node\n1,x,a\n2,y,b\n"),
    good("named.csv", b"who,what\na,x\nb,y\n", node_column="who", topic_column="what"),
    good("odd names.csv", b'"wh`o.","wha t"\na,x\nb,y\n', node_column="wh`o.", topic_column="wha t"),
    good("header over two lines.csv", b'"no\nde",topic\na,x\nb,y\n', node_column="no\nde"),
    good("bom.csv", b"\xef\xbb\xbf" + TWO),
    good("bom and quotes.csv", b'\xef\xbb\xbfnode,topic\r\n"a",x\r\nb,y\r\n'),
    good("bom.csv.gz", gzip.compress(b"\xef\xbb\xbf" + TWO)),
    good("utf16.csv", TWO.decode().encode("utf-16")),
    good("utf16 be.csv", b"\xfe\xff" + TWO.decode().encode("utf-16-be")),
    good("utf16 without mark.csv", TWO.decode().encode("utf-16-le")),
    good("utf32.csv", TWO.decode().encode("utf-32")),
    good("latin1.csv", "node,topic\né,ü\n".encode("latin-1"), pairs=[("é", "ü")], encoding="latin-1"),
    good("cp1252.csv", "node;topic\n€;“x”\n".encode("cp1252"), pairs=[("€", "“x”")], encoding="cp1252"),
    some("latin1 unasked.csv", "node,topic\né,x\nb,y\n".encode("latin-1"), [("b", "y")], (2, "node is not valid UTF-8")),
    good("crlf.csv", TWO.replace(b"\n", b"\r\n")),
    good("cr.csv", TWO.replace(b"\n", b"\r")),
    good("mixed line ends.csv", b"node,topic\r\na,x\nb,y\r"),
    good("a quote and crlf.csv", b'node,topic\na,x\r\n"b",y\r\n'),
    good("crlf header only.csv", b'node,topic\r\na,x\n"b",y\nc,z\n', pairs=[*AX_BY, ("c", "z")]),
    good("crlf inside quotes.csv", b'node,topic\r\n"x\r\ny",t\r\n', pairs=[("x\r\ny", "t")]),
    good("cr inside quotes.csv", b'node,topic\r"x\ry",t\r', pairs=[("x\ry", "t")]),
    good("nul.csv", b'node,topic\r\nn,"a\0b"\r\nm,"ab"\r\n', pairs=[("n", "a\0b"), ("m", "ab")]),
    good("blank first line.csv", b"\n\r\n" + TWO),
    good("blank lines.csv", b"node,topic\na,x\n\n\nb,y\n\n"),
    good("comment first.csv", b"# exported, yesterday\n" + TWO),
    good("no last line end.csv", TWO[:-1]),
    good("quoted.csv", b'"node","topic"\n"a","x"\nb,"y"\n'),
    good("inner.csv", b'node,topic\n" a ",x \n"q""e","c,d"\n5" disk,t\n', pairs=[(" a ", "x "), ('q"e', "c,d"), ('5" disk', "t")]),
    good("words.csv", b"node,topic\nNULL,NA\n007,1.10\n\\N,nan\n", pairs=[("NULL", "NA"), ("007", "1.10"), ("\\N", "nan")]),
    good("wide.csv", b"node,topic," + b",".join(b"c%d" % i for i in range(3000)) + b"\na,x" + b"," * 3000 + b"\nb,y" + b"," * 3000 + b"\n"),
    good("lists.csv", b"node;topic\na;x|z\nb;y\n", topics_separator="|", pairs=[("a", "x"), ("a", "z"), ("b", "y")]),
    good("no name", TWO),
    good("notes.txt", TWO),
    good("_hidden.csv", TWO),
    good("subs[1].csv", TWO),
    good("a:b.csv", TWO),
    good("back\\slash.csv", TWO),
    good("é日本.csv", TWO),
    good("said.bin", TWO, format="csv"),
    some("shifted.csv", b"node,topic,note\na,x,ok\nbroker,west,t,ok\nb,y,\n", AX_BY, (3, "4 fields, 3 are expected")),
    some("short.csv", b"node,topic\na,x\nonly\nb,y\n", AX_BY, (3, "1 field, 2 are expected")),
    some("unclosed.csv", b'node,topic\na,"t\nb,t\nc,t\n', [("b", "t"), ("c", "t")], (2, "a quote is opened and never")),
    some("unclosed last.csv", b'node,topic\na,x\nb,y\nc,"t', AX_BY, (4, "a quote is opened and never")),
    some("text after a quote.csv", b'node,topic\na,x\n"c"d,t\nb,y\n', AX_BY, (3, "text follows a closing quote")),
    some("backslash.csv", b'node,topic\n"a\\"1",x\nb,y\n', [("b", "y")], (2, "text follows a closing quote")),
    some("space before a quote.csv", b'node,topic\na, "x"\nb,y\n', [("b", "y")], (2, "a space stands before")),
    some("empty fields.tsv", b"node\ttopic\na\tx\n\t\nb\t\n", [("a", "x")], (3, "node is empty"), (4, "topic is empty")),
    some("blank labels.csv", b"node,topic\n \xe2\x80\x83,x\na,\xc2\xa0\nb,y\n", [("b", "y")], (2, "node is blank"), (3, "topic is blank")),
    some("bad utf8.csv", b"node,topic\nbad\xff,x\na,x\nb,y\n", AX_BY, (2, "node is not valid UTF-8")),
    some("long.csv", b"node,topic\n" + b"x" * 65537 + b",x\na,x\nb,y\n", AX_BY, (2, "node is over 64 KiB")),
    some("concatenated.csv", TWO + b"node,topic\nc,z\n", [*AX_BY, ("c", "z")], (4, "repeats the header")),
    bad("other names.csv", b"broker,subject\na,t\nb,t\n", "node_column='broker', topic_column='subject'.*header=False"),
    bad("half.csv", b"node,subject\na,x\n", "has no column 'topic': its first line has 'node', 'subject'; perhaps topic_column='subject'"),
    bad("three.csv", b"a,b,c\n", "no column 'node' and 'topic'.*'a', 'b', 'c'.*header=False"),
    bad("three without header.csv", b"a,b,c\n", "has 3 fields, not two", header=False),
    bad("twice.csv", b"node,topic,node\na,b,c\n", "names a column twice"),
    bad("twice by case.csv", b"Node,NODE,topic\na,b,c\n", "names a column twice"),
    bad("wrongly named.csv", TWO, "has no column 'who'", node_column="who"),
    bad("empty.csv", b"", "is empty"),
    bad("newlines.csv", b"\n\n\n", "is empty"),
    bad("what.bin", TWO, "format=…"),
    bad("unknown format.csv", TWO, "there is no format 'xml'", format="xml"),
    bad("same column.csv", TWO, "each has its own name", node_column="node", topic_column="node"),
    bad("parquet called.csv", parquet(node=["a"], topic=["x"]), "is Parquet, although"),
    bad("gzip called.csv", gzip.compress(TWO), "is gzip, although"),
    bad("no encoding.csv", TWO, "no encoding 'klingon'", encoding="klingon"),
    bad("no separator.csv", TWO, "not one ASCII character", separator="::"),
    bad("old.xls", b"\xd0\xcf\x11\xe0", "save it as .xlsx"),
    bad("packed.zip", b"PK\x03\x04", "unpack it first"),
]  # fmt: skip

COMPRESSED = [
    *(good(f"packed.csv.{name}", compress(TWO)) for name, compress in COMPRESSORS.items()),
    *(good(f"PACKED.CSV.{name.upper()}", compress(TWO)) for name, compress in COMPRESSORS.items()),
    *(good(f"members.csv.{name}", compress(TWO[:15]) + compress(TWO[15:])) for name, compress in COMPRESSORS.items()),
    *(bad(f"cut.csv.{name}", compress(TWO * 50)[:-9], "truncated|damaged") for name, compress in COMPRESSORS.items()),
    *(bad(f"more.csv.{name}", compress(TWO) + b"more", "other bytes behind") for name, compress in COMPRESSORS.items()),
    *(bad(f"plain.csv.{name}", TWO, "although its name says so") for name in COMPRESSORS),
    good("padded.csv.gz", gzip.compress(TWO) + b"\0" * 512),
    bad("bomb.csv.gz", gzip.compress(TWO + b"\0" * (17 << 20), 1), "is over 16 MiB long"),
    bad(
        "bomb.jsonl.xz",
        lzma.compress(b'{"node":"a","topic":"x"}\n' + b" " * (17 << 20), preset=0),
        "is over 16 MiB long",
    ),
    bad("whole.parquet.gz", gzip.compress(parquet(node=["a"], topic=["x"])), "unpack it first"),
    bad("snappy.csv.snappy", TWO, "compression that is not read"),
]

JSON = [
    good("lines.jsonl", b'{"node": "a", "topic": "x"}\n\n{"topic": "y", "node": "b", "more": [1]}\n'),
    good("bom.json", b'\xef\xbb\xbf{"node":"a","topic":"x"}\r\n{"node":"b","topic":"y"}'),
    good("capitals.ndjson", b'{"Node":"a","Topic":"x"}\n{"Node":"b","Topic":"y"}\n'),
    good("numbers.jsonl", b'{"node":1.10,"topic":1e2}\n{"node":-0,"topic":0.1000000000000000055511151231257827}\n',
         pairs=[("1.10", "1e2"), ("-0", "0.1000000000000000055511151231257827")]),
    good("lists.jsonl", b'{"node":"a","topics":["x","z"]}\n{"node":"b","topics":["y"]}\n', topic_column="topics",
         pairs=[("a", "x"), ("a", "z"), ("b", "y")]),
    good("escapes.jsonl", rb'{"node":"\u00e9\ud83d\ude00","topic":"a\u0000b\n"}', pairs=[("é😀", "a\0b\n")]),
    some("two objects.jsonl", b'{"node":"a","topic":"x"}{"node":"b","topic":"y"}\n{"node":"b","topic":"y"}\n',
         [("b", "y")], (1, "more than one JSON value")),
    some("trailing text.jsonl", b'{"node":"a","topic":"x"} garbage\n{"node":"b","topic":"y"}]]]\n{"node":"c","topic":"z"}\n',
         [("c", "z")], (1, "more than one JSON value"), (2, "more than one JSON value")),
    some("surrogates.jsonl", rb'{"node":"\ud800","topic":"x"}' + b"\n" + rb'{"node":"x\ud83dy","topic":"x"}' + b'\n{"node":"?","topic":"x"}\n',
         [("?", "x")], (1, "node holds half a surrogate pair"), (2, "node holds half")),
    some("nan.jsonl", b'{"node":NaN,"topic":"x"}\n{"node":"a","topic":"x"}\n', [("a", "x")], (1, "line is not a JSON object")),
    some("single quotes.jsonl", b"{'node':'a','topic':'x'}\n" + b'{"node":"a","topic":"x"}\n', [("a", "x")], (1, "line is not")),
    some("repeated keys.jsonl", b'{"node":"a","node":"b","topic":"x"}\n{"node":"a","topic":"x"}\n', [("a", "x")], (1, "the key 'node' occurs twice")),
    some("nested.jsonl", b'{"node":{"a":1},"topic":"x"}\n{"node":"a","topic":"x"}\n{"node":true,"topic":"x"}\n', [("a", "x")],
         (1, "node is an object"), (3, "node is true or false")),
    some("missing.jsonl", b'{"node":"a","topic":"x"}\n{"node":"a"}\nnot json\n{"node":null,"topic":"x"}\n{"node":"\xff"}\n{"node":"a","topic":[]}\n[1]\n',
         [("a", "x")], (2, "topic is null"), (3, "line is not"), (4, "node is null"), (5, "text is not valid UTF-8"), (6, "topic is an empty list"), (7, "line is not")),
    some("deep.jsonl", b'{"node":"a","topic":"x"}\n' + b'{"x":' + b"[" * 100000 + b"\n", [("a", "x")], (2, "JSON is nested too deeply")),
    bad("array.json", b'[\n{"node":"a","topic":"x"}\n]\n', "write one object a line"),
    bad("array in a line.json", b'[{"node":"a","topic":"x"}]\n', "write one object a line"),
    bad("pretty.json", b'{\n "node": "a"\n}\n', "write one object a line"),
    bad("keys.json", b'{"who": "a", "what": "x"}\n', "it has 'who', 'what'"),
]  # fmt: skip

COLUMNS = [
    good("strings.parquet", parquet(node=["a", "b"], topic=["x", "y"])),
    good("numbers.parquet", parquet(node=[10, 9], topic=pa.array([1, 2], pa.uint8())), pairs=[("10", "1"), ("9", "2")]),
    good("binary.parquet", parquet(node=[b"a", b"b"], topic=["x", "y"])),
    good("dictionary.parquet", parquet(node=pa.array(["a", "b"]).dictionary_encode(), topic=["x", "y"])),
    good("lists.parquet", parquet(node=["a", "b"], topic=[["x", "z"], ["y"]]), pairs=[("a", "x"), ("a", "z"), ("b", "y")]),
    some("nulls.parquet", parquet(node=["a", None, "b"], topic=["x", "x", None]), [("a", "x")], (2, "node is null"), (3, "topic is null")),
    some("empty lists.parquet", parquet(node=["a", "b", "c"], topic=[["x"], [], None]), [("a", "x")], (2, "topic is null"), (3, "topic is null")),
    some("bytes.parquet", parquet(node=[b"a", b"\xff"], topic=["x", "y"]), [("a", "x")], (2, "node is not valid UTF-8")),
    bad("fractions.parquet", parquet(node=[1.5], topic=["x"]), "holds double; labels are text or whole numbers"),
    bad("columns.parquet", parquet(who=["a"], topic=["x"]), "has no column 'node': it has 'who', 'topic'"),
    bad("damaged.parquet", parquet(node=["a"], topic=["x"])[:-20], "not a whole Parquet file"),
    good("book.xlsx", workbook(("node", "topic"), ("a", "x"), ("b", "y"))),
    good("book 2.xlsx", workbook(("Note", "Broker", "Filter"), (None, "a", "x"), (None, None, None), (1, 7, 1.5)), pairs=[("a", "x"), ("7", "1.5")], **BROKER),
    some("book 3.xlsx", workbook(("node", "topic"), ("a", "x"), ("b", None), (True, "y")), [("a", "x")], (3, "topic is null"), (4, "node is 'True'")),
    bad("no book.xlsx", b"PK\x03\x04 and no more", "not a whole .xlsx workbook"),
]  # fmt: skip

FOLDERS = [
    folder("files beside partitions", {"a.csv": b"node,topic\na,x\n", "day=1/b.csv": b"node,topic\nb,y\n"}, AX_BY),
    folder("subfolders", {"a.csv": b"node,topic\na,x\n", "more/deep/b.csv": b"node,topic\nb,y\n"}, AX_BY),
    folder("Parquet beside partitions", {"x.parquet": parquet(node=["a"], topic=["x"]), "day=1/x.parquet": parquet(node=["b"], topic=["y"])}, AX_BY),
    folder("names that are not ASCII", {f"{name}.csv": f"node,topic\n{name},t\n".encode() for name in ("a", "é", "日本")},
           [("a", "t"), ("é", "t"), ("日本", "t")]),
    folder("a backup, notes and hidden files", {"a.csv": TWO, "a.csv.bak": b"node,topic\nold,gone\n", "notes.txt": b"Hello, world\n", "_b.csv": TWO[:-4],
           ".c.csv": TWO, "b.csv._COPYING_": TWO, "README.md": b"# x, y\n", "_SUCCESS": b"", "empty.csv": b""}, AX_BY),
    folder("every file its own layout", {"a.csv": b"node,topic\na,x\n", "b.csv": b"topic;node\ny;b\n", "c.jsonl": b'{"node":"c","topic":"z"}\n',
           "d.parquet": parquet(node=["d"], topic=["w"])}, [*AX_BY, ("c", "z"), ("d", "w")]),
    folder("one without a header", {"a.csv": TWO, "b.csv": b"c,t\nd,t\ne,t\nf,t\n"}, refused="b.csv has no column 'node' and 'topic'"),
    folder("labels in partitions", {"topic=007/x.parquet": parquet(node=["a"]), "topic=7/y.parquet": parquet(node=["b"]), "topic=a%2Fb/z.csv": b"node\nc\n"},
           [("a", "007"), ("b", "7"), ("c", "a/b")]),
    folder("a column and a partition", {"node=a/x.parquet": parquet(node=["x"], topic=["t"])}, refused="only one of them can be meant"),
    folder("a CSV in a partition", {"node=eu/x.csv": b"topic\nt\nu\n"}, [("eu", "t"), ("eu", "u")]),
    folder("a folder called value", {"value=1/x.jsonl": b'{"node":"a","topic":"x"}\n'}, [("a", "x")]),
    folder("partitions of mixed depth", {"x=1/a.csv": b"node,topic\na,x\n", "x=1/y=2/b.csv": b"node,topic\nb,y\n"}, AX_BY),
    folder("a null partition", {"topic=__HIVE_DEFAULT_PARTITION__/x.csv": b"node\na\n", "b.csv": b"node,topic\nb,y\n"}, [("b", "y")], rejected=((2, "topic is null"),)),
    folder("a zip beside a CSV", {"a.csv": TWO, "b.zip": b"PK\x03\x04"}, AX_BY),
    folder("nothing to read", {"a.csv.bak": TWO}, refused="holds no file that can be read.*a.csv.bak"),
    folder("a pattern", {"one.csv": b"node,topic\na,x\n", "two.csv": b"node,topic\nb,y\n", "sub/three.csv": TWO}, [("b", "y")], source="t*.csv"),
    folder("a name that is a pattern", {"subs1.csv": b"node,topic\nWRONG,t\n", "subs[1].csv": TWO}, AX_BY, source="subs[1].csv"),
    folder("braces", {"{a,b}.csv": TWO, "a.csv": b"node,topic\nWRONG,t\n"}, AX_BY, source="{a,b}.csv"),
    folder("a question mark", {"q?.csv": TWO, "q1.csv": b"node,topic\nWRONG,t\n"}, AX_BY, source="q?.csv"),
    folder("nothing there", {"a.csv": TWO}, refused="does not exist", source="none.csv"),
    folder("no match", {"a.csv": TWO}, refused="matches no file", source="z*.csv"),
]  # fmt: skip

ALL = [*DELIMITED, *COMPRESSED, *JSON, *COLUMNS, *FOLDERS]
