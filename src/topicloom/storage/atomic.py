"""Directories that appear whole or not at all.

A directory is written beside its destination under a hidden name and moved into place when complete. Over an
existing directory the two are exchanged in one step (Linux ``renameat2``); where the file system cannot do that, the
old one is set aside first, and `recover` puts it back if the process died between the two renames.
"""

import ctypes
import errno
import os
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from topicloom.errors import OutputExistsError

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_ATTEMPTS = 50


@contextmanager
def whole_directory(destination: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield an empty directory to write into; when the block ends without an error it becomes ``destination``.

    On an error, or Ctrl-C, what was written is removed and what stood at the destination is untouched. What a
    killed process left behind is removed by the next one that writes there.

    Raises
    ------
    OutputExistsError
        The destination exists and ``overwrite`` is false, or its parent cannot be written.
    """
    destination = Path(os.path.abspath(destination))  # noqa: PTH100 - resolve() would follow a link at the destination
    recover(destination)
    check_destination(destination, overwrite=overwrite)
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(destination)
        staging = destination.parent / f".{destination.name}.partial-{socket.gethostname()}-{os.getpid()}"
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir()
    except OSError as error:
        raise OutputExistsError(f"cannot write {destination}: {error.strerror}") from None
    try:
        yield staging
        check_destination(destination, overwrite=overwrite)
        _move_into_place(staging, destination)
    finally:
        _remove(staging)


def check_destination(destination: Path, *, overwrite: bool) -> None:
    """Refuse a destination that exists (unless it may be replaced) or that cannot be written."""
    if destination.is_symlink() or (destination.exists() and not destination.is_dir()):
        raise OutputExistsError(f"{destination} exists and is not a directory; choose another place")
    if destination.exists() and not overwrite:
        raise OutputExistsError(f"{destination} exists; choose another place, or replace it with --overwrite")
    parent = destination.parent
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise OutputExistsError(f"cannot write {destination}: no permission to create files in {parent}")


def recover(destination: Path) -> None:
    """Put back what a process that died between two renames had set aside."""
    aside = _aside(destination)
    if aside.exists() and not destination.exists():
        aside.rename(destination)


def _move_into_place(staging: Path, destination: Path) -> None:
    if not destination.exists():
        staging.rename(destination)
        return
    if _exchange(staging, destination):
        return  # staging now holds the old directory, and the caller removes it
    aside = _aside(destination)
    shutil.rmtree(aside, ignore_errors=True)
    destination.rename(aside)
    staging.rename(destination)
    shutil.rmtree(aside, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two directories in one step; False where the system or the file system cannot."""
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


def _remove(folder: Path) -> None:
    """Remove a folder, also one into which a task that is being stopped still writes."""
    for _ in range(_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.1)


def _aside(destination: Path) -> Path:
    return destination.parent / f".{destination.name}.previous"


def _remove_leftovers(destination: Path) -> None:
    """Remove what processes of this machine that are gone left beside the destination."""
    prefix = f".{destination.name}.partial-{socket.gethostname()}-"
    for entry in destination.parent.iterdir():
        pid = entry.name.removeprefix(prefix)
        if entry.name.startswith(prefix) and pid.isdigit() and not _alive(int(pid)):
            shutil.rmtree(entry, ignore_errors=True)
    if destination.exists():
        shutil.rmtree(_aside(destination), ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
