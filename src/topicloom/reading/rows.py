"""Rows as all readers yield them, and which labels can be used.

A row has a reason if it is not used. Only then are its file, line and text kept.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.model.labels import BLANK, MAX_LABEL_BYTES
from topicloom.reading.read_options import ROLES

ROWS = pa.schema(
    [
        ("file", pa.string()),
        ("line", pa.int64()),
        ("raw", pa.string()),
        ("node", pa.string()),
        ("topic", pa.string()),
        ("role", pa.string()),
        ("reason", pa.string()),
    ]
)
_LONGEST_RAW = MAX_LABEL_BYTES
_FIRST_BYTES_OF_BLANKS = np.zeros(256, bool)
_FIRST_BYTES_OF_BLANKS[[*range(9, 14), *range(0x1C, 0x21), 0xC2, 0xE1, 0xE2, 0xE3]] = True


def shown(text: bytes | str) -> str:
    """Text that any file takes: undecodable bytes as escapes, cut after 64 KiB."""
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogatepass")
    cut = text[:_LONGEST_RAW]
    try:
        return cut.decode()
    except UnicodeDecodeError:
        return cut.decode("utf-8", "backslashreplace")


def label_of(value: bytes | str | None, what: str, encoding: str = "UTF-8") -> tuple[str | None, str | None]:
    """Return a label and None, or None and the reason why it cannot be used."""
    if value is None:
        return None, f"{what} is null"
    if isinstance(value, bytes):
        try:
            text = value.decode()
        except UnicodeDecodeError:
            return None, f"{what} is not valid {encoding}"
        size = len(value)
    else:
        text = value
        try:
            size = len(value.encode())
        except UnicodeEncodeError:
            return None, f"{what} holds half a surrogate pair"
    if not text:
        return None, f"{what} is empty"
    if size > MAX_LABEL_BYTES:
        return None, f"{what} is over {MAX_LABEL_BYTES // 1024} KiB"
    return (None, f"{what} is blank") if text.isspace() else (text, None)


def role_of(value: bytes | str | None) -> tuple[str | None, str | None]:
    """Return a role, null if there is none, and the reason why it is not one."""
    if value is None:
        return None, None
    text = shown(value).strip().lower()
    if text in ROLES:
        return text, None
    return None, f"role is {shown(value)[:40]!r}, not publish, subscribe or both" if text else None


class RowBuilder:
    """Collects rows one by one."""

    def __init__(self, file: str, words: tuple[str, str], encoding: str = "UTF-8") -> None:
        self._file, self._words, self._encoding = file, words, encoding
        self._rows: list[tuple[Any, ...]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def reject(self, line: int, raw: bytes | str, reason: str, first: Any = None, second: Any = None) -> None:
        """Add a row that is not used."""
        texts = [None if value is None else shown(value) for value in (first, second)]
        self._rows.append((self._file, line, shown(raw), *texts, None, reason))

    def add(self, line: int, raw: bytes | str, first: Any, second: Any, role: Any = None) -> None:
        """Add a row of two labels, or reject it."""
        node, wrong = label_of(first, self._words[0], self._encoding)
        if wrong is None:
            topic, wrong = label_of(second, self._words[1], self._encoding)
        if wrong is None and role is not None:
            role, wrong = role_of(role)
        if wrong is not None:
            self.reject(line, raw, wrong, first, second)
        else:
            self._rows.append((None, None, None, node, topic, role, None))

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


def as_labels(column: pa.Array) -> pa.Array | None:
    """Binary or text as labels, if every one of them can be used. Returns None if one cannot, or is not valid UTF-8."""
    if column.null_count:
        return None
    lengths = pc.min_max(pc.binary_length(column))
    if len(column) and (lengths["min"].as_py() == 0 or lengths["max"].as_py() > MAX_LABEL_BYTES):
        return None
    try:
        texts = column.cast(pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        return None
    return None if _some_blank(texts) else texts


def as_roles(column: pa.Array) -> pa.Array | None:
    """Binary as roles, null where empty. Returns None if something else is among them."""
    try:
        texts = pc.utf8_lower(pc.utf8_trim_whitespace(column.cast(pa.string())))
    except pa.ArrowInvalid:
        return None
    texts = pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)
    return texts if pc.all(pc.is_in(texts, pa.array([*ROLES, None]))).as_py() is not False else None


def _some_blank(texts: pa.Array) -> bool:
    """Whether a label is blank. The regular expression is asked only where the first byte leaves it open."""
    if not len(texts):
        return False
    _, offsets, data = texts.buffers()
    starts = np.frombuffer(offsets, np.int32, len(texts) + 1 + texts.offset)[texts.offset : -1]
    doubtful = np.flatnonzero(_FIRST_BYTES_OF_BLANKS[np.frombuffer(data, np.uint8)[starts]])
    if not len(doubtful):
        return False
    return bool(pc.any(pc.match_substring_regex(texts.take(pa.array(doubtful)), BLANK)).as_py())


def concat(batches: Sequence[pa.RecordBatch]) -> pa.Table:
    """Batches of rows as one table."""
    return pa.Table.from_batches(batches, ROWS)
