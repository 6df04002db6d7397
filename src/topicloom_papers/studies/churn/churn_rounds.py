"""shadows-churn, Figures 4, 5 and 6."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.studies import AT_MOST, Line, Panel, Published, Scale, Study
from topicloom_papers.page.lookup import Results
from topicloom_papers.studies.churn import churn_trends
from topicloom_papers.studies.churn.churn_shared import (
    HALF,
    ONE_RUN,
    PLAIN,
    SETTING,
    SIZES,
    churn_workload,
    plain_workload,
    rounds,
)
from topicloom_papers.studies.shared import Choice, cells, mean_of, tried

CHURN: dict[str, Any] = {"measurement": "churn", **SIZES}
SHADOW: dict[str, Any] = {**CHURN, "method": "shadow", "backups": None, "coverage": None}
NAIVE: dict[str, Any] = {**CHURN, "method": "naive"}
FRESH: dict[str, Any] = {"measurement": "rebuild", "ties": "drawn", **SIZES}
PRINTED: dict[str, Any] = {"measurement": "printed-churn", "backups": "primal-dual", "coverage": 3, **SIZES}
_ROUNDS = "1,000 rounds, a join or a leave with probability ½ each; judged every 20 rounds (Shadow as printed: 200)."
ROUNDS = f"{SETTING} {_ROUNDS}"
AS_PRINTED = "Shadow as it is printed, equals by number"


def grid(scale: Scale, choices: Sequence[Choice], rebuilds: Sequence[str] = (), *, half: bool = False) -> list[Cell]:
    """Policies under churn, and Low-ODA from scratch over the same rounds."""
    drawn, seeds = [churn_workload(scale, half=half)], scale.seed_range(10)
    churned = [(method, rounds(scale, **options)) for method, options in choices]
    fresh = [("low-oda", rounds(scale, every=100, ties=ties)) for ties in rebuilds]
    return [*cells("rebuild", fresh, drawn, seeds), *cells("churn", churned, drawn, seeds)]


def printed(scale: Scale, *options: Mapping[str, Any], half: bool = False) -> list[Cell]:
    """Shadow as it is printed, with some builders and coverage factors."""
    choices = [("shadow", rounds(scale, every=200, **one)) for one in options]
    seeds = scale.seed_range(10)
    return cells("printed-churn", choices, [churn_workload(scale, half=half)], seeds if half else seeds[:5])


def plain(scale: Scale, *methods: str) -> list[Cell]:
    """Policies under churn with sizes ~ s⁻²."""
    choices = [(method, rounds(scale)) for method in methods]
    return cells("churn", choices, [plain_workload(scale)], scale.seed_range(10)[:5])


def _panels(curves: Sequence[tuple[str, dict[str, Any]]]) -> list[Panel]:
    return [
        Panel(what, "at", "round", what, [Line(label, metric, where) for label, where in curves])
        for what, metric in (("maximum degree", "max_degree"), ("average degree", "average_degree"))
    ]


def _at_end(**where: Any) -> Callable[[Results], float]:
    return mean_of("max_degree", at=1000, **where)


def _above_fresh(results: Results, metric: str, policy: Mapping[str, Any] = SHADOW) -> float:
    """A policy's figure above that of a fresh Low-ODA, averaged over the rounds after the first."""
    fresh = results.by("at", metric, **FRESH)
    ours = results.by("at", metric, **policy)
    return float((ours - fresh).dropna().mean())


def _coverage(c: int, nodes: Mapping[str, Any]) -> dict[str, Any]:
    return {**SHADOW, **nodes, "coverage": c if c != 3 else None}


def _by_coverage() -> list[Published]:
    stated = {1: 31, 2: 25, 3: 24, 4: 24}
    says = "maximum degree after 1,000 rounds, λ = {}"
    return [
        *(
            Published(
                says.format(c),
                value,
                _at_end(**_coverage(c, SIZES)),
                runs=ONE_RUN,
                why="churn-repairs",
                shown_by=(f"printed-{c}", f"half-{c}"),
            )
            for c, value in stated.items()
        ),
        *(
            tried(
                f"{says.format(c)}: {AS_PRINTED}",
                value,
                _at_end(**{**PRINTED, "coverage": c}),
                key=f"printed-{c}",
                runs=ONE_RUN,
            )
            for c, value in stated.items()
        ),
        *(
            tried(f"{says.format(c)}: 1,000 nodes", value, _at_end(**_coverage(c, HALF)), key=f"half-{c}", runs=ONE_RUN)
            for c, value in stated.items()
        ),
        *(
            tried(
                f"{says.format(c)}: 1,000 nodes, {AS_PRINTED}",
                value,
                _at_end(**{**PRINTED, **HALF, "coverage": c}),
                key=f"printed-half-{c}",
                runs=ONE_RUN,
            )
            for c, value in stated.items()
        ),
    ]


def _of_greedy() -> list[Published]:
    """Figure 4: the maximum degree that greedy backups lead to."""
    says = "maximum degree after 1,000 rounds, greedy backups"
    weights = (
        ("printed", AS_PRINTED, "greedy"),
        ("links", f"{AS_PRINTED}, weights that count links, not primaries", "greedy, links alone"),
        ("alike", f"{AS_PRINTED}, no weights: every node alike, equals drawn", "greedy, all alike"),
    )
    return [
        Published(
            says,
            84,
            _at_end(**{**CHURN, "backups": "greedy"}),
            runs=ONE_RUN,
            why="greedy-backups",
            shown_by=("alike",),
        ),
        *(
            tried(f"{says}: {reading}", 84, _at_end(**{**PRINTED, "backups": builder}), key=key, runs=ONE_RUN)
            for key, reading, builder in weights
        ),
        tried(
            f"{says}: 1,000 nodes, {AS_PRINTED}, no weights",
            84,
            _at_end(**{**PRINTED, **HALF, "backups": "greedy, all alike"}),
            key="alike-half",
            runs=ONE_RUN,
        ),
    ]


