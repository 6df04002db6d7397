"""star-merge-divide-and-conquer, Figures 8, 9 and 12."""

from typing import Any

from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.studies import AT_LEAST, AT_MOST, Line, Panel, Published, Scale, Study
from topicloom_papers.page.lookup import Results
from topicloom_papers.studies.dc import dc_trends
from topicloom_papers.studies.dc.dc_shared import DEGREE, candidates, phases, times
from topicloom_papers.studies.shared import (
    POPULARITIES,
    cells,
    difference,
    over_popularities,
    ratio,
    times_over_gm,
    workload,
)

PARTITIONED = "nodes (100 per partition)"
SETTING = (
    "1,000–8,000 nodes in random partitions of 100; 100 topics, exactly 20 per node (the reading of Table I that fits)."
)
RINGS = (("cycle-pt", ""), ("ring-pt", ", rings in the order of the node ids"))
OTHER = "each topic with probability 0.2"


def _cells(
    scale: Scale, others: list[tuple[str, dict[str, Any]]], popularities: tuple[str, ...], sizes: str | None
) -> list[Cell]:
    made: list[Cell] = []
    for n in scale.pick(quick=(200, 300), paper=(1000, 2000, 4000, 6000, 8000)):
        drawn = [workload(n, 100, 20, p, sizes=sizes) for p in popularities]
        made += cells("design", [("dc", {"partitions": n // 100}), *others], drawn, scale.seed_range(10))
    return made


def _by_popularity(scale: Scale) -> list[Cell]:
    return _cells(scale, [("gm", {})], tuple(POPULARITIES), None)


def _timed(scale: Scale) -> list[Cell]:
    made = [*_by_popularity(scale), *_cells(scale, [("gm", {})], ("uniform",), "mean")]
    for n in scale.pick(quick=(200,), paper=(1000, 2000, 4000, 8000)):
        made += cells("time-design", [("dc", {"partitions": n // 100})], [workload(n, 100, 20)], range(1))
    return made


def _phased(scale: Scale) -> list[Cell]:
    made = _by_popularity(scale)
    for n in scale.pick(quick=(200, 300), paper=(1000, 2000, 4000, 8000)):
        made += cells("time-phases", [("dc", {"partitions": n // 100})], [workload(n, 100, 20)], scale.seed_range(1))
    return made


def _with_rings(scale: Scale) -> list[Cell]:
    return _cells(scale, [("gm", {}), ("ring-pt", {}), ("cycle-pt", {})], ("uniform",), None)


def _where(method: str, sizes: str | None = None) -> dict[str, Any]:
    return {"method": method, "measurement": "design", "popularity": "uniform", "sizes": sizes}


def _degrees(popularity: str) -> list[Line]:
    return [Line(label, DEGREE, {**_where(m), "popularity": popularity}) for m, label in (("dc", "DC"), ("gm", "GM"))]


def _above(results: Results, sizes: str | None = None) -> float:
    return difference(results, "nodes", DEGREE, _where("dc", sizes), _where("gm", sizes))


STUDIES = (
    Study(
        name="dc-fig8",
        title="DC against GM by nodes",
        source="star-merge-divide-and-conquer, Figure 8",
        setting=SETTING,
        found="Under Unif DC takes 1.70 % of GM's time on average; its degree is around 6.97, less than 2.12 above "
        "GM's.",
        grid=_timed,
        panels=[
            *over_popularities("nodes", PARTITIONED, "average degree", "100 topics, 20 per node", _degrees),
            candidates("nodes", "nodes", sizes=None),
            times("nodes", "nodes"),
        ],
        published=[
            Published("DC's degree, mean, Unif", 6.97, lambda r: float(r.by("nodes", DEGREE, **_where("dc")).mean())),
            Published("DC's degree above GM's, mean, Unif", 2.12, _above, AT_MOST),
            Published(
                f"DC's degree, mean, Unif, {OTHER}",
                6.97,
                lambda r: float(r.by("nodes", DEGREE, **_where("dc", "mean")).mean()),
                experiment=True,
            ),
            Published(
                f"DC's degree above GM's, mean, Unif, {OTHER}",
                2.12,
                lambda r: _above(r, "mean"),
                AT_MOST,
                experiment=True,
            ),
            *times_over_gm("DC's time over {gm}'s, mean, Unif", 0.0170),
            *dc_trends.by_nodes(),
        ],
    ),
    Study(
        name="dc-fig9",
        title="inner and outer links by nodes",
        source="star-merge-divide-and-conquer, Figure 9",
        setting=SETTING,
        found="The figure shows the parts of inner and outer links; the text states no number.",
        grid=_phased,
        panels=phases("nodes", PARTITIONED, "100 topics, 20 per node"),
        published=[dc_trends.phases_by_nodes()],
    ),
    Study(
        name="dc-fig12",
        title="DC, GM and a ring per topic",
        source="star-merge-divide-and-conquer, Figure 12",
        setting=f"{SETTING} Unif. The text names no order for the rings of this paper's RingPT: each topic has its own "
        "here (our CyclePT), all have that of the node ids below (our RingPT).",
        found="DC is 2.12 above GM on average; RingPT has about twice the topics per node, much more than 5 times DC's "
        "degree.",
        grid=_with_rings,
        panels=[
            Panel(
                "Unif: 100 topics, 20 per node",
                "nodes",
                "nodes",
                "average degree",
                [
                    Line(name, DEGREE, {"method": m})
                    for m, name in (
                        ("cycle-pt", "rings, each in an order of its own"),
                        ("ring-pt", "rings in one order"),
                        ("dc", "DC"),
                        ("gm", "GM"),
                    )
                ],
            )
        ],
        published=[
            Published("DC's degree above GM's, mean", 2.12, _above),
            *(
                Published(
                    f"RingPT's degree over DC's, mean{order}",
                    5,
                    lambda r, m=m: ratio(r, "nodes", DEGREE, _where(m), _where("dc")),  # type: ignore[misc]
                    AT_LEAST,
                    experiment=bool(order),
                    key="one-order" if order else "",
                    instead_of="" if order else "one-order",
                )
                for m, order in RINGS
            ),
            *(
                Published(
                    f"RingPT's degree, mean (twice the topics per node){order}",
                    40,
                    lambda r, m=m: float(r.by("nodes", DEGREE, **_where(m)).mean()),  # type: ignore[misc]
                    experiment=bool(order),
                    key="one-order-degree" if order else "",
                    instead_of="" if order else "one-order-degree",
                )
                for m, order in RINGS
            ),
        ],
    ),
)
