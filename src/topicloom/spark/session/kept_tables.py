"""Tables that Spark keeps, freed when nobody can use them any more."""

import _thread
import atexit
import weakref
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress

from pyspark.sql import DataFrame

_SECONDS_AT_EXIT = 5
_waiting: deque[DataFrame] = deque()
_working = _thread.allocate_lock()


class _Use:
    """What everything that uses some tables refers to."""


def release_with(users: Iterable[object], tables: Sequence[DataFrame]) -> None:
    """Let Spark free tables when the last of their users is collected. The tables must not be among the users."""
    if not tables:
        return
    use = _Use()
    for user in users:
        object.__setattr__(user, "_tables_in_use", use)
    # a session that ends frees all it keeps
    weakref.finalize(use, _free, list(tables)).atexit = False


def is_idle() -> bool:
    """Whether everything that is to be freed has been."""
    return not _waiting and not _working.locked()


def _free(tables: Sequence[DataFrame]) -> None:
    """Free tables by a thread of their own: garbage may be collected in the middle of a call to Spark, by its thread.

    The thread is not one of `threading`, in one of whose locks that other thread may be.
    """
    _waiting.extend(tables)
    with suppress(RuntimeError):  # Python ends
        _thread.start_new_thread(_free_waiting, ())


def _free_waiting() -> None:
    with _working, suppress(IndexError):
        while True:
            table = _waiting.popleft()
            with suppress(Exception):  # its session may be lost
                if not getattr(table.sparkSession, "is_stopped", False):
                    table.unpersist()


@atexit.register
def _wait() -> None:
    """Wait for such a thread. One that is in the middle of a call when Python is taken apart could abort it."""
    if _working.acquire(timeout=_SECONDS_AT_EXIT):
        _working.release()
