"""shadows-churn, Figures 4, 5, 6 and 8."""

from collections.abc import Mapping, Sequence
from typing import Any

from topicloom.study.catalogue.churn_shared import SETTING, churn_workload, rounds
from topicloom.study.catalogue.shared import Choice, cells
from topicloom.study.cells import Cell
from topicloom.study.results import Results
from topicloom.study.studies import AT_MOST, Line, Panel, Published, Scale, Study

SHADOW: dict[str, Any] = {"method": "shadow", "backups": None, "coverage": None}
NAIVE = {"method": "naive"}
FRESH = {"method": "low-oda", "ties": "drawn"}
ROUNDS = f"{SETTING} 1,000 rounds, a join or a leave with probability ½ each; judged every 20 rounds."


def _grid(scale: Scale, choices: Sequence[Choice], rebuilds: Sequence[str] = ()) -> list[Cell]:
    drawn, seeds = [churn_workload(scale)], scale.seed_range(10)
    churned = [(method, rounds(scale, **options)) for method, options in choices]
    fresh = [("low-oda", rounds(scale, every=100, ties=ties)) for ties in rebuilds]
    return [*cells("rebuild", fresh, drawn, seeds), *cells("churn", churned, drawn, seeds)]


def _other_starts(scale: Scale) -> list[Cell]:
    """Low-ODA before any churn with other exponents of the power law, and GM with two orders of ties."""
    drawn = [churn_workload(scale, size_exponent=exponent) for exponent in (0.0, 1.0)]
    ties: list[Choice] = [("gm", {}), ("literal", {})]
    return [
        *cells("design", [("low-oda", {"rho": 3})], drawn, scale.seed_range(10)),
        *cells("design", ties, [churn_workload(scale)], scale.seed_range(10)[:3]),
    ]


def _in_list_order(scale: Scale) -> list[Cell]:
    """Greedy Merge from scratch with ties in the order of the printed algorithm's lists."""
    return cells(
        "literal-rebuild", [("literal", rounds(scale, every=100))], [churn_workload(scale)], scale.seed_range(10)[:3]
    )


def _panels(curves: Sequence[tuple[str, dict[str, Any]]]) -> list[Panel]:
    return [
        Panel(what, "at", "round", what, [Line(label, metric, where) for label, where in curves])
        for what, metric in (("maximum degree", "max_degree"), ("average degree", "average_degree"))
    ]


def _above_fresh(results: Results, metric: str, policy: Mapping[str, Any] = SHADOW) -> float:
    """A policy's figure above that of a fresh Low-ODA, averaged over the rounds after the first."""
    fresh = results.by("at", metric, **FRESH)
    ours = results.by("at", metric, **policy)
    return float((ours - fresh).dropna().mean())


def _percent(says: str, value: float, metric: str, why: str | None = None, **where: Any) -> Published:
    return Published(says, value, lambda r: r.mean(metric, **where), why=why, unit="%")


