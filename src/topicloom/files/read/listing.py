"""Which files a source means. Every file is listed, or named as skipped with the reason."""

# Patterns and paths are kept as they were typed, undecodable bytes included: no pathlib.
# ruff: noqa: PTH110, PTH112, PTH114, PTH116, PTH118, PTH120, PTH207, PTH208

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from glob import has_magic, iglob
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from topicloom.errors import InputNotFoundError
from topicloom.files.read.byte_streams import COMPRESSIONS

if TYPE_CHECKING:
    from topicloom.files.read.source_plan import TableFile

# A table of at most this many bytes of text, some millions of subscriptions, is one task on Spark.
ONE_TASK = 64 << 20
_UNPACKED = 8  # bytes of text in a byte of a compressed file or of Parquet, at a guess

_SUFFIXES = {
    "csv": "csv", "tsv": "tsv", "tab": "tsv", "psv": "csv", "json": "json", "jsonl": "json", "ndjson": "json",
    "parquet": "parquet", "pq": "parquet", "xlsx": "xlsx",
}  # fmt: skip
_PLAIN_NAMES = ("", "txt", "text", "dat", "data")
_REFUSED = {
    "zip": "is a zip archive; unpack it first",
    "tar": "is a tar archive; unpack it first",
    "tgz": "is a tar archive; unpack it first",
    "7z": "is an archive; unpack it first",
    "xls": "is an old Excel file; save it as .xlsx or .csv",
    "ods": "is an OpenDocument file; save it as .xlsx or .csv",
    "orc": "is an ORC file; write it as Parquet",
    "avro": "is an Avro file; write it as Parquet",
    "snappy": "has a compression that is not read; gz, bz2, zst and xz are",
    "lz4": "has a compression that is not read; gz, bz2, zst and xz are",
    "deflate": "has a compression that is not read; gz, bz2, zst and xz are",
    "lzo": "has a compression that is not read; gz, bz2, zst and xz are",
}
_BACKUPS = ("bak", "old", "orig", "tmp", "swp", "md", "crc", "log", "part", "_copying_")
_PARTITION = re.compile(r"([^=/]+)=([^/]*)")
_NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Found:
    """A file to read.

    Attributes
    ----------
    path : str
        As the operating system has it; undecodable bytes are surrogates.
    size : int
    format, compression : str or None
        By its name; no format if the contents have to tell.
    partitions : tuple of pairs
        Columns that the names of its folders give, such as ("day", "1").
    """

    path: str
    size: int
    format: str | None
    compression: str | None
    partitions: tuple[tuple[str, str | None], ...] = ()

    @property
    def name(self) -> str:
        """The path as text that can be printed."""
        return os.fsencode(self.path).decode("utf-8", "backslashreplace")


def text_bytes(files: "Iterable[Found | TableFile]") -> int:
    """Bytes of the text in files, at a guess where they are compressed."""
    packed = ("parquet", "xlsx")
    return sum(file.size * (_UNPACKED if file.compression or file.format in packed else 1) for file in files)


@dataclass(frozen=True)
class Skipped:
    """A file or folder that is not read, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class Listing:
    """The files of a source, in the order of their paths."""

    files: tuple[Found, ...]
    skipped: tuple[Skipped, ...]


def list_source(source: str, format: str | None) -> Listing:
    """List a file, a folder with all below it, or what a pattern matches. A name that exists is no pattern.

    Raises
    ------
    InputNotFoundError
        Nothing is there, or nothing that can be read.
    """
    if os.path.isdir(source):
        entries, root = _walk(source), source
    elif os.path.lexists(source):
        return _single(source, format)
    elif has_magic(source):
        entries, root = _matched(source), _root_of(source)
    else:
        raise InputNotFoundError(f"{_printable(source)} does not exist")
    return classified(entries, root, format, source)


def classified(entries: Iterable[tuple[str, int, str | None]], root: str, format: str | None, source: str) -> Listing:
    """Sort entries (path, size, reason to skip it) into files to read and files to skip, by one set of rules.

    Raises
    ------
    InputNotFoundError
        None of them can be read.
    """
    files, skipped = [], []
    for path, size, reason in sorted(entries):
        kind, compression, wrong = format_of(path, format)
        why = reason or _hidden(path) or wrong or (None if size else "is empty")
        if why:
            skipped.append(Skipped(path, why))
        else:
            files.append(Found(path, size, kind, compression, partitions_of(path, root)))
    if not files:
        raise InputNotFoundError(_nothing(source, skipped))
    return Listing(tuple(files), tuple(skipped))


def format_of(path: str, format: str | None) -> tuple[str | None, str | None, str | None]:
    """Format and compression by the name of a file, or why a folder's file of that name is not read."""
    suffixes = PurePosixPath(path).name.lower().split(".")[1:]
    compression = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSIONS else None
    suffix = suffixes[-1] if suffixes else ""
    if path.endswith("~") or suffix in _BACKUPS:
        return None, compression, "has a name of no known format"
    if suffix in _REFUSED:
        return None, compression, _REFUSED[suffix]
    kind = _SUFFIXES.get(suffix)
    if format is not None:
        of_text = {"csv", "tsv"}
        other = kind is not None and kind != format and not {kind, format} <= of_text
        return format, compression, f"is {kind}, not {format}" if other else None
    return kind, compression, None if kind else "has a name of no known format"


