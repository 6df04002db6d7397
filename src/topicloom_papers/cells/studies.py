"""What a study is: cells, pictures, and what the paper says."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from topicloom_papers.cells.cells import Cell
from topicloom_papers.page.lookup import Results

ABOUT, AT_MOST, AT_LEAST, ORDER = "≈", "≤", "≥", "~"


@dataclass(frozen=True)
class Scale:
    """How much of a study is run: ``quick`` sees that it works, ``paper`` is the paper's own size."""

    name: str
    seeds: int | None = None

    def pick(self, *, quick: Any, paper: Any) -> Any:
        """The value for this scale."""
        return quick if self.name == "quick" else paper

    def seed_range(self, paper: int, quick: int = 1) -> range:
        """The seeds of a study, unless the user chose their number."""
        return range(self.seeds if self.seeds is not None else self.pick(quick=quick, paper=paper))


SCALES = ("quick", "paper")


@dataclass(frozen=True)
class Published:
    """A number that a paper states, and the way to ours.

    Attributes
    ----------
    says : str
        What the number is, in a few words.
    value : float
        The number.
    ours : callable
        Results -> our number.
    relation : str
        How ours should stand to it: about (10 %), at most, at least, of the same order.
    time : bool
        A time or a ratio of times: reported apart, not judged.
    why : str or None
        Key of `topicloom_papers.page.explanations`: why ours differs, if it does.
    unit : str
        "%" shows both numbers as percentages.
    trend : bool
        What a curve does, or how much values vary, which the paper says or shows without a number that could be
        compared within 10 %: judged, and counted apart.
    runs : int
        Of how many runs the published number is the mean, where those are few: it is then also set beside what single
        seeds of ours give. 0 where the paper does not say, or has many.
    experiment : bool
        Another reading of the same number, to find out why ours differs: shown apart, not counted.
    key : str
        Name of an experiment among those of its study, for the numbers that refer to it.
    shown_by : tuple of str
        Keys of experiments that decide why ours differs: one of them comes out as the paper says (or, for a bound
        that nothing can beat, holds). Of another study: ``"study/key"``.
    instead_of : str
        Key of the experiment with the reading that was the main one until its result was known.
    """

    says: str
    value: float
    ours: Callable[[Results], float]
    relation: str = ABOUT
    time: bool = False
    why: str | None = None
    unit: str = ""
    trend: bool = False
    runs: int = 0
    experiment: bool = False
    key: str = ""
    shown_by: tuple[str, ...] = ()
    instead_of: str = ""

    @property
    def directed(self) -> bool:
        """Whether it says which of two numbers is larger, or where a curve goes: the wrong side of that is wrong."""
        return self.relation in (AT_MOST, AT_LEAST) and (self.trend or self.value == 1)


@dataclass(frozen=True)
class Line:
    """A curve: the mean of a metric under some conditions, with error bars over the seeds."""

    label: str
    metric: str
    where: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Panel:
    """A pair of axes. ``x`` is a column of the results. ``marks`` are published values, dashed: (label, value)."""

    title: str
    x: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    log_x: bool = False
    log_y: bool = False
    marks: Sequence[tuple[str, float]] = ()


@dataclass(frozen=True)
class Study:
    """A figure or table of a paper.

    Attributes
    ----------
    name : str
        Paper and figure, as on the command line.
    title, source : str
        What it shows; paper and figure in words.
    setting : str
        The paper's setting, and our reading where it leaves something open.
    found : str
        What the paper found.
    grid : callable
        Scale -> cells.
    panels : sequence of Panel
    published : sequence of Published
        Every number that the paper states.
    remark : str
        What we find beyond the table, and where readings differ.
    table : callable, optional
        Results -> a Markdown table of its own, where there is nothing published to set ours beside.
    """

    name: str
    title: str
    source: str
    setting: str
    found: str
    grid: Callable[[Scale], list[Cell]]
    panels: Sequence[Panel] = ()
    published: Sequence[Published] = ()
    remark: str = ""
    table: Callable[[Results], str] | None = None
