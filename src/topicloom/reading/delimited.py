"""Delimited text (CSV, TSV and their relatives) to rows of labels.

Most text is parsed by Arrow. Parts with anything unusual in them go through the exact rules, and only those parts.
"""

from collections.abc import Generator, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from topicloom.errors import UnreadableInputError
from topicloom.reading.fast import columns, count_lines, quotes_within_lines
from topicloom.reading.layout import Constant, Layout, Pick
from topicloom.reading.records import MAX_ROW_BYTES, Incomplete, Record, records
from topicloom.reading.rows import RowBuilder, as_labels, as_roles, label_of, usable_batch

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
        self._builder = RowBuilder(file, words, layout.encoding.upper())
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
            second = as_labels(pc.list_flatten(lists))
            first, role = first.take(parents), None if role is None else role.take(parents)
        return None if second is None else usable_batch(first, second, role)

    def _header_again(self, text: bytes) -> bool:
        """Whether a line begins as the header does; the exact rules then look whether it is the header."""
        header = self._layout.header
        ends = (b"\n", b"\r") if b"\r" in text else (b"\n",)
        return text.startswith(header) or any(end + header in text for end in ends)

    def _labels(self, pick: Pick, found: Sequence[pa.Array], count: int) -> pa.Array | None:
        if isinstance(pick, Constant):
            return None if label_of(pick.value, "")[1] else pa.repeat(pa.scalar(pick.value, pa.string()), count)
        return as_labels(found[self._wanted.index(int(pick))])

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
