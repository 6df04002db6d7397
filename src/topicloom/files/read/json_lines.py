"""JSON lines to rows of labels: one object a line, strictly.

Numbers are labels as they are written. A list of topics is one row for each of them.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from topicloom.errors import UnreadableInputError
from topicloom.files.read.layout import Constant, Layout, Pick, picked
from topicloom.files.read.read_options import ReadOptions
from topicloom.files.read.records import LINE_END, MAX_ROW_BYTES
from topicloom.files.read.rows import RowBuilder

_SPACE = b" \t\r\n"
_ROWS_AT_ONCE = 1 << 15
_LINES_LOOKED_AT = 1000


class _Number(str):
    """A number as it is written."""


class _RepeatedKeyError(ValueError):
    pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _RepeatedKeyError(next(key for key in keys if keys.count(key) > 1))
    return found


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


_decoder = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_Number, parse_int=_Number, parse_constant=_refused, strict=True
)


def parse_object(line: bytes) -> tuple[dict[str, Any], str | None]:
    """Parse a line as a JSON object. Returns it, or an empty one with the reason why the line is none."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return {}, "text is not valid UTF-8"
    try:
        found = _decoder.decode(text)
    except _RepeatedKeyError as error:
        return {}, f"the key {str(error)[:60]!r} occurs twice"
    except ValueError as error:
        extra = str(error).startswith("Extra data")
        return {}, "more than one JSON value in a line" if extra else "line is not a JSON object"
    except RecursionError:
        return {}, "JSON is nested too deeply"
    return (found, None) if isinstance(found, dict) else ({}, "line is not a JSON object")


def json_layout(head: bytes, options: ReadOptions, name: str, *, partitions: Mapping[str, str | None]) -> Layout:
    """Under which keys the labels are, judged by the first thousand lines.

    Raises
    ------
    MissingColumnError
        No line has them.
    UnreadableInputError
        The file is one JSON value over several lines.
    """
    lines = [line.strip(_SPACE) for line in LINE_END.split(head)]
    lines = [line for line in lines if line][:_LINES_LOOKED_AT]
    if lines and (lines[0][:1] == b"[" or lines[0] == b"{"):
        raise UnreadableInputError(
            f"{name} is one JSON value over its lines; write one object a line (jq -c '.[]' does that to an array)"
        )
    keys: dict[str, None] = {}
    for line in lines:
        keys.update(dict.fromkeys(parse_object(line)[0]))
    if not keys:
        return Layout(options.names[0], options.names[1], options.role)
    names = list(keys)
    first, second, role = picked(names, options, partitions, name)
    return Layout(first, second, role, tuple(names))


class JsonReader:
    """Turns blocks of JSON lines into batches of rows."""

    def __init__(
        self, layout: Layout, file: str, words: tuple[str, str], topics_separator: str | None, line: int
    ) -> None:
        self._layout, self._file, self._line, self._words = layout, file, line, words
        self._topics_separator = topics_separator
        self._builder = RowBuilder(file, words, trim=layout.trim)

    def batches(self, blocks: Iterator[bytes]) -> Iterator[pa.RecordBatch]:
        """Batches of all rows of the text."""
        rest = b""
        for block in blocks:
            text = rest + block if rest else block
            cut = max(text.rfind(b"\n"), text.rfind(b"\r", 0, -1)) + 1
            yield from self._lines(text[:cut])
            rest = text[cut:]
            if len(rest) > MAX_ROW_BYTES:
                raise UnreadableInputError(
                    f"line {self._line:,} of {self._file} is over {MAX_ROW_BYTES >> 20} MiB long; "
                    "that is no table of labels"
                )
        yield from self._lines(rest, last=True)
        if len(self._builder):
            yield self._builder.batch()

    def _lines(self, text: bytes, *, last: bool = False) -> Iterator[pa.RecordBatch]:
        lines = text.split(b"\n") if b"\r" not in text else LINE_END.split(text)
        if not last or not lines[-1]:
            lines.pop()
        for line in lines:
            if line.strip(_SPACE):
                self._add(line)
            self._line += 1
            if len(self._builder) >= _ROWS_AT_ONCE:
                yield self._builder.batch()

    def _add(self, line: bytes) -> None:
        found, reason = parse_object(line)
        if reason is not None:
            self._builder.reject(self._line, line, reason)
            return
        layout, words = self._layout, self._words
        first, wrong = _text(_value(layout.first, found), words[0])
        role, wrong_role = (None, None) if layout.role is None else _text(_value(layout.role, found), "role")
        wrong = wrong or wrong_role
        value = _value(layout.second, found)
        if isinstance(value, str) and self._topics_separator:
            value = value.split(self._topics_separator)
        if value == []:
            value, wrong = None, wrong or f"{words[1]} is an empty list"
        for item in value if isinstance(value, list) else [value]:
            second, wrong_second = _text(item, words[1])
            if wrong or wrong_second:
                self._builder.reject(self._line, line, str(wrong or wrong_second), first, second)
            else:
                self._builder.add(self._line, line, first, second, role)


def _value(pick: Pick, found: Mapping[str, Any]) -> Any:
    return pick.value if isinstance(pick, Constant) else found.get(str(pick))


def _text(value: Any, what: str) -> tuple[str | None, str | None]:
    if value is None or isinstance(value, str):
        return value, None
    kind = {bool: "true or false", dict: "an object", list: "a list"}[type(value)]
    return None, f"{what} is {kind}, not text or a number"
