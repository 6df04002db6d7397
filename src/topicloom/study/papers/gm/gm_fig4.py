"""gm-min-tco, Figures 4a and 4b."""

from typing import Any

from topicloom.study.cells import Cell
from topicloom.study.page.lookup import Results
from topicloom.study.papers.shared import cells, ratio, tried, workload
from topicloom.study.studies import AT_MOST, Line, Panel, Published, Scale, Study

# cycle-pt: rings in an order of their own for each topic, to see what it is that the paper's RingPT does
METHODS: list[tuple[str, dict[str, Any]]] = [("gm", {}), ("ring-pt", {}), ("cycle-pt", {})]
GM, RING, CYCLE = {"method": "gm"}, {"method": "ring-pt"}, {"method": "cycle-pt"}


def grid_by_nodes(scale: Scale) -> list[Cell]:
    """GM and RingPT by nodes."""
    nodes = scale.pick(quick=(100, 200), paper=(1000, 2000, 4000, 6000, 8000, 10_000))
    return cells("design", METHODS, [workload(n, 100, 10, "zipf", alpha=0.5) for n in nodes], scale.seed_range(10))


def grid_by_topics(scale: Scale) -> list[Cell]:
    """GM and RingPT by topics, with 10 and 20 per node."""
    nodes = scale.pick(quick=(200,), paper=(1000, 10_000))
    topics = scale.pick(quick=(100, 200), paper=(100, 150, 200))
    drawn = [workload(n, t, s, "zipf", alpha=0.5) for n in nodes for t in topics for s in (10, 20)]
    return cells("design", METHODS, drawn, scale.seed_range(10))


def _doubling(results: Results, method: str) -> "Any":
    """Degree with 20 per node over that with 10, by nodes and topics."""
    degrees = [
        results.select("average_degree", method=method, subscriptions=s).groupby(["nodes", "topics"])["value"].mean()
        for s in (10, 20)
    ]
    return degrees[1] / degrees[0]


def _saving(results: Results, rings: str) -> float:
    """Largest ratio of the degree of rings to GM's."""
    ring, gm = (
        results.select("average_degree", method=m).groupby(["nodes", "topics", "subscriptions"])["value"].mean()
        for m in (rings, "gm")
    )
    return float((ring / gm).max())


STUDIES = (
    Study(
        name="gm-fig4a",
        title="GM against a ring per topic, by nodes",
        source="gm-min-tco, Figure 4a",
        setting="1,000–10,000 nodes, 100 topics, exactly 10 per node, Zipf 0.5.",
        found="The average degree of RingPT is roughly 3 times that of GM.",
        grid=grid_by_nodes,
        panels=[
            Panel(
                "100 topics, 10 per node, Zipf 0.5",
                "nodes",
                "nodes",
                "average degree",
                [
                    Line("a ring per topic, each in an order of its own (CyclePT)", "average_degree", CYCLE),
                    Line("a ring per topic, all in one order (RingPT)", "average_degree", RING),
                    Line("Greedy Merge (GM)", "average_degree", GM),
                ],
            )
        ],
        published=[
            Published(
                "RingPT's degree over GM's, mean over the nodes",
                3,
                lambda r: ratio(r, "nodes", "average_degree", RING, GM),
                why="ring-nodes",
                shown_by=("at-1000",),
            ),
            *(
                tried(
                    f"the same at {nodes:,} nodes alone",
                    3,
                    lambda r, n=nodes: (  # type: ignore[misc]
                        r.mean("average_degree", **RING, nodes=n) / r.mean("average_degree", **GM, nodes=n)
                    ),
                    key=f"at-{nodes}",
                )
                for nodes in (1000, 10_000)
            ),
            tried(
                "the same with rings in an order of their own for each topic (CyclePT)",
                3,
                lambda r: ratio(r, "nodes", "average_degree", CYCLE, GM),
            ),
        ],
    ),
    Study(
        name="gm-fig4b",
        title="GM against a ring per topic, by topics, 10 and 20 per node",
        source="gm-min-tco, Figure 4b",
        setting="100–200 topics, exactly 10 and 20 per node, Zipf 0.5. The paper does not say how many nodes: 1,000 "
        "and 10,000 here.",
        found="With 20 topics per node instead of 10, GM's degree rises by 25 % at worst, RingPT's roughly doubles. "
        "The introduction says that GM saves up to 8-fold as topics grow in number.",
        grid=grid_by_topics,
        panels=[
            Panel(
                f"{n:,} nodes, Zipf 0.5",
                "topics",
                "topics",
                "average degree",
                [
                    Line(f"{name}, {s} per node", "average_degree", {"method": m, "subscriptions": s, "nodes": n})
                    for m, name in (("ring-pt", "RingPT"), ("gm", "GM"))
                    for s in (20, 10)
                ],
            )
            for n in (1000, 10_000, 200)
        ],
        published=[
            Published(
                "GM's degree with 20 per node over that with 10, largest",
                1.25,
                lambda r: float(_doubling(r, "gm").max()),
                AT_MOST,
            ),
            Published(
                "RingPT's degree with 20 per node over that with 10, mean",
                2,
                lambda r: float(_doubling(r, "ring-pt").mean()),
                why="ring-order",
                shown_by=("own-order",),
            ),
            Published(
                "RingPT's degree over GM's, largest (introduction)",
                8,
                lambda r: _saving(r, "ring-pt"),
                why="ring-order",
                shown_by=("own-order-saving",),
            ),
            tried(
                "CyclePT's degree with 20 per node over that with 10, mean",
                2,
                lambda r: float(_doubling(r, "cycle-pt").mean()),
                key="own-order",
            ),
            tried("CyclePT's degree over GM's, largest", 8, lambda r: _saving(r, "cycle-pt"), key="own-order-saving"),
        ],
    ),
)
