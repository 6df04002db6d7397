"""Temporary folders of a run, and what killed runs left.

A folder belongs to a process as long as it holds the lock of a file inside. The system gives the lock up when the
process ends, however it ends; a number of a process could be given to another one, or mean nothing in a container.
"""

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "topicloom-run-"
_LOCK = "in-use"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a temporary folder for the length of the block, after removing those of this user's dead processes."""
    sweep()
    place = Path(tempfile.mkdtemp(prefix=".topicloom-new-"))
    lock = os.open(place / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    # visible to others only now: a folder of this name without a lock is a dead one
    place = place.rename(place.with_name(_PREFIX + place.name.removeprefix(".topicloom-new-")))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        os.close(lock)


def sweep() -> None:
    """Remove temporary folders of this user that belong to processes which are gone."""
    with suppress(OSError):
        for place in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            if _is_ours(place) and _is_left(place):
                shutil.rmtree(place, ignore_errors=True)


def _is_ours(place: Path) -> bool:
    try:
        facts = place.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid()


def _is_left(place: Path) -> bool:
    """Whether nobody holds the lock."""
    try:
        lock = os.open(place / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(lock)
