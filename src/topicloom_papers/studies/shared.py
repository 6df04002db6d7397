"""Settings that several studies share."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.studies import ABOUT, Line, Panel, Published
from topicloom_papers.page.lookup import NotMeasuredError, Results

# Names as in the papers' legends.
POPULARITIES: Mapping[str, str] = {"exponential": "Expo", "zipf": "Zipf", "uniform": "Unif"}
Choice = tuple[str, Mapping[str, Any]]  # method, options
Column = tuple[str, Mapping[str, Any]]  # metric, conditions
_DENOMINATORS = {"our GM": "time_of_gm", "the literal GM": "time_of_literal"}  # a timed cell has taken both


def workload(
    nodes: int,
    topics: int,
    subscriptions: int,
    popularity: str = "uniform",
    *,
    alpha: float | None = None,
    sizes: str | None = None,
) -> dict[str, Any]:
    """Options of a workload. Those that are the default are left out, so that equal cells have equal keys."""
    options = {"nodes": nodes, "topics": topics, "subscriptions": subscriptions, "popularity": popularity}
    if popularity == "zipf":
        options["alpha"] = alpha if alpha is not None else 2.0
    return {**options, **({"sizes": sizes} if sizes else {})}


STEEPER = "exponential, 83 % on a tenth"


def steeper(nodes: int, topics: int, subscriptions: int) -> dict[str, Any]:
    """A workload with exponential popularity, 83 % of the mass on the tenth of the topics that is most popular."""
    return {"case": STEEPER, "rate": 18, "nodes": nodes, "topics": topics, "subscriptions": subscriptions}


def cells(
    measurement: str, choices: Sequence[Choice], workloads: Iterable[Mapping[str, Any]], seeds: Iterable[int]
) -> list[Cell]:
    """A cell for each workload, seed and choice of (method, options), those of one interest next to each other."""
    drawn = [(options, seed) for options in workloads for seed in seeds]
    return [
        Cell(measurement, method, drawn_options, options, seed)
        for drawn_options, seed in drawn
        for method, options in choices
    ]


def tried(
    says: str,
    value: float,
    ours: Callable[[Results], float],
    relation: str = ABOUT,
    *,
    key: str = "",
    unit: str = "",
    runs: int = 0,
) -> Published:
    """Another reading of a published number, which numbers that differ can refer to by its key."""
    return Published(says, value, ours, relation, unit=unit, experiment=True, key=key, runs=runs)


def trend(
    says: str,
    value: float,
    ours: Callable[[Results], float],
    relation: str = ABOUT,
    *,
    why: str | None = None,
    shown_by: tuple[str, ...] = (),
) -> Published:
    """A claim on what a curve does or how much values vary: judged, and counted apart."""
    return Published(says, value, ours, relation, why=why, shown_by=shown_by, trend=True)


def curve(results: Results, x: str, metric: str, **where: Any) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """The points of a curve.

    Raises
    ------
    NotMeasuredError
        There is only one, as at a smaller scale than the paper's.
    """
    values = results.values(x, metric, **where)
    if len(values) < 2:
        raise NotMeasuredError(f"one point is no curve of {metric} by {x}")
    return values


def linearity(results: Results, x: str, metric: str, **where: Any) -> float:
    """Correlation of a curve with its abscissa: 1 where it is a straight line that rises."""
    curve(results, x, metric, **where)
    means = results.by(x, metric, **where)
    return float(np.corrcoef(np.asarray(means.index, float), np.asarray(means, float))[0, 1])


def growth(results: Results, x: str, metric: str, **where: Any) -> float:
    """Last point of a curve over the first one: at least 1 where it rises, at most 1 where it falls."""
    values = curve(results, x, metric, **where)
    return float(values[-1] / values[0])


def unevenness(results: Results, x: str, metric: str, **where: Any) -> float:
    """Highest point of a curve over its lowest one: 1 where it is level."""
    values = curve(results, x, metric, **where)
    return float(values.max() / values.min())


def mean_of(metric: str, **where: Any) -> Callable[[Results], float]:
    """The mean of a metric under some conditions, as an answer."""
    return lambda results: results.mean(metric, **where)


def times_over_gm(
    says: str,
    value: float,
    relation: str = ABOUT,
    *,
    of: Callable[..., float] = Results.mean,
    unit: str = "%",
    **where: Any,
) -> list[Published]:
    """A published share of GM's time, with both denominators: ``{gm}`` in what it says is our GM or the literal one."""

    def answer(metric: str) -> Callable[[Results], float]:
        return lambda results: of(results, metric, **where)

    return [
        Published(says.format(gm=name), value, answer(metric), relation, time=True, unit=unit)
        for name, metric in _DENOMINATORS.items()
    ]


def lines_over_gm(label: str, **where: Any) -> list[Line]:
    """Curves of times over GM's, with both denominators."""
    return [Line(f"{label} / {name.removeprefix('the ')}", metric, where) for name, metric in _DENOMINATORS.items()]


def over_popularities(
    x: str,
    x_label: str,
    y_label: str,
    setting: str,
    lines: Callable[[str], Sequence[Line]],
    *,
    log_x: bool = False,
    log_y: bool = False,
) -> list[Panel]:
    """Make a panel for each popularity, with the curves that ``lines`` gives for it."""
    return [
        Panel(f"{name}: {setting}", x, x_label, y_label, lines(popularity), log_x=log_x, log_y=log_y)
        for popularity, name in POPULARITIES.items()
    ]


def by_popularity(metric: str, **where: Any) -> list[Line]:
    """A curve for each popularity."""
    return [Line(name, metric, {**where, "popularity": popularity}) for popularity, name in POPULARITIES.items()]


def ratio(results: Results, x: str, metric: str, above: Mapping[str, Any], below: Mapping[str, Any]) -> float:
    """Mean over the points of a curve of the ratio between two."""
    return float((results.by(x, metric, **above) / results.by(x, metric, **below)).mean())


def difference(results: Results, x: str, metric: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """Mean over the points of a curve of the difference between two."""
    return float((results.by(x, metric, **one) - results.by(x, metric, **other)).mean())


def table_of(
    results: Results,
    heads: Sequence[str],
    metrics: Mapping[str, str],
    rows: Iterable[tuple[Sequence[str], Mapping[str, Any]]],
) -> str:
    """Write a Markdown table of means: a row for each place in the results, and ``metrics`` by their titles."""
    lines = ["| " + " | ".join([*heads, *metrics]) + " |", "|---" * len(heads) + "|" + "--:|" * len(metrics)]
    for names, where in rows:
        values = [f"{results.mean(metric, **where):,.2f}" for metric in metrics.values()]
        lines.append("| " + " | ".join([*names, *values]) + " |")
    return "\n".join(lines)


def table_by(results: Results, x: str, rows: Sequence[Any], columns: Mapping[str, Column]) -> str:
    """Markdown table of means: a row for each value of a column of the results, where there is one."""
    found = {label: results.by(x, metric, **where) for label, (metric, where) in columns.items()}
    lines = ["| | " + " | ".join(columns) + " |", "|---|" + "--:|" * len(columns)]
    for row in rows:
        if any(row in means.index for means in found.values()):
            cells_of_row = (f"{means[row]:,.2f}" if row in means.index else "–" for means in found.values())
            lines.append(f"| {row} | " + " | ".join(cells_of_row) + " |")
    return "\n".join(lines)
