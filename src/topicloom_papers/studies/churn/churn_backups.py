"""shadows-churn, Figures 2 and 3."""

from collections.abc import Sequence
from typing import Any

from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.studies import Line, Panel, Published, Scale, Study
from topicloom_papers.studies.churn.churn_shared import (
    HALF,
    HALF_SETTING,
    ONE_RUN,
    PLAIN,
    SETTING,
    SIZES,
    churn_workload,
    plain_workload,
)
from topicloom_papers.studies.shared import Choice, cells, linearity, mean_of, trend, tried

# Other readings of which the numbers are shown: key, what a row says, conditions.
Reading = tuple[str, str, dict[str, Any]]


def _of(builder: str, **where: Any) -> dict[str, Any]:
    return {"measurement": "backups", "method": builder, **where}


def _printed(builder: str, **where: Any) -> dict[str, Any]:
    return {"measurement": "printed-backups", "method": builder, **where}


def _grid(scale: Scale, builder: str, *others: str) -> list[Cell]:
    """Our backups, those of the printed algorithm, and those with other weights."""
    half, full = churn_workload(scale, half=True), churn_workload(scale)
    seeds, choice = scale.seed_range(10), {"coverage": 3}
    printed: list[Choice] = [(name, choice) for name in (builder, *others)]
    return [
        *cells("backups", [(builder, choice)], [half, full, plain_workload(scale)], seeds),
        *cells("printed-backups", printed, [half], seeds),
        *cells("printed-backups", printed, [full], seeds[:3]),
    ]


def _panels(curves: Sequence[tuple[str, dict[str, Any]]]) -> list[Panel]:
    return [
        Panel(
            title,
            "at",
            "topics that the node wants",
            "nodes",
            [Line("its backups", "backups", where), Line("its primaries", "primaries", where)],
        )
        for title, where in curves
    ]


def _rows(
    says: str,
    metric: str,
    value: float,
    builder: str,
    readings: Sequence[Reading],
    *,
    nodes: dict[str, Any],
    why: str,
    shown_by: str,
    instead_of: str = "",
    unit: str = "",
) -> list[Published]:
    """A published number beside ours, and what other readings give."""
    return [
        Published(
            says,
            value,
            mean_of(metric, **_of(builder, **nodes)),
            unit=unit,
            runs=ONE_RUN,
            why=why,
            shown_by=(f"{metric}-{shown_by}",),
            instead_of=f"{metric}-{instead_of}" if instead_of else "",
        ),
        *(
            tried(f"{says}: {reading}", value, mean_of(metric, **where), key=f"{metric}-{key}", unit=unit, runs=ONE_RUN)
            for key, reading, where in readings
        ),
    ]


def _straight(
    builder: str, nodes: dict[str, Any], metric: str = "backups", paper: str = "linearly proportional"
) -> Published:
    """How straight a line over the topics of a node is, as a correlation."""
    return trend(
        f"correlation of a node's {metric} with its topics ({paper})",
        1,
        lambda results: linearity(results, "at", metric, **_of(builder, **nodes)),
    )


def _sizes(builder: str) -> list[Reading]:
    return [
        ("plain", "2,000 nodes, sizes ~ s⁻²", _of(builder, **PLAIN)),
        ("printed", "1,000 nodes, the algorithm as it is printed, equals by number", _printed(builder, **HALF)),
        ("printed-full", "2,000 nodes, the algorithm as it is printed", _printed(builder, **SIZES)),
    ]


_GREEDY_READINGS: list[Reading] = [
    ("half", "1,000 nodes", _of("greedy", **HALF)),
    *_sizes("greedy"),
    ("links", "1,000 nodes, weights that count links, not primaries", _printed("greedy, links alone", **HALF)),
    ("links-full", "2,000 nodes, weights that count links, not primaries", _printed("greedy, links alone", **SIZES)),
    ("alike", "1,000 nodes, no weights: every node alike, equals drawn", _printed("greedy, all alike", **HALF)),
    ("alike-full", "2,000 nodes, no weights", _printed("greedy, all alike", **SIZES)),
]

STUDIES = (
    Study(
        name="churn-fig2",
        title="backups built greedily",
        source="shadows-churn, Figure 2",
        setting=SETTING,
        found="Backup sets are 1.1 % of the nodes on average; primaries are skewed: 42.9 % of the nodes have fewer "
        "than 5.",
        grid=lambda scale: _grid(scale, "greedy", "greedy, links alone", "greedy, all alike"),
        panels=_panels(
            [
                ("greedy backups, 2,000 nodes", _of("greedy", **SIZES)),
                ("greedy backups without weights, 1,000 nodes", _printed("greedy, all alike", **HALF)),
            ]
        ),
        published=[
            *_rows(
                "backups of a node, mean share of the nodes",
                "backup_share",
                0.011,
                "greedy",
                _GREEDY_READINGS,
                nodes=SIZES,
                why="greedy-backups",
                shown_by="alike",
                unit="%",
            ),
            *_rows(
                "share of nodes with fewer than 5 primaries",
                "share_under_5_primaries",
                0.429,
                "greedy",
                _GREEDY_READINGS,
                nodes=SIZES,
                why="greedy-backups",
                shown_by="alike",
                unit="%",
            ),
            _straight("greedy", SIZES),
        ],
    ),
    Study(
        name="churn-fig3",
        title="backups built by primal-dual",
        source="shadows-churn, Figure 3",
        setting=HALF_SETTING,
        found="Backup sets are 2.8 % of the nodes on average; primaries are balanced, from 21 to 59.",
        grid=lambda scale: _grid(scale, "primal-dual"),
        panels=_panels(
            [
                ("primal-dual backups, 1,000 nodes", _of("primal-dual", **HALF)),
                ("primal-dual backups, 2,000 nodes", _of("primal-dual", **SIZES)),
            ]
        ),
        published=[
            _straight("primal-dual", HALF),
            _straight("primal-dual", HALF, "primaries", "the shape of the dependency is linear"),
            *(
                row
                for says, metric, value, unit, instead_of in (
                    ("backups of a node, mean share of the nodes", "backup_share", 0.028, "%", "full"),
                    ("fewest primaries of a node, mean over the seeds", "fewest_primaries", 21, "", "plain"),
                    ("most primaries of a node, mean over the seeds", "most_primaries", 59, "", "full"),
                )
                for row in _rows(
                    says,
                    metric,
                    value,
                    "primal-dual",
                    [("full", "2,000 nodes", _of("primal-dual", **SIZES)), *_sizes("primal-dual")],
                    nodes=HALF,
                    why="half-the-nodes",
                    shown_by="printed",
                    instead_of=instead_of,
                    unit=unit,
                )
            ),
        ],
    ),
)
