"""low-oda-2d-oda, Figures 8 to 10 and Table 2."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from topicloom.study.catalogue.shared import cells, ratio, workload
from topicloom.study.cells import Cell
from topicloom.study.results import Results
from topicloom.study.studies import AT_MOST, Line, Panel, Published, Scale, Study

NAMES = {"cd-oda": "CD-ODA", "cd-oda-1": "CD-ODA-I", "cd-oda-2": "CD-ODA-II", "2d-oda": "2D-ODA"}
TWO_D = {"method": "2d-oda"}
WHY = "two-diameter"


def _grid(drawn: Sequence[dict[str, Any]], quick: Sequence[dict[str, Any]]) -> Callable[[Scale], list[Cell]]:
    def grid(scale: Scale) -> list[Cell]:
        chosen, seeds = scale.pick(quick=quick, paper=drawn), scale.seed_range(10)
        return [
            *cells("diameters", [(method, {}) for method in NAMES], chosen, seeds),
            *cells("design", [("gm", {})], chosen, seeds),
        ]

    return grid


def _against(results: Results, x: str, method: str, other: str) -> float:
    return ratio(results, x, "links", {"method": method}, {"method": other})


def _most_of_gm(results: Results, x: str, share: float = 1.0) -> float:
    return share * float((results.by(x, "links", **TWO_D) / results.by(x, "links", method="gm")).max())


def _study(
    figure: int,
    x: str,
    x_label: str,
    setting: str,
    grid: Callable[[Scale], list[Cell]],
    gm: float,
    two: float,
    one: float,
) -> Study:
    return Study(
        name=f"low-oda-fig{figure}",
        title=f"overlays of diameter 2 by {x_label}",
        source=f"low-oda-2d-oda, Figure {figure}",
        setting=f"{setting}; uniform, exactly so many per node. Every overlay is checked to have topic diameter ≤ 2.",
        found=f"2D-ODA needs at most {gm} times GM's links; CD-ODA-II needs {two} times, CD-ODA and CD-ODA-I {one} "
        "times 2D-ODA's on average.",
        grid=grid,
        panels=[
            Panel(
                setting,
                x,
                x_label,
                "average degree",
                [
                    *(Line(name, "average_degree", {"method": m}) for m, name in NAMES.items()),
                    Line("GM", "average_degree", {"method": "gm"}),
                ],
            )
        ],
        published=[
            Published("2D-ODA's links over GM's, largest", gm, lambda r: _most_of_gm(r, x), AT_MOST, why=WHY),
            Published(
                "CD-ODA-II's links over 2D-ODA's, mean", two, lambda r: _against(r, x, "cd-oda-2", "2d-oda"), why=WHY
            ),
            Published("CD-ODA's links over 2D-ODA's, mean", one, lambda r: _against(r, x, "cd-oda", "2d-oda"), why=WHY),
            Published(
                "CD-ODA-I's links over 2D-ODA's, mean", one, lambda r: _against(r, x, "cd-oda-1", "2d-oda"), why=WHY
            ),
            Published(
                "2D-ODA's links over GM's, largest, if 2D-ODA's degree is links / nodes",
                gm,
                lambda r: _most_of_gm(r, x, 0.5),
                AT_MOST,
                experiment=True,
            ),
            Published(
                "CD-ODA-II's links over 2D-ODA's, mean, if 2D-ODA's degree is links / nodes",
                two,
                lambda r: 2 * _against(r, x, "cd-oda-2", "2d-oda"),
                experiment=True,
            ),
            Published(
                "CD-ODA's links over 2D-ODA's, mean, if 2D-ODA's degree is links / nodes",
                one,
                lambda r: 2 * _against(r, x, "cd-oda", "2d-oda"),
                experiment=True,
            ),
        ],
    )


def grid_of_case_vii(scale: Scale) -> list[Cell]:
    """All four on Case VII."""
    sizes = scale.pick(quick=(6, 20), paper=(6, 8, 10, 15, 20, 30, 40, 60))
    return cells("diameters", [(m, {}) for m in NAMES], [{"case": "VII", "nodes": n} for n in sizes], range(1))


def _gain_over_cd_oda(results: Results, method: str, **where: int) -> float:
    return 1 - ratio(results, "subscriptions", "links", {"method": method, **where}, {"method": "cd-oda", **where})


_BY_SIZE = _study(
    10,
    "subscriptions",
    "topics per node",
    "100 nodes, 100 topics",
    _grid([workload(100, 100, s) for s in (10, 20, 30, 40, 50)], [workload(100, 100, s) for s in (10, 20)]),
    1.1,
    1.94,
    2.23,
)
STUDIES = (
    _study(
        8,
        "nodes",
        "nodes",
        "100 topics, 10 per node",
        _grid([workload(n, 100, 10) for n in range(100, 1001, 100)], [workload(n, 100, 10) for n in (100, 200)]),
        1.09,
        2.04,
        2.06,
    ),
    _study(
        9,
        "topics",
        "topics",
        "100 nodes, 20 per node",
        _grid([workload(100, t, 20) for t in range(100, 501, 100)], [workload(100, t, 20) for t in (100, 200)]),
        1.07,
        1.96,
        2.0,
    ),
    replace(
        _BY_SIZE,
        published=[
            *_BY_SIZE.published,
            Published(
                "share of CD-ODA's links that CD-ODA-I saves (§6.2)",
                0.20,
                lambda r: _gain_over_cd_oda(r, "cd-oda-1"),
                why="cd-oda-gain",
                unit="%",
            ),
            Published(
                "share of CD-ODA's links that CD-ODA-II saves (§6.2)",
                0.20,
                lambda r: _gain_over_cd_oda(r, "cd-oda-2"),
                why="cd-oda-gain",
                unit="%",
            ),
            *(
                Published(
                    f"share of CD-ODA's links that {NAMES[m]} saves at 50 per node",
                    0.20,
                    lambda r, m=m: _gain_over_cd_oda(r, m, subscriptions=50),  # type: ignore[misc]
                    unit="%",
                    experiment=True,
                )
                for m in ("cd-oda-1", "cd-oda-2")
            ),
        ],
    ),
    Study(
        name="low-oda-table2",
        title="links in Case VII",
        source="low-oda-2d-oda, Table 2",
        setting="Case VII of §6.4 with n nodes; the table is in terms of n, the rows below are for n = 20.",
        found="2D-ODA gives n links, the optimum; the three others give 2n − 5.",
        grid=grid_of_case_vii,
        panels=[
            Panel(
                "Case VII", "nodes", "nodes", "links", [Line(name, "links", {"method": m}) for m, name in NAMES.items()]
            )
        ],
        published=[
            *(
                Published(f"links of {name}, n = 20", 35, lambda r, m=m: r.mean("links", method=m, nodes=20))  # type: ignore[misc]
                for m, name in NAMES.items()
                if m != "2d-oda"
            ),
            Published("links of 2D-ODA, n = 20", 20, lambda r: r.mean("links", method="2d-oda", nodes=20)),
        ],
    ),
)
