"""How far a run is, and how long the rest may take."""

import time
from collections.abc import Callable, Iterable, Sequence

from topicloom.study.cells import Cell


class Progress:
    """Tells after each wave how many cells are done and an estimate of what is left.

    The estimate takes the seconds per weight of finished cells of the same measurement and method, and the mean of all
    finished cells where there is none yet.
    """

    def __init__(self, missing: Sequence[Cell], *, done: int, cores: int, say: Callable[[str], None]) -> None:
        self._left = {cell.key: cell for cell in missing}
        self._total = done + len(missing)
        self._cores, self._say = cores, say
        self._spent: dict[tuple[str, str], tuple[float, float]] = {}
        self._finished = 0
        self._began = time.monotonic()
        if done:
            say(f"{done:,} of {self._total:,} cells were measured before")

    def advance(self, finished: Iterable[tuple[Cell, float]]) -> None:
        """Count finished cells, given with the seconds each took, and say where the run stands."""
        for cell, seconds in finished:
            self._left.pop(cell.key, None)
            self._finished += 1
            kind = (cell.measurement, cell.method)
            before = self._spent.get(kind, (0.0, 0.0))
            self._spent[kind] = before[0] + seconds, before[1] + cell.weight
        elapsed = time.monotonic() - self._began
        rest = f"about {_duration(self.seconds_left())} left" if self._left else "done"
        self._say(f"{self._total - len(self._left):,} of {self._total:,} cells, {_duration(elapsed)}; {rest}")

    def seconds_of(self, cell: Cell) -> float | None:
        """Estimate the seconds that a cell takes. Returns None while no cell like it is finished."""
        spent = self._spent.get((cell.measurement, cell.method))
        return None if spent is None else cell.weight * spent[0] / spent[1]

    def seconds_left(self) -> float:
        """Estimate of the seconds that the other cells take."""
        mean = sum(spent for spent, _ in self._spent.values()) / max(self._finished, 1)
        known = [self.seconds_of(cell) for cell in self._left.values()]
        return sum(mean if seconds is None else seconds for seconds in known) / self._cores


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
