"""shadows-churn, Figures 2 and 3."""

from topicloom.study.catalogue.churn_shared import PLAIN, SETTING, SIZES, churn_workload, plain_workload
from topicloom.study.catalogue.shared import Choice, cells, mean_of, tried
from topicloom.study.cells import Cell
from topicloom.study.results import Results
from topicloom.study.studies import Line, Panel, Published, Scale, Study

AS_BUILT = {"measurement": "backups", **SIZES}
AS_BUILT_PLAIN = {"measurement": "backups", **PLAIN}
STALE = {"measurement": "stale-weights"}


def _grid(scale: Scale, builder: str) -> list[Cell]:
    choice: Choice = (builder, {"coverage": 3})
    return [
        *cells("backups", [choice], [churn_workload(scale), plain_workload(scale)], scale.seed_range(10)),
        *cells("stale-weights", [choice], [churn_workload(scale)], scale.seed_range(10)[:3]),
    ]


def _panels(title: str) -> list[Panel]:
    return [
        Panel(
            f"{title}, {sizes}",
            "at",
            "topics that the node wants",
            "nodes",
            [Line("its backups", "backups", where), Line("its primaries", "primaries", where)],
        )
        for sizes, where in (("sizes 9 + x ~ x⁻²", AS_BUILT), ("sizes ~ s⁻²", AS_BUILT_PLAIN))
    ]


def _shares(value: float) -> list[Published]:
    """The published share of backups, and what else it may be a share of."""
    return [
        Published(
            "backups of a node, mean share of the nodes",
            value,
            mean_of("backup_share", **AS_BUILT),
            unit="%",
            why="backup-sets",
            shown_by=("of-1000", "of-1000-plain"),
        ),
        *(
            tried(
                f"the same backups as a share of 1,000 nodes, not 2,000{sizes}",
                value,
                lambda r, where=where: 2 * r.mean("backup_share", **where),  # type: ignore[misc]
                key=key,
                unit="%",
            )
            for key, sizes, where in (
                ("of-1000", "", AS_BUILT),
                ("of-1000-plain", "; sizes ~ s⁻²", AS_BUILT_PLAIN),
            )
        ),
        tried("the same share with sizes ~ s⁻²", value, mean_of("backup_share", **AS_BUILT_PLAIN), unit="%"),
        tried(
            "the same share with weights that do not count primaries gathered meanwhile",
            value,
            mean_of("backup_share", **STALE),
            unit="%",
        ),
    ]


def _by_size(results: Results, least: int, most: int) -> float:
    """Mean over sizes of a node's backups, with sizes ~ s⁻²."""
    return results.mean("backups", at=tuple(range(least, most + 1)), **AS_BUILT_PLAIN)


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
                mean_of("share_under_5_primaries", **AS_BUILT),
                unit="%",
                why="greedy-backups",
            ),
            tried(
                "the same with weights that do not count primaries gathered meanwhile",
                0.429,
                mean_of("share_under_5_primaries", **STALE),
                unit="%",
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
                mean_of("fewest_primaries", **AS_BUILT),
                why="primaries",
                shown_by=("backups-of-small",),
                instead_of="fewest-plain",
            ),
            Published(
                "most primaries of a node, mean over the seeds",
                59,
                mean_of("most_primaries", **AS_BUILT),
                why="primaries",
                shown_by=("backups-of-large",),
            ),
            tried(
                "fewest primaries with sizes ~ s⁻²",
                21,
                mean_of("fewest_primaries", **AS_BUILT_PLAIN),
                key="fewest-plain",
            ),
            tried("most primaries with sizes ~ s⁻²", 59, mean_of("most_primaries", **AS_BUILT_PLAIN)),
            tried(
                "backups (not primaries) of a node with 10 topics, sizes ~ s⁻²",
                21,
                lambda r: _by_size(r, 10, 10),
                key="backups-of-small",
            ),
            tried(
                "backups (not primaries) of a node with 80 to 90 topics, sizes ~ s⁻²",
                59,
                lambda r: _by_size(r, 80, 90),
                key="backups-of-large",
            ),
        ],
    ),
)
