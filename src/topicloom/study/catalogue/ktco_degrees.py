"""ktco-gm2-hararypt, Figures 3, 4 and 5."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from topicloom.study.catalogue.shared import POPULARITIES, STEEPER, Choice, cells, difference, ratio, steeper, workload
from topicloom.study.cells import Cell
from topicloom.study.results import Results
from topicloom.study.studies import AT_LEAST, AT_MOST, Line, Panel, Published, Scale, Study

KS = (2, 4, 5, 6, 7, 8, 10, 12, 14)
PLOTTED = (2, 4, 6, 8, 10)
GM, GM2, CYCLE = {"method": "gm"}, {"method": "gm2"}, {"method": "cycle-pt"}
DEGREE = "average_degree"


def grid(points: Callable[[str], Sequence[dict[str, Any]]], scale: Scale, ks: Sequence[int]) -> list[Cell]:
    """GM, GM2, CyclePT and HararyPT on some workloads of each popularity."""
    drawn = [one for popularity in POPULARITIES for one in points(popularity)]
    choices = [("cycle-pt", {}), *(("harary-pt", {"k": k}) for k in scale.pick(quick=(2, 5), paper=ks))]
    return [
        *cells("diameters", [("gm", {}), ("gm2", {})], drawn, scale.seed_range(10)),
        *cells("design", choices, drawn, scale.seed_range(10)),
    ]


def _steeper(scale: Scale, sizes: Sequence[tuple[int, int, int]], ks: Sequence[int]) -> list[Cell]:
    """CyclePT and HararyPT under an exponential popularity with 80 % of the mass on a tenth of the topics."""
    drawn = [steeper(*size) for size in sizes]
    choices: list[Choice] = [("cycle-pt", {}), *(("harary-pt", {"k": k}) for k in scale.pick(quick=(2,), paper=ks))]
    return cells("design", choices, drawn, scale.seed_range(10))


def _by_nodes(scale: Scale) -> list[Cell]:
    nodes = scale.pick(quick=(100,), paper=(100, 200, 400, 600, 800, 1000))
    drawn = grid(lambda p: [workload(n, 200, 30, p) for n in nodes], scale, KS)
    return [*drawn, *_steeper(scale, [(nodes[-1], 200, 30)], (8, 10, 12, 14))]


def _by_topics(scale: Scale) -> list[Cell]:
    nodes, topics = scale.pick(quick=(100, (100, 200)), paper=(800, (100, 200, 400, 600, 800, 1000)))
    drawn = grid(lambda p: [workload(nodes, t, 30, p) for t in topics], scale, KS)
    return [*drawn, *_steeper(scale, [(nodes, t, 30) for t in topics], (6,))]


def _by_sizes(scale: Scale) -> list[Cell]:
    nodes, sizes = scale.pick(quick=(100, (10, 20)), paper=(800, (10, 20, 30, 40, 50, 60, 100)))
    drawn = grid(lambda p: [workload(nodes, 200, s, p) for s in sizes], scale, (*PLOTTED, 12))
    return [*drawn, *_steeper(scale, [(nodes, 200, sizes[-1])], (12,))]


def panels(x: str, x_label: str, setting: str) -> list[Panel]:
    """A panel for each popularity, as in the paper."""
    return [
        Panel(
            f"{name}: {setting}",
            x,
            x_label,
            "average degree",
            [
                Line("CyclePT", DEGREE, {**CYCLE, "popularity": p}),
                *(
                    Line(f"HararyPT, k = {k}", DEGREE, {"method": "harary-pt", "k": k, "popularity": p})
                    for k in PLOTTED[::-1]
                ),
                Line("GM2", DEGREE, {**GM2, "popularity": p}),
                Line("GM", DEGREE, {**GM, "popularity": p}),
            ],
            log_y=True,
        )
        for p, name in POPULARITIES.items()
    ]


def _over_gm(results: Results, x: str) -> float:
    return mean_over_popularities(lambda p: ratio(results, x, DEGREE, {**GM2, **p}, {**GM, **p}))


def mean_over_popularities(answer: Callable[[dict[str, str]], float]) -> float:
    """Mean of an answer over the three popularities."""
    return float(np.mean([answer({"popularity": popularity}) for popularity in POPULARITIES]))


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
    rows = [
        Published(
            f"highest k at which HararyPT has fewer links than CyclePT, {POPULARITIES[p]}",
            k,
            lambda r, p=p: highest_k(r, popularity=p),  # type: ignore[misc]
            AT_LEAST,
            why="harary-k",
        )
        for p, k in stated.items()
    ]
    rows += [
        Published(
            f"the same at 1,000 nodes, if an odd k costs what lies between its even neighbours, {POPULARITIES[p]}",
            stated[p],
            lambda r, p=p: highest_k(r, smooth=True, popularity=p, nodes=1000),  # type: ignore[misc]
            AT_LEAST,
            experiment=True,
        )
        for p in ("zipf", "uniform")
    ]
    rows += [
        Published(
            f"degree of HararyPT's 12TCO over CyclePT's at 1,000 nodes, {name}",
            1,
            lambda r, where=where: (  # type: ignore[misc]
                r.mean(DEGREE, method="harary-pt", k=12, nodes=1000, **where)
                / r.mean(DEGREE, **CYCLE, nodes=1000, **where)
            ),
            AT_MOST,
            experiment=True,
        )
        for name, where in (
            ("Expo", {"popularity": "exponential"}),
            ("Expo with 80 % of the mass on a tenth of the topics", {"case": STEEPER}),
        )
    ]
    return rows


def _peak(results: Results, popularity: str, share: float = 0.99) -> float:
    """Topics per node beyond which HararyPT's degree no longer rises (by 1 %), over the k that the paper plots."""
    degrees = results.by("subscriptions", DEGREE, method="harary-pt", popularity=popularity, k=PLOTTED)
    return float(np.asarray(degrees.index)[np.asarray(degrees) >= share * degrees.max()].min())


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
                    f"degree of HararyPT's 6TCO over CyclePT's, mean, {POPULARITIES[p]}",
                    1,
                    lambda r, p=p: ratio(  # type: ignore[misc]
                        r,
                        "topics",
                        DEGREE,
                        {"method": "harary-pt", "k": 6, "popularity": p},
                        {**CYCLE, "popularity": p},
                    ),
                    AT_MOST,
                    why="harary-skew",
                )
                for p in ("exponential", "zipf")
            ),
            Published(
                "the same with 80 % of Expo's mass on a tenth of the topics",
                1,
                lambda r: ratio(
                    r, "topics", DEGREE, {"method": "harary-pt", "k": 6, "case": STEEPER}, {**CYCLE, "case": STEEPER}
                ),
                AT_MOST,
                experiment=True,
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
        ],
    ),
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
            ),
            Published(
                "topics per node beyond which HararyPT's degree no longer rises, Unif",
                20,
                lambda r: _peak(r, "uniform"),
            ),
            *(
                Published(
                    f"topics per node of the highest point measured, {POPULARITIES[p]}",
                    value,
                    lambda r, p=p: _peak(r, p, 1.0),  # type: ignore[misc]
                    experiment=True,
                )
                for p, value in (("zipf", 50), ("uniform", 20))
            ),
            Published(
                "degree of HararyPT's 12TCO at 100 per node, mean of the popularities",
                60.20,
                lambda r: r.mean(DEGREE, method="harary-pt", k=12, subscriptions=100, case=None),
                why="harary-skew",
            ),
            Published(
                "the same with 80 % of Expo's mass on a tenth of the topics",
                60.20,
                lambda r: float(
                    np.mean(
                        [
                            r.mean(DEGREE, method="harary-pt", k=12, subscriptions=100, **where)
                            for where in ({"case": STEEPER}, {"popularity": "zipf"}, {"popularity": "uniform"})
                        ]
                    )
                ),
                experiment=True,
            ),
            *(
                Published(
                    f"the same, {name} alone",
                    60.20,
                    lambda r, p=p: r.mean(DEGREE, method="harary-pt", k=12, subscriptions=100, popularity=p),  # type: ignore[misc]
                    experiment=True,
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
                lambda r: max(
                    r.mean(DEGREE, **GM2, popularity=p, subscriptions=100)
                    / r.mean(DEGREE, **GM2, popularity=p, subscriptions=10)
                    for p in POPULARITIES
                ),
                AT_MOST,
                why="gm2-by-size",
            ),
            Published(
                "the same, Unif alone",
                1,
                lambda r: (
                    r.mean(DEGREE, **GM2, popularity="uniform", subscriptions=100)
                    / r.mean(DEGREE, **GM2, popularity="uniform", subscriptions=10)
                ),
                AT_MOST,
                experiment=True,
            ),
        ],
    ),
)
