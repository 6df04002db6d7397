"""ktco-gm2-hararypt, Figure 5."""

import numpy as np

from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.studies import AT_MOST, Published, Scale, Study
from topicloom_papers.page.lookup import Results
from topicloom_papers.studies.ktco import ktco_trends
from topicloom_papers.studies.ktco.ktco_shared import CYCLE, DEGREE, GM2, PLOTTED, grid, panels, with_steeper
from topicloom_papers.studies.shared import POPULARITIES, STEEPER, mean_of, tried, workload


def _by_sizes(scale: Scale) -> list[Cell]:
    nodes, sizes = scale.pick(quick=(100, (10, 20)), paper=(800, (10, 20, 30, 40, 50, 60, 100)))
    drawn = grid(lambda p: [workload(nodes, 200, s, p) for s in sizes], scale, (*PLOTTED, 12))
    return [*drawn, *with_steeper(scale, [(nodes, 200, sizes[-1])], (12,))]


def _peak(results: Results, popularity: str, share: float = 1.0) -> float:
    """Topics per node of the first point that has such a share of HararyPT's highest degree, over the k plotted."""
    degrees = results.by("subscriptions", DEGREE, method="harary-pt", popularity=popularity, k=PLOTTED)
    return float(np.asarray(degrees.index)[np.asarray(degrees) >= share * degrees.max()].min())


def _fall(results: Results, few: int, *popularities: str) -> float:
    """GM2's degree at 100 topics per node over that at fewer, largest of the popularities."""
    return max(
        results.mean(DEGREE, **GM2, popularity=p, subscriptions=100)
        / results.mean(DEGREE, **GM2, popularity=p, subscriptions=few)
        for p in popularities or POPULARITIES
    )


STUDIES = (
    Study(
        name="ktco-fig5",
        title="fault-tolerant overlays by topics per node",
        source="ktco-gm2-hararypt, Figure 5 and Appendix D-B",
        setting="800 nodes, 200 topics, exactly 10–100 per node; Expo, Zipf 2.0, Unif.",
        found="GM's and GM2's degrees fall as nodes want more; CyclePT's is twice the topics per node; HararyPT's "
        "rises up to about 50 per node under Zipf and 20 under Unif, then falls.",
        grid=_by_sizes,
        panels=panels("subscriptions", "topics per node", "800 nodes, 200 topics"),
        published=[
            Published(
                "topics per node beyond which HararyPT's degree no longer rises, Zipf",
                50,
                lambda r: _peak(r, "zipf"),
                why="harary-peak",
                shown_by=("flat-zipf",),
            ),
            Published(
                "topics per node beyond which HararyPT's degree no longer rises, Unif",
                20,
                lambda r: _peak(r, "uniform"),
            ),
            *(
                tried(
                    f"topics per node of the first point within 1 % of the highest, {POPULARITIES[p]}",
                    value,
                    lambda r, p=p: _peak(r, p, 0.99),  # type: ignore[misc]
                    key=f"flat-{p}",
                )
                for p, value in (("zipf", 50), ("uniform", 20))
            ),
            Published(
                "degree of HararyPT's 12TCO at 100 per node, mean of the popularities",
                60.20,
                lambda r: r.mean(DEGREE, method="harary-pt", k=12, subscriptions=100, case=None),
                why="harary-skew",
                shown_by=("steeper",),
            ),
            tried(
                "the same with 83 % of Expo's mass on a tenth of the topics",
                60.20,
                lambda r: float(
                    np.mean(
                        [
                            r.mean(DEGREE, method="harary-pt", k=12, subscriptions=100, **where)
                            for where in ({"case": STEEPER}, {"popularity": "zipf"}, {"popularity": "uniform"})
                        ]
                    )
                ),
                key="steeper",
            ),
            *(
                tried(
                    f"the same, {name} alone",
                    60.20,
                    mean_of(DEGREE, method="harary-pt", k=12, subscriptions=100, popularity=p),
                )
                for p, name in POPULARITIES.items()
            ),
            Published(
                "CyclePT's degree at 100 per node, mean of the popularities",
                177.23,
                lambda r: r.mean(DEGREE, **CYCLE, subscriptions=100, case=None),
            ),
            Published(
                "GM2's degree at 100 per node over that at 10, largest of the popularities",
                1,
                lambda r: _fall(r, 10),
                AT_MOST,
                why="gm2-by-size",
                shown_by=("from-50",),
            ),
            *ktco_trends.by_sizes(),
            tried(
                "GM2's degree at 100 per node over that at 50, largest of the popularities",
                1,
                lambda r: _fall(r, 50),
                AT_MOST,
                key="from-50",
            ),
            tried(
                "GM2's degree at 100 per node over that at 10, Unif alone",
                1,
                lambda r: _fall(r, 10, "uniform"),
                AT_MOST,
            ),
        ],
    ),
)