STUDIES = (
    Study(
        name="churn-fig4",
        title="degrees under churn by backup builder",
        source="shadows-churn, Figure 4",
        setting=ROUNDS,
        found="With greedy backups the overlay degrades: the maximum degree is 84 after 1,000 rounds; with primal-dual "
        "ones it stays low.",
        grid=lambda scale: _grid(scale, [("shadow", {}), ("shadow", {"backups": "greedy"})]),
        panels=_panels([("primal-dual", SHADOW), ("greedy", {"backups": "greedy"})]),
        published=[
            Published(
                "maximum degree after 1,000 rounds, greedy backups",
                84,
                lambda r: r.mean("max_degree", backups="greedy", at=1000),
                why="greedy-backups",
            )
        ],
    ),
    Study(
        name="churn-fig5",
        title="degrees under churn by coverage factor",
        source="shadows-churn, Figure 5",
        setting=ROUNDS,
        found="The maximum degree after 1,000 rounds is 31, 25, 24 and 24 for λ = 1, 2, 3, 4: little is gained beyond "
        "3.",
        grid=lambda scale: _grid(scale, [("shadow", {"coverage": c} if c != 3 else {}) for c in (1, 2, 3, 4)]),
        panels=_panels([(f"λ = {c}", {**SHADOW, "coverage": c if c != 3 else None}) for c in (1, 2, 3, 4)]),
        published=[
            Published(
                f"maximum degree after 1,000 rounds, λ = {c}",
                value,
                lambda r, c=c: r.mean("max_degree", coverage=c if c != 3 else None, at=1000),  # type: ignore[misc]
                why="churn-start",
            )
            for c, value in ((1, 31), (2, 25), (3, 24), (4, 24))
        ],
    ),
    Study(
        name="churn-fig6",
        title="degrees under churn: Shadow, Naive, Low-ODA",
        source="shadows-churn, Figure 6",
        setting=ROUNDS,
        found="Maximum degrees of Shadow and Naive rise alike from 13 to 22; averaged over the rounds, Shadow is at "
        "most 5.5 (maximum) and 0.798 (average degree) above a fresh Low-ODA.",
        grid=lambda scale: [*_grid(scale, [("shadow", {}), ("naive", {})], ["drawn"]), *_other_starts(scale)],
        panels=_panels([("Shadow", SHADOW), ("Naive", NAIVE), ("fresh Low-ODA", FRESH)]),
        published=[
            Published(
                "maximum degree before the first round",
                13,
                lambda r: r.mean("max_degree", **SHADOW, at=0),
                why="churn-start",
            ),
            *(
                Published(
                    f"the same with a size exponent of {exponent:g}",
                    13,
                    lambda r, e=exponent: r.mean("max_degree", measurement="design", size_exponent=e),  # type: ignore[misc]
                    experiment=True,
                )
                for exponent in (0.0, 1.0)
            ),
            *(
                Published(
                    f"maximum degree of GM before the first round, ties {how}",
                    13,
                    lambda r, m=m: r.mean("max_degree", measurement="design", method=m),  # type: ignore[misc]
                    experiment=True,
                )
                for m, how in (
                    ("gm", "spread, as ours are"),
                    ("literal", "in the order of the printed algorithm's lists"),
                )
            ),
            Published(
                "maximum degree after 1,000 rounds, Shadow",
                22,
                lambda r: r.mean("max_degree", **SHADOW, at=1000),
                why="churn-start",
            ),
            Published(
                "maximum degree after 1,000 rounds, Naive",
                22,
                lambda r: r.mean("max_degree", **NAIVE, at=1000),
                why="churn-start",
            ),
            *(
                Published(
                    f"rise of the maximum degree over 1,000 rounds, {name}",
                    22 - 13,
                    lambda r, where=where: (  # type: ignore[misc]
                        r.mean("max_degree", **where, at=1000) - r.mean("max_degree", **where, at=0)
                    ),
                    experiment=True,
                )
                for name, where in (("Shadow", SHADOW), ("Naive", NAIVE))
            ),
            Published(
                "maximum degree above a fresh Low-ODA, mean over the rounds",
                5.5,
                lambda r: _above_fresh(r, "max_degree"),
                AT_MOST,
                why="churn-creep",
            ),
            Published(
                "average degree above a fresh Low-ODA, mean over the rounds",
                0.798,
                lambda r: _above_fresh(r, "average_degree"),
                AT_MOST,
                why="churn-creep",
            ),
            *(
                Published(
                    f"{what} degree above a fresh Low-ODA with Naive, which may use any link",
                    value,
                    lambda r, metric=metric: _above_fresh(r, metric, NAIVE),  # type: ignore[misc]
                    AT_MOST,
                    experiment=True,
                )
                for what, metric, value in (("maximum", "max_degree", 5.5), ("average", "average_degree", 0.798))
            ),
        ],
    ),
    Study(
        name="churn-fig8",
        title="links that a round changes",
        source="shadows-churn, Figure 8",
        setting=f"{ROUNDS} Rebuilding is looked at every 100 rounds, against the round before.",
        found="Shadow changes 0.068 % of the links at a join and 0.17 % at a leave (4.83 and 12.24 links); Low-ODA "
        "from scratch exchanges 9.4 % (11.3 % at joins, 7.5 % at leaves), 610 links.",
        grid=lambda scale: [*_grid(scale, [("shadow", {})], ["drawn", "kept"]), *_in_list_order(scale)],
        panels=[
            Panel(
                f"{kind}s",
                "at",
                "topics of the node that comes or goes",
                "repair ratio",
                [
                    Line("Low-ODA, ties kept", f"{kind}_ratio_by_size", {"ties": "kept"}),
                    Line("Shadow", f"{kind}_ratio_by_size", SHADOW),
                ],
                log_y=True,
            )
            for kind in ("join", "leave")
        ],
        published=[
            Published("links changed at a join, Shadow", 4.83, lambda r: r.mean("join_links", **SHADOW)),
            Published("links changed at a leave, Shadow", 12.24, lambda r: r.mean("leave_links", **SHADOW)),
            _percent("repair ratio of a join, Shadow", 0.00068, "join_repair_ratio", **SHADOW),
            _percent("repair ratio of a leave, Shadow", 0.0017, "leave_repair_ratio", **SHADOW),
            _percent("repair ratio of rebuilding", 0.094, "repair_ratio", "rebuild-ties", ties="kept"),
            _percent("repair ratio of rebuilding at joins", 0.113, "join_repair_ratio", "rebuild-ties", ties="kept"),
            _percent("repair ratio of rebuilding at leaves", 0.075, "leave_repair_ratio", "rebuild-ties", ties="kept"),
            Published(
                "links exchanged by rebuilding",
                610,
                lambda r: r.mean("links_exchanged", ties="kept"),
                why="rebuild-ties",
            ),
            Published(
                "repair ratio of rebuilding by GM, ties in the order of the printed algorithm's lists",
                0.094,
                lambda r: r.mean("repair_ratio", measurement="literal-rebuild"),
                unit="%",
                experiment=True,
            ),
            Published(
                "links exchanged by rebuilding, ties drawn anew as our rebuild does",
                610,
                lambda r: r.mean("links_exchanged", ties="drawn"),
                experiment=True,
            ),
        ],
    ),
)