def _of_policies() -> list[Published]:
    """Figure 6: the maximum degree at the start and the end."""
    stated = (
        ("maximum degree before the first round", "start", 13, SHADOW, 0),
        ("maximum degree after 1,000 rounds, Shadow", "shadow", 22, SHADOW, 1000),
        ("maximum degree after 1,000 rounds, Naive", "naive", 22, NAIVE, 1000),
    )
    return [
        *(
            Published(
                says,
                value,
                mean_of("max_degree", at=at, **where),
                runs=ONE_RUN,
                why="churn-sizes",
                shown_by=(f"printed-{key}",) if key != "naive" else (),
                instead_of=f"plain-{key}",
            )
            for says, key, value, where, at in stated
        ),
        *(
            tried(
                f"{says}, sizes ~ s⁻²",
                value,
                mean_of("max_degree", at=at, **{**where, **PLAIN}),
                key=f"plain-{key}",
                runs=ONE_RUN,
            )
            for says, key, value, where, at in stated
        ),
        *(
            tried(
                f"{says}: {AS_PRINTED}",
                value,
                mean_of("max_degree", at=at, **PRINTED),
                key=f"printed-{key}",
                runs=ONE_RUN,
            )
            for says, key, value, where, at in stated[:2]
        ),
    ]


STUDIES = (
    Study(
        name="churn-fig4",
        title="degrees under churn by backup builder",
        source="shadows-churn, Figure 4",
        setting=ROUNDS,
        found="With greedy backups the overlay degrades: the maximum degree is 84 after 1,000 rounds; with primal-dual "
        "ones it stays low.",
        grid=lambda scale: [
            *grid(scale, [("shadow", {}), ("shadow", {"backups": "greedy"})]),
            *printed(
                scale,
                *({"backups": one, "coverage": 3} for one in ("greedy", "greedy, links alone", "greedy, all alike")),
            ),
            *printed(scale, {"backups": "greedy, all alike", "coverage": 3}, half=True),
        ],
        panels=_panels(
            [
                ("primal-dual", SHADOW),
                ("greedy", {**CHURN, "backups": "greedy"}),
                ("greedy, no weights (Shadow as printed)", {**PRINTED, "backups": "greedy, all alike"}),
            ]
        ),
        published=[
            *_of_greedy(),
            *churn_trends.by_builder(
                SHADOW, {**CHURN, "backups": "greedy"}, {**PRINTED, "backups": "greedy, all alike"}
            ),
        ],
    ),
    Study(
        name="churn-fig5",
        title="degrees under churn by coverage factor",
        source="shadows-churn, Figure 5",
        setting=ROUNDS,
        found="The maximum degree after 1,000 rounds is 31, 25, 24 and 24 for λ = 1, 2, 3, 4: little is gained beyond "
        "3.",
        grid=lambda scale: [
            cell
            for half in (False, True)
            for cell in (
                *grid(scale, [("shadow", {"coverage": c} if c != 3 else {}) for c in (1, 2, 3, 4)], half=half),
                *printed(scale, *({"backups": "primal-dual", "coverage": c} for c in (1, 2, 3, 4)), half=half),
            )
        ],
        panels=_panels([(f"λ = {c}", _coverage(c, SIZES)) for c in (1, 2, 3, 4)]),
        published=[
            *_by_coverage(),
            *churn_trends.by_coverage(lambda c: _coverage(c, SIZES)),
        ],
    ),
    Study(
        name="churn-fig6",
        title="degrees under churn: Shadow, Naive, Low-ODA",
        source="shadows-churn, Figure 6",
        setting=ROUNDS,
        found="Maximum degrees of Shadow and Naive rise alike from 13 to 22; averaged over the rounds, Shadow is at "
        "most 5.5 (maximum) and 0.798 (average degree) above a fresh Low-ODA.",
        grid=lambda scale: [
            *grid(scale, [("shadow", {}), ("naive", {})], ["drawn"]),
            *plain(scale, "shadow", "naive"),
            *printed(scale, {"backups": "primal-dual", "coverage": 3}),
        ],
        panels=_panels([("Shadow", SHADOW), ("Naive", NAIVE), ("fresh Low-ODA", FRESH)]),
        published=[
            *_of_policies(),
            *churn_trends.by_policy(SHADOW, NAIVE),
            *(
                Published(
                    f"{what} degree above a fresh Low-ODA, mean over the rounds",
                    value,
                    lambda r, metric=metric: _above_fresh(r, metric),  # type: ignore[misc]
                    AT_MOST,
                    why="churn-creep",
                    shown_by=(f"naive-{what}",),
                )
                for what, metric, value in (("maximum", "max_degree", 5.5), ("average", "average_degree", 0.798))
            ),
            *(
                tried(
                    f"{what} degree above a fresh Low-ODA with Naive, which may use any link",
                    value,
                    lambda r, metric=metric: _above_fresh(r, metric, NAIVE),  # type: ignore[misc]
                    AT_MOST,
                    key=f"naive-{what}",
                )
                for what, metric, value in (("maximum", "max_degree", 5.5), ("average", "average_degree", 0.798))
            ),
        ],
    ),
)
