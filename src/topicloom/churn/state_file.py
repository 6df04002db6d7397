"""The files of a durable state: who may write them, what lies beside them, and what was acknowledged last.

``state.db-lock`` lies beside the file that a name leads to (symbolic links are followed), so that every name of a state
has the same lock. It also holds a mark: the number of the last commit that was acknowledged. SQLite drops the end of a
damaged write-ahead log without a word; the mark tells that something is missing.
"""

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import IO, Self

from topicloom.errors import (
    InputNotFoundError,
    OutputExistsError,
    StateFormatError,
    StateInUseError,
    TopicloomError,
)
from topicloom.files.write.atomic import flush_one
from topicloom.files.write.destination import check_local
from topicloom.files.write.own_files import PRIVATE, check_own, open_own

_SQLITE_FILES = ("-wal", "-shm", "-journal")
_MARK = 128  # bytes of the mark in the lock file
_NEW = "-new"  # a state that is being written, moved into place when it is whole
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NOT_WRITTEN = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_NOLFS")
_IN_USE = ("SQLITE_BUSY", "SQLITE_LOCKED")
_NONSENSE = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)


def beside(path: Path, ending: str) -> Path:
    """Return the path of the file with that ending beside a state."""
    return path.with_name(path.name + ending)


def names_of(path: Path) -> set[str]:
    """Return the names of all files that a state consists of, or that a killed process may have left."""
    whole = {path.name + ending for ending in ("", "-lock", *_SQLITE_FILES)}
    return whole | {path.name + _NEW + ending for ending in ("", *_SQLITE_FILES)}


def check_files(path: Path, error: type[TopicloomError] = OutputExistsError) -> None:
    """Refuse files beside a state that SQLite or we would open, unless they can be ours.

    Raises
    ------
    TopicloomError
        Of the kind ``error``: one of them is a link, no regular file, or another user's.
    """
    path = path.resolve()
    check_own((path.with_name(name) for name in sorted(names_of(path) - {path.name})), beside=path, error=error)


@contextmanager
def in_words(path: Path, *, nonsense: bool = True) -> Iterator[None]:
    """Turn what SQLite, or nonsense in a file, raises into errors of ours that name the file."""
    try:
        yield
    except TopicloomError:
        raise
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", None) or ""
        if name.startswith(_NOT_WRITTEN):
            raise OutputExistsError(f"cannot write {path}: {error}") from None
        if name.startswith(_IN_USE):
            raise StateInUseError(f"{path} is in use by another process: {error}") from None
        raise StateFormatError(f"{path} is not a state of topicloom, or it is damaged: {error}") from None
    except _NONSENSE as error:
        if not nonsense:
            raise
        raise StateFormatError(f"{path} is damaged: its content is no valid state ({error!r:.200})") from None
    except OSError as error:
        if not nonsense:
            raise
        raise OutputExistsError(f"cannot write {path}: {error.strerror}") from None


class WriterLock:
    """The right to write a state. It goes with the process that holds it, whatever that dies of."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path, self._file = path, file
        self._pid = os.getpid()

    @classmethod
    def take(cls, path: Path) -> Self:
        """Lock the state that a name leads to.

        Raises
        ------
        InputNotFoundError, OutputExistsError, StateInUseError
            Its folder does not exist or cannot be written; another maintainer has it open.
        """
        check_local(path)
        path = path.resolve()
        if not path.parent.is_dir():
            raise InputNotFoundError(f"{path.parent} is not a directory; the state {path.name} cannot be kept there")
        if path.exists() and not path.is_file():
            raise StateFormatError(f"{path} is no regular file, so it is not a state of topicloom")
        check_files(path)
        if path.exists() and path.stat().st_nlink > 1:
            raise StateInUseError(
                f"{path} has a second name (a hard link), under which it could be written at the same time; remove that"
            )
        while True:
            try:
                lock_file = open_own(beside(path, "-lock"), os.O_RDWR | os.O_CREAT, beside=path)
            except OSError as error:
                raise OutputExistsError(f"cannot write {path}: {error.strerror}") from None
            file = os.fdopen(lock_file, "r+b", buffering=0)
            lock = cls(path, file)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                lock.release()
                raise StateInUseError(f"{path} is open for writing in another process; close that one first") from None
            if _same_file(file, beside(path, "-lock")):
                return lock
            lock.release()  # it was removed between opening and locking

    def check_process(self) -> None:
        """Refuse a process that was forked from the one that holds the lock."""
        if os.getpid() != self._pid:
            raise StateInUseError(
                f"{self.path} was opened by process {self._pid}, of which this one is a copy; open it here after "
                "that one has closed it"
            )

    @property
    def is_ours(self) -> bool:
        """Whether this is the process that took the lock."""
        return os.getpid() == self._pid

    def check(self) -> None:
        """Refuse to write where the lock does not hold: in a forked process, or when its file was removed."""
        self.check_process()
        if not _same_file(self._file, beside(self.path, "-lock")):
            raise StateInUseError(f"{beside(self.path, '-lock')} was removed: another process may write the state now")

    def acknowledge(self, commits: int, sync: str) -> None:
        """Record how many commits have been acknowledged."""
        text = f"{commits} {sync} {_boot() if sync != 'full' else '-'}"
        with suppress(OSError):  # what is committed stays so
            os.pwrite(self._file.fileno(), f"{text} {_digest(text)}\n".ljust(_MARK).encode(), 0)

    def release(self) -> None:
        """Release the lock. A forked process leaves it to the process that took it."""
        self._file.close()


def acknowledged(path: Path) -> int:
    """Return the number of the last commit known to be acknowledged, 0 if none is known.

    With ``sync="normal"`` a crash of the machine may lose the last commits, so that a mark counts until then only.
    """
    try:
        path = path.resolve()
        mark = open_own(beside(path, "-lock"), os.O_RDONLY, beside=path, error=StateFormatError)
        with os.fdopen(mark, encoding="ascii") as file:
            *words, digest = file.read(_MARK).split()
        commits, sync, boot = words
    except (OSError, ValueError):
        return 0
    if digest != _digest(" ".join(words)) or (sync != "full" and boot != _boot()):
        return 0
    return int(commits)


@contextmanager
def moved_into_place(path: Path) -> Iterator[Path]:
    """Yield a file beside a state to write to. It becomes the state when the block ends without an error.

    The lock is held. What a killed process left is removed before.
    """
    new = beside(path, _NEW)
    _remove(new)
    try:
        os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE))
        yield new
        for ending in _SQLITE_FILES:  # of a state that never became whole
            beside(path, ending).unlink(missing_ok=True)
        new.replace(path)
        flush_one(path.parent)
    except BaseException:
        _remove(new)
        raise


def _remove(path: Path) -> None:
    for ending in ("", *_SQLITE_FILES):
        beside(path, ending).unlink(missing_ok=True)


def _same_file(file: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False


def _boot() -> str:
    """Identify the start of the machine. Empty where it is not known."""
    try:
        return _BOOT.read_text("ascii").strip()
    except OSError:
        return "unknown-" + str(os.getpid())


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()
