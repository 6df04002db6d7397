"""star-merge-divide-and-conquer, §VIII: what the text says of curves without a number."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from topicloom_papers.cells.studies import AT_LEAST, AT_MOST, Published
from topicloom_papers.page.lookup import NotMeasuredError, Results
from topicloom_papers.studies.dc.dc_shared import DEGREE
from topicloom_papers.studies.shared import POPULARITIES, growth, trend, unevenness

TIMED = {"measurement": "time-design", "method": "dc"}
UNIFORM = {"popularity": "uniform"}


def joined_degrees() -> Published:
    """Figure 4."""
    return trend(
        "Star Merge's highest degree over its lowest as more overlays join, largest of the popularities (it remains "
        "steady)",
        1,
        lambda r: max(unevenness(r, "nodes", DEGREE, method="star-merge", popularity=p) for p in POPULARITIES),
    )


def joining() -> list[Published]:
    """Figure 5."""
    more = "at the most nodes over that at the fewest"
    where = {"method": "star-merge"}
    return [
        trend(
            f"Star Merge's time over the literal GM's {more} (it decreases considerably)",
            1,
            lambda r: growth(r, "nodes", "time_of_literal", measurement="time-join", **where),
            AT_MOST,
        ),
        trend(
            f"Star Merge's pn-ratio {more} (its decline is the cause)",
            1,
            lambda r: growth(r, "nodes", "pn_ratio", **where),
            AT_MOST,
        ),
    ]


def _wrong_way(results: Results, popularity: str) -> float:
    """Largest ratio of two neighbouring points that goes the other way: down before the peak, up after it."""
    degrees = results.values("partitions", DEGREE, method="dc", measurement="design", popularity=popularity)
    steps = degrees[1:] / degrees[:-1]
    peak = int(np.argmax(degrees))
    return float(max([*(1 / steps[:peak]), *steps[peak:]]))


def _at_the_end(results: Results, popularity: str) -> float:
    where: Mapping[str, Any] = {"measurement": "design", "popularity": popularity}
    return results.mean(DEGREE, method="dc", partitions=1000, **where) / results.mean(DEGREE, method="gm", **where)


def _times(results: Results) -> Mapping[int, float]:
    found = results.by("partitions", "time_of_literal", **TIMED)
    if not {1, 5, 10, 15, 20, 500} <= set(found.index):
        raise NotMeasuredError("too few numbers of partitions")
    return {int(count): float(time) for count, time in found.items()}  # type: ignore[call-overload]


def _least_near_ten(results: Results) -> float:
    return min(time for count, time in _times(results).items() if 5 <= count <= 20)


def by_partitions() -> list[Published]:
    """Figure 6."""
    return [
        trend(
            "DC's degree: largest step down before its peak or up after it, of all popularities (it first increases, "
            "then decreases)",
            1,
            lambda r: max(_wrong_way(r, p) for p in POPULARITIES),
            AT_MOST,
        ),
        trend(
            "DC's degree at |V| partitions over GM's, furthest of the popularities (until it equals GM's)",
            1,
            lambda r: max((_at_the_end(r, p) for p in POPULARITIES), key=lambda ratio: abs(ratio - 1)),
        ),
        trend(
            "DC's time over the literal GM's at its least from 5 to 20 partitions over that at one (it slides down "
            "sharply)",
            1,
            lambda r: _least_near_ten(r) / _times(r)[1],
            AT_MOST,
            why="dc-own-gm",
        ),
        trend(
            "DC's time over the literal GM's at 500 partitions over that least (then it climbs)",
            1,
            lambda r: _times(r)[500] / _least_near_ten(r),
            AT_LEAST,
        ),
    ]


def _inner_time(results: Results, **where: Any) -> float:
    inner, outer = (results.by("partitions", metric, **where) for metric in ("inner_seconds", "outer_seconds"))
    return float((inner / (inner + outer)).min())


def phases_by_partitions(divided: tuple[int, ...], timed: tuple[int, ...]) -> list[Published]:
    """Figure 7. ``divided``: numbers of partitions from 2; ``timed``: those of which the phases were timed."""
    links = {"method": "dc", "measurement": "design", "partitions": divided}

    def where_few_are_met(results: Results) -> float:
        where = {"method": "dc", "measurement": "design", **UNIFORM, "partitions": timed}
        return _inner_time(results, partitions=results.lowest_at("partitions", "pn_ratio", **where))

    return [
        trend(
            "E_out at the most partitions over that at two, least of the popularities (E_out grows)",
            1,
            lambda r: min(growth(r, "partitions", "outer_links", **links, popularity=p) for p in POPULARITIES),
            AT_LEAST,
        ),
        trend(
            "T_out at 100 partitions over that at the fewest (T_out grows)",
            1,
            lambda r: growth(r, "partitions", "outer_seconds", partitions=timed),
            AT_LEAST,
        ),
        trend(
            "T_in over T_in + T_out where the pn-ratio is least (T_in is dominant where it is below 20 %)",
            0.5,
            where_few_are_met,
            AT_LEAST,
        ),
    ]


def by_nodes() -> list[Published]:
    """Figure 8."""
    return [
        trend(
            "DC's time over the literal GM's at the most nodes over that at the fewest (the impact grows)",
            1,
            lambda r: growth(r, "nodes", "time_of_literal", **TIMED),
            AT_MOST,
        ),
        trend(
            "DC's highest degree over its lowest, largest of the popularities (it is kept steady)",
            1,
            lambda r: max(
                unevenness(r, "nodes", DEGREE, method="dc", measurement="design", popularity=p, sizes=None)
                for p in POPULARITIES
            ),
        ),
    ]


def phases_by_nodes() -> Published:
    """Figure 9, for what Figure 7's text says of pn-ratios below 20 %."""

    def where_few_are_met(results: Results) -> float:
        known = results.by("partitions", "pn_ratio", method="dc", measurement="design", **UNIFORM)
        low = tuple(known.index[known < 0.2])
        return _inner_time(results, partitions=low)

    return trend(
        "T_in over T_in + T_out, least where the pn-ratio is below 20 % (T_in is dominant there, says Figure 7's text)",
        0.5,
        where_few_are_met,
        AT_LEAST,
    )


def by_topics(partitions: int) -> list[Published]:
    """Figure 10."""
    methods = {"DC": {"method": "dc", "partitions": partitions}, "GM": {"method": "gm"}}
    return [
        *(
            trend(
                f"{name}'s degree at the most topics over that at the fewest, Unif (it increases)",
                1,
                lambda r, where=where: growth(r, "topics", DEGREE, measurement="design", **UNIFORM, **where),  # type: ignore[misc]
                AT_LEAST,
            )
            for name, where in methods.items()
        ),
        trend(
            "DC's time over the literal GM's at 1,000 topics over that at 100, Unif (it increases)",
            1,
            lambda r: growth(r, "topics", "time_of_literal", **TIMED),
            AT_LEAST,
        ),
    ]
