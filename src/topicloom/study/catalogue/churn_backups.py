"""shadows-churn, Figures 2 and 3."""

from typing import Any

from topicloom.study.catalogue.churn_shared import EXPONENT, SETTING, churn_workload
from topicloom.study.catalogue.shared import Choice, cells
from topicloom.study.cells import Cell
from topicloom.study.studies import Line, Panel, Published, Scale, Study

AS_BUILT: dict[str, Any] = {"measurement": "backups", "size_exponent": None}


def _grid(scale: Scale, builder: str) -> list[Cell]:
    drawn = [churn_workload(scale), *(churn_workload(scale, size_exponent=e) for e in (0.0, 1.0))]
    choice: Choice = (builder, {"coverage": 3})
    return [
        *cells("backups", [choice], drawn, scale.seed_range(10)),
        *cells("stale-weights", [choice], drawn[:1], scale.seed_range(3)),
    ]


def _panels(title: str) -> list[Panel]:
    where = AS_BUILT
    return [
        Panel(
            title,
            "at",
            "topics that the node wants",
            "nodes",
            [Line("its backups", "backups", where), Line("its primaries", "primaries", where)],
        )
    ]


def _shares(value: float) -> list[Published]:
    """The published share of backups, and what it would be with other exponents of the size distribution."""
    return [
        Published(
            "backups of a node, mean share of the nodes",
            value,
            lambda r: r.mean("backup_share", **AS_BUILT),
            unit="%",
            why="backup-sets",
        ),
        Published(
            "the same, every size from 10 to 90 counted once, whatever its number of nodes",
            value,
            lambda r: (
                float(r.by("at", "backups", **AS_BUILT).mean())
                / float(r.select("backups", **AS_BUILT)["nodes"].iloc[0])
            ),
            unit="%",
            experiment=True,
        ),
        Published(
            "the same with weights that do not count primaries gathered meanwhile",
            value,
            lambda r: r.mean("backup_share", measurement="stale-weights"),
            unit="%",
            experiment=True,
        ),
        *(
            Published(
                f"the same with a size exponent of {exponent:g} (not {EXPONENT:g})",
                value,
                lambda r, exponent=exponent: r.mean("backup_share", size_exponent=exponent),  # type: ignore[misc]
                unit="%",
                experiment=True,
            )
            for exponent in (0.0, 1.0)
        ),
    ]


STUDIES = (
    Study(
        name="churn-fig2",
        title="backups built greedily",
        source="shadows-churn, Figure 2",
        setting=SETTING,
        found="Backup sets are 1.1 % of the nodes on average; primaries are skewed: 42.9 % of the nodes have fewer "
        "than 5.",
        grid=lambda scale: _grid(scale, "greedy"),
        panels=_panels("greedy backups, λ = 3"),
        published=[
            *_shares(0.011),
            Published(
                "share of nodes with fewer than 5 primaries",
                0.429,
                lambda r: r.mean("share_under_5_primaries", **AS_BUILT),
                unit="%",
                why="greedy-backups",
            ),
            Published(
                "the same with weights that do not count primaries gathered meanwhile",
                0.429,
                lambda r: r.mean("share_under_5_primaries", measurement="stale-weights"),
                unit="%",
                experiment=True,
            ),
        ],
    ),
    Study(
        name="churn-fig3",
        title="backups built by primal-dual",
        source="shadows-churn, Figure 3",
        setting=SETTING,
        found="Backup sets are 2.8 % of the nodes on average; primaries are balanced, from 21 to 59.",
        grid=lambda scale: _grid(scale, "primal-dual"),
        panels=_panels("primal-dual backups, λ = 3"),
        published=[
            *_shares(0.028),
            Published(
                "fewest primaries of a node, mean over the seeds",
                21,
                lambda r: r.mean("fewest_primaries", **AS_BUILT),
                why="backup-sets",
            ),
            Published(
                "most primaries of a node, mean over the seeds",
                59,
                lambda r: r.mean("most_primaries", **AS_BUILT),
                why="backup-sets",
            ),
        ],
    ),
)
