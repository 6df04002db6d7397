"""star-merge-divide-and-conquer, Figures 4 and 5."""

from typing import Any

from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.studies import ABOUT, AT_MOST, Line, Panel, Published, Scale, Study
from topicloom_papers.page.lookup import Results
from topicloom_papers.studies.dc import dc_trends
from topicloom_papers.studies.dc.dc_shared import DEGREE
from topicloom_papers.studies.shared import (
    POPULARITIES,
    cells,
    lines_over_gm,
    over_popularities,
    times_over_gm,
    workload,
)

JOINS = {"star-merge": "Star Merge", "naive-merge": "Naive Merge"}
SETTING = (
    "Sub-overlays of 100 nodes by GM are joined, 1,000–8,000 nodes in all; 100 topics, exactly 20 per node (the "
    "reading of Table I that fits)."
)


def _grid(scale: Scale) -> list[Cell]:
    nodes = scale.pick(quick=(300,), paper=(1000, 2000, 4000, 6000, 8000))
    drawn = [workload(n, 100, 20, p) for n in nodes for p in POPULARITIES]
    seeds = scale.seed_range(10)
    return [*cells("join", [(m, {}) for m in JOINS], drawn, seeds), *cells("design", [("gm", {})], drawn, seeds)]


def _timed(scale: Scale) -> list[Cell]:
    nodes = scale.pick(quick=(300,), paper=(1000, 2000, 4000, 8000))
    drawn = [workload(n, 100, 20) for n in nodes]
    uniform = [cell for cell in _grid(scale) if cell.workload["popularity"] == "uniform"]
    return [*uniform, *cells("time-join", [(m, {}) for m in JOINS], drawn, scale.seed_range(1))]


def _degrees(popularity: str) -> list[Line]:
    labels = {**JOINS, "gm": "GM from scratch"}
    return [Line(label, DEGREE, {"method": method, "popularity": popularity}) for method, label in labels.items()]


def _largest(results: Results, one: str, other: str) -> float:
    """Largest difference of mean degrees over nodes and popularities."""
    degrees = [
        results.select(DEGREE, method=method).groupby(["nodes", "popularity"])["value"].mean()
        for method in (one, other)
    ]
    return float((degrees[0] - degrees[1]).abs().max())


def _times(method: str, says: str, value: float, **where: Any) -> list[Published]:
    """A published share of GM's time."""
    relation = AT_MOST if value < 0.5 else ABOUT
    return times_over_gm(f"{says} of {{gm}}'s time", value, relation, measurement="time-join", method=method, **where)


STUDIES = (
    Study(
        name="dc-fig4",
        title="degrees of joined overlays",
        source="star-merge-divide-and-conquer, Figure 4",
        setting=f"{SETTING} Unif, Zipf 2.0, Expo.",
        found="Star Merge and Naive Merge are within 0.15 of each other and within 2.5 of GM from scratch.",
        grid=_grid,
        panels=over_popularities(
            "nodes", "nodes (100 per overlay joined)", "average degree", "100 topics, 20 per node", _degrees
        ),
        published=[
            Published(
                "Star Merge's degree against Naive Merge's, largest difference",
                0.15,
                lambda r: _largest(r, "star-merge", "naive-merge"),
                AT_MOST,
            ),
            Published(
                "Star Merge's degree above GM's, largest", 2.5, lambda r: _largest(r, "star-merge", "gm"), AT_MOST
            ),
            Published(
                "Naive Merge's degree above GM's, largest", 2.5, lambda r: _largest(r, "naive-merge", "gm"), AT_MOST
            ),
            dc_trends.joined_degrees(),
        ],
    ),
    Study(
        name="dc-fig5",
        title="time and candidates of joining",
        source="star-merge-divide-and-conquer, Figure 5",
        setting=f"{SETTING} Unif. The check that the overlays given are topic-connected is not counted.",
        found="Star Merge takes less than 1 % of GM's time on average and 0.28 % at 8,000 nodes, Naive Merge about 75 "
        "%; a node has to consider at most 18.6 % of the others with Star Merge, all with Naive Merge.",
        grid=_timed,
        panels=[
            Panel(
                "time, over GM's from scratch",
                "nodes",
                "nodes",
                "ratio of CPU times",
                [
                    line
                    for method, label in JOINS.items()
                    for line in lines_over_gm(label, method=method, measurement="time-join")
                ],
                log_y=True,
            ),
            Panel(
                "candidate neighbours",
                "nodes",
                "nodes",
                "pn-ratio",
                [Line(label, "pn_ratio", {"method": method}) for method, label in JOINS.items()],
            ),
        ],
        published=[
            Published(
                "Star Merge's pn-ratio, largest mean",
                0.186,
                lambda r: float(r.by("nodes", "pn_ratio", method="star-merge").max()),
                AT_MOST,
                unit="%",
            ),
            Published("Naive Merge's pn-ratio", 1, lambda r: r.least("pn_ratio", method="naive-merge"), unit="%"),
            *_times("star-merge", "Star Merge's time, mean,", 0.01),
            *_times("star-merge", "Star Merge's time at 8,000 nodes,", 0.0028, nodes=8000),
            *_times("naive-merge", "Naive Merge's time, mean,", 0.75),
            *dc_trends.joining(),
        ],
    ),
)
