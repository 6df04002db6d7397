"""gm-min-tco, Figure 3."""

from topicloom.study.cells import Cell
from topicloom.study.page.lookup import Results
from topicloom.study.papers.gm.gm_fig2 import TOPICS
from topicloom.study.papers.shared import POPULARITIES, by_popularity, cells, trend, workload
from topicloom.study.studies import AT_LEAST, AT_MOST, ORDER, Panel, Published, Scale, Study


def grid(scale: Scale) -> list[Cell]:
    """Steps of the literal Greedy Merge by nodes."""
    nodes = scale.pick(quick=(100, 200), paper=(1000, 2000, 5000, 10_000))
    drawn = [workload(n, t, 10, p, alpha=0.5) for n in nodes for t in TOPICS for p in POPULARITIES]
    return cells("steps", [("literal", {})], drawn, scale.seed_range(1))


def _flatness(results: Results, popularity: str, topics: int) -> float:
    values = results.values("nodes", "lowered_share", popularity=popularity, topics=topics)
    return float(values[-1] / values[0])


STUDY = Study(
    name="gm-fig3",
    title="steps of GM over its worst case",
    source="gm-min-tco, Figure 3",
    setting="As Figure 2. The paper does not say what a step is; here it is a contribution that Algorithm 3, as it is "
    "printed, lowers.",
    found="In all experiments a small fraction, of the order of 10⁻³, of |V|²|T|; less with more topics; highest under "
    "the exponential popularity.",
    grid=grid,
    panels=[
        Panel(
            f"{t} topics, 10 per node", "nodes", "nodes", "steps / (|V|²|T|)", by_popularity("lowered_share", topics=t)
        )
        for t in TOPICS
    ],
    published=[
        Published("steps / (|V|²|T|), mean of all", 1e-3, lambda r: r.mean("lowered_share"), ORDER, instead_of="both"),
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
    remark="Every pair of subscribers of a topic is counted once and lowered once, whatever the order of the links: "
    "the share depends on the sizes of the topics alone, so one seed says as much as ten.",
)
