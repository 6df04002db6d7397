"""ktco-gm2-hararypt, Figures 6 and 8."""

from collections.abc import Mapping

from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.studies import AT_LEAST, Line, Published, Scale, Study
from topicloom_papers.page.lookup import Results
from topicloom_papers.studies.ktco.ktco_shared import GM, GM2, mean_over_popularities
from topicloom_papers.studies.shared import POPULARITIES, cells, over_popularities, ratio, trend, tried, workload

LARGEST, MEAN = "max_topic_diameter", "mean_topic_diameter"
# The paper names no number of runs. Its three largest differences, 16.75, 10.5 and 17.5, are multiples of a quarter.
RUNS = 4


def grid(scale: Scale, popularities: Mapping[str, str]) -> list[Cell]:
    """Cells of GM and GM2 with diameters, those of Figure 3."""
    nodes = scale.pick(quick=(100,), paper=(100, 200, 400, 600, 800, 1000))
    drawn = [workload(n, 200, 30, p) for p in popularities for n in nodes]
    other_ties = [workload(max(nodes), 200, 30, p) for p in popularities]
    return [
        *cells("diameters", [("gm", {}), ("gm2", {})], drawn, scale.seed_range(10)),
        *cells("diameters", [("literal", {}), ("printed-gm2", {})], other_ties, scale.seed_range(10)),
    ]


def _ratio(results: Results, metric: str, popularity: Mapping[str, str]) -> float:
    return ratio(results, "nodes", metric, {**GM2, **popularity}, {**GM, **popularity})


def _gap(
    results: Results, metric: str, popularity: str, gm: str = "gm", gm2: str = "gm2", *, nodes: int = 1000
) -> float:
    at = {"nodes": nodes, "popularity": popularity}
    return results.mean(metric, method=gm, **at) - results.mean(metric, method=gm2, **at)


def _gap_grows(*popularities: str) -> list[Published]:
    """Figures 6 and 8: the gap grows from 100 nodes to 1,000."""
    which = POPULARITIES[popularities[0]] if len(popularities) == 1 else "least of the popularities"
    return [
        trend(
            f"GM's {what} diameter less GM2's at 1,000 nodes over that at 100, {which} (the gap grows)",
            1,
            lambda r, metric=metric: min(_gap(r, metric, p) / _gap(r, metric, p, nodes=100) for p in popularities),  # type: ignore[misc]
            AT_LEAST,
        )
        for what, metric in (("largest", LARGEST), ("mean", MEAN))
    ]


def _in_lists(key: str, popularity: str, value: float) -> list[Published]:
    """The gap with equally good links in lists, of GM alone and of both."""
    name = POPULARITIES[popularity]
    return [
        tried(
            f"the same with GM's equals in lists, newest first, {name}",
            value,
            lambda r: _gap(r, LARGEST, popularity, "literal"),
            key=f"lists{key}",
            runs=RUNS,
        ),
        tried(
            f"the same with the equals of both in lists, newest first, {name}",
            value,
            lambda r: _gap(r, LARGEST, popularity, "literal", "printed-gm2"),
            key=f"both-lists{key}",
            runs=RUNS,
        ),
    ]


def _curves(popularity: str) -> list[Line]:
    return [
        Line(f"{label}, {what}", metric, {**method, "popularity": popularity})
        for label, method in (("GM", GM), ("GM2", GM2))
        for what, metric in (("largest", LARGEST), ("mean", MEAN))
    ]


PANELS = over_popularities("nodes", "nodes", "topic diameter", "200 topics, 30 per node", _curves)
UNIFORM = {"popularity": "uniform"}
GAPS = {"exponential": 16.75, "zipf": 10.5, "uniform": 17.5}
SETTING = "100–1,000 nodes, 200 topics, exactly 30 per node. Distances inside each topic's sub-overlay, exact."
STUDIES = (
    Study(
        name="ktco-fig6",
        title="topic diameters of GM and GM2, Unif",
        source="ktco-gm2-hararypt, Figure 6",
        setting=SETTING,
        found="GM2's largest topic diameter is 0.40 times GM's, its mean one 0.50 times; the gap grows with the nodes.",
        grid=lambda scale: grid(scale, {"uniform": "Unif"}),
        panels=[panel for panel in PANELS if panel.title.startswith("Unif")],
        published=[
            Published("GM2's largest diameter over GM's, Unif", 0.40, lambda r: _ratio(r, LARGEST, UNIFORM)),
            Published("GM2's mean diameter over GM's, Unif", 0.50, lambda r: _ratio(r, MEAN, UNIFORM)),
            Published(
                "GM's largest diameter less GM2's at 1,000 nodes, Unif",
                17.5,
                lambda r: _gap(r, LARGEST, "uniform"),
                runs=RUNS,
                why="diameter-ties",
                shown_by=("lists", "both-lists"),
            ),
            *_in_lists("", "uniform", 17.5),
            Published(
                "GM's mean diameter less GM2's at 1,000 nodes, Unif",
                10.0,
                lambda r: _gap(r, MEAN, "uniform"),
                runs=RUNS,
            ),
            *_gap_grows("uniform"),
        ],
    ),
    Study(
        name="ktco-fig8",
        title="topic diameters of GM and GM2, all popularities",
        source="ktco-gm2-hararypt, Figure 8",
        setting=SETTING,
        found="GM2's largest topic diameter is 0.45 times GM's on average, its mean one 0.51 times.",
        grid=lambda scale: grid(scale, POPULARITIES),
        panels=PANELS,
        published=[
            Published(
                "GM2's largest diameter over GM's, mean of the popularities",
                0.45,
                lambda r: mean_over_popularities(lambda p: _ratio(r, LARGEST, p)),
            ),
            Published(
                "GM2's mean diameter over GM's, mean of the popularities",
                0.51,
                lambda r: mean_over_popularities(lambda p: _ratio(r, MEAN, p)),
            ),
            *(
                Published(
                    f"GM's largest diameter less GM2's at 1,000 nodes, {POPULARITIES[p]}",
                    value,
                    lambda r, p=p: _gap(r, LARGEST, p),  # type: ignore[misc]
                    runs=RUNS,
                    why="diameter-ties",
                    shown_by=(f"lists-{p}", f"both-lists-{p}"),
                )
                for p, value in GAPS.items()
            ),
            *(row for p, value in GAPS.items() for row in _in_lists(f"-{p}", p, value)),
            *_gap_grows(*POPULARITIES),
        ],
    ),
)