def partitions_of(path: str, root: str) -> tuple[tuple[str, str | None], ...]:
    """Columns that folders between the root and a file give. The root itself may be such a folder."""
    inside = os.path.relpath(path, root) if root and "://" not in path else path[len(root) :]
    own = [part for part in root.rstrip("/").split("/") if _PARTITION.fullmatch(part)]
    folders = [*own, *inside.split("/")[:-1]]
    found = [match for match in map(_PARTITION.fullmatch, folders) if match]
    return tuple((unquote(one[1]), None if one[2] == _NULL_PARTITION else unquote(one[2])) for one in found)


def _single(source: str, format: str | None) -> Listing:
    """A file that was named: it is read whatever its name."""
    status = os.stat(source) if os.path.exists(source) else None
    if status is None:
        raise InputNotFoundError(f"{_printable(source)} is a link to something that does not exist")
    if not stat.S_ISREG(status.st_mode):
        raise InputNotFoundError(f"{_printable(source)} is not a regular file; write its contents to one first")
    if not status.st_size:
        raise InputNotFoundError(f"{_printable(source)} is empty")
    kind, compression, wrong = format_of(source, format)
    suffixes = PurePosixPath(source).name.lower().split(".")[1:]
    if compression is not None:
        suffixes.pop()
    if format is not None:
        kind = format
    elif kind is None and (suffixes[-1] if suffixes else "") not in _PLAIN_NAMES:
        why = wrong if suffixes[-1] in _REFUSED else "has a name of no known format; say which it has with format=…"
        raise InputNotFoundError(f"{_printable(source)} {why}")
    return Listing(
        (Found(source, status.st_size, kind, compression, partitions_of(source, os.path.dirname(source))),), ()
    )


def _walk(folder: str) -> Iterator[tuple[str, int, str | None]]:
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        yield from _entry(path)


def _entry(path: str) -> Iterator[tuple[str, int, str | None]]:
    try:
        status = os.stat(path)
    except OSError:
        yield path, 0, "is a link to something that does not exist"
        return
    if stat.S_ISDIR(status.st_mode):
        if _hidden(path):
            yield path, 0, _hidden(path)
        elif os.path.islink(path):
            yield path, 0, "is a link to a folder"
        else:
            yield from _walk(path)
    else:
        yield path, status.st_size, None if stat.S_ISREG(status.st_mode) else "is not a regular file"


def _matched(pattern: str) -> Iterator[tuple[str, int, str | None]]:
    seen: set[str] = set()
    for path in iglob(pattern, recursive=True, include_hidden=True):
        for entry in _entry(path.rstrip("/")):
            if entry[0] not in seen:
                seen.add(entry[0])
                yield entry


def _root_of(pattern: str) -> str:
    parts = pattern.split("/")
    plain = next((place for place, part in enumerate(parts) if has_magic(part)), len(parts))
    return "/".join(parts[:plain])


def _hidden(path: str) -> str | None:
    name = PurePosixPath(path).name
    return f"has a name that begins with {name[0]!r}" if name.startswith(("_", ".")) else None


def _printable(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _nothing(source: str, skipped: list[Skipped]) -> str:
    if not skipped:
        return f"{_printable(source)} is empty" if os.path.isdir(source) else f"{_printable(source)} matches no file"
    example = skipped[0]
    return (
        f"{_printable(source)} holds no file that can be read; {len(skipped):,} skipped, such as "
        f"{_printable(example.path)}, which {example.reason}"
        + ("; say which format they have with format=…" if "no known format" in example.reason else "")
    )
