"""low-oda-2d-oda, Figures 8 to 10 and Table 2."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.studies import AT_LEAST, AT_MOST, Line, Panel, Published, Scale, Study
from topicloom_papers.page.lookup import Results
from topicloom_papers.studies.shared import cells, growth, ratio, trend, tried, workload

NAMES = {"cd-oda": "CD-ODA", "cd-oda-1": "CD-ODA-I", "cd-oda-2": "CD-ODA-II", "2d-oda": "2D-ODA"}
BOUND = "star-bound"
WHY = "two-diameter"
TEN = workload(100, 100, 10)
EACH_TOPIC = "each topic is wanted with the same probability"


# The sizes: all equal, or each topic wanted with the same probability. The paper says "uniformly at random".
FIXED, DRAWN = None, "mean"


def _grid(
    drawn: Sequence[dict[str, Any]], quick: Sequence[dict[str, Any]], bounded: Sequence[dict[str, Any]]
) -> Callable[[Scale], list[Cell]]:
    """Cells of all four and GM, and of the lower bound for some workloads: its linear program grows fast."""

    def grid(scale: Scale) -> list[Cell]:
        fixed, seeds = scale.pick(quick=quick, paper=drawn), scale.seed_range(10)
        chosen = [*fixed, *({**one, "sizes": DRAWN} for one in fixed)]
        return [
            *cells("diameters", [(method, {}) for method in NAMES], chosen, seeds),
            *cells("design", [("gm", {})], chosen, seeds),
            *cells("star-bound", [(BOUND, {})], scale.pick(quick=quick[-1:], paper=bounded), seeds[:3]),
        ]

    return grid


def _against(results: Results, x: str, method: str, other: str, sizes: str | None = FIXED) -> float:
    return ratio(results, x, "links", {"method": method, "sizes": sizes}, {"method": other, "sizes": sizes})


def _most_of_gm(
    results: Results, x: str, share: float = 1.0, method: str = "2d-oda", sizes: str | None = FIXED
) -> float:
    of_gm = results.by(x, "links", method=method, sizes=sizes) / results.by(x, "links", method="gm", sizes=sizes)
    return share * float(of_gm.max())


def _most_of_bound(results: Results, x: str, method: str) -> float:
    """Links of a method over the fewest that a star per topic can have, largest of the points that are bounded."""
    return float((results.by(x, "links", method=method, sizes=FIXED) / results.by(x, "links", method=BOUND)).max())


def _impossible(x: str, where: str, gm: float, stated: Mapping[str, float]) -> list[Published]:
    """What no overlay with a star for every topic can reach: here “holds” says that the published number is none."""
    return [
        tried(
            f"fewest links of *any* overlay with a star per topic over GM's, {where}: no lower number is possible",
            gm,
            lambda r: _most_of_gm(r, x, method=BOUND),
            AT_LEAST,
            key="bound",
        ),
        *(
            tried(
                f"{NAMES[m]}'s links over those fewest, {where}: no higher number is possible",
                value,
                lambda r, m=m: _most_of_bound(r, x, m),  # type: ignore[misc]
                AT_MOST,
                key=f"bound-{m}",
            )
            for m, value in stated.items()
        ),
    ]


def _halved(x: str, gm: float, stated: Mapping[str, float]) -> list[Published]:
    """The numbers if 2D-ODA's degree were links / nodes, the others' 2 · links / nodes."""
    halved = "if 2D-ODA's degree is links / nodes"
    return [
        row
        for key, how, sizes in (("halved", halved, FIXED), ("halved-drawn", f"{halved} and {EACH_TOPIC}", DRAWN))
        for row in (
            tried(
                f"2D-ODA's links over GM's, largest, {how}",
                gm,
                lambda r, sizes=sizes: _most_of_gm(r, x, 0.5, sizes=sizes),  # type: ignore[misc]
                AT_MOST,
                key=key,
            ),
            *(
                tried(
                    f"{NAMES[m]}'s links over 2D-ODA's, mean, {how}",
                    value,
                    lambda r, m=m, sizes=sizes: 2 * _against(r, x, m, "2d-oda", sizes),  # type: ignore[misc]
                    key=f"{key}-{m}",
                )
                for m, value in stated.items()
            ),
        )
    ]


def _trends(x: str, x_label: str) -> list[Published]:
    """§6.5: degrees rise with the topics, and fall with nodes and with topics per node."""
    relation, paper = (AT_LEAST, "rises") if x == "topics" else (AT_MOST, "falls")

    def grows(method: str, sizes: str | None) -> Callable[[Results], float]:
        return lambda results: growth(results, x, "average_degree", method=method, sizes=sizes)

    says = f"{{}}'s degree at the last point over that at the first (§6.5: {paper} with {x_label})"
    return [
        *(
            trend(
                says.format(name),
                1,
                grows(m, FIXED),
                relation,
                why="two-diameter-curves" if m in NAMES else None,
                shown_by=(f"drawn-{m}",) if m in NAMES else (),
            )
            for m, name in {**NAMES, "gm": "GM"}.items()
        ),
        *(
            tried(f"{says.format(name)}, {EACH_TOPIC}", 1, grows(m, DRAWN), relation, key=f"drawn-{m}")
            for m, name in NAMES.items()
        ),
    ]


def _study(
    figure: int,
    x: str,
    x_label: str,
    setting: str,
    grid: Callable[[Scale], list[Cell]],
    gm: float,
    two: float,
    one: float,
    bounded: str,
) -> Study:
    stated = {"cd-oda-2": two, "cd-oda": one, "cd-oda-1": one}
    return Study(
        name=f"low-oda-fig{figure}",
        title=f"overlays of diameter 2 by {x_label}",
        source=f"low-oda-2d-oda, Figure {figure}",
        setting=f"{setting}; uniform, sizes all equal (“the number of subscriptions is fixed”). “Each node is "
        "interested in each topic uniformly at random” can be read as each topic with the same probability, too: that "
        "stands under other readings. Every overlay is checked to have topic diameter ≤ 2.",
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
                    *(Line(name, "average_degree", {"method": m, "sizes": FIXED}) for m, name in NAMES.items()),
                    Line("GM", "average_degree", {"method": "gm", "sizes": FIXED}),
                ],
            )
        ],
        published=[
            Published(
                "2D-ODA's links over GM's, largest",
                gm,
                lambda r: _most_of_gm(r, x),
                AT_MOST,
                why=WHY,
                shown_by=("bound", "halved"),
            ),
            *(
                Published(
                    f"{NAMES[m]}'s links over 2D-ODA's, mean",
                    value,
                    lambda r, m=m: _against(r, x, m, "2d-oda"),  # type: ignore[misc]
                    why=WHY,
                    shown_by=(f"bound-{m}", f"halved-{m}"),
                )
                for m, value in stated.items()
            ),
            *_trends(x, x_label),
            *_impossible(x, bounded, gm, stated),
            *_halved(x, gm, stated),
        ],
    )


def grid_of_case_vii(scale: Scale) -> list[Cell]:
    """All four on Case VII."""
    sizes = scale.pick(quick=(6, 20), paper=(6, 8, 10, 15, 20, 30, 40, 60))
    return cells("diameters", [(m, {}) for m in NAMES], [{"case": "VII", "nodes": n} for n in sizes], range(1))


def _gain_over_cd_oda(results: Results, method: str, sizes: str | None = FIXED, **where: Any) -> float:
    where["sizes"] = sizes
    return 1 - ratio(results, "subscriptions", "links", {"method": method, **where}, {"method": "cd-oda", **where})


_BY_SIZE = _study(
    10,
    "subscriptions",
    "topics per node",
    "100 nodes, 100 topics",
    _grid([workload(100, 100, s) for s in (10, 20, 30, 40, 50)], [workload(100, 100, s) for s in (20, 10)], [TEN]),
    1.1,
    1.94,
    2.23,
    "10 per node",
)
STUDIES = (
    _study(
        8,
        "nodes",
        "nodes",
        "100 topics, 10 per node",
        _grid([workload(n, 100, 10) for n in range(100, 1001, 100)], [workload(n, 100, 10) for n in (200, 100)], [TEN]),
        1.09,
        2.04,
        2.06,
        "100 nodes",
    ),
    _study(
        9,
        "topics",
        "topics",
        "100 nodes, 20 per node",
        _grid(
            [workload(100, t, 20) for t in range(100, 501, 100)],
            [workload(100, t, 20) for t in (100, 500)],
            [workload(100, t, 20) for t in (300, 400, 500)],
        ),
        1.07,
        1.96,
        2.0,
        "300–500 topics",
    ),
    replace(
        _BY_SIZE,
        published=[
            *_BY_SIZE.published,
            *(
                Published(
                    f"share of CD-ODA's links that {NAMES[m]} saves (§6.2)",
                    0.20,
                    lambda r, m=m: _gain_over_cd_oda(r, m),  # type: ignore[misc]
                    why="cd-oda-gain",
                    unit="%",
                    shown_by=(f"gain-{m}",),
                )
                for m in ("cd-oda-1", "cd-oda-2")
            ),
            *(
                tried(
                    f"share of CD-ODA's links that {NAMES[m]} saves at 50 per node",
                    0.20,
                    lambda r, m=m: _gain_over_cd_oda(r, m, subscriptions=50),  # type: ignore[misc]
                    key=f"gain-{m}",
                    unit="%",
                )
                for m in ("cd-oda-1", "cd-oda-2")
            ),
            *(
                tried(
                    f"share of CD-ODA's links that {NAMES[m]} saves, {EACH_TOPIC}",
                    0.20,
                    lambda r, m=m: _gain_over_cd_oda(r, m, DRAWN),  # type: ignore[misc]
                    key=f"gain-drawn-{m}",
                    unit="%",
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
