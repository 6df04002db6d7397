"""The parts of a folder: tables as Parquet files. One that may be replaced is opened once, and read by that handle."""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.errors import InputNotFoundError, OverlayFormatError
from topicloom.files.write.destination import check_local
from topicloom.files.write.own_files import read_regular


@dataclass(frozen=True)
class OpenFolder:
    """A folder that was opened once. What is read from it belongs together, whatever its path names by now."""

    path: Path
    handle: int

    def is_current(self) -> bool:
        """Whether the path still names this folder."""
        try:
            now = self.path.stat()
        except OSError:
            return False
        return os.path.samestat(now, os.fstat(self.handle))

    def has(self, name: str) -> bool:
        """Whether the folder has an entry of that name."""
        return name in os.listdir(self.handle)  # noqa: PTH208

    def entries(self, part: str) -> list[str]:
        """Return the names in a folder of the folder, without hidden ones and marks of Spark. It may be missing."""
        return self.names(part) if self.has(part) else []

    def names(self, part: str) -> list[str]:
        """Return the names of the files of a part, without hidden ones and marks of Spark."""
        try:
            handle = os.open(part, os.O_RDONLY | os.O_DIRECTORY, dir_fd=self.handle)
        except OSError as error:
            raise OverlayFormatError(f"{self.path}: {part}/ cannot be read ({_reason(error)})") from None
        try:
            return sorted(name for name in os.listdir(handle) if name[0] not in "._")  # noqa: PTH208
        finally:
            os.close(handle)

    def read(self, name: str) -> bytes:
        """Read a file of the folder."""
        try:
            return read_regular(name, self.handle)
        except OSError as error:
            raise OverlayFormatError(f"{self.path}: {name} cannot be read ({_reason(error)})") from None


@contextmanager
def opened(path: Path) -> Iterator[OpenFolder]:
    """Open a folder for the length of the block."""
    check_local(path)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        raise InputNotFoundError(f"{path} does not exist") from None
    except OSError as error:
        raise InputNotFoundError(f"{path} is not a directory that can be read ({_reason(error)})") from None
    try:
        yield OpenFolder(path, handle)
    finally:
        os.close(handle)


Part: TypeAlias = "pa.Table | bytes | Callable[[Path], None]"
PART_FILE = "part-00000.parquet"


def write_parts(folder: Path, parts: Mapping[str, Part]) -> None:
    """Write tables into subfolders of a folder, each called like its table.

    A part is an Arrow table, a Parquet file as bytes, or a function that writes the files into the subfolder that it
    is given, as Spark does.
    """
    for name, part in parts.items():
        if callable(part):
            part(folder / name)
            continue
        (folder / name).mkdir(parents=True)
        if isinstance(part, bytes):
            (folder / name / PART_FILE).write_bytes(part)
        else:
            write_parquet(part, folder / name / PART_FILE)


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write a Parquet file whose pages carry checksums. The name need not be UTF-8."""
    with path.open("xb") as file:
        pq.write_table(table, file, write_page_checksum=True)


def read_part(
    folder: OpenFolder,
    part: str,
    columns: Sequence[str],
    digests: Mapping[str, str] | None,
    *,
    also: Sequence[str] = (),
) -> pa.Table:
    """Read the Parquet files of a part as one table with ``columns``, and with those of ``also`` that all files have.

    Raises
    ------
    OverlayFormatError
        A file is missing, too many, damaged or lacks a column; ``digests`` is what ``run.json`` says of the files.
    """
    names = folder.names(part)
    if digests is not None:
        _compare_names(folder, part, names, digests)
    tables = []
    for name in names:
        path = f"{part}/{name}"
        content = folder.read(path)
        if digests is not None and hashlib.sha256(content).hexdigest() != digests[path]:
            raise OverlayFormatError(f"{folder.path}: {path} was changed after it was written; write the overlay again")
        tables.append(_table(folder, path, content, columns, also))
    if not tables:
        raise OverlayFormatError(f"{folder.path}: {part}/ holds no Parquet file")
    common = [name for name in (*columns, *also) if all(name in table.column_names for table in tables)]
    try:
        return pa.concat_tables([table.select(common) for table in tables], promote_options="permissive")
    except pa.ArrowException:
        raise OverlayFormatError(f"{folder.path}: the files of {part}/ have columns of different types") from None


def _compare_names(folder: OpenFolder, part: str, names: Sequence[str], digests: Mapping[str, str]) -> None:
    written = {path.removeprefix(f"{part}/") for path in digests if path.startswith(f"{part}/")}
    for name in sorted(written - set(names)):
        raise OverlayFormatError(f"{folder.path}: {part}/{name} is missing; write the overlay again")
    for name in sorted(set(names) - written):
        raise OverlayFormatError(f"{folder.path}: {part}/{name} was added after the overlay was written; remove it")


def _table(folder: OpenFolder, path: str, content: bytes, columns: Sequence[str], also: Sequence[str]) -> pa.Table:
    try:
        with pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True) as file:
            there = file.schema_arrow.names
            missing = [name for name in columns if name not in there]
            if missing:
                raise OverlayFormatError(f"{folder.path}: {path} has no column {missing[0]!r}")
            return file.read([name for name in (*columns, *also) if name in there])
    except (OSError, pa.ArrowException, UnicodeDecodeError, RuntimeError) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise OverlayFormatError(f"{folder.path}: {path} is not readable Parquet ({reason})") from None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
