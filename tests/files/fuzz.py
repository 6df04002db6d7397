"""Writes files of every format, layout and compression with hostile content, and compares what is read with it.

``python -m reading.fuzz 10000`` in ``tests/`` writes that number of sources of subscriptions, and as many tables of
links, forbidden pairs, rates and brokers. Its last line has the counts.
"""

import io
import json
import random
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from files.hand_made import COMPRESSORS
from topicloom.cli.commands.routes import read_rates
from topicloom.cli.forbidden_links import read_pairs
from topicloom.deploy import Inventory
from topicloom.errors import TopicloomError
from topicloom.files.read import LINKS, Reading, ReadOptions, byte_streams, read_links, read_subscriptions
from topicloom.files.read.read_options import RATES

HOSTILE = ['"', '""', ",", ";", "\t", "|", "\n", "\r", "\r\n", "\0", " ", "\u00a0", "'", "\\", "#", "=", "{", "}", "[",
           "é",
           "e\u0301", "日本", "😀", "\ufeff", "\u2028", "\x85", "\x1b[31m", "\u202e", "node",
           "topic", "null", "NaN",
           "a", "b", "/", "+", ".", ">", "*", "1", "0.10", "-0", "$share", "%2F", "x" * 300]  # fmt: skip
PLAIN = ["a", "b", "c", "1", "é", "/", "-", " ", "日本", "#", ";", ",", "|", '"', "'"]
SEPARATORS = {"csv": ",", "semicolon": ";", "pipe": "|", "tsv": "\t", "caret": "^"}


@dataclass
class Written:
    """What was written, and what is to come of it."""

    source: Path
    options: dict[str, Any] = field(default_factory=dict)
    pairs: set[tuple[str, str]] = field(default_factory=set)
    used: int = 0
    rejected: list[tuple[str, int]] = field(default_factory=list)
    refused: bool = False
    says: str = ""
    names: tuple[str, str] = ("node", "topic")


def label(rng: random.Random, pieces: list[str]) -> str:
    while True:
        text = "".join(rng.choice(pieces) for _ in range(rng.randint(1, 6)))
        if not text.isspace():
            return text


def rows_of(rng: random.Random, pieces: list[str]) -> list[tuple[str, str]]:
    nodes = [label(rng, pieces) for _ in range(rng.randint(1, 6))]
    topics = [label(rng, pieces) for _ in range(rng.randint(1, 6))]
    rows = [(rng.choice(nodes), rng.choice(topics)) for _ in range(rng.randint(1, 30))]
    return [row for row in rows if row != ("node", "topic")] or [("a", "a")]  # a header in the middle is rejected


def write(rng: random.Random, folder: Path, names: tuple[str, str] = ("node", "topic")) -> Written:
    """Write a source of one to four files. A table of rates is one file without lists."""
    many = rng.random() < 0.3 and names[1] != "rate"
    written = Written(folder / "d" if many else folder, names=names)
    kind = rng.choice([*SEPARATORS, *SEPARATORS, "json", "json", "parquet", "xlsx" if rng.random() < 0.1 else "json"])
    if names[1] == "rate" and kind in ("json", "parquet"):
        kind = "csv"
    base = {"options": _options(rng, kind, names)}
    written.options = base["options"]
    for number in range(rng.randint(1, 4) if many else 1):
        place = folder / "d" / rng.choice(["", "sub", "day=1", "sub/x=2", "é"]) if many else folder
        place.mkdir(parents=True, exist_ok=True)
        path = _write_file(rng, place, kind, number, written)
        if not many:
            written.source = path
    if many and rng.random() < 0.5:
        (folder / "d" / rng.choice(["x.csv.bak", "_SUCCESS", ".hidden.csv", "notes.md"])).write_bytes(
            b"node,topic\nno,no\n"
        )
    return written


