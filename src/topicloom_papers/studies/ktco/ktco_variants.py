"""HararyPT with an order of its own for each topic, and the diameters of repeated GM (gm-min-tco §6.4)."""

from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.studies import AT_LEAST, AT_MOST, Line, Panel, Published, Scale, Study
from topicloom_papers.studies.shared import cells, mean_of, workload

KS = (2, 4)
DEGREE = "average_degree"
LARGEST, MEAN = "max_topic_diameter", "mean_topic_diameter"
UNIF = {"popularity": "uniform", "nodes": 1000}


def _grid(scale: Scale) -> list[Cell]:
    nodes = scale.pick(quick=(100,), paper=(200, 1000))
    drawn = [workload(n, 200, 30) for n in nodes]
    orders = [("harary-pt", {"k": k, **order}) for k in KS for order in ({}, {"sequence": "independent"})]
    repeated = [("gm", {}), ("gm2", {}), *(("repeated-gm", {"k": k}) for k in (2, 3))]
    seeds = scale.seed_range(2)
    return [*cells("design", orders, drawn, seeds), *cells("diameters", repeated, drawn, seeds)]


STUDY = Study(
    name="ktco-variants",
    title="orders of HararyPT, and diameters of repeated GM",
    source="ktco-gm2-hararypt, §VII, and gm-min-tco, §6.4; no figure",
    setting="200–1,000 nodes, 200 topics, exactly 30 per node, Unif. Repeated GM bars the links of earlier runs.",
    found="HararyPT puts all topics in one order, so that they share links. Running GM k times is the older "
    "paper's remark on reliability.",
    remark="With an order of its own for each topic nearly no link is shared, and the degree is about k times "
    "the topics per node: the shared order is what makes HararyPT cheap. Each further run of GM shortens "
    "topic diameters, at the price of more links than GM2's.",
    grid=_grid,
    panels=[
        Panel(
            "HararyPT, Unif: 200 topics, 30 per node",
            "nodes",
            "nodes",
            "average degree",
            [
                Line(f"k = {k}, {label}", DEGREE, {"method": "harary-pt", "k": k, "sequence": order})
                for k in KS
                for order, label in (("independent", "an order per topic"), (None, "one order"))
            ],
        ),
        Panel(
            "topic diameters, Unif",
            "nodes",
            "nodes",
            "topic diameter",
            [
                Line(f"{label}, {what}", metric, {"measurement": "diameters", **method})
                for label, method in (
                    ("GM", {"method": "gm"}),
                    ("GM twice", {"method": "repeated-gm", "k": 2}),
                    ("GM three times", {"method": "repeated-gm", "k": 3}),
                    ("GM2", {"method": "gm2"}),
                )
                for what, metric in (("largest", LARGEST), ("mean", MEAN))
            ],
        ),
    ],
    published=[
        Published(
            "degree with an order per topic over that with one order, k = 4, 1,000 nodes (one order shares links)",
            1,
            lambda r: (
                r.mean(DEGREE, method="harary-pt", k=4, sequence="independent", **UNIF)
                / r.mean(DEGREE, method="harary-pt", k=4, sequence=None, **UNIF)
            ),
            AT_LEAST,
            trend=True,
        ),
        Published(
            "largest diameter of GM twice over that of GM, 1,000 nodes (repeating GM shortens topics)",
            1,
            lambda r: mean_of(LARGEST, method="repeated-gm", k=2, **UNIF)(r) / mean_of(LARGEST, method="gm", **UNIF)(r),
            AT_MOST,
            trend=True,
        ),
    ],
)
