"""The one sentence that is said while kernels are compiled: by the library and by the command, once in a process.

A command that draws on the terminal puts its own function in the place of the line on stderr (`told_by`).
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

COMPILING = "compiling kernels that no run before this one needed; later runs load them"
PATIENCE = 1.0  # seconds of compiling before anything is said


def _on_stderr(sentence: str) -> None:
    print(f"topicloom: {sentence}", file=sys.stderr, flush=True)


class Notice:
    """Who is told, and since when compiling has gone on."""

    def __init__(self) -> None:
        self.tell: Callable[[str], object] = _on_stderr
        self.began: float | None = None
        self.said = False

    def compiling(self) -> None:
        """Note that a kernel is about to be compiled."""
        now = time.monotonic()
        if self.began is None:
            self.began = now
        if not self.said and now - self.began >= PATIENCE:
            self.said = True
            self.tell(COMPILING)


NOTICE = Notice()


@contextmanager
def told_by(tell: Callable[[str], object]) -> Iterator[None]:
    """Let a function of the caller say, for the length of a block, that kernels are compiled.

    Parameters
    ----------
    tell : callable
        Takes the sentence.
    """
    before, NOTICE.tell = NOTICE.tell, tell
    try:
        yield
    finally:
        NOTICE.tell = before


def listen() -> None:
    """Have numba report every compilation of ours. Loading from its cache on disk does not count."""
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            if event.data["dispatcher"].py_func.__module__.startswith(("topicloom.", "topicloom_papers.")):
                NOTICE.compiling()

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Listener())
