"""What a measurement is, and the checks that they share."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple

import numpy.typing as npt

from topicloom.errors import TopicloomError
from topicloom.judge import verify
from topicloom.model import Interest
from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.definitions import fingerprint, texts_that_enter


class Value(NamedTuple):
    """A number that a cell yields. ``at`` says where on a curve it lies (a round, a size), if it does."""

    metric: str
    value: float
    at: float | None = None


@dataclass(frozen=True)
class Measurement:
    """A kind of cell.

    Attributes
    ----------
    name, function
        Its name in a cell, and the function from a cell to its values.
    alone : bool
        It takes times that go into ratios: such cells run after all others, one at a time.
    """

    name: str
    function: Callable[[Cell], Iterable[Value]]
    alone: bool

    def fingerprint(self, cell: Cell) -> str:
        """Hash the code that the values of a cell depend on.

        Values of other code are measured again. ``judge/``, ``model/`` and other modules of ``measurements/`` do not
        count: after a change there that changes a value, delete the folder of results.
        """
        texts = texts_that_enter((cell.method, *cell.options.values()))
        return fingerprint(self.function.__module__, self.function.__name__, texts)


class NotVerifiedError(TopicloomError):
    """The judge refused the overlay of a cell: its values must not count."""


def measures(name: str, *, alone: bool = False) -> Callable[[Any], Any]:
    """Mark a function as the measurement of that name."""

    def mark(function: Any) -> Any:
        function.measures = (name, alone)
        return function

    return mark


def registered(*modules: ModuleType) -> dict[str, Measurement]:
    """The measurements of some modules, by name."""
    found = {}
    for module in modules:
        for function in vars(module).values():
            if hasattr(function, "measures") and function.__module__ == module.__name__:
                name, alone = function.measures
                found[name] = Measurement(name, function, alone)
    return found


def require_connected(cell: Cell, interest: Interest, links: npt.ArrayLike, k: int = 1) -> None:
    """Let the judge look at an overlay before its values count."""
    verdict = verify(interest, links, k)
    if not verdict.ok:
        first = verdict.broken[0]
        raise NotVerifiedError(
            f"cell {cell.text}: the overlay is not {k}-topic-connected; {len(verdict.broken):,} topics are broken, "
            f"first {first.topic!r}"
        )
