"""shadows-churn, §VI: what the text says of curves without a number."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from topicloom_papers.cells.studies import AT_LEAST, AT_MOST, Published
from topicloom_papers.page.lookup import Results
from topicloom_papers.studies.shared import mean_of, ratio, trend, tried

Where = Mapping[str, Any]
FloatArray = np.ndarray[Any, np.dtype[np.float64]]
_DEGREES = (("maximum", "max_degree"), ("average", "average_degree"))


def _over(results: Results, metric: str, one: Where, other: Where) -> float:
    return results.mean(metric, **one) / results.mean(metric, **other)


def by_builder(primal_dual: Where, greedy: Where, unweighted: Where) -> list[Published]:
    """Figure 4."""
    end = {"at": 1000}

    def greedy_over(where: Where) -> Callable[[Results], float]:
        return lambda results: _over(results, "max_degree", {**where, **end}, {**primal_dual, **end})

    return [
        *(
            trend(
                f"{what} degree after 1,000 rounds over that before, lower of both builders (both increase)",
                1,
                lambda r, metric=metric: min(  # type: ignore[misc]
                    _over(r, metric, {**where, **end}, {**where, "at": 0}) for where in (primal_dual, greedy)
                ),
                AT_LEAST,
            )
            for what, metric in _DEGREES
        ),
        trend(
            "maximum degree after 1,000 rounds, greedy backups over primal-dual ones (it degrades noticeably: 84 here, "
            "24 in Figure 5)",
            84 / 24,
            greedy_over(greedy),
            AT_LEAST,
            why="greedy-backups",
            shown_by=("alike-over",),
        ),
        tried(
            "maximum degree after 1,000 rounds, greedy backups without weights (as printed) over primal-dual ones",
            84 / 24,
            greedy_over(unweighted),
            AT_LEAST,
            key="alike-over",
        ),
    ]


def by_coverage(of: Callable[[int], Where]) -> list[Published]:
    """Figure 5. ``of`` gives the conditions for a coverage factor."""

    def at(round_number: int, results: Results) -> FloatArray:
        return np.array([results.mean("max_degree", at=round_number, **of(c)) for c in (1, 2, 3, 4)])

    def largest(values: FloatArray) -> float:
        """Largest ratio of one to the one before."""
        return float((values[1:] / values[:-1]).max())

    return [
        trend(
            "maximum degree for λ + 1 over that for λ, largest (it decreases)",
            1,
            lambda r: largest(at(1000, r)),
            AT_MOST,
        ),
        trend(
            "rise of the maximum degree for λ + 1 over that for λ, largest (its growth rate decreases)",
            1,
            lambda r: largest(at(1000, r) - at(0, r)),
            AT_MOST,
        ),
        trend(
            "difference of maximum degrees for λ + 1 and λ + 2 over that for λ and λ + 1, larger of the two (the "
            "differences decrease)",
            1,
            lambda r: largest(np.abs(np.diff(at(1000, r)))),
            AT_MOST,
        ),
        trend(
            "maximum degree for λ = 4 over that for λ = 3 (the difference is insignificant)",
            1,
            lambda r: float(at(1000, r)[3] / at(1000, r)[2]),
        ),
    ]


def by_policy(shadow: Where, naive: Where) -> list[Published]:
    """Figure 6."""
    return [
        *(
            trend(
                f"Shadow's {what} degree over Naive's, mean over the rounds (they are similar)",
                1,
                lambda r, metric=metric: ratio(r, "at", metric, shadow, naive),  # type: ignore[misc]
            )
            for what, metric in _DEGREES
        ),
        trend(
            "average degree after 1,000 rounds over that before, higher of both policies (it does not degrade "
            "significantly)",
            1,
            lambda r: max(
                _over(r, "average_degree", {**policy, "at": 1000}, {**policy, "at": 0}) for policy in (shadow, naive)
            ),
            why="average-creep",
        ),
    ]


def faster() -> list[Published]:
    """Figure 7."""
    timed = {"measurement": "time-churn"}
    return [
        trend(
            f"Shadow's time of a {kind} over Naive's (considerably faster)",
            1,
            lambda r, kind=kind: _over(  # type: ignore[misc]
                r, f"{kind}_seconds", {**timed, "method": "shadow"}, {**timed, "method": "naive"}
            ),
            AT_MOST,
        )
        for kind in ("join", "leave")
    ]


def changes_less(shadow: Where, rebuilding: Where) -> list[Published]:
    """Figure 8."""
    return [
        trend(
            f"Shadow's repair ratio of a {kind} over that of rebuilding (significantly lower)",
            1,
            lambda r, metric=f"{kind}_repair_ratio": (  # type: ignore[misc]
                mean_of(metric, **shadow)(r) / mean_of(metric, **rebuilding)(r)
            ),
            AT_MOST,
        )
        for kind in ("join", "leave")
    ]
