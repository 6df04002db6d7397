"""Published | ours | ratio | verdict: what the verdict is, and the tables that show it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pyarrow as pa

from topicloom_papers.cells.studies import AT_LEAST, AT_MOST, ORDER, Published, Study
from topicloom_papers.page.lookup import NotMeasuredError, Results

TOLERANCE = 0.10
LEAST_SEEDS = 5  # fewer do not say where single runs lie
AGREES, SAME_ORDER, HOLDS, WITHIN, DIFFERS, TIME, NOT_MEASURED = (
    "agrees",
    "same order",
    "holds",
    "within 10 %",
    "differs",
    "time",
    "not measured at this scale",
)
GOOD = (AGREES, SAME_ORDER, HOLDS, WITHIN)


@dataclass(frozen=True)
class PublishedResult:
    """A published number beside ours.

    ``span`` is where as few runs of ours lie as the published number is from, if those are few: see `span_of`.
    """

    study: str
    number: Published
    ours: float | None
    verdict: str
    span: tuple[float, float] | None = None

    @property
    def inside(self) -> bool:
        """Whether the published number lies where runs of ours do that are as few as the paper's."""
        return self.span is not None and self.span[0] <= self.number.value <= self.span[1]

    @property
    def anchor(self) -> str:
        """Where on the page an experiment stands."""
        return f"{self.study}--{self.number.key}"

    @property
    def ratio(self) -> float | None:
        """Ours over the published one, or None where there is none."""
        return None if self.ours is None or not self.number.value else self.ours / self.number.value


class Tried:
    """The experiments among some rows, by study and key."""

    def __init__(self, rows: Iterable[PublishedResult]) -> None:
        self._rows = {f"{row.study}/{row.number.key}": row for row in rows if row.number.key}

    def of(self, row: PublishedResult, key: str) -> PublishedResult | None:
        """The experiment that a row means by a key, or None."""
        return self._rows.get(key if "/" in key else f"{row.study}/{key}")

    def deciding(self, row: PublishedResult) -> list[PublishedResult]:
        """The experiments that show why a row differs: those that come out as the paper says."""
        found = [self.of(row, key) for key in row.number.shown_by]
        return [one for one in found if one is not None and one.verdict in GOOD]

    def reproduced(self, row: PublishedResult) -> bool:
        """Whether a number comes out in the main reading or in another one. That a bound excludes it is not enough."""
        same = [one for one in self.deciding(row) if one.number.relation == row.number.relation]
        return row.verdict in GOOD or bool(same)

    def inside(self, row: PublishedResult) -> bool:
        """Whether a number lies inside our seeds in one of the readings that a row refers to."""
        return bool(self.spanning(row))

    def spanning(self, row: PublishedResult) -> list[PublishedResult]:
        """The experiments that a row refers to, and in which its number lies inside our seeds."""
        found = [self.of(row, key) for key in row.number.shown_by]
        return [one for one in found if one is not None and one.inside]

    def chosen_afterwards(self, row: PublishedResult) -> bool:
        """Whether a row agrees, and would not under the reading that was the main one before."""
        before = self.of(row, row.number.instead_of) if row.number.instead_of else None
        return row.verdict in GOOD and before is not None and before.verdict == DIFFERS


def compared(studies: Sequence[Study], results: Results) -> list[PublishedResult]:
    """Every published number of some studies."""
    rows = []
    for study in studies:
        for number in study.published:
            ours = _answer(number, results)
            span = None if ours is None or not number.runs else span_of(number, results)
            rows.append(PublishedResult(study.name, number, ours, verdict(number, ours), span))
    return rows


def _answer(number: Published, results: Results) -> float | None:
    """Our number, or None where nothing was measured, or curves have no point in common."""
    try:
        ours = float(number.ours(results))
    except NotMeasuredError:
        return None
    return None if math.isnan(ours) else ours


