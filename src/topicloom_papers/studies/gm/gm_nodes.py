"""gm-min-tco, Figures 2 and 3."""

from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.studies import AT_LEAST, AT_MOST, ORDER, Panel, Published, Scale, Study
from topicloom_papers.page.lookup import Results
from topicloom_papers.studies.shared import POPULARITIES, by_popularity, cells, growth, trend, workload

TOPICS = (100, 200)


def _degrees(scale: Scale) -> list[Cell]:
    """Greedy Merge by nodes."""
    nodes = scale.pick(quick=(100, 200), paper=(1000, 2000, 4000, 6000, 8000, 10_000))
    drawn = [workload(n, t, 10, p, alpha=0.5) for n in nodes for t in TOPICS for p in POPULARITIES]
    return cells("design", [("gm", {})], drawn, scale.seed_range(10))


def _degree(results: Results, popularity: str, topics: int) -> float:
    return results.mean("average_degree", popularity=popularity, topics=topics)


def _falls(results: Results) -> float:
    curves = [(popularity, topics) for popularity in POPULARITIES for topics in TOPICS]
    return max(growth(results, "nodes", "average_degree", popularity=p, topics=t) for p, t in curves)


def _exponential(results: Results) -> float:
    others = [min(_degree(results, "uniform", t), _degree(results, "zipf", t)) for t in TOPICS]
    return max(_degree(results, "exponential", t) / other for t, other in zip(TOPICS, others))


def _steps(scale: Scale) -> list[Cell]:
    """Steps of the literal Greedy Merge by nodes."""
    nodes = scale.pick(quick=(100, 200), paper=(1000, 2000, 5000, 10_000))
    drawn = [workload(n, t, 10, p, alpha=0.5) for n in nodes for t in TOPICS for p in POPULARITIES]
    return cells("steps", [("literal", {})], drawn, scale.seed_range(1))


def _flatness(results: Results, popularity: str, topics: int) -> float:
    values = results.values("nodes", "lowered_share", popularity=popularity, topics=topics)
    return float(values[-1] / values[0])


STUDIES = (
    Study(
        name="gm-fig2",
        title="GM's average degree by nodes",
        source="gm-min-tco, Figure 2",
        setting="1,000–10,000 nodes, 100 and 200 topics, exactly 10 per node; uniform, Zipf 0.5, exponential.",
        found="The average degree falls with the number of nodes under all popularities, is lowest under the "
        "exponential one, and rises with the number of topics.",
        grid=_degrees,
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
            Published("degree at the most nodes over that at the fewest, largest of all", 1, _falls, AT_MOST),
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
    ),
    Study(
        name="gm-fig3",
        title="steps of GM over its worst case",
        source="gm-min-tco, Figure 3",
        setting="As Figure 2. The paper does not say what a step is; here it is a contribution that Algorithm 3, as it "
        "is printed, lowers.",
        found="In all experiments a small fraction, of the order of 10⁻³, of |V|²|T|; less with more topics; highest "
        "under the exponential popularity.",
        grid=_steps,
        panels=[
            Panel(
                f"{t} topics, 10 per node",
                "nodes",
                "nodes",
                "steps / (|V|²|T|)",
                by_popularity("lowered_share", topics=t),
            )
            for t in TOPICS
        ],
        published=[
            Published(
                "steps / (|V|²|T|), mean of all", 1e-3, lambda r: r.mean("lowered_share"), ORDER, instead_of="both"
            ),
            Published(
                "the same if counting contributions at the start are steps too",
                1e-3,
                lambda r: r.mean("lowered_share") + r.mean("counted_share"),
                ORDER,
                experiment=True,
                key="both",
            ),
            Published(
                "steps with 200 topics over those with 100, as shares",
                1,
                lambda r: r.mean("lowered_share", topics=200) / r.mean("lowered_share", topics=100),
                AT_MOST,
            ),
            Published(
                "steps under Expo over the higher of the two others",
                1,
                lambda r: (
                    r.mean("lowered_share", popularity="exponential")
                    / max(r.mean("lowered_share", popularity=p) for p in ("uniform", "zipf"))
                ),
                AT_LEAST,
            ),
            trend(
                "steps / (|V|²|T|) at the most nodes over those at the fewest, furthest from 1 (§8.2: like |V|²)",
                1,
                lambda r: max((_flatness(r, p, t) for p in POPULARITIES for t in TOPICS), key=lambda x: abs(x - 1)),
            ),
        ],
        remark="Every pair of subscribers of a topic is counted once and lowered once, whatever the order of the "
        "links: the share depends on the sizes of the topics alone, so one seed says as much as ten.",
    ),
)
