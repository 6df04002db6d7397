"""A sheet of a workbook to rows of labels."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, BinaryIO

import pyarrow as pa

from topicloom.errors import InvalidOptionError, MissingColumnError, UnreadableInputError
from topicloom.extras import needing
from topicloom.files.read.layout import Constant, Layout, Pick, names_below, picked
from topicloom.files.read.read_options import ReadOptions
from topicloom.files.read.rows import RowBuilder, shown

_MOST_EMPTY_ROWS = 1_000_000
_ROWS_LOOKED_AT = 200


def open_sheet(raw: BinaryIO, name: str, wanted: str | None = None) -> tuple[Any, list[str]]:
    """A sheet of a workbook, the first one unless it is named, and the names of the others."""
    with needing("excel", f"reading the workbook {name}"):
        import openpyxl
    try:
        book = openpyxl.load_workbook(raw, read_only=True, data_only=True)
        sheets = {sheet.title: sheet for sheet in book.worksheets}
        first = next(iter(sheets))
    except Exception as error:  # zipfile, XML and openpyxl's own errors, of any kind
        raise UnreadableInputError(f"{name} is not a whole .xlsx workbook: {str(error)[:200]}") from None
    if wanted is not None and wanted not in sheets:
        raise InvalidOptionError(f"{name} has no sheet {wanted!r}; it has {', '.join(map(repr, sheets))}")
    sheet = sheets.pop(first if wanted is None else wanted)
    return sheet, list(sheets)


def excel_layout(sheet: Any, options: ReadOptions, name: str, *, partitions: Mapping[str, str | None]) -> Layout:
    """Which columns hold the labels, by the first row that is not empty. That row is the header."""
    rows = list(islice((row for row in _rows(sheet, name) if row[0] > options.skip_lines), _ROWS_LOOKED_AT))
    for line, cells in rows[:1]:
        if options.header is False:
            width = max((place + 1 for place, cell in enumerate(cells) if cell is not None), default=0)
            if width != 2:
                raise MissingColumnError(f"the first row of {name} has {width} cells, not two; give it a header")
            return Layout(0, 1, line=line)
        names = tuple("" if cell is None else str(cell) for cell in cells)
        texts = ((place, [None if cell is None else str(cell) for cell in row]) for place, row in rows[1:])
        below = names_below(texts, options, names)
        first, second, role = picked(names, options, partitions, name, by_position=True, below=below)
        return Layout(first, second, role, names, line=line + 1)
    raise MissingColumnError(f"the sheet {sheet.title!r} of {name} is empty")


class ExcelReader:
    """Turns a sheet into batches of rows."""

    def __init__(self, layout: Layout, file: str, words: tuple[str, str], topics_separator: str | None) -> None:
        self._layout, self._file, self._words, self._topics_separator = layout, file, words, topics_separator
        self._builder = RowBuilder(file, words, trim=layout.trim)

    def batches(self, sheet: Any) -> Iterator[pa.RecordBatch]:
        """Batches of all rows behind the header."""
        for line, cells in _rows(sheet, self._file):
            if line >= self._layout.line:
                self._add(line, cells)
            if len(self._builder) >= 1 << 15:
                yield self._builder.batch()
        if len(self._builder):
            yield self._builder.batch()

    def _add(self, line: int, cells: tuple[Any, ...]) -> None:
        layout = self._layout
        raw = "\t".join("" if cell is None else str(cell) for cell in cells)
        first, wrong = _text(_cell(layout.first, cells), self._words[0])
        second, wrong_second = _text(_cell(layout.second, cells), self._words[1])
        role, wrong_role = (None, None) if layout.role is None else _text(_cell(layout.role, cells), "role")
        reason = wrong or wrong_second or wrong_role
        if reason is not None:
            self._builder.reject(line, raw, reason, first, second)
            return
        for part in second.split(self._topics_separator) if second and self._topics_separator else [second]:
            self._builder.add(line, raw, first, part, role)


def _rows(sheet: Any, name: str) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Rows that are not empty, with their numbers."""
    empty = 0
    try:
        for line, cells in enumerate(sheet.iter_rows(values_only=True), 1):
            if any(cell is not None for cell in cells):
                yield line, cells
                empty = 0
            elif (empty := empty + 1) > _MOST_EMPTY_ROWS:
                return
    except (ValueError, KeyError, OSError, SyntaxError) as error:
        raise UnreadableInputError(f"{name} is a damaged workbook: {str(error)[:200]}") from None


def _cell(pick: Pick, cells: tuple[Any, ...]) -> Any:
    if isinstance(pick, Constant):
        return pick.value
    return cells[int(pick)] if int(pick) < len(cells) else None


def _text(value: Any, what: str) -> tuple[str | None, str | None]:
    if value is None or isinstance(value, str):
        return value, None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value), None
    return None, f"{what} is {shown(str(value))[:40]!r}, a {type(value).__name__}, not text or a number"
