"""Published | ours | ratio | verdict."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from topicloom.study.results import NotMeasuredError, Results
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
    def ratio(self) -> float | None:
        """Ours over the published one; None where there is none."""
        return None if self.ours is None or not self.number.value else self.ours / self.number.value


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
