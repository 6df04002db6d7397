"""The kinds of cell: each a plain function from a cell to values, judged before they count."""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from topicloom_papers.measurements.measurement import Measurement, Value, registered

__all__ = ["MEASUREMENTS", "Measurement", "Value"]

MEASUREMENTS: Mapping[str, Measurement] = registered(
    *(import_module(found.name) for found in iter_modules(__path__, f"{__name__}."))
)
