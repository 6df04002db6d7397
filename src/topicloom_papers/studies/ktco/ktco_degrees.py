"""ktco-gm2-hararypt, Figures 3 and 4."""

from typing import Any

import numpy as np

from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.studies import AT_LEAST, AT_MOST, Published, Scale, Study
from topicloom_papers.page.lookup import Results
from topicloom_papers.studies.ktco import ktco_trends
from topicloom_papers.studies.ktco.ktco_shared import (
    CYCLE,
    DEGREE,
    GM,
    GM2,
    KS,
    grid,
    mean_over_popularities,
    panels,
    with_steeper,
)
from topicloom_papers.studies.shared import (
    POPULARITIES,
    STEEPER,
    difference,
    ratio,
    tried,
    workload,
)


def _by_nodes(scale: Scale) -> list[Cell]:
    nodes = scale.pick(quick=(100,), paper=(100, 200, 400, 600, 800, 1000))
    drawn = grid(lambda p: [workload(n, 200, 30, p) for n in nodes], scale, KS)
    return [*drawn, *with_steeper(scale, [(n, 200, 30) for n in nodes], (8, 10, 12, 14))]


def _by_topics(scale: Scale) -> list[Cell]:
    nodes, topics = scale.pick(quick=(100, (100, 200)), paper=(800, (100, 200, 400, 600, 800, 1000)))
    drawn = grid(lambda p: [workload(nodes, t, 30, p) for t in topics], scale, KS)
    return [*drawn, *with_steeper(scale, [(nodes, t, 30) for t in topics], (6,))]


def _over_gm(results: Results, x: str) -> float:
    return mean_over_popularities(lambda p: ratio(results, x, DEGREE, {**GM2, **p}, {**GM, **p}))


def highest_k(results: Results, *, smooth: bool = False, **where: Any) -> float:
    """Largest k of HararyPT with a lower degree than CyclePT, means over what fits.

    ``smooth``: an odd k is taken to cost what lies between its even neighbours.
    """
    cycle = results.mean(DEGREE, **CYCLE, **where)
    degrees = results.by("k", DEGREE, method="harary-pt", **where)
    ks, values = np.asarray(degrees.index, float), np.asarray(degrees, float)
    if smooth:
        even = ks % 2 == 0
        every = np.arange(ks.min(), ks.max() + 1)
        ks, values = every, np.interp(every, ks[even], values[even])
    return float(ks[values < cycle].max(initial=0))


def _highest_ks() -> list[Published]:
    stated = {"exponential": 12, "zipf": 7, "uniform": 5}
    return [
        *(
            Published(
                f"highest k at which HararyPT has fewer links than CyclePT, {POPULARITIES[p]}",
                k,
                lambda r, p=p: highest_k(r, popularity=p),  # type: ignore[misc]
                AT_LEAST,
                why="harary-k",
                shown_by=(f"smooth-{p}",) if p != "exponential" else ("steeper",),
            )
            for p, k in stated.items()
        ),
        *(
            tried(
                f"the same at 1,000 nodes, if an odd k costs what lies between its even neighbours, {POPULARITIES[p]}",
                stated[p],
                lambda r, p=p: highest_k(r, smooth=True, popularity=p, nodes=1000),  # type: ignore[misc]
                AT_LEAST,
                key=f"smooth-{p}",
            )
            for p in ("zipf", "uniform")
        ),
        tried(
            "the same, Expo with 83 % of the mass on a tenth of the topics",
            stated["exponential"],
            lambda r: highest_k(r, case=STEEPER),
            AT_LEAST,
            key="steeper",
        ),
    ]


STUDIES = (
    Study(
        name="ktco-fig3",
        title="fault-tolerant overlays by nodes",
        source="ktco-gm2-hararypt, Figure 3",
        setting="100–1,000 nodes, 200 topics, exactly 30 per node; Expo, Zipf 2.0, Unif. Every overlay is judged at "
        "its k.",
        found="GM2's degree is 1.66 times GM's on average; CyclePT's is about twice the number of topics per node, 5 "
        "times GM2's; HararyPT reaches high k with fewer links than CyclePT.",
        grid=_by_nodes,
        panels=panels("nodes", "nodes", "200 topics, 30 per node"),
        published=[
            Published("GM2's degree over GM's, mean", 1.66, lambda r: _over_gm(r, "nodes")),
            Published("GM2's degree over GM's, mean (conclusion)", 1.65, lambda r: _over_gm(r, "nodes")),
            Published(
                "CyclePT's degree, mean (twice the topics per node)", 60, lambda r: r.mean(DEGREE, **CYCLE, case=None)
            ),
            Published(
                "CyclePT's degree over GM2's, mean",
                5,
                lambda r: mean_over_popularities(lambda p: ratio(r, "nodes", DEGREE, {**CYCLE, **p}, {**GM2, **p})),
            ),
            *_highest_ks(),
            *ktco_trends.by_nodes(),
        ],
    ),
    Study(
        name="ktco-fig4",
        title="fault-tolerant overlays by topics",
        source="ktco-gm2-hararypt, Figure 4 and Appendix D-A",
        setting="800 nodes, 100–1,000 topics, exactly 30 per node; Expo, Zipf 2.0, Unif.",
        found="GM2's degree is at most 1.66 times GM's and at least 43.1 below CyclePT's on average. HararyPT's 2TCO "
        "always has fewer links than CyclePT's, and under Expo and Zipf its 6TCO has almost the same.",
        grid=_by_topics,
        panels=panels("topics", "topics", "800 nodes, 30 per node"),
        published=[
            Published("GM2's degree over GM's, mean", 1.66, lambda r: _over_gm(r, "topics"), AT_MOST),
            Published(
                "CyclePT's degree less GM2's, mean",
                43.1,
                lambda r: mean_over_popularities(
                    lambda p: difference(r, "topics", DEGREE, {**CYCLE, **p}, {**GM2, **p})
                ),
                AT_LEAST,
            ),
            *(
                Published(
                    f"degree of HararyPT's 6TCO over CyclePT's, mean (almost the same), {POPULARITIES[p]}",
                    1,
                    lambda r, p=p: ratio(  # type: ignore[misc]
                        r,
                        "topics",
                        DEGREE,
                        {"method": "harary-pt", "k": 6, "popularity": p},
                        {**CYCLE, "popularity": p},
                    ),
                    why="harary-six",
                )
                for p in ("exponential", "zipf")
            ),
            tried(
                "the same with 83 % of Expo's mass on a tenth of the topics",
                1,
                lambda r: ratio(
                    r, "topics", DEGREE, {"method": "harary-pt", "k": 6, "case": STEEPER}, {**CYCLE, "case": STEEPER}
                ),
                key="steeper",
            ),
            Published(
                "degree of HararyPT's 2TCO over CyclePT's, largest",
                1,
                lambda r: max(
                    float(
                        (
                            r.by("topics", DEGREE, method="harary-pt", k=2, popularity=p)
                            / r.by("topics", DEGREE, **CYCLE, popularity=p)
                        ).max()
                    )
                    for p in POPULARITIES
                ),
                AT_MOST,
            ),
            *(
                Published(
                    f"degree of HararyPT's 10TCO, {topics:,} topics, Unif",
                    value,
                    lambda r, topics=topics: r.mean(  # type: ignore[misc]
                        DEGREE, method="harary-pt", k=10, popularity="uniform", topics=topics, nodes=800
                    ),
                )
                for topics, value in ((100, 54.22), (1000, 222.84))
            ),
            *ktco_trends.by_topics(),
        ],
    ),
)