def span_of(number: Published, results: Results) -> tuple[float, float] | None:
    """Find where means of ``number.runs`` seeds of ours lie.

    For one run from the lowest seed to the highest. For more the middle 95 % of the means of all draws of so many
    seeds, with repeats. Returns None if there are fewer than five seeds.
    """
    answers = [_answer(number, one) for one in results.by_seed()]
    seeds = [answer for answer in answers if answer is not None]
    if len(seeds) < LEAST_SEEDS:
        return None
    if number.runs == 1:
        return min(seeds), max(seeds)
    means = np.mean(list(product(seeds, repeat=number.runs)), axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def verdict(number: Published, ours: float | None) -> str:
    """How our number stands to the published one.

    A bound that is a measured number may be missed by 10 %. One that says which of two is larger, or where a curve
    goes, may not.

    >>> from topicloom_papers.cells.studies import Published
    >>> bound = Published("degree above GM", 2.5, lambda results: 0, relation="≤")
    >>> [verdict(bound, ours) for ours in (1.0, 2.6, 5.0, None)]
    ['holds', 'within 10 %', 'differs', 'not measured at this scale']
    >>> verdict(Published("degree at the end over that at the start", 1, lambda results: 0, relation="≤"), 1.01)
    'differs'
    """
    if ours is None:
        return NOT_MEASURED
    if number.time:
        return TIME
    if number.relation == ORDER:
        return SAME_ORDER if 0.1 < ours / number.value < 10 else DIFFERS
    if (number.relation == AT_MOST and ours <= number.value) or (number.relation == AT_LEAST and ours >= number.value):
        return HOLDS
    if abs(ours - number.value) <= TOLERANCE * abs(number.value):
        if number.relation not in (AT_MOST, AT_LEAST):
            return AGREES
        return DIFFERS if number.directed else WITHIN
    return DIFFERS


def format_value(value: float | None, unit: str = "") -> str:
    """Format a number with about three digits that say something.

    >>> format_value(54.178), format_value(2575), format_value(1.0), format_value(None)
    ('54.18', '2,575', '1', '–')
    >>> format_value(0.0170, "%"), format_value(0.00014, "%")
    ('1.70 %', '0.014 %')
    """
    if value is None or math.isnan(value):
        return "–"
    if unit == "%":
        return f"{_digits(100 * value)} %"
    return _digits(value)


def _digits(value: float) -> str:
    if value == round(value):
        return f"{value:,.0f}"
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    if size >= 1:
        return f"{value:.2f}"
    return f"{value:.2g}" if size < 0.1 else f"{value:.3f}"


def as_markdown(rows: Sequence[PublishedResult], tried: Tried | None = None) -> str:
    """Write the table of a study, and below it one of its experiments.

    ``tried`` holds the experiments of all studies, for the numbers that refer to those of another.
    """
    known = tried if tried is not None else Tried(rows)
    counted = [row for row in rows if not row.number.experiment and not row.number.trend]
    trends = [row for row in rows if row.number.trend]
    experiments = [row for row in rows if row.number.experiment]
    parts = []
    if counted:
        parts.append(_table(counted, "verdict", known))
    if trends:
        parts.append("Trends and variances, judged and counted apart:\n\n" + _table(trends, "verdict", known))
    if experiments:
        parts.append("Other readings, tried to find out why:\n\n" + _table(experiments, "would be", known))
    return "\n\n".join(parts)


def _table(rows: Sequence[PublishedResult], last: str, tried: Tried) -> str:
    spans = any(row.number.runs for row in rows)
    head, rule = ("| inside our seeds ", "|---") if spans else ("", "")
    lines = [f"| | published | ours | ratio | {last} {head}|", f"|---|--:|--:|--:|---{rule}|"]
    for row in rows:
        number = row.number
        relation = "" if number.relation == "≈" else f"{number.relation} "
        published = f"{relation}{format_value(number.value, number.unit)}"
        anchor = f'<a id="{row.anchor}"></a>' if number.key else ""
        says = anchor + number.says.replace("|", "\\|")
        ours = f"{format_value(row.ours, number.unit)} | {format_value(row.ratio)}"
        span = f"| {_span(row)} " if spans else ""
        lines.append(f"| {says} | {published} | {ours} | {_verdict(row, tried)} {span}|")
    return "\n".join(lines)


def _span(row: PublishedResult) -> str:
    if row.span is None:
        return "–"
    low, high = (format_value(end, row.number.unit) for end in row.span)
    return f"{'yes' if row.inside else 'no'}: {low} to {high}"


def _verdict(row: PublishedResult, tried: Tried) -> str:
    if row.number.experiment or row.verdict != DIFFERS:
        return row.verdict
    links = [f"[why](#{row.number.why})"] if row.number.why else []
    deciding = tried.deciding(row)
    links += [f"[shown](#{one.anchor})" for one in deciding]
    links += [f"[inside](#{one.anchor})" for one in tried.spanning(row) if one not in deciding and not row.inside]
    return "**differs**" + (f": {', '.join(links)}" if links else "")


def tally(rows: Iterable[PublishedResult]) -> str:
    """One sentence on how many numbers agree."""
    counted = [row for row in rows if not row.number.experiment]
    trends = [row for row in counted if row.number.trend and row.verdict in (*GOOD, DIFFERS)]
    counted = [row for row in counted if not row.number.trend]
    judged = [row for row in counted if row.verdict in (*GOOD, DIFFERS)]
    good = sum(row.verdict in GOOD for row in judged)
    times = sum(row.verdict == TIME for row in counted)
    missing = sum(row.verdict == NOT_MEASURED for row in counted)
    share = f" ({good / len(judged):.0%})" if judged else ""
    text = (
        f"Of {len(judged)} published degrees, sizes and diameters, {good}{share} are within 10 % or on the right side "
        f"of the stated bound; {times} times and ratios of times stand apart"
    )
    text += f"; {missing} were not measured at this scale." if missing else "."
    chance = [row for row in judged if row.verdict == DIFFERS and row.inside]
    if chance:
        text += (
            f" {len(chance)} more differ in the mean, but lie inside our seeds: the paper has them from one to four "
            "runs, and as few of ours reach them."
        )
    hold = sum(row.verdict in GOOD for row in trends)
    return text + (f" Of {len(trends)} claims on trends and variances, {hold} hold." if trends else "")


def standing(rows: Sequence[PublishedResult]) -> str:
    """How many numbers agree, how many differ for a reason that an experiment shows, and how many without one."""
    tried = Tried(rows)
    numbers = [row for row in rows if not row.number.experiment and not row.number.trend]
    judged = [row for row in numbers if row.verdict in (*GOOD, DIFFERS)]
    good = [row for row in judged if row.verdict in GOOD]
    differ = [row for row in judged if row.verdict == DIFFERS]
    shown = [row for row in differ if tried.deciding(row)]
    inside = [row for row in differ if row.inside]
    other = [row for row in differ if not row.inside and tried.inside(row)]
    chosen = sum(tried.chosen_afterwards(row) for row in good)
    lines = ["| published degrees, sizes and diameters | numbers | share |", "|---|--:|--:|"]
    for says, count in (
        ("agree: within 10 %, or on the right side of the bound", len(good)),
        ("— of these, only in a reading that was chosen after its result was known", chosen),
        ("differ, and an experiment on this page shows why (“shown”)", len(shown)),
        ("— of these, for which another reading gives the number", sum(map(tried.reproduced, shown))),
        ("differ, and the experiments only bracket the number", len(differ) - len(shown)),
        ("of all that differ: from one to four runs, and inside our seeds", len(inside)),
        ("of all that differ: the same, in another reading only", len(other)),
    ):
        lines.append(f"| {says} | {count} | {count / max(len(judged), 1):.0%} |")
    return "\n".join(lines)


def as_arrow(rows: Sequence[PublishedResult]) -> pa.Table:
    """The comparison for programs: a row for each number, with the fields of `PublishedResult` and `Published`.

    ``least`` and ``most`` are where as few runs of ours lie as the published number is from, if those are few.
    """
    return pa.table(
        {
            "study": pa.array([row.study for row in rows], pa.string()),
            "says": pa.array([row.number.says for row in rows], pa.string()),
            "relation": pa.array([row.number.relation for row in rows], pa.string()),
            "published": pa.array([float(row.number.value) for row in rows], pa.float64()),
            "ours": pa.array([row.ours for row in rows], pa.float64()),
            "ratio": pa.array([row.ratio for row in rows], pa.float64()),
            "verdict": pa.array([row.verdict for row in rows], pa.string()),
            "why": pa.array([row.number.why for row in rows], pa.string()),
            "experiment": pa.array([row.number.experiment for row in rows], pa.bool_()),
            "trend": pa.array([row.number.trend for row in rows], pa.bool_()),
            "least": pa.array([row.span[0] if row.span else None for row in rows], pa.float64()),
            "most": pa.array([row.span[1] if row.span else None for row in rows], pa.float64()),
        }
    )
