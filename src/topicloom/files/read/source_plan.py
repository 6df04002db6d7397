"""What is read of a source, and how: every file looked at, and cut into units of work."""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import BinaryIO

import pyarrow as pa

from topicloom.errors import InputNotFoundError, InvalidOptionError, UnreadableInputError
from topicloom.files.read.byte_streams import decompressed, in_utf8, plain
from topicloom.files.read.delimited import DelimitedReader
from topicloom.files.read.excel import ExcelReader, excel_layout, open_sheet
from topicloom.files.read.json_lines import JsonReader, json_layout
from topicloom.files.read.layout import HEAD, Layout, delimited_layout, encoding_of
from topicloom.files.read.listing import Found, Skipped, list_source
from topicloom.files.read.parquet import ParquetReader, open_parquet, parquet_layout
from topicloom.files.read.read_options import ReadOptions
from topicloom.files.write.run_file import Version

SPLIT = 32 << 20
_FOREIGN = (
    (b"PAR1", "is Parquet"),
    (b"PK\x03\x04", "is a zip archive or a workbook"),
    (b"\x1f\x8b", "is gzip"),
    (b"\x28\xb5\x2f\xfd", "is zstd"),
    (b"\xfd7zXZ\x00", "is xz"),
    (b"BZh91AY", "is bzip2"),
)


@dataclass(frozen=True)
class TableFile:
    """A file that was looked at.

    Attributes
    ----------
    path, name : str
        For the operating system, and for people.
    size : int
    format : str
    compression : str or None
    layout : Layout
    group_rows : tuple of int
        Rows of each row group of a Parquet file.
    note : str
        What else there is to say.
    """

    path: str
    name: str
    size: int
    format: str
    compression: str | None
    layout: Layout
    group_rows: tuple[int, ...] = ()
    note: str = ""

    @property
    def splittable(self) -> bool:
        """Whether its text can be read in parts if no quote encloses a line end."""
        text = self.format in ("csv", "tsv", "json")
        return text and self.compression is None and self.layout.encoding == "utf-8"

    @property
    def text_start(self) -> int:
        """Where the data of a text file in UTF-8 begins."""
        return self.layout.start + (3 if self.layout.marked else 0)


@dataclass(frozen=True)
class Unit:
    """A part of a file that is read at one go.

    Attributes
    ----------
    file : TableFile
    start, end : int
        Bytes of a text file that is read in parts; row groups of a Parquet file. The end is None for a whole file.
    line : int
        Number of its first line, or row.
    """

    file: TableFile
    start: int = 0
    end: int | None = None
    line: int = 1


@dataclass(frozen=True)
class Plan:
    """The files of a source, each looked at, and those that are skipped.

    ``version`` is that of the overlay directory which the files are a part of, if they are of one.
    """

    files: tuple[TableFile, ...]
    skipped: tuple[Skipped, ...]
    options: ReadOptions
    version: Version | None = None

    @property
    def words(self) -> tuple[str, str]:
        """What the two labels are called in reasons."""
        return self.options.kind.names

    @contextmanager
    def opened(self, file: TableFile) -> Iterator[BinaryIO]:
        """Open a file of this machine.

        Raises
        ------
        InputNotFoundError, UnreadableInputError
            It is gone; or it is of an overlay that was replaced since it was looked at.
        """
        try:
            raw = open_local(file.path)
        except InputNotFoundError:
            if self.version is not None:
                self.version.check()
            raise
        with raw as opened:
            if self.version is not None:
                self.version.check()
            yield opened


def open_local(path: str) -> AbstractContextManager[BinaryIO]:
    """Open a file of this machine."""
    try:
        return open(path, "rb")  # noqa: PTH123 - paths may hold bytes that are no text
    except OSError as error:
        name = os.fsencode(path).decode("utf-8", "backslashreplace")
        raise InputNotFoundError(f"{name} cannot be opened here: {error.strerror}") from None


def plan_source(source: str, options: ReadOptions) -> Plan:
    """List a source of this machine and look at every file.

    Raises
    ------
    InputNotFoundError, MissingColumnError, UnreadableInputError, InvalidOptionError
    """
    options = options.checked()
    version = _version_around(source)
    try:
        listing = list_source(source, options.format)
        files = []
        for found in listing.files:
            with open_local(found.path) as raw:
                files.append(look_at(found, options, raw))
    finally:
        if version is not None:
            version.check()
    return Plan(tuple(files), listing.skipped, options, version)


def _version_around(source: str) -> Version | None:
    """Version of the overlay directory that a source, a table of it or a file of such a table, belongs to."""
    table = os.path.dirname(source)  # noqa: PTH120 - paths may hold bytes that are no text
    return Version.of(source) or Version.of(table) or Version.of(os.path.dirname(table))  # noqa: PTH120


def look_at(found: Found, options: ReadOptions, raw: BinaryIO) -> TableFile:
    """Find out how to read a file."""
    file = _looked_at(found, options, raw)
    if options.skip_lines and file.format in ("json", "parquet"):
        raise InvalidOptionError(f"{found.name} has no lines to skip: its rows name their columns themselves")
    return replace(file, layout=replace(file.layout, trim=True)) if options.trim else file


