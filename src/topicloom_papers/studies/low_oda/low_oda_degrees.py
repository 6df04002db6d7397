"""low-oda-2d-oda, Figures 1 to 4."""

from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.studies import AT_LEAST, AT_MOST, Line, Panel, Published, Scale, Study
from topicloom_papers.page.lookup import Results
from topicloom_papers.studies.shared import Choice, cells, tried, workload

METHODS = {"gm": "GM", "low-oda": "Low-ODA, k = 3", "minmax-oda": "MinMax-ODA"}
RHOS = (1, 2, 3, 4, 5, 6, 7, 8)
# Contributions are whole numbers below 100: w(e1) · 0.99 >= w(e2) says that w(e1) > w(e2).
ABOVE_ONE = 0.99
SETTING = "100 topics, exactly 10 per node, Zipf 0.5; the paper's k is our rho."


def grid_by_nodes(scale: Scale) -> list[Cell]:
    """The three methods by nodes."""
    nodes = scale.pick(quick=(100, 200), paper=tuple(range(100, 1001, 100)))
    choices = [("gm", {}), ("low-oda", {"rho": 3}), ("minmax-oda", {})]
    return cells("design", choices, [workload(n, 100, 10, "zipf", alpha=0.5) for n in nodes], scale.seed_range(30, 2))


def grid_by_rho(scale: Scale) -> list[Cell]:
    """Low-ODA by its parameter, at 100 nodes."""
    choices: list[Choice] = [
        *(("gm", {}), ("minmax-oda", {}), ("literal", {})),
        *(("low-oda", {"rho": rho}) for rho in RHOS),
        *(("printed-low-oda", {"rho": rho}) for rho in (1.0, ABOVE_ONE)),
    ]
    return cells("design", choices, [workload(100, 100, 10, "zipf", alpha=0.5)], scale.seed_range(100, 2))


def _ratios(results: Results, metric: str, method: str) -> tuple[float, float]:
    """Least and most of Low-ODA's figure over another's, over the nodes."""
    ours = results.by("nodes", metric, method="low-oda") / results.by("nodes", metric, method=method)
    return float(ours.min()), float(ours.max())


def _of(results: Results, metric: str, rho: int, method: str) -> float:
    return results.mean(metric, method="low-oda", rho=rho) / results.mean(metric, method=method)


def _by_k(results: Results, metric: str) -> float:
    """At k = 8 over that at k = 1."""
    return results.mean(metric, method="low-oda", rho=8) / results.mean(metric, method="low-oda", rho=1)


def _by_nodes(name: str, figure: str, metric: str, what: str, published: list[Published]) -> Study:
    return Study(
        name=name,
        title=f"{what} of GM, MinMax-ODA and Low-ODA",
        source=f"low-oda-2d-oda, {figure}",
        setting=f"100–1,000 nodes, {SETTING}",
        found="Low-ODA lies between GM and MinMax-ODA.",
        grid=grid_by_nodes,
        panels=[
            Panel(
                SETTING.partition(";")[0],
                "nodes",
                "nodes",
                what,
                [Line(label, metric, {"method": method}) for method, label in METHODS.items()],
            )
        ],
        published=published,
    )


def _by_rho(name: str, figure: str, metric: str, what: str, found: str, published: list[Published]) -> Study:
    return Study(
        name=name,
        title=f"{what} by the parameter k",
        source=f"low-oda-2d-oda, {figure}",
        setting=f"100 nodes, {SETTING}",
        found=f"At k = 1 Low-ODA behaves as GM, at k = 8 as MinMax-ODA; {found}",
        grid=grid_by_rho,
        panels=[
            Panel(
                f"100 nodes, {SETTING.partition(';')[0]}",
                "rho",
                "k (rho)",
                what,
                [Line("Low-ODA", metric, {"method": "low-oda"})],
            )
        ],
        published=published,
    )


STUDIES = (
    _by_nodes(
        "low-oda-fig1",
        "Figure 1",
        "max_degree",
        "maximum degree",
        [
            Published("Low-ODA's over GM's, largest", 1, lambda r: _ratios(r, "max_degree", "gm")[1], AT_MOST),
            Published(
                "Low-ODA's over MinMax-ODA's, smallest",
                1,
                lambda r: _ratios(r, "max_degree", "minmax-oda")[0],
                AT_LEAST,
                why="degree-floor",
            ),
        ],
    ),
    _by_nodes(
        "low-oda-fig2",
        "Figure 2",
        "average_degree",
        "average degree",
        [
            Published("Low-ODA's over GM's, smallest", 1, lambda r: _ratios(r, "average_degree", "gm")[0], AT_LEAST),
            Published(
                "Low-ODA's over MinMax-ODA's, largest",
                1,
                lambda r: _ratios(r, "average_degree", "minmax-oda")[1],
                AT_MOST,
            ),
        ],
    ),
    _by_rho(
        "low-oda-fig3",
        "Figure 3",
        "max_degree",
        "maximum degree",
        "the maximum degree falls with k.",
        [
            Published("at k = 8, over MinMax-ODA's", 1, lambda r: _of(r, "max_degree", 8, "minmax-oda")),
            Published(
                "at k = 1, over GM's",
                1,
                lambda r: _of(r, "max_degree", 1, "gm"),
                why="rho-one",
                shown_by=("strictly",),
            ),
            *(
                tried(
                    f"the same, both with ties in the order of lists, if a link that spares the maximum degree {how}",
                    1,
                    lambda r, rho=rho: (  # type: ignore[misc]
                        r.mean("max_degree", method="printed-low-oda", rho=rho) / r.mean("max_degree", method="literal")
                    ),
                    key=key,
                )
                for key, rho, how in (
                    ("equally", 1.0, "need only be as good as the best"),
                    ("strictly", ABOVE_ONE, "must be better than the best / k"),
                )
            ),
            Published(
                "at k = 8 over that at k = 1",
                1,
                lambda r: _by_k(r, "max_degree"),
                AT_MOST,
                why="rho-one",
                shown_by=("falls",),
            ),
            tried(
                "at k = 8 over GM's, which is what k = 1 has if a link must be better than the best",
                1,
                lambda r: _of(r, "max_degree", 8, "gm"),
                AT_MOST,
                key="falls",
            ),
        ],
    ),
    _by_rho(
        "low-oda-fig4",
        "Figure 4",
        "average_degree",
        "average degree",
        "the average degree rises with k.",
        [
            Published("at k = 8, over MinMax-ODA's", 1, lambda r: _of(r, "average_degree", 8, "minmax-oda")),
            Published("at k = 1, over GM's", 1, lambda r: _of(r, "average_degree", 1, "gm")),
            Published(
                "at k = 8 over that at k = 1",
                1,
                lambda r: _by_k(r, "average_degree"),
                AT_LEAST,
            ),
        ],
    ),
)
