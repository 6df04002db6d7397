"""The fast way and the exact rules agree, wherever the text is cut into blocks."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicloom.errors import InvalidOptionError
from topicloom.files.read import byte_streams
from topicloom.files.read.delimited import DelimitedReader, count_lines, quotes_within_lines
from topicloom.files.read.layout import Layout
from topicloom.files.read.patterns import Patterns
from topicloom.files.read.records import Record, records
from topicloom.files.read.rows import concat

TEXTS = st.lists(st.sampled_from([b"a", b"b", b",", b",", b'"', b'""', b"\n", b"\n", b"\r", b"\r\n", b" ", b"\xff", b"\xc3\xa9", b"\0", b"\xef\xbb\xbf"]), max_size=60).map(b"".join)  # fmt: skip # noqa: E501


def read(blocks, exact=False):
    reader = DelimitedReader(Layout(0, 1, separator=",", width=2), "f", ("node", "topic"), None, 1)
    if exact:
        reader._fast = lambda text: None
    return concat(list(reader.batches(iter(blocks)))).to_pylist()


@given(TEXTS, st.integers(1, 20))
def test_the_result_does_not_depend_on_blocks_or_on_the_fast_way(text, size):
    whole = read([text], exact=True)
    assert read([text]) == whole
    assert read([text[at : at + size] for at in range(0, len(text), size)]) == whole


@given(TEXTS)
def test_no_byte_of_a_row_is_lost(text):
    """The texts of all rows, and the line ends between them, are the text."""
    rows = [row for row in records(text, b",", 1, last=True) if isinstance(row, Record)]
    joined = b"".join(row.raw for row in rows)
    assert joined.replace(b"\r", b"").replace(b"\n", b"") == text.replace(b"\r", b"").replace(b"\n", b"")
    assert [row.line for row in rows] == sorted({row.line for row in rows})


@given(TEXTS)
def test_quotes_within_lines_means_that_lines_are_rows(text):
    if quotes_within_lines(text, ","):
        rows = [row for row in records(text, b",", 1, last=True) if isinstance(row, Record)]
        lines = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        assert [row.raw for row in rows] == [line for line in lines if line]


@given(TEXTS)
def test_line_ends_are_counted(text):
    assert count_lines(text) == len(text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")) - len(
        text.replace(b"\r\n", b"").replace(b"\r", b"").replace(b"\n", b"")
    )


def test_an_archive_is_read_in_pieces_that_are_small(tmp_path, monkeypatch):
    import gzip

    monkeypatch.setattr(byte_streams, "FREE_EXPANSION", 1 << 20)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b"a,b\n" * (8 << 20)))
    with path.open("rb") as raw, pytest.raises(ValueError, match="expands to over 1,000 times its size"):
        for block in byte_streams.decompressed(raw, "gz", "bomb.gz"):
            assert len(block) <= 2 * byte_streams.BLOCK


def matches_slowly(broker, pattern, topic):
    """The rules once more, by the letter of the specifications."""
    between, one, rest = ("/", "+", "#") if broker == "mqtt" else (".", "*", ">")
    if broker == "mqtt" and pattern.startswith("$share/"):
        pattern = pattern.split("/", 2)[2]
    wanted, given = pattern.split(between), topic.split(between)
    if broker == "mqtt" and given[0].startswith("$") and wanted[0] in (one, rest):
        return False
    for place, level in enumerate(wanted):
        if level == rest:
            return len(given) >= place + (0 if broker == "mqtt" and place else 1)
        if place >= len(given) or (level not in (one, given[place])):
            return False
    return len(wanted) == len(given)


@pytest.mark.parametrize("broker", ["mqtt", "nats"])
def test_patterns_match_as_the_brokers_say(broker):
    between, one, rest = ("/", "+", "#") if broker == "mqtt" else (".", "*", ">")
    levels = ["a", "b", "$SYS", *([""] if broker == "mqtt" else [])]
    topics = [between.join(path) for size in (1, 2, 3) for path in itertools.product(levels, repeat=size)]
    patterns = Patterns(broker, topics)
    tried = [between.join(path) for size in (1, 2, 3) for path in itertools.product([*levels, one, rest], repeat=size)]
    for pattern in [one for one in tried if patterns.is_pattern(one) and patterns.problem(one) is None]:
        expected = sorted(topic for topic in topics if topic and matches_slowly(broker, pattern, topic))
        assert [topic for topic in patterns.matches(pattern) if topic] == expected, pattern


def test_patterns_that_are_not_valid_are_named():
    mqtt = Patterns("mqtt", ["a/b"])
    for pattern in ("a/#/b", "a#", "a+/b", "$share/g"):
        assert "not a valid pattern" in mqtt.problem(pattern)
    assert mqtt.matches("$share/g/a/+") == ["a/b"]
    assert "at the end only" in Patterns("nats", []).problem("a.>.b")
    assert not Patterns("nats", []).is_pattern("a>b")
    with pytest.raises(InvalidOptionError, match="mqtt and nats"):
        Patterns("amqp", [])
