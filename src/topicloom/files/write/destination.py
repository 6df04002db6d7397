"""What may be replaced: a destination that topicloom wrote, and that holds nothing which is still needed.

Every writer asks `check_destination` before it starts and again before it moves its result into place.
"""

import glob
import json
import os
import re
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.errors import InvalidOptionError, OutputExistsError
from topicloom.files.write.own_files import read_regular

# Files by which a folder is known as topicloom's: JSON that names topicloom's version.
MARKS = ("run.json", "results.json", "plan.json")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_PLAN = {"format", "generation", "fingerprints"}
_SUBSCRIPTIONS = ["node", "topic"]


def check_local(path: str | Path) -> None:
    """Refuse a URL, such as ``s3a://bucket/overlay``, where a folder or file of this machine is read or written.

    `Path` would make a local folder called ``s3a:`` of it.

    Raises
    ------
    InvalidOptionError
    """
    parts = Path(path).parts
    with suppress(OSError, ValueError):
        parts = Path(path).relative_to(Path.cwd()).parts
    if len(parts) > 1 and _SCHEME.fullmatch(parts[0]):
        raise InvalidOptionError(
            f"{Path(*parts)} is the address of a store ({parts[0]}), which is not written or read as a folder; "
            f"a path of this machine is accepted, such as /{'/'.join(parts[1:])}"
        )


def check_destination(
    destination: Path,
    *,
    overwrite: bool,
    inputs: Iterable[str | Path] = (),
    ours: "Callable[[Path], str | None] | None" = None,
) -> None:
    """Refuse a destination that must not be replaced or cannot be written.

    Parameters
    ----------
    destination : Path
    overwrite : bool
        Whether an existing destination may be replaced.
    inputs : iterable of str or Path
        Files, folders and globs that are read to make the result. The destination may not be one of them, contain one
        of them, or lie inside one of them.
    ours : callable, optional
        Says why a folder is not one that topicloom wrote, or None. The default asks for a ``run.json``.

    Raises
    ------
    OutputExistsError
    """
    check_local(destination)
    # Another writer may move it away meanwhile, so one look decides; and what is gone may be written.
    with suppress(FileNotFoundError, NotADirectoryError):
        if not stat.S_ISDIR(destination.lstat().st_mode):
            raise OutputExistsError(f"{destination} exists and is not a directory; choose another place")
        _check_existing(destination, overwrite, ours or not_written_by_us)
    _check_inputs(destination, inputs)
    parent = destination.parent
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise OutputExistsError(f"cannot write {destination}: no permission to create files in {parent}")


def not_written_by_us(folder: Path) -> str | None:
    """Say why a folder was not written by topicloom with its ``run.json``. Returns None if it was, or is empty."""
    names = sorted(os.listdir(folder))  # noqa: PTH208 - names that are not UTF-8 included
    if not names:
        return None
    mark = next((found for name in MARKS if (found := _mark(folder / name)) is not None), None)
    if mark is None:
        return f"it has no {MARKS[0]} that topicloom wrote"
    contents = mark.get("contents")
    known = {*contents, *MARKS} if isinstance(contents, list) else set(names)
    strange = [name for name in names if name not in known and not name.startswith(".")]
    return f"it also holds {strange[0]!r}, which topicloom did not write" if strange else None


def not_our_subscriptions(folder: Path) -> str | None:
    """Say why a folder is not a table of subscriptions of ``generate``. Returns None if it is one, or is empty."""
    for name in sorted(os.listdir(folder)):  # noqa: PTH208
        path = folder / name
        if name == "_SUCCESS" or (name.startswith(".") and name.endswith(".crc")):
            continue
        try:
            ours = path.suffix == ".parquet" and path.is_file() and pq.read_schema(path).names == _SUBSCRIPTIONS
        except (OSError, pa.ArrowException):
            ours = False
        if not ours:
            return f"{name!r} in it is no Parquet file of nodes and topics"
    return None


def _check_existing(destination: Path, overwrite: bool, why_not_ours: Callable[[Path], str | None]) -> None:
    if not overwrite:
        raise OutputExistsError(f"{destination} exists; choose another place, or replace it with overwrite=True")
    place = Path(os.path.realpath(destination))
    here = _working_directory()
    if here is not None and (here == place or place in here.parents):
        raise OutputExistsError(f"{destination} is or holds the working directory, and is not replaced")
    try:
        reason = why_not_ours(destination)
    except OSError as error:
        if not destination.exists():
            return
        reason = f"it cannot be read ({error.strerror})"
    if reason is not None:
        raise OutputExistsError(
            f"{destination} is not replaced: {reason}; choose another place, or remove it yourself first"
        )


def _check_inputs(destination: Path, inputs: Iterable[str | Path]) -> None:
    place = Path(os.path.realpath(destination))
    for given in inputs:
        for path in _local_paths(str(given)):
            if path == place or place in path.parents:
                raise OutputExistsError(
                    f"{destination} is or holds the input {given}, which replacing it would remove; "
                    "choose another place"
                )
            if path in place.parents and path.is_dir():
                raise OutputExistsError(
                    f"{destination} lies inside the input {given}, and would be read as part of it the next time; "
                    "choose another place"
                )


def _local_paths(given: str) -> list[Path]:
    """Return the real paths of an input on this machine: the one of that name, or those that a pattern matches."""
    if "://" in given:
        return []
    found = [given] if os.path.lexists(given) else glob.glob(given)  # noqa: PTH207
    return [Path(os.path.realpath(path)) for path in found]


def _working_directory() -> Path | None:
    try:
        return Path(os.path.realpath(os.getcwd()))  # noqa: PTH109
    except OSError:  # it was removed
        return None


def _mark(path: Path) -> dict[str, Any] | None:
    """Read a mark of ours. Returns None for anything else."""
    try:
        content = json.loads(read_regular(path))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    versions = content.get("versions")
    ours = isinstance(versions, dict) and "topicloom" in versions
    return content if ours or (path.name == "plan.json" and set(content) >= _PLAN) else None
