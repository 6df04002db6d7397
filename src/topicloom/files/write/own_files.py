"""Files of ours that lie beside a path of the user's: regular files, never links, of this user or the path's owner.

Anybody who may write in a folder can put a link, a pipe or a device where a file of ours is expected, and what opens it
would write elsewhere, or wait for ever.
"""

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from topicloom.errors import OutputExistsError, TopicloomError

PRIVATE = 0o600


def open_own(path: Path, flags: int, *, beside: Path, error: type[TopicloomError] = OutputExistsError) -> int:
    """Open a file of ours that lies beside a path of the user's. Returns its descriptor.

    A file that is made is private. A link is not followed, and a pipe is not waited for.

    Raises
    ------
    TopicloomError
        Of the kind ``error``: it is a link, no regular file, or another user's.
    OSError
    """
    _refuse(path, _looked_at(path), beside, error)
    flags |= os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(path, flags, PRIVATE)
    try:
        _refuse(path, os.fstat(descriptor), beside, error)  # another may have come between the two
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def check_own(paths: Iterable[Path], *, beside: Path, error: type[TopicloomError] = OutputExistsError) -> None:
    """Refuse files that something else opens for us, such as SQLite, unless they are absent or `open_own` would do.

    Raises
    ------
    TopicloomError
        Of the kind ``error``.
    """
    for path in paths:
        _refuse(path, _looked_at(path), beside, error)


def read_regular(path: str | Path, folder: int | None = None) -> bytes:
    """Read a file whole, if it is a regular one or a link to one: a pipe is not waited for, a device has no end.

    ``folder`` is the descriptor of the folder that ``path`` is in.

    Raises
    ------
    OSError
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "no regular file", str(path))
        return file.read()


def is_own_folder(path: Path) -> bool:
    """Whether there is a folder, no link to one, of this user or of the owner of the folder that it lies in."""
    found = _looked_at(path)
    return found is not None and stat.S_ISDIR(found.st_mode) and found.st_uid in _owners(path.parent)


def _looked_at(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _refuse(path: Path, found: os.stat_result | None, beside: Path, error: type[TopicloomError]) -> None:
    if found is None:
        return
    if stat.S_ISLNK(found.st_mode):
        raise error(f"{path} is a symbolic link, where only a file of topicloom's own may be; remove it")
    if not stat.S_ISREG(found.st_mode):
        raise error(f"{path} is no regular file, where only a file of topicloom's own may be; remove it")
    if found.st_uid not in _owners(beside):
        raise error(f"{path} belongs to another user, where only a file of topicloom's own may be; remove it")


def _owners(path: Path) -> set[int]:
    """Owners that a file of ours may have: this user, and the owner of what was named."""
    owners = {os.geteuid()}
    with suppress(OSError):
        owners.add(path.stat().st_uid)
    return owners