def _looked_at(found: Found, options: ReadOptions, raw: BinaryIO) -> TableFile:
    partitions = dict(found.partitions)
    start = raw.read(8)
    raw.seek(0)
    kind = found.format or _kind_by_content(start)
    if kind in ("parquet", "xlsx"):
        if found.compression is not None:
            raise UnreadableInputError(f"{found.name} is compressed as a whole; unpack it first")
        base = TableFile(found.path, found.name, found.size, kind, None, Layout(0, 1))
        if kind == "xlsx":
            sheet, others = open_sheet(raw, found.name, options.sheet)
            note = f"; its sheets {', '.join(map(repr, others))} are not read" if others else ""
            return replace(base, layout=excel_layout(sheet, options, found.name, partitions=partitions), note=note)
        file = open_parquet(raw, found.name)
        rows = tuple(file.metadata.row_group(group).num_rows for group in range(file.num_row_groups))
        return replace(base, layout=parquet_layout(file, options, found.name, partitions=partitions), group_rows=rows)
    for magic, what in _FOREIGN if found.compression is None else ():
        if start.startswith(magic):
            raise UnreadableInputError(f"{found.name} {what}, although its name does not say so; rename or unpack it")
    return _text_file(found, kind, options, raw)


def _text_file(found: Found, kind: str | None, options: ReadOptions, raw: BinaryIO) -> TableFile:
    start = _head(decompressed(raw, found.compression, found.name))
    encoding, marked = encoding_of(start, options.encoding)
    cut = start[: len(start) & ~3] if len(start) >= HEAD else start
    head = b"".join(in_utf8(iter((cut,)), encoding, found.name))
    if kind is None:
        kind = "json" if head.lstrip()[:1] == b"{" else "csv"
    partitions = dict(found.partitions)
    if not head.strip(b"\r\n"):
        raise InputNotFoundError(f"{found.name} is empty")
    if kind == "json":
        layout = json_layout(head, options, found.name, partitions=partitions)
    else:
        layout = delimited_layout(head, options, found.name, tabs=kind == "tsv", partitions=partitions)
    layout = replace(layout, encoding=encoding, marked=marked and encoding == "utf-8")
    return TableFile(found.path, found.name, found.size, kind, found.compression, layout)


def _head(blocks: Iterator[bytes]) -> bytes:
    parts, size = [], 0
    for block in blocks:
        parts.append(block)
        size += len(block)
        if size >= HEAD:
            break
    return b"".join(parts)[:HEAD]


def _kind_by_content(start: bytes) -> str | None:
    return "parquet" if start.startswith(b"PAR1") else None


def whole_units(files: Sequence[TableFile]) -> list[Unit]:
    """A unit for each file."""
    return [Unit(file, line=file.layout.line if not file.group_rows else 1) for file in files]


def parts_of(file: TableFile, raw: BinaryIO, size: int) -> list[Unit]:
    """Cut a plain text file behind line ends, or a Parquet file between row groups, into parts of about that size.

    Line numbers of the parts of a text file are to be counted later.
    """
    if file.group_rows:
        step = max(1, -(-len(file.group_rows) * size // max(file.size, 1)))
        cuts = [*range(0, len(file.group_rows), step), len(file.group_rows)]
        return [Unit(file, low, high, 1 + sum(file.group_rows[:low])) for low, high in pairwise(cuts)]
    if not file.splittable or file.size < 2 * size:
        return whole_units([file])
    cuts = [file.text_start]
    while cuts[-1] + 2 * size < file.size:
        raw.seek(cuts[-1] + size)
        found = _past_line_end(raw)
        if found is None:
            break
        cuts.append(found)
    return [Unit(file, low, high, file.layout.line) for low, high in pairwise([*cuts, file.size])]


def _past_line_end(raw: BinaryIO) -> int | None:
    for _ in range(256):
        at = raw.tell()
        block = raw.read(1 << 16)
        found = block.find(b"\n")
        if found >= 0:
            return at + found + 1
        if not block:
            break
    return None


def read_unit(unit: Unit, plan: Plan, raw: BinaryIO) -> Iterator[pa.RecordBatch]:
    """Batches of all rows of a unit, whether they can be used or not.

    Raises
    ------
    UnreadableInputError
        The file cannot be read to its end.
    """
    file, separator = unit.file, plan.options.topics_separator
    if file.format == "parquet":
        groups = range(unit.start, len(file.group_rows) if unit.end is None else unit.end)
        reader = ParquetReader(file.layout, file.name, plan.words, separator)
        return reader.batches(open_parquet(raw, file.name), groups, unit.line)
    if file.format == "xlsx":
        sheet, _ = open_sheet(raw, file.name, plan.options.sheet)
        return ExcelReader(file.layout, file.name, plan.words, separator).batches(sheet)
    if unit.end is not None:
        raw.seek(unit.start)
        blocks = plain(raw, unit.end)
    else:
        blocks = _behind(
            in_utf8(decompressed(raw, file.compression, file.name), file.layout.encoding, file.name), file.layout.start
        )
    return text_batches(file, plan, blocks, unit.line)


def text_batches(file: TableFile, plan: Plan, blocks: Iterator[bytes], line: int) -> Iterator[pa.RecordBatch]:
    """Batches of all rows of text, given from its first row on."""
    reader = JsonReader if file.format == "json" else DelimitedReader
    return reader(file.layout, file.name, plan.words, plan.options.topics_separator, line).batches(blocks)


def _behind(blocks: Iterator[bytes], start: int) -> Iterator[bytes]:
    """The text behind its first bytes."""
    for block in blocks:
        if start < len(block):
            return chain((block[start:],), blocks)
        start -= len(block)
    return iter(())
