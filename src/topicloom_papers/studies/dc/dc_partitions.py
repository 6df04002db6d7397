"""star-merge-divide-and-conquer, Figures 6 and 7."""

from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.studies import AT_LEAST, AT_MOST, Panel, Published, Scale, Study
from topicloom_papers.page.lookup import NotMeasuredError, Results
from topicloom_papers.studies.dc import dc_trends
from topicloom_papers.studies.dc.dc_shared import DEGREE, candidates, phases, times
from topicloom_papers.studies.shared import (
    POPULARITIES,
    by_popularity,
    cells,
    workload,
)

PARTITIONS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200, 250, 300, 400, 500, 600, 700, 800, 900, 1000)
TIMED = (1, 2, 5, 10, 15, 20, 30, 50, 100, 200, 500, 1000)
PHASED = (2, 5, 10, 20, 50, 100)
SETTING = "1,000 nodes, 200 topics, exactly 20 per node (the reading of Table I that fits)."


def _grid(scale: Scale) -> list[Cell]:
    nodes = scale.pick(quick=200, paper=1000)
    counts = scale.pick(quick=(1, 5, 20, 200), paper=PARTITIONS)
    drawn = [workload(nodes, 200, 20, p) for p in POPULARITIES]
    choices = [("gm", {}), *(("dc", {"partitions": count}) for count in counts)]
    return cells("design", choices, drawn, scale.seed_range(10))


def _timed(scale: Scale) -> list[Cell]:
    drawn = [workload(scale.pick(quick=200, paper=1000), 200, 20)]
    choices = [("dc", {"partitions": count}) for count in scale.pick(quick=(5,), paper=TIMED)]
    return [*_grid(scale), *cells("time-design", choices, drawn, scale.seed_range(1))]


def _phased(scale: Scale) -> list[Cell]:
    drawn = [workload(scale.pick(quick=200, paper=1000), 200, 20)]
    choices = [("dc", {"partitions": count}) for count in scale.pick(quick=(5, 20), paper=PHASED)]
    return [*_grid(scale), *cells("time-phases", choices, drawn, scale.seed_range(1))]


def _excess(results: Results, popularity: str = "uniform") -> "dict[int, float]":
    gm = results.mean(DEGREE, method="gm", measurement="design", popularity=popularity)
    degrees = results.by("partitions", DEGREE, method="dc", measurement="design", popularity=popularity)
    return {int(count): float(degree - gm) for count, degree in degrees.items()}  # type: ignore[call-overload]


def _excess_at_ten(results: Results) -> float:
    excess = _excess(results)
    if 10 not in excess:
        raise NotMeasuredError("nothing with 10 partitions")
    return excess[10]


def _fastest(results: Results) -> int:
    return int(results.lowest_at("partitions", "seconds", measurement="time-design"))


def _inner_share(results: Results) -> float:
    """Share of inner links at the number of partitions with the least pn-ratio, Unif."""
    where = {"method": "dc", "measurement": "design", "popularity": "uniform"}
    best = results.lowest_at("partitions", "pn_ratio", **where)
    inner, outer = (results.mean(metric, partitions=best, **where) for metric in ("inner_links", "outer_links"))
    return inner / (inner + outer)


STUDIES = (
    Study(
        name="dc-fig6",
        title="DC for all numbers of partitions",
        source="star-merge-divide-and-conquer, Figure 6",
        setting=SETTING,
        found="With more partitions the degree first rises above GM's and comes back to it at |V| partitions. Under "
        "Unif it is less than 6 above at its peak and less than 3.5 where the time is least, near 10 partitions.",
        remark="Our own GM takes some 20 ms at 1,000 nodes: dividing them saves nothing, and the least time is that of "
        "one partition, or of as many as nodes. In between, DC up to 100 partitions stays below the time of the "
        "literal GM.",
        grid=_timed,
        panels=[
            Panel(
                "1,000 nodes, 200 topics, 20 per node",
                "partitions",
                "partitions",
                "average degree of DC",
                by_popularity(DEGREE, method="dc", measurement="design"),
                log_x=True,
            ),
            candidates("partitions", "partitions", log_x=True),
            times("partitions", "partitions", log_x=True),
        ],
        published=[
            Published("DC's degree above GM's at its peak, Unif", 6, lambda r: max(_excess(r).values()), AT_MOST),
            Published(
                "DC's degree above GM's at 10 partitions, near the least time, Unif", 3.5, _excess_at_ten, AT_MOST
            ),
            Published("partitions at the least time, Unif", 10, lambda r: float(_fastest(r)), time=True),
            *dc_trends.by_partitions(),
        ],
    ),
    Study(
        name="dc-fig7",
        title="inner and outer links for all numbers of partitions",
        source="star-merge-divide-and-conquer, Figure 7",
        setting=SETTING,
        found="Outer links grow with the partitions; where the pn-ratio is below 20 %, inner links dominate.",
        remark="The pn-ratio is above 20 % at every number of partitions here; [dc-fig9](#dc-fig9) has lower ones.",
        grid=_phased,
        panels=phases("partitions", "partitions", "1,000 nodes, 200 topics, 20 per node", log_x=True),
        published=[
            *dc_trends.phases_by_partitions(PARTITIONS[1:], PHASED),
            Published(
                "share of inner links where the pn-ratio is least, Unif",
                0.5,
                _inner_share,
                AT_LEAST,
                unit="%",
            ),
        ],
    ),
)
