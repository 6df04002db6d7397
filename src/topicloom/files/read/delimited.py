"""Delimited text (CSV, TSV and their relatives) to rows of labels.

Most text is parsed by Arrow. Parts with anything unusual in them go through the exact rules, and only those parts.
"""

import codecs
from collections.abc import Generator, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from topicloom.errors import UnreadableInputError
from topicloom.files.read.layout import Constant, Layout, Pick
from topicloom.files.read.records import MAX_ROW_BYTES, Incomplete, Record, records
from topicloom.files.read.rows import RowBuilder, as_labels, as_roles, usable_batch
from topicloom.model.labels import label_of

_EXACT_BELOW = 32 << 10
_PARTS = 8
HEADER_AGAIN = "repeats the header"


class DelimitedReader:
    """Turns blocks of text into batches of rows.

    Parameters
    ----------
    layout : Layout
    file : str
        Its name, for rejected rows.
    words : tuple of str
        What the two labels are called in reasons.
    topics_separator : str, optional
        Between the topics of one field.
    line : int
        Number of the first line.
    """

    def __init__(
        self, layout: Layout, file: str, words: tuple[str, str], topics_separator: str | None, line: int
    ) -> None:
        self._layout, self._file, self._separator = layout, file, layout.separator.encode()
        self._topics_separator = topics_separator.encode() if topics_separator else None
        self._builder = RowBuilder(file, words, layout.encoding.upper(), trim=layout.trim)
        self._line = line
        self._wanted = [pick for pick in (layout.first, layout.second, layout.role) if isinstance(pick, int)]

    def batches(self, blocks: Iterator[bytes]) -> Iterator[pa.RecordBatch]:
        """Batches of all rows of the text."""
        rest = b""
        for block in blocks:
            text = rest + block if rest else block
            cut = self._last_line_end(text)
            if quotes_within_lines(text[:cut], self._layout.separator):
                yield from self._plain(text[:cut])
                rest = text[cut:]
            else:
                at = yield from self._exact(text, last=False)
                rest = text[at:]
            if len(rest) > MAX_ROW_BYTES:
                raise UnreadableInputError(
                    f"line {self._line:,} of {self._file} is over {MAX_ROW_BYTES >> 20} MiB long; "
                    f"that is no table of labels"
                )
        if quotes_within_lines(rest, self._layout.separator):
            yield from self._plain(rest)
        else:
            yield from self._exact(rest, last=True)

    @staticmethod
    def _last_line_end(text: bytes) -> int:
        """Where the last line begins that may not be complete."""
        return max(text.rfind(b"\n"), text.rfind(b"\r", 0, -1)) + 1

    def _plain(self, text: bytes) -> Iterator[pa.RecordBatch]:
        """Whole lines that are whole rows: by Arrow if all of them can be used, else in ever smaller parts."""
        if not text:
            return
        batch = self._fast(text)
        if batch is not None:
            self._line += count_lines(text)
            if len(batch):
                yield batch
        elif len(text) < _EXACT_BELOW:
            yield from self._exact(text, last=True)
        else:
            at, step = 0, len(text) // _PARTS
            while at < len(text):
                cut = text.find(b"\n", at + step) + 1 or len(text)
                if cut == len(text) and at == 0:
                    yield from self._exact(text, last=True)
                    return
                yield from self._plain(text[at:cut])
                at = cut

    def _fast(self, text: bytes) -> pa.RecordBatch | None:
        layout = self._layout
        if layout.header and self._header_again(text):
            return None
        found = columns(text, layout.separator, layout.width, self._wanted)
        if found is None:
            return None
        count = len(found[0]) if found else count_lines(text)
        first, second = (self._labels(pick, found, count) for pick in (layout.first, layout.second))
        role = None if layout.role is None else self._roles(layout.role, found, count)
        if first is None or second is None or (layout.role is not None and role is None):
            return None
        if self._topics_separator:
            lists = pc.split_pattern(second.cast(pa.binary()), self._topics_separator)
            parents = pc.list_parent_indices(lists)
            second = as_labels(pc.list_flatten(lists), trim=layout.trim)
            first, role = first.take(parents), None if role is None else role.take(parents)
        return None if second is None else usable_batch(first, second, role)

    def _header_again(self, text: bytes) -> bool:
        """Say whether a line begins as the header does. The exact rules then decide whether it is the header."""
        header = self._layout.header
        ends = (b"\n", b"\r") if b"\r" in text else (b"\n",)
        return text.startswith(header) or any(end + header in text for end in ends)

    def _labels(self, pick: Pick, found: Sequence[pa.Array], count: int) -> pa.Array | None:
        if isinstance(pick, Constant):
            return None if label_of(pick.value, "")[1] else pa.repeat(pa.scalar(pick.value, pa.string()), count)
        return as_labels(found[self._wanted.index(int(pick))], trim=self._layout.trim)

    def _roles(self, pick: Pick, found: Sequence[pa.Array], count: int) -> pa.Array | None:
        if isinstance(pick, Constant):
            return as_roles(pa.repeat(pa.scalar((pick.value or "").encode(), pa.binary()), count))
        return as_roles(found[self._wanted.index(int(pick))])

    def _exact(self, text: bytes, *, last: bool) -> Generator[pa.RecordBatch, None, int]:
        """Rows one by one. Returns where the part begins that was not read because its row may go on."""
        at = 0
        for record in records(text, self._separator, self._line, last=last):
            if isinstance(record, Incomplete):
                at, self._line = record
            else:
                self._add(record)
            if len(self._builder) >= 1 << 16:
                yield self._builder.batch()
        if len(self._builder):
            yield self._builder.batch()
        return at

    def _add(self, record: Record) -> None:
        layout, fields = self._layout, record.fields
        first, second = (self._field(pick, fields) for pick in (layout.first, layout.second))
        if record.reason is not None:
            self._builder.reject(record.line, record.raw, record.reason, first, second)
        elif len(fields) != layout.width:
            reason = f"{len(fields)} field{'' if len(fields) == 1 else 's'}, {layout.width} are expected"
            self._builder.reject(record.line, record.raw, reason, first, second)
        elif layout.header and record.raw == layout.header:
            self._builder.reject(record.line, record.raw, HEADER_AGAIN, first, second)
        else:
            role = None if layout.role is None else self._field(layout.role, fields)
            parts = second.split(self._topics_separator) if self._topics_separator and second else (second,)
            for part in parts:
                self._builder.add(record.line, record.raw, first, part, role)

    @staticmethod
    def _field(pick: Pick, fields: Sequence[bytes]) -> Any:
        if isinstance(pick, Constant):
            return None if pick.value is None else pick.value.encode("utf-8", "surrogatepass")
        return fields[int(pick)] if int(pick) < len(fields) else None


