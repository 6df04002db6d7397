"""The tables of a network in a folder to rows with the file and line of each."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from topicloom.errors import InputNotFoundError, InvalidNetworkError
from topicloom.files.read.named_rows import is_delimited, named_rows

# The tables by the first column that each has to have, and the columns that hold labels of nodes and topics.
NEEDED = {
    "nodes": ("node",),
    "sites": ("site",),
    "site_pairs": ("from", "to"),
    "pairs": ("src", "dst"),
    "topics": ("topic",),
}
_LABELS = ("node", "src", "dst", "topic")
_MOST_BYTES = 256 << 20


def read_tables(
    folder: Path, *, separator: str | None = None, encoding: str | None = None, trim: bool = False
) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """Read the tables of a folder. Labels are byte for byte what the files hold unless ``trim`` is given.

    Raises
    ------
    InputNotFoundError, UnreadableInputError
    InvalidNetworkError
        A table is unknown, there twice, or lacks a column.
    """
    if not folder.is_dir():
        raise InputNotFoundError(f"{folder} is not a folder; a network is a folder with nodes.csv and other tables")
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        name = path.name.split(".", 1)[0]
        if path.name.startswith((".", "_")) or not (path.is_file() and is_delimited(path.name)):
            continue
        if name not in NEEDED:
            raise InvalidNetworkError(f"{path.name} is no table of a network; {', '.join(NEEDED)} are")
        if name in found:
            raise InvalidNetworkError(f"{found[name].name} and {path.name} are the same table of the network")
        found[name] = path
    if "nodes" not in found:
        raise InputNotFoundError(f"{folder} has no nodes.csv; a network needs its nodes")
    words = {"separator": separator, "encoding": encoding}
    return {name: _rows(path, NEEDED[name], trim=trim, **words) for name, path in found.items()}


def _rows(path: Path, needed: tuple[str, ...], *, trim: bool, **words: Any) -> list[tuple[str, dict[str, Any]]]:
    names, rows = named_rows(path, known=needed[0], most=_MOST_BYTES, **words)
    for name in needed:
        if name not in names:
            raise InvalidNetworkError(f"{path.name}: there is no column {name!r}; it has {', '.join(names) or 'none'}")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidNetworkError(f"{path.name}: the column {twice!r} is named twice")
    found = []
    for line, cells in rows:
        if len(cells) != len(names):
            raise InvalidNetworkError(f"{path.name} line {line}: {len(cells)} cells under {len(names)} columns")
        if any(cells):
            found.append((f"{path.name} line {line}", _cells(zip(names, cells), trim=trim)))
    return found


def _cells(named: Iterable[tuple[str, str]], *, trim: bool) -> dict[str, Any]:
    return {
        name: cell if name in _LABELS and not trim else cell.strip() for name, cell in named if name or cell.strip()
    }
