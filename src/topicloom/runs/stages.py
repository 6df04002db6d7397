"""A clock for the stages of a run: who listens can show progress, and ``run.json`` gets the seconds."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

Listener = Callable[[str], None]


class Stages:
    """Times named stages, one after the other.

    Parameters
    ----------
    listener : callable, optional
        Called with a sentence when a stage begins and when there is news within it.
    keeper : callable, optional
        Called with a sentence that is to be seen when the run is over; the listener unless given.

    A stage named ``whole/part`` is a part of another one, whose seconds contain its own.
    """

    def __init__(self, listener: Listener | None = None, keeper: Listener | None = None) -> None:
        self.seconds: dict[str, float] = {}
        self._listener = listener
        self._keeper = keeper or listener

    @property
    def total(self) -> float:
        """Seconds of all stages."""
        return sum(seconds for name, seconds in self.seconds.items() if "/" not in name)

    @contextmanager
    def __call__(self, name: str, sentence: str) -> Iterator[None]:
        """Time a stage. Seconds of one name add up."""
        self.say(sentence)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + time.perf_counter() - start, 3)

    def add(self, seconds: Mapping[str, float]) -> None:
        """Add seconds that were taken elsewhere."""
        for name, more in seconds.items():
            self.seconds[name] = round(self.seconds.get(name, 0.0) + more, 3)

    def say(self, sentence: str) -> None:
        """Tell the listener."""
        if self._listener is not None:
            self._listener(sentence)

    def note(self, sentence: str) -> None:
        """Tell the keeper."""
        if self._keeper is not None:
            self._keeper(sentence)
