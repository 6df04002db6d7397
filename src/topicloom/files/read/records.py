r"""The exact rules of delimited text, row by row.

- A row ends with ``\n``, ``\r\n`` or ``\r`` outside quotes. Lines of no bytes are not rows.
- A field that begins with ``"`` ends with the next single ``"``; two of them stand for one. What follows must be a
  separator or the end of the row. Elsewhere a quote is a character like others.
- Lines of a row whose quoting breaks these rules are rejected one by one. A quote that is never closed costs its own
  line only.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

MAX_ROW_BYTES = 16 << 20
LINE_END = re.compile(rb"\r\n|\n|\r")
AFTER_QUOTE = "text follows a closing quote; a quote inside quotes is written twice"
UNCLOSED = "a quote is opened and never closed"
SPACE_BEFORE_QUOTE = "a space stands before a quoted field"


class Record(NamedTuple):
    """A row: its line number, its text, and its fields or the reason why it has none."""

    line: int
    raw: bytes
    fields: list[bytes]
    reason: str | None = None


class Incomplete(NamedTuple):
    """Where the last, unfinished row begins, and its line number."""

    at: int
    line: int


def records(data: bytes, separator: bytes, line: int, *, last: bool) -> Iterator[Record | Incomplete]:
    """Rows of a text that begins with a row. Ends with an `Incomplete` unless it is the last text of the file."""
    at, size = 0, len(data)
    special = re.compile(rb"[\r\n" + re.escape(separator) + rb"]")
    while at < size:
        found = LINE_END.search(data, at)
        if not last and (found is None or (found.end() == size and found[0] == b"\r")):
            break
        end, after = found.span() if found else (size, size)
        raw = data[at:end]
        if b'"' not in raw:
            if raw:
                yield Record(line, raw, raw.split(separator))
            at, line = after, line + 1
            continue
        fields, stop, reason = _quoted(data, at, special, separator)
        open_end = stop >= size or data[stop:] == b"\r"  # the next text may begin with the other half of a line end
        if not last and open_end and (reason != UNCLOSED or size - at <= MAX_ROW_BYTES):
            break
        if reason == UNCLOSED:
            yield Record(line, raw, raw.split(separator), reason)
            at, line = after, line + 1
            continue
        if reason is not None:
            for number, broken in enumerate(LINE_END.split(data[at:stop])):
                yield Record(line + number, broken, broken.split(separator), reason)
        else:
            yield Record(line, data[at:stop], fields)
        ending = LINE_END.match(data, stop)
        line += len(LINE_END.findall(data, at, stop)) + 1
        at = ending.end() if ending else stop
    yield Incomplete(at, line)


def _quoted(data: bytes, at: int, special: re.Pattern[bytes], separator: bytes) -> tuple[list[bytes], int, str | None]:
    """Fields of the row that begins here, where it ends, and what is wrong with it."""
    fields: list[bytes] = []
    limit = at + MAX_ROW_BYTES
    wrong = None
    while True:
        if data[at : at + 1] == b'"':
            close = _closing(data, at + 1, limit)
            if close < 0:
                return fields, len(data), UNCLOSED
            fields.append(data[at + 1 : close].replace(b'""', b'"'))
            at = close + 1
        else:
            found = special.search(data, at)
            stop = found.start() if found else len(data)
            fields.append(data[at:stop])
            if fields[-1].lstrip(b" ")[:1] == b'"':
                wrong = SPACE_BEFORE_QUOTE  # as in: a, "b, c"
            at = stop
        following = data[at : at + 1]
        if following == separator:
            at += 1
        elif following in (b"", b"\n", b"\r"):
            return fields, at, wrong
        else:
            found = LINE_END.search(data, at)
            return fields, found.start() if found else len(data), AFTER_QUOTE


def _closing(data: bytes, at: int, limit: int) -> int:
    """Position of the quote that closes a field whose text begins here, or -1."""
    while True:
        quote = data.find(b'"', at, limit)
        if quote < 0 or data[quote + 1 : quote + 2] != b'"':
            return quote
        at = quote + 2
