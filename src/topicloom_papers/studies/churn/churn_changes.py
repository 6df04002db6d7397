"""shadows-churn, Figure 8."""

from typing import Any

from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.studies import Line, Panel, Published, Scale, Study
from topicloom_papers.studies.churn import churn_trends
from topicloom_papers.studies.churn.churn_rounds import AS_PRINTED, PRINTED, ROUNDS, SHADOW, grid, printed
from topicloom_papers.studies.churn.churn_shared import ONE_RUN, PLAIN, SIZES, churn_workload, plain_workload, rounds
from topicloom_papers.studies.shared import cells, mean_of, tried

KEPT: dict[str, Any] = {"measurement": "rebuild", "ties": "kept"}


def _round_by_round(scale: Scale) -> dict[str, Any]:
    """The first 200 rounds, each against the one before."""
    return {"rounds": scale.pick(quick=4, paper=200), "every": 1}


def _kept(scale: Scale) -> list[Cell]:
    """Our Low-ODA from scratch with places kept, and methods with equals in lists."""
    drawn, seeds, looked = [churn_workload(scale)], scale.seed_range(10), _round_by_round(scale)
    return [
        *cells("rebuild", [("low-oda", {**looked, "ties": "kept"})], drawn, seeds),
        *cells("list-rebuild", [("low-oda", looked)], drawn, seeds),
        *cells("list-rebuild", [("gm", looked)], drawn, seeds[:3]),
    ]


def _plain_rebuild(scale: Scale) -> list[Cell]:
    """Low-ODA from scratch with sizes ~ s⁻²."""
    choice = ("low-oda", rounds(scale, every=200, ties="kept"))
    return cells("rebuild", [choice], [plain_workload(scale)], scale.seed_range(10)[:3])


def _of_changes() -> list[Published]:
    """Figure 8: links that Shadow changes."""
    stated = (
        ("links changed at a join, Shadow", "join_links", 4.83, ""),
        ("links changed at a leave, Shadow", "leave_links", 12.24, ""),
        ("repair ratio of a join, Shadow", "join_repair_ratio", 0.00068, "%"),
        ("repair ratio of a leave, Shadow", "leave_repair_ratio", 0.0017, "%"),
    )
    return [
        *(
            Published(says, value, mean_of(metric, **SHADOW), unit=unit, runs=ONE_RUN)
            for says, metric, value, unit in stated
        ),
        *(
            tried(f"{says}: {AS_PRINTED}", value, mean_of(metric, **PRINTED), runs=ONE_RUN)
            for says, metric, value, unit in stated[:2]
        ),
    ]


def _of_rebuilding() -> list[Published]:
    """Figure 8: links that Low-ODA from scratch exchanges."""
    stated = (
        ("repair ratio of rebuilding", "repair_ratio", 0.094, "%"),
        ("repair ratio of rebuilding at joins", "join_repair_ratio", 0.113, "%"),
        ("repair ratio of rebuilding at leaves", "leave_repair_ratio", 0.075, "%"),
        ("links exchanged by rebuilding", "links_exchanged", 610, ""),
    )
    lists = (
        ("lists", "equals in lists, newest first", "low-oda"),
        ("gm", "GM, equals in lists, newest first", "gm"),
    )
    return [
        *(
            Published(
                says,
                value,
                mean_of(metric, **KEPT, **SIZES),
                unit=unit,
                runs=ONE_RUN,
                why="rebuild-ties",
                shown_by=(f"lists-{metric}",),
                instead_of=f"plain-{metric}",
            )
            for says, metric, value, unit in stated
        ),
        *(
            tried(
                f"{says}, sizes ~ s⁻²",
                value,
                mean_of(metric, **KEPT, **PLAIN),
                key=f"plain-{metric}",
                unit=unit,
                runs=ONE_RUN,
            )
            for says, metric, value, unit in stated
        ),
        *(
            tried(
                f"{says}: {reading}",
                value,
                mean_of(metric, measurement="list-rebuild", method=method, **SIZES),
                key=f"{key}-{metric}",
                unit=unit,
                runs=ONE_RUN,
            )
            for key, reading, method in lists
            for says, metric, value, unit in stated
        ),
        tried(
            "links exchanged by rebuilding, ties drawn again as our rebuild does",
            610,
            mean_of("links_exchanged", measurement="rebuild", ties="drawn", **SIZES),
        ),
    ]


STUDIES = (
    Study(
        name="churn-fig8",
        title="links that a round changes",
        source="shadows-churn, Figure 8",
        setting=f"{ROUNDS} Rebuilding is looked at in each of the first 200 rounds, against the round before (with "
        "ties drawn again in every 100th of 1,000, with sizes ~ s⁻² in every 200th).",
        found="Shadow changes 0.068 % of the links at a join and 0.17 % at a leave (4.83 and 12.24 links); Low-ODA "
        "from scratch exchanges 9.4 % (11.3 % at joins, 7.5 % at leaves), 610 links.",
        grid=lambda scale: [
            *grid(scale, [("shadow", {})], ["drawn"]),
            *printed(scale, {"backups": "primal-dual", "coverage": 3}),
            *_kept(scale),
            *_plain_rebuild(scale),
        ],
        panels=[
            Panel(
                f"{kind}s",
                "at",
                "topics of the node that comes or goes",
                "repair ratio",
                [
                    Line(
                        "Low-ODA, ties kept",
                        f"{kind}_ratio_by_size",
                        {"measurement": "rebuild", "ties": "kept", **SIZES},
                    ),
                    Line("Shadow", f"{kind}_ratio_by_size", SHADOW),
                ],
                log_y=True,
            )
            for kind in ("join", "leave")
        ],
        published=[*_of_changes(), *_of_rebuilding(), *churn_trends.changes_less(SHADOW, {**KEPT, **SIZES})],
    ),
)
