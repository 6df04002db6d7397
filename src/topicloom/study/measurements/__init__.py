"""The kinds of cell: each a plain function from a cell to figures, judged before they count."""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from topicloom.study.measurements.measurement import Figure, Measurement, registered

__all__ = ["MEASUREMENTS", "Figure", "Measurement"]

MEASUREMENTS: Mapping[str, Measurement] = registered(
    *(import_module(found.name) for found in iter_modules(__path__, f"{__name__}."))
)
