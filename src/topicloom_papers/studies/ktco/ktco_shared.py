"""What the studies of ktco-gm2-hararypt share."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.studies import Line, Panel, Scale
from topicloom_papers.studies.shared import POPULARITIES, Choice, cells, over_popularities, steeper

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


def with_steeper(scale: Scale, sizes: Sequence[tuple[int, int, int]], ks: Sequence[int]) -> list[Cell]:
    """CyclePT and HararyPT under an exponential popularity with 83 % of the mass on a tenth of the topics."""
    drawn = [steeper(*size) for size in sizes]
    choices: list[Choice] = [("cycle-pt", {}), *(("harary-pt", {"k": k}) for k in scale.pick(quick=(2,), paper=ks))]
    return cells("design", choices, drawn, scale.seed_range(10)[:3])


def panels(x: str, x_label: str, setting: str) -> list[Panel]:
    """A panel for each popularity, as in the paper."""

    def lines(popularity: str) -> list[Line]:
        methods: dict[str, dict[str, Any]] = {"CyclePT": CYCLE}
        methods |= {f"HararyPT, k = {k}": {"method": "harary-pt", "k": k} for k in PLOTTED[::-1]}
        methods |= {"GM2": GM2, "GM": GM}
        return [Line(label, DEGREE, {**where, "popularity": popularity}) for label, where in methods.items()]

    return over_popularities(x, x_label, "average degree", setting, lines, log_y=True)


def mean_over_popularities(answer: Callable[[dict[str, str]], float]) -> float:
    """Mean of an answer over the three popularities."""
    return float(np.mean([answer({"popularity": popularity}) for popularity in POPULARITIES]))
