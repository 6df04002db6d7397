"""shadows-churn, Figure 7."""

from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.studies import AT_MOST, Line, Panel, Published, Scale, Study
from topicloom_papers.studies.churn import churn_trends
from topicloom_papers.studies.churn.churn_rounds import AS_PRINTED, PRINTED, ROUNDS, SHADOW, plain, printed
from topicloom_papers.studies.churn.churn_shared import ONE_RUN, PLAIN, churn_workload, rounds
from topicloom_papers.studies.shared import cells, mean_of, tried


def _grid(scale: Scale) -> list[Cell]:
    drawn = [churn_workload(scale)]
    few = {"rounds": scale.pick(quick=40, paper=300)}
    return [
        *cells("churn", [("shadow", rounds(scale))], drawn, scale.seed_range(10)),
        *plain(scale, "shadow"),
        *printed(scale, {"backups": "primal-dual", "coverage": 3}),
        *cells("time-churn", [("shadow", few), ("naive", few)], drawn, scale.seed_range(2)),
    ]


def _times(policy: str, name: str, kind: str, share: float) -> list[Published]:
    return [
        Published(
            f"{name}, a {kind}, of the time of {denominator}",
            share,
            lambda r, metric=metric: r.mean(metric, method=policy, measurement="time-churn"),  # type: ignore[misc]
            time=True,
            unit="%",
        )
        for denominator, metric in (
            ("our Low-ODA from scratch", f"{kind}_of_rebuild"),
            ("the literal GM (a literal Low-ODA is not timed)", f"{kind}_of_literal"),
        )
    ]


def _seconds(says: str, value: float, metric: str, method: str) -> Published:
    return Published(says, value, lambda r: r.mean(metric, method=method, measurement="time-churn"), time=True)


STUDY = Study(
    name="churn-fig7",
    title="time of a round, and shadow sets",
    source="shadows-churn, Figure 7",
    setting=f"{ROUNDS} Times over 300 rounds; a repair is Steps I and II, without the backups of others (Step III).",
    found="A round against rebuilding by Low-ODA (18.76 s): joins 0.014 % with Shadow (2.69 ms), 0.043 % with Naive "
    "(7.93 ms); leaves 1.78 % (333 ms) and 14 % (2,575 ms, at most 61.6 %). Shadow sets are 1.59 % of the nodes, at "
    "most 4.97 %.",
    grid=_grid,
    panels=[
        Panel(
            f"{kind}s: a repair over Low-ODA from scratch",
            "at",
            "size of the shadow set",
            "ratio of times",
            [Line("Shadow", f"{kind}_of_rebuild_by_shadow", {"method": "shadow"})],
            log_y=True,
        )
        for kind in ("join", "leave")
    ],
    published=[
        Published(
            "shadow set, mean share of the nodes",
            0.0159,
            mean_of("shadow_share", **SHADOW),
            unit="%",
            runs=ONE_RUN,
            why="shadow-sets",
            shown_by=("printed",),
            instead_of="plain",
        ),
        Published(
            "shadow set, largest share of the nodes",
            0.0497,
            mean_of("largest_shadow_share", **SHADOW),
            AT_MOST,
            unit="%",
            why="shadow-sets",
            shown_by=("plain-largest",),
        ),
        tried(
            "shadow set, mean share, sizes ~ s⁻²",
            0.0159,
            mean_of("shadow_share", **{**SHADOW, **PLAIN}),
            key="plain",
            unit="%",
            runs=ONE_RUN,
        ),
        tried(
            "shadow set, largest share, sizes ~ s⁻²",
            0.0497,
            mean_of("largest_shadow_share", **{**SHADOW, **PLAIN}),
            AT_MOST,
            key="plain-largest",
            unit="%",
        ),
        tried(
            f"shadow set, mean share: {AS_PRINTED}",
            0.0159,
            mean_of("shadow_share", **PRINTED),
            key="printed",
            unit="%",
            runs=ONE_RUN,
        ),
        *_times("shadow", "Shadow", "join", 0.00014),
        *_times("naive", "Naive", "join", 0.00043),
        *_times("shadow", "Shadow", "leave", 0.0178),
        *_times("naive", "Naive", "leave", 0.14),
        Published(
            "Naive, the longest leave, of the time of our Low-ODA from scratch",
            0.616,
            lambda r: r.mean("longest_leave_of_rebuild", method="naive"),
            AT_MOST,
            time=True,
            unit="%",
        ),
        _seconds("Low-ODA from scratch, seconds", 18.76, "rebuild_seconds", "shadow"),
        _seconds("Shadow, a join, seconds", 0.00269, "join_seconds", "shadow"),
        _seconds("Shadow, a leave, seconds", 0.333, "leave_seconds", "shadow"),
        _seconds("Naive, a join, seconds", 0.00793, "join_seconds", "naive"),
        _seconds("Naive, a leave, seconds", 2.575, "leave_seconds", "naive"),
        *churn_trends.faster(),
    ],
)
