"""star-merge-divide-and-conquer, Figures 10 and 11."""

from typing import Any

from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.studies import AT_MOST, Line, Panel, Published, Scale, Study
from topicloom_papers.page.lookup import NotMeasuredError, Results
from topicloom_papers.studies.dc import dc_trends
from topicloom_papers.studies.dc.dc_shared import DEGREE, candidates, times
from topicloom_papers.studies.shared import (
    POPULARITIES,
    STEEPER,
    cells,
    difference,
    over_popularities,
    steeper,
    times_over_gm,
    trend,
    tried,
    workload,
)

UNNAMED = "this figure's text names no number"


def _choices() -> list[tuple[str, dict[str, Any]]]:
    return [("gm", {}), ("dc", {"partitions": 10}), ("dc", {"partitions": 8})]


def _by_topics(scale: Scale) -> list[Cell]:
    nodes, topics = scale.pick(quick=(300, (100, 200)), paper=(4000, (100, 200, 400, 700, 1000)))
    drawn = [workload(nodes, t, 20, p) for t in topics for p in POPULARITIES]
    timed = [workload(nodes, t, 20) for t in (topics[0], topics[-1])]
    other = [steeper(nodes, t, 20) for t in topics]
    few = scale.seed_range(10)[:2]
    return [
        *cells("design", _choices(), drawn, scale.seed_range(10)),
        *cells("design", _choices(), other, few),
        *cells("design", [("dc", {"partitions": nodes // 100})], drawn, few),
        *cells("time-design", _choices()[2:], timed, scale.seed_range(1)),
    ]


def _by_sizes(scale: Scale) -> list[Cell]:
    nodes, topics, sizes = scale.pick(quick=(300, 200, (10, 20)), paper=(4000, 400, (10, 20, 50, 100)))
    drawn = [workload(nodes, topics, s, p) for s in sizes for p in POPULARITIES]
    timed = [workload(nodes, topics, s) for s in sorted({sizes[0], sizes[1], sizes[-1]})]
    return [
        *cells("design", _choices()[:2], drawn, scale.seed_range(10)),
        *cells("time-design", _choices()[1:2], timed, scale.seed_range(1)),
    ]


def _where(method: str, popularity: str, partitions: int | None) -> dict[str, Any]:
    return {"method": method, "measurement": "design", "popularity": popularity, "partitions": partitions}


def _above(results: Results, popularity: str, partitions: int = 8) -> float:
    return difference(results, "topics", DEGREE, _where("dc", popularity, partitions), _where("gm", popularity, None))


def _panels(x: str, x_label: str, setting: str, partitions: int) -> list[Panel]:
    def degrees(popularity: str) -> list[Line]:
        dc, gm = _where("dc", popularity, partitions), _where("gm", popularity, None)
        return [Line("DC", DEGREE, dc), Line("GM", DEGREE, gm)]

    return [
        *over_popularities(x, x_label, "average degree", setting, degrees),
        candidates(x, x_label, f": {setting}", partitions=partitions),
        times(x, x_label, f", {setting}"),
    ]


def _fall(results: Results, method: str, few: int) -> float:
    degrees = results.by("subscriptions", DEGREE, method=method, measurement="design", popularity="uniform")
    if not {few, 100} <= set(degrees.index):
        raise NotMeasuredError(f"nothing at {few} and 100 topics per node")
    return float(degrees[100] / degrees[few])


def _shrinks(results: Results) -> float:
    """DC's excess at the most topics per node over that at the fewest."""
    gaps = results.values("subscriptions", DEGREE, method="dc", popularity="uniform") - results.values(
        "subscriptions", DEGREE, method="gm", popularity="uniform"
    )
    return float(gaps[-1] / gaps[0])


STATED = {"uniform": 3.66, "zipf": 1.24, "exponential": 1.06}
STUDIES = (
    Study(
        name="dc-fig10",
        title="DC against GM by topics",
        source="star-merge-divide-and-conquer, Figure 10",
        setting=f"4,000 nodes in random partitions, 100–1,000 topics, exactly 20 per node. {UNNAMED.capitalize()} of "
        "partitions: 8 here, which accounts for the differences; 10, the paper's default, and 40, the rule of its "
        "Figure 8, below.",
        found="DC's degree is above GM's by 3.66 (Unif), 1.24 (Zipf) and 1.06 (Expo) on average; its time is less than "
        "28 % of GM's, the worst being at 1,000 topics.",
        grid=_by_topics,
        panels=_panels("topics", "topics", "4,000 nodes, 20 per node", 8),
        published=[
            *(
                Published(
                    f"DC's degree above GM's, mean, {POPULARITIES[p]}",
                    value,
                    lambda r, p=p: _above(r, p),  # type: ignore[misc]
                    why="dc-topics",
                    shown_by=("steeper-8",) if p == "exponential" else (),
                    instead_of=f"10-{p}",
                )
                for p, value in STATED.items()
            ),
            *(
                tried(
                    f"the same with {partitions} partitions, {POPULARITIES[p]}",
                    value,
                    lambda r, p=p, partitions=partitions: _above(r, p, partitions),  # type: ignore[misc]
                    key=f"{partitions}-{p}",
                )
                for partitions in (10, 40)
                for p, value in STATED.items()
            ),
            *(
                tried(
                    f"the same with {partitions} partitions and 83 % of Expo's mass on a tenth of the topics",
                    STATED["exponential"],
                    lambda r, partitions=partitions: difference(  # type: ignore[misc]
                        r,
                        "topics",
                        DEGREE,
                        {"method": "dc", "case": STEEPER, "partitions": partitions},
                        {"method": "gm", "case": STEEPER},
                    ),
                    key=f"steeper-{partitions}",
                )
                for partitions in (8, 10)
            ),
            *times_over_gm("DC's time over {gm}'s at 1,000 topics, Unif", 0.28, AT_MOST, topics=1000),
            *dc_trends.by_topics(8),
        ],
    ),
    Study(
        name="dc-fig11",
        title="DC against GM by topics per node",
        source="star-merge-divide-and-conquer, Figure 11",
        setting=f"4,000 nodes in 10 random partitions (the paper's default; {UNNAMED}), 400 topics, exactly 10–100 per "
        "node.",
        found="Under Unif both degrees fall as nodes want more, and their difference shrinks.",
        remark="The degrees do not fall from the start: from 10 to 20 topics per node both rise a little.",
        grid=_by_sizes,
        panels=_panels("subscriptions", "topics per node", "4,000 nodes, 400 topics", 10),
        published=[
            *(
                Published(
                    f"{name}'s degree at 100 topics per node over that at {few}, Unif",
                    1,
                    lambda r, m=m, few=few: _fall(r, m, few),  # type: ignore[misc]
                    AT_MOST,
                    experiment=few != 10,
                )
                for few in (10, 20)
                for m, name in (("dc", "DC"), ("gm", "GM"))
            ),
            trend(
                "DC's time over the literal GM's at 100 per node over that at 10, Unif (the ratio falls)",
                1,
                lambda r: r.mean("time_of_literal", subscriptions=100) / r.mean("time_of_literal", subscriptions=10),
                AT_MOST,
            ),
            Published("difference at 100 per node over that at 10, Unif", 1, _shrinks, AT_MOST),
        ],
    ),
)