_QUOTE, _LF, _CR = 34, 10, 13


def count_lines(text: bytes) -> int:
    """Number of line ends."""
    ends = int(np.count_nonzero(np.frombuffer(text, np.uint8) == _LF))
    return ends if b"\r" not in text else ends + text.count(b"\r") - text.count(b"\r\n")


def quotes_within_lines(text: bytes, separator: str) -> bool:
    """Whether every quote of the text opens, closes or doubles as it should, and none encloses a line end.

    The text begins with a row. Quotes then alternate: one that opens follows a separator, a line end or a quote; one
    that closes comes before a separator, a line end or a quote. So the ends of lines are the ends of rows.
    """
    if b'"' not in text:
        return True
    data = np.frombuffer(text, np.uint8)
    quotes = np.flatnonzero(data == _QUOTE)
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    edges = np.zeros(256, bool)
    edges[[_QUOTE, _LF, _CR, ord(separator)]] = True
    before, after = opening[opening > 0] - 1, closing[closing < len(data) - 1] + 1
    return bool(edges[data[before]].all() and edges[data[after]].all()) and not _enclosed(data, opening, closing)


def _enclosed(data: npt.NDArray[np.uint8], opening: npt.NDArray[np.int64], closing: npt.NDArray[np.int64]) -> bool:
    ends = np.flatnonzero((data == _LF) | (data == _CR))
    return bool((np.searchsorted(ends, opening) != np.searchsorted(ends, closing)).any())


def columns(text: bytes, separator: str, width: int, wanted: Sequence[int]) -> list[pa.Array] | None:
    """Cut the wanted fields out of all rows, as binary. Returns None unless all rows have the right number of fields.

    The quotes of the text must be within lines. Arrow would take a first U+FEFF for a byte order mark.
    """
    if text.startswith(codecs.BOM_UTF8):
        return None
    names = [str(position) for position in range(width)]
    try:
        table = csv.read_csv(
            pa.py_buffer(text),
            read_options=csv.ReadOptions(use_threads=False, column_names=names, block_size=len(text) + 1),
            parse_options=csv.ParseOptions(
                delimiter=separator, quote_char='"' if b'"' in text else False, double_quote=True
            ),
            convert_options=csv.ConvertOptions(
                include_columns=[names[position] for position in wanted],
                column_types=dict.fromkeys(names, pa.binary()),
                strings_can_be_null=False,
                quoted_strings_can_be_null=False,
                null_values=[],
                check_utf8=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    return [column.combine_chunks() for column in table.columns]
