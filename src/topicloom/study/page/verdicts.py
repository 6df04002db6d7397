"""Published | ours | ratio | verdict."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from topicloom.study.page.lookup import NotMeasuredError, Results
from topicloom.study.studies import AT_LEAST, AT_MOST, ORDER, Published, Study

TOLERANCE = 0.10
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
class Compared:
    """A published number beside ours."""

    study: str
    number: Published
    ours: float | None
    verdict: str

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

    def __init__(self, rows: Iterable[Compared]) -> None:
        self._rows = {f"{row.study}/{row.number.key}": row for row in rows if row.number.key}

    def of(self, row: Compared, key: str) -> Compared | None:
        """The experiment that a row means by a key, or None."""
        return self._rows.get(key if "/" in key else f"{row.study}/{key}")

    def deciding(self, row: Compared) -> list[Compared]:
        """The experiments that show why a row differs: those that come out as the paper says."""
        found = [self.of(row, key) for key in row.number.shown_by]
        return [one for one in found if one is not None and one.verdict in GOOD]

    def reproduced(self, row: Compared) -> bool:
        """Whether a number comes out in the main reading or in another one; that a bound excludes it is not enough."""
        same = [one for one in self.deciding(row) if one.number.relation == row.number.relation]
        return row.verdict in GOOD or bool(same)

    def chosen_afterwards(self, row: Compared) -> bool:
        """Whether a row agrees, and would not under the reading that was the main one before."""
        before = self.of(row, row.number.instead_of) if row.number.instead_of else None
        return row.verdict in GOOD and before is not None and before.verdict == DIFFERS


def compared(studies: Sequence[Study], results: Results) -> list[Compared]:
    """Every published number of some studies."""
    rows = []
    for study in studies:
        for number in study.published:
            try:
                ours: float | None = float(number.ours(results))
            except NotMeasuredError:
                ours = None
            if ours is not None and math.isnan(ours):  # curves without a point in common
                ours = None
            rows.append(Compared(study.name, number, ours, verdict(number, ours)))
    return rows


def verdict(number: Published, ours: float | None) -> str:
    """How our number stands to the published one.

    >>> from topicloom.study.studies import Published
    >>> bound = Published("degree above GM", 2.5, lambda results: 0, relation="≤")
    >>> [verdict(bound, ours) for ours in (1.0, 2.6, 5.0, None)]
    ['holds', 'within 10 %', 'differs', 'not measured at this scale']
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
        return AGREES if number.relation not in (AT_MOST, AT_LEAST) else WITHIN
    return DIFFERS
