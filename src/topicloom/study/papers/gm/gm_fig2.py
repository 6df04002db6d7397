"""gm-min-tco, Figure 2."""

from topicloom.study.cells import Cell
from topicloom.study.page.lookup import Results
from topicloom.study.papers.shared import POPULARITIES, by_popularity, cells, largest_step, workload
from topicloom.study.studies import AT_LEAST, AT_MOST, Panel, Published, Scale, Study

TOPICS = (100, 200)


def grid(scale: Scale) -> list[Cell]:
    """Greedy Merge by nodes."""
    nodes = scale.pick(quick=(100, 200), paper=(1000, 2000, 4000, 6000, 8000, 10_000))
    drawn = [workload(n, t, 10, p, alpha=0.5) for n in nodes for t in TOPICS for p in POPULARITIES]
    return cells("design", [("gm", {})], drawn, scale.seed_range(10))


def _degree(results: Results, popularity: str, topics: int) -> float:
    return results.mean("average_degree", popularity=popularity, topics=topics)


def _falls(results: Results) -> float:
    curves = [(popularity, topics) for popularity in POPULARITIES for topics in TOPICS]
    return max(largest_step(results, "nodes", "average_degree", popularity=p, topics=t) for p, t in curves)


def _exponential(results: Results) -> float:
    others = [min(_degree(results, "uniform", t), _degree(results, "zipf", t)) for t in TOPICS]
    return max(_degree(results, "exponential", t) / other for t, other in zip(TOPICS, others))


STUDY = Study(
    name="gm-fig2",
    title="GM's average degree by nodes",
    source="gm-min-tco, Figure 2",
    setting="1,000–10,000 nodes, 100 and 200 topics, exactly 10 per node; uniform, Zipf 0.5, exponential.",
    found="The average degree falls with the number of nodes under all popularities, is lowest under the exponential "
    "one, and rises with the number of topics.",
    grid=grid,
    panels=[
        Panel(
            f"{t} topics, 10 per node",
            "nodes",
            "nodes",
            "average degree of GM",
            by_popularity("average_degree", topics=t),
        )
        for t in TOPICS
    ],
    published=[
        Published("degree at a number of nodes over that at the one before, largest of all", 1, _falls, AT_MOST),
        Published(
            "Expo's degree over the lower of the two others', larger of both topic counts", 1, _exponential, AT_MOST
        ),
        Published(
            "degree with 200 topics over that with 100, smallest of the popularities",
            1,
            lambda r: min(_degree(r, p, 200) / _degree(r, p, 100) for p in POPULARITIES),
            AT_LEAST,
        ),
    ],
)