def _options(rng: random.Random, kind: str, names: tuple[str, str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if kind in SEPARATORS and rng.random() < 0.2:
        options["header"] = False
    elif rng.random() < 0.3:
        options |= {f"{names[0]}_column": "Who is", f"{names[1]}_column": "what"}
    if kind == "caret" or options.get("header") is False:
        options["separator"] = SEPARATORS[kind]
    if kind in SEPARATORS and rng.random() < 0.1:
        options["encoding"] = "latin-1"
    return options


def _write_file(rng: random.Random, place: Path, kind: str, number: int, written: Written) -> Path:
    latin = written.options.get("encoding") == "latin-1"
    pieces = HOSTILE if kind != "xlsx" and rng.random() < 0.7 else PLAIN
    if latin:
        pieces = [piece for piece in pieces if piece.isascii() or piece in "é\u00a0\x85"]
    rows = rows_of(rng, pieces)
    if written.options.get("header") is False and rows[0][0].startswith("\ufeff"):
        rows = [("a", "a"), *rows]  # a text cannot begin with that character: it would be a byte order mark
    if written.names[1] == "rate":
        rows = [(topic, str(number / 4)) for number, topic in enumerate(dict.fromkeys(topic for topic, _ in rows))]
    if kind in SEPARATORS:
        suffix, content = "tsv" if kind == "tsv" else "csv", _delimited(rng, rows, kind, written)
    elif kind == "json":
        suffix, content = rng.choice(["json", "jsonl", "ndjson"]), _json_lines(rng, rows, written)
    else:
        suffix, content = kind, (_parquet if kind == "parquet" else _workbook)(rng, rows, written)
    name = f"{rng.choice(['subs', 'é', 'a b', 'q[1]'])}{number}.{suffix}"
    if kind not in ("parquet", "xlsx") and rng.random() < 0.4:
        packing = rng.choice(list(COMPRESSORS))
        name, content = f"{name}.{packing}", COMPRESSORS[packing](content)
    path = place / name
    path.write_bytes(content)
    written.rejected = [(str(path) if file is None else file, line) for file, line in written.rejected]
    written.says += f"{path.name} "
    return path


def _names(written: Written) -> tuple[str, str]:
    given = [written.options.get(f"{name}_column") for name in written.names]
    return given[0] or written.names[0], given[1] or written.names[1]


def _delimited(rng: random.Random, rows: list[tuple[str, str]], kind: str, written: Written) -> bytes:
    separator, end = SEPARATORS[kind], rng.choice(["\n", "\r\n", "\r"])
    always = rng.random() < 0.3
    extra = rng.choice([0, 0, 1, 3]) if written.options.get("header") is not False else 0
    text, line = io.StringIO(newline=""), 1

    def put(fields: list[str]) -> None:
        nonlocal line
        quoted = (
            always or rng.random() < 0.1 or any(sign in field for sign in f'"\r\n{separator}') for field in fields
        )
        row = separator.join('"' + f.replace('"', '""') + '"' if q else f for f, q in zip(fields, quoted)) + end
        text.write(row)
        line += _lines(row)

    if written.options.get("header") is not False:
        put([*_names(written), *(f"extra {place}" for place in range(extra))])
    header = text.getvalue()
    for node, topic in rows:
        if rng.random() < 0.05:
            text.write(end)
            line += 1
        if rng.random() < 0.05 and written.options.get("header") is not False:
            written.rejected.append((None, line))  # type: ignore[arg-type]
            put(
                rng.choice(
                    [[node, topic, *["z"] * (extra + 1)], [" ", topic, *[""] * extra], [node, "", *[""] * extra]]
                )
            )
        written.pairs.add((node, topic))
        written.used += 1
        put([node, topic, *(rng.choice(["", "more", "1;2"]) for _ in range(extra))])
    body = text.getvalue()
    if rng.random() < 0.3 and len(body) > len(header):
        body = body.removesuffix(end)
    return _encoded(rng, body, written)


def _lines(text: str) -> int:
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def _encoded(rng: random.Random, text: str, written: Written) -> bytes:
    if written.options.get("encoding") == "latin-1":
        return text.encode("latin-1")
    return text.encode(rng.choice(["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-32"]))


def _json_lines(rng: random.Random, rows: list[tuple[str, str]], written: Written) -> bytes:
    lines: list[str] = []
    node_key, topic_key = _names(written)
    for node, topic in rows:
        if rng.random() < 0.05:
            lines.append("")
        if lines and rng.random() < 0.08:
            lines.append(
                rng.choice(['{"x": 1', "[]", '{"a": 1} {"b": 2}', '{"' + node_key + '": null}', "nonsense", "NaN"])
            )
            written.rejected.append((None, len(lines)))  # type: ignore[arg-type]
        several = [topic, f"{topic}+"] if rng.random() < 0.2 else [topic]
        fields: dict[str, Any] = {
            node_key: node,
            topic_key: several if len(several) > 1 else topic,
            "more": {"x": [1.5]},
        }
        lines.append(json.dumps(fields, ensure_ascii=rng.random() < 0.5))
        written.pairs |= {(node, one) for one in several}
        written.used += len(several)
    return _encoded(rng, rng.choice(["\n", "\r\n"]).join(lines) + rng.choice(["", "\n"]), written)


def _parquet(rng: random.Random, rows: list[tuple[str, str]], written: Written) -> bytes:
    columns: dict[str, list[Any]] = {name: [] for name in (*_names(written), "more")}
    lists = rng.random() < 0.3
    for node, topic in rows:
        if rng.random() < 0.05:
            for column, value in zip(columns.values(), (None, [topic] if lists else topic, 1)):
                column.append(value)
            written.rejected.append((None, len(columns["more"])))  # type: ignore[arg-type]
        several = [topic, f"{topic}+"] if lists else [topic]
        for column, value in zip(columns.values(), (node, several if lists else topic, 1)):
            column.append(value)
        written.pairs |= {(node, one) for one in several}
        written.used += len(several)
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, row_group_size=rng.randint(1, 20))
    return sink.getvalue()


def _workbook(rng: random.Random, rows: list[tuple[str, str]], written: Written) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(_names(written))
    for node, topic in rows:
        written.pairs.add((node, topic))
        written.used += 1
        book.active.append((node, topic))
    sink = io.BytesIO()
    book.save(sink)
    return sink.getvalue()


def damage(rng: random.Random, path: Path) -> None:
    """Change some bytes of a file, or cut it."""
    data = bytearray(path.read_bytes())
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data))
        data[at] = rng.choice([0, 10, 13, 34, 44, 255, rng.randrange(256)])
    path.write_bytes(data[: rng.randint(1, len(data))] if rng.random() < 0.3 else data)


