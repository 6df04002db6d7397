"""Directories and files that appear whole or not at all.

Both are written beside their destination under a hidden name of their own and moved into place when complete. Over an
existing directory the two are exchanged in one step (Linux ``renameat2``); where the file system cannot do that, the
old one is set aside first, and `recover` puts it back if the process died between the two renames.

What replaces an older result is flushed to the disk before the older one is removed. New directories and files get the
mode that the process's umask gives (docs/decisions/0007).
"""

import ctypes
import errno
import fcntl
import os
import secrets
import shutil
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from topicloom.errors import OutputExistsError
from topicloom.files.write.destination import check_destination, check_local
from topicloom.files.write.own_files import is_own_folder

__all__ = ["check_destination", "flush", "recover", "remove_leftovers", "whole_directory", "whole_file"]

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_ATTEMPTS = 50
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)


@contextmanager
def whole_directory(
    destination: Path,
    *,
    overwrite: bool = False,
    inputs: Iterable[str | Path] = (),
    ours: Callable[[Path], str | None] | None = None,
) -> Iterator[Path]:
    """Yield an empty directory to write into. It becomes ``destination`` when the block ends without an error.

    On an error, or Ctrl-C, what was written is removed, the folders that were made for it are removed, and what stood
    at the destination is untouched. What a killed process left behind is removed by the next one that writes there.
    Threads and processes may write to the same destination at once: the last one to finish stays.

    Parameters
    ----------
    destination : Path
    overwrite, inputs, ours
        As for `topicloom.files.write.destination.check_destination`.

    Raises
    ------
    OutputExistsError
        The destination may not be replaced or cannot be written, or the disk is full.
    """
    check_local(destination)
    destination = Path(os.path.abspath(destination))  # noqa: PTH100 - resolve() would follow a link at the destination
    inputs = list(inputs)
    recover(destination)
    check_destination(destination, overwrite=overwrite, inputs=inputs, ours=ours)
    made: list[Path] = []
    try:
        staging = _staging_directory(destination, made)
    except OSError as error:
        _remove_empty(made)
        raise OutputExistsError(f"cannot write {destination}: {error.strerror}") from None
    done = False
    try:
        yield staging
        check_destination(destination, overwrite=overwrite, inputs=inputs, ours=ours)
        _move_into_place(staging, destination, overwrite=overwrite)
        done = True
    except OSError as error:
        if error.errno not in _NO_ROOM and str(staging) not in str(error.filename):
            raise
        raise OutputExistsError(f"cannot write {destination}: {_strerror(error)}") from error
    finally:
        _remove(staging)
        if not done:
            _remove_empty(made)


@contextmanager
def whole_file(path: Path, *, durable: bool = False) -> Iterator[BinaryIO]:
    """Yield a binary file to write. It replaces ``path`` when the block ends without an error.

    With ``durable`` its bytes are on the disk when the block has ended; the entry of the folder is not flushed.

    Raises
    ------
    OutputExistsError
        It cannot be written, or the disk is full.
    """
    check_local(path)
    partial = path.with_name(_hidden_name(path))
    try:
        try:
            with partial.open("xb") as file:
                yield file
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        if error.errno not in _NO_ROOM and str(partial) not in str(error.filename):
            raise
        raise OutputExistsError(f"cannot write {path}: {_strerror(error)}") from error


def recover(destination: Path) -> None:
    """Put back what a process that died between two renames had set aside."""
    aside = _aside(destination)
    if is_own_folder(aside) and not os.path.lexists(destination):
        with _locked(destination.parent):
            if is_own_folder(aside) and not os.path.lexists(destination):
                aside.rename(destination)


def remove_leftovers(folder: Path, name: str = "") -> None:
    """Remove what processes of this machine that are gone left in a folder, of one destination or of all."""
    start, sign = f".{name}", f".partial-{socket.gethostname()}-"
    for entry in list(folder.iterdir()):
        before, found, after = entry.name.rpartition(sign)
        pid = after.partition("-")[0]
        if not found or not pid.isdigit() or (before != start if name else not before.startswith(start)):
            continue
        if not _alive(int(pid)):
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)


def flush(folder: Path) -> None:
    """Bring a directory and everything in it to the disk."""
    for root, _, files in os.walk(folder):
        for name in [*files, ""]:
            flush_one(Path(root) / name)


def flush_one(path: Path) -> None:
    """Bring a file, or the names that a directory holds, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _staging_directory(destination: Path, made: list[Path]) -> Path:
    """Make a hidden directory beside the destination. Folders that had to be made for it are added to ``made``."""
    for attempt in range(_ATTEMPTS):
        try:
            for folder in reversed([folder for folder in destination.parents if not folder.exists()]):
                folder.mkdir(exist_ok=True)
                made.append(folder)
            remove_leftovers(destination.parent, destination.name)
            if destination.exists():
                shutil.rmtree(_aside(destination), ignore_errors=True)
            staging = destination.with_name(_hidden_name(destination))
            staging.mkdir()
            return staging
        except FileNotFoundError:  # another writer failed, and removed the folders that it had made
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("the last attempt returns or raises")


def _move_into_place(staging: Path, destination: Path, *, overwrite: bool) -> None:
    for attempt in range(_ATTEMPTS):
        try:
            if not destination.exists():
                staging.rename(destination)
                return
            if not overwrite:
                break
            flush(staging)
            if not _exchange(staging, destination):
                _exchange_in_two_steps(staging, destination)
            return  # staging now holds the old directory, and the caller removes it
        except OSError as error:  # another writer was there between the question and the answer
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT) or attempt == _ATTEMPTS - 1:
                raise
    raise OutputExistsError(f"{destination} exists by now: another process wrote it; what stands there is left")


def _exchange(one: Path, other: Path) -> bool:
    """Swap two directories in one step. Returns False where the system or the file system cannot."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    if renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM):
        return False
    raise OSError(code, os.strerror(code), str(other))


def _exchange_in_two_steps(staging: Path, destination: Path) -> None:
    aside = _aside(destination)
    with _locked(destination.parent):
        shutil.rmtree(aside, ignore_errors=True)
        destination.rename(aside)
        staging.rename(destination)
        shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other writers and `recover` away from a folder while two renames belong together."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _remove(folder: Path) -> None:
    """Remove a folder, also one into which a task that is being stopped still writes."""
    for _ in range(_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.1)


def _remove_empty(folders: list[Path]) -> None:
    """Remove folders from the innermost out, as far as nothing is in them."""
    with suppress(OSError):
        for folder in reversed(folders):
            folder.rmdir()


def _aside(destination: Path) -> Path:
    return destination.parent / f".{destination.name}.previous"


def _hidden_name(destination: Path) -> str:
    return f".{destination.name}.partial-{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"


def _strerror(error: OSError) -> str:
    return (os.strerror(error.errno) if error.errno else str(error)).lower()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
