"""Compile what some cells need before Spark's workers start, which would else each compile for themselves."""

from collections.abc import Iterable

from topicloom.study.cells import Cell
from topicloom.study.measurements import MEASUREMENTS

_TINY = {"nodes": 200, "topics": 12, "subscriptions": 4}
_COMPILED_ELSEWHERE = ("star-bound",)  # a linear program, which would take long on so dense an interest


def warm(cells: Iterable[Cell]) -> None:
    """Run each kind of cell once on a tiny interest; instant when its code is cached."""
    kinds = {(cell.measurement, cell.method, cell.workload.get("sizes")): cell for cell in cells}
    kinds = {kind: cell for kind, cell in kinds.items() if cell.measurement not in _COMPILED_ELSEWHERE}
    for cell in kinds.values():
        options = {**cell.options, **({"rounds": 30, "every": 10} if "rounds" in cell.options else {})}
        sizes = {"sizes": cell.workload["sizes"]} if cell.workload.get("sizes") == "mean" else {}
        list(MEASUREMENTS[cell.measurement].function(Cell(cell.measurement, cell.method, {**_TINY, **sizes}, options)))