def difference(written: Written) -> str | None:
    """How what is read differs from what was written; None if it does not."""
    try:
        reading = _read(written)
    except TopicloomError as error:
        return f"refused: {error}"
    counts = reading.counts
    if counts["rows"] != counts["used"] + counts["repeated"] + counts["rejected"]:
        return f"the books do not balance: {dict(counts)}"
    found = set(zip(*(reading.table[name].to_pylist() for name in reading.table.column_names[:2])))
    if found != written.pairs:
        return f"labels: lost {sorted(written.pairs - found)[:2]}, more {sorted(found - written.pairs)[:2]}"
    if counts["used"] + counts["repeated"] != written.used:
        return f"rows: {written.used} written, {counts['used']} + {counts['repeated']} read"
    rejected = sorted(zip(reading.rejected["file"].to_pylist(), reading.rejected["line"].to_pylist()))
    return None if rejected == sorted(written.rejected) else f"rejected {rejected}, not {sorted(written.rejected)}"


def _read(written: Written) -> Reading:
    reader = read_links if written.names == LINKS.names else read_subscriptions
    return reader(written.source, **written.options)


def _strict(written: Written) -> str | None:
    """How a table of which every row counts differs from what was written: forbidden pairs and rates."""
    words = {name: value for name, value in written.options.items() if not name.endswith("_column")}
    columns = [written.options.get(f"{name}_column") for name in written.names]
    options = ReadOptions(LINKS if written.names == LINKS.names else RATES, *columns, **words)
    try:
        if written.names == LINKS.names:
            pairs = set(read_pairs(written.source, options))
            rates = {}
        else:
            rates, pairs = read_rates(written.source, options), set()
    except TopicloomError as error:
        said = str(error)
        wanted = [f"{file}, line {line:}: " for file, line in written.rejected]
        return None if any(said.startswith(one) for one in wanted) else f"refused: {said}"
    if written.rejected:
        return f"not refused, although {len(written.rejected)} rows cannot be used"
    if written.names == LINKS.names:
        return None if pairs == written.pairs else f"pairs: {sorted(pairs ^ written.pairs)[:2]}"
    return None if rates == {topic: float(rate) for topic, rate in written.pairs} else "rates differ"


