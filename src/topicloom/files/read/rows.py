"""Rows as all readers yield them, and which labels can be used.

A row has a reason if it is not used. Only then are its file, line and text kept.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from topicloom.files.read.read_options import ROLE_WORDS
from topicloom.model.labels import BLANK_SIGN, MAX_LABEL_BYTES, ROWS, all_usable, label_of

_LONGEST_RAW = MAX_LABEL_BYTES
_ENDS = rf"\A{BLANK_SIGN}+|{BLANK_SIGN}+\z"


def shown(text: bytes | str) -> str:
    """Text that any file takes: undecodable bytes as escapes, cut after 64 KiB."""
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogatepass")
    cut = text[:_LONGEST_RAW]
    try:
        return cut.decode()
    except UnicodeDecodeError:
        return cut.decode("utf-8", "backslashreplace")


def role_of(value: bytes | str | None) -> tuple[str | None, str | None]:
    """Return a role, null if there is none, and the reason why it is not one."""
    if value is None:
        return None, None
    text = shown(value).strip().lower()
    if text in ROLE_WORDS:
        return ROLE_WORDS[text], None
    return None, f"role is {shown(value)[:40]!r}, not publish, subscribe or both" if text else None


class RowBuilder:
    """Collects rows one by one."""

    def __init__(self, file: str, words: tuple[str, str], encoding: str = "UTF-8", *, trim: bool = False) -> None:
        self._file, self._words, self._encoding, self._trim = file, words, encoding, trim
        self._rows: list[tuple[Any, ...]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def reject(self, line: int, raw: bytes | str, reason: str, first: Any = None, second: Any = None) -> None:
        """Add a row that is not used."""
        texts = [None if value is None else shown(value) for value in (first, second)]
        self._rows.append((self._file, line, shown(raw), *texts, None, reason))

    def add(self, line: int, raw: bytes | str, first: Any, second: Any, role: Any = None) -> None:
        """Add a row of two labels, or reject it."""
        node, wrong = self._label(first, self._words[0])
        if wrong is None:
            topic, wrong = self._label(second, self._words[1])
        if wrong is None and role is not None:
            role, wrong = role_of(role)
        if wrong is not None:
            self.reject(line, raw, wrong, first, second)
        else:
            self._rows.append((None, None, None, node, topic, role, None))

    def _label(self, value: bytes | str | None, what: str) -> tuple[str | None, str | None]:
        if not self._trim or value is None:
            return label_of(value, what, self._encoding)
        try:
            text = value.decode() if isinstance(value, bytes) else value
        except UnicodeDecodeError:
            return label_of(value, what, self._encoding)
        return label_of(text.strip() or text, what, self._encoding)

    def batch(self) -> pa.RecordBatch:
        """Return the rows so far, and start again."""
        columns = list(zip(*self._rows)) or [()] * len(ROWS)
        self._rows = []
        return pa.record_batch([pa.array(column, field.type) for column, field in zip(columns, ROWS)], schema=ROWS)


def usable_batch(node: pa.Array, topic: pa.Array, role: pa.Array | None = None) -> pa.RecordBatch:
    """Rows that are all used."""
    nulls = {kind: pa.nulls(len(node), kind) for kind in (pa.string(), pa.int64())}
    text, number = nulls[pa.string()], nulls[pa.int64()]
    return pa.record_batch([text, number, text, node, topic, text if role is None else role, text], schema=ROWS)


def as_labels(column: pa.Array, *, trim: bool = False) -> pa.Array | None:
    """Binary or text as labels, if every one of them can be used. Returns None if one cannot, or is not valid UTF-8."""
    if column.null_count:
        return None
    if trim:
        try:
            column = pc.replace_substring_regex(column.cast(pa.binary()).cast(pa.string()), _ENDS, "")
        except pa.ArrowInvalid:
            return None
    try:
        texts = column.cast(pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        return None
    return texts if all_usable(texts) else None


def as_roles(column: pa.Array) -> pa.Array | None:
    """Binary as roles, null where empty. Returns None if something else is among them."""
    try:
        texts = pc.utf8_lower(pc.utf8_trim_whitespace(column.cast(pa.string())))
    except pa.ArrowInvalid:
        return None
    said = pc.fill_null(pc.equal(texts, ""), True)
    roles = pa.array(list(ROLE_WORDS.values())).take(pc.index_in(texts, pa.array(list(ROLE_WORDS))))
    return roles if pc.all(pc.or_(said, pc.is_valid(roles))).as_py() is not False else None


def concat(batches: Sequence[pa.RecordBatch]) -> pa.Table:
    """Batches of rows as one table."""
    return pa.Table.from_batches(batches, ROWS)
