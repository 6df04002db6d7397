"""Rows of delimited text with all their columns, read by the rules of subscriptions: separator, encoding, quotes."""

import os
from collections.abc import Iterator
from pathlib import Path

from topicloom.errors import UnreadableInputError
from topicloom.files.read.byte_streams import decompressed, in_utf8
from topicloom.files.read.layout import best_separator, encoding_of, said_separator
from topicloom.files.read.listing import format_of, list_source
from topicloom.files.read.read_options import ReadOptions
from topicloom.files.read.records import Record, records
from topicloom.files.read.source_plan import open_local

NAME_IT = "if the text is in another encoding, name it, such as encoding='latin-1'"


def is_delimited(name: str) -> bool:
    """Whether the name of a file says that it is delimited text."""
    return format_of(name, None)[0] in ("csv", "tsv") or Path(name).suffix.lower() == ".txt"


def named_rows(
    path: Path,
    *,
    known: str,
    most: int,
    separator: str | None = None,
    encoding: str | None = None,
    trim: bool = False,
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The names of the columns, without blanks at their ends and in lower case, and the rows with their line numbers.

    Parameters
    ----------
    known : str
        A column that the file must have; the separator is the one that finds it. ``trim`` holds for its labels.
    most : int
        Bytes that the text may have.

    Raises
    ------
    InputNotFoundError, UnreadableInputError, InvalidOptionError
        The file is not there, or is not such a table; the message has the line.
    """
    options = ReadOptions(separator=separator, encoding=encoding).checked()
    found = list_source(os.fspath(path), None).files[0]
    blocks, size = [], 0
    with open_local(found.path) as raw:
        for block in decompressed(raw, found.compression, path.name):
            blocks.append(block)
            size += len(block)
            if size > most:
                raise UnreadableInputError(f"{path.name} has more than {most >> 20} MiB of text")
    text = b"".join(blocks)
    name, _ = encoding_of(text, options.encoding)
    text = b"".join(in_utf8(iter((text,)), name, path.name))
    said = said_separator(text) if options.separator is None else None
    between, at = said or (options.separator or best_separator(text, known, tabs=found.format == "tsv"), 0)
    read = records(text[at:], between.encode(), 1 if said is None else 2, last=True)
    rows = (_texts(row, path.name, name) for row in read if isinstance(row, Record))
    _, names = next(rows, (1, []))
    names = [name.strip().lower() for name in names]
    place = names.index(known) if trim and known in names else None
    return names, ((line, _trimmed(cells, place)) for line, cells in rows)


def _trimmed(cells: list[str], place: int | None) -> list[str]:
    return [cell.strip() if at == place else cell for at, cell in enumerate(cells)]


def _texts(row: Record, file: str, encoding: str) -> tuple[int, list[str]]:
    if row.reason is not None:
        raise UnreadableInputError(f"{file} line {row.line}: not CSV, {row.reason}")
    try:
        return row.line, [field.decode() for field in row.fields]
    except UnicodeDecodeError:
        raise UnreadableInputError(f"{file} line {row.line}: not {encoding.upper()}; {NAME_IT}") from None