def _inventory(rng: random.Random, folder: Path) -> tuple[Path, dict[str, Any], list[str]]:
    """Write an inventory as delimited text. Returns its path, the options to read it, and the names in it."""
    kind, latin = rng.choice(list(SEPARATORS)), rng.random() < 0.1
    pieces = [piece for piece in HOSTILE if not latin or piece.isascii() or piece in "é\u00a0\x85"]
    names = list(dict.fromkeys(label(rng, pieces) for _ in range(rng.randint(1, 9))))
    columns = rng.sample(["node", "host", "port", "site"], 4)
    header = [rng.choice([name, name.upper(), f" {name} "]) for name in columns]
    values = [{"node": name, "host": f"h{at}", "port": str(at + 1), "site": "x;y"} for at, name in enumerate(names)]
    rows = [header, *([one[column] for column in columns] for one in values)]
    end, separator = rng.choice(["\n", "\r\n", "\r"]), SEPARATORS[kind]
    text = end.join(separator.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows)
    encoding = "latin-1" if latin else rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-32"])
    content, name = text.encode(encoding), f"b.{'tsv' if kind == 'tsv' else 'csv'}"
    if rng.random() < 0.3:
        packing = rng.choice(list(COMPRESSORS))
        content, name = COMPRESSORS[packing](content), f"{name}.{packing}"
    (folder / name).write_bytes(content)
    options = {**({"encoding": encoding} if latin else {}), **({"separator": "^"} if kind == "caret" else {})}
    return folder / name, options, names


def _inventory_trial(rng: random.Random, folder: Path) -> tuple[str, str | None]:
    path, options, names = _inventory(rng, folder)
    try:
        brokers = Inventory.load(path, **options).brokers
    except TopicloomError as error:
        return path.name, f"refused: {error}"
    if list(brokers) != names or [one.port for one in brokers.values()] != [*range(1, len(names) + 1)]:
        return path.name, f"brokers: {sorted(set(brokers) ^ set(names))[:2]}"
    damage(rng, path)
    try:
        Inventory.load(path, **options)
    except TopicloomError as error:
        return path.name, f"damaged: more than a sentence: {error}" if "\n" in str(error) else None
    return path.name, None


def table_trial(seed: int, folder: Path) -> tuple[str, str | None]:
    """`trial` of links, forbidden pairs, rates and inventories, by turns."""
    rng = random.Random(f"tables {seed}")
    kind = ("links", "forbidden pairs", "rates", "inventory")[seed % 4]
    if kind == "inventory":
        return _inventory_trial(rng, folder)
    written = write(rng, folder, RATES.names if kind == "rates" else LINKS.names)
    compare = difference if kind == "links" else _strict
    wrong = compare(written)
    if wrong is None and written.source.is_file():
        damage(rng, written.source)
        try:
            compare(written)
        except TopicloomError as error:
            wrong = f"damaged: {error}"
    return written.says, None if wrong is None else f"{kind}: {wrong}"


def trial(seed: int, folder: Path) -> tuple[str, str | None]:
    """Write a source, read it, compare; then damage it and read it again, which may be refused but not fail."""
    rng = random.Random(seed)
    block = byte_streams.BLOCK
    byte_streams.BLOCK = rng.choice([64, 257, 4096, block])
    try:
        written = write(rng, folder)
        wrong = difference(written)
        if wrong is None and written.source.is_file():
            damage(rng, written.source)
            try:
                counts = read_subscriptions(written.source, **written.options).counts
                if counts["rows"] != counts["used"] + counts["repeated"] + counts["rejected"]:
                    wrong = f"damaged: the books do not balance: {dict(counts)}"
            except TopicloomError as error:
                if "\n" in str(error):
                    wrong = f"damaged: more than a sentence: {error}"
    finally:
        byte_streams.BLOCK = block
    return written.says, wrong


def main(count: int, first: int = 0) -> int:
    """Run trials and print what differs; the last line counts."""
    tally: Counter[str] = Counter()
    for seed, one in product(range(first, first + count), (trial, table_trial)):
        with tempfile.TemporaryDirectory() as folder:
            try:
                says, wrong = one(seed, Path(folder))
            except Exception as error:
                says, wrong = "", f"traceback: {type(error).__name__}: {error}"
        tally["sources"] += 1
        tally["files"] += len(says.split()) or 1
        if wrong is not None:
            tally["traceback" if wrong.startswith("traceback") else "different"] += 1
            print(f"{one.__name__} {seed} ({says}): {wrong}", flush=True)
    wrong = f"{tally['different']} differ, {tally['traceback']} tracebacks"
    print(f"{tally['files']:,} files in {tally['sources']:,} sources: {wrong}")
    return 1 if tally["different"] or tally["traceback"] else 0


__all__ = ["difference", "table_trial", "trial", "write"]

if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:] or ["10000"])))
