"""The kinds of cell: each a plain function from a cell to figures, judged before they count."""

from collections.abc import Mapping

from topicloom.study.measurements import (
    backup_sets,
    churn_curves,
    construction,
    decentral,
    joined_sites,
    phases,
    printed_churn,
    rebuilding,
    star_bound,
    steps,
    timing,
)
from topicloom.study.measurements.measurement import Figure, Measurement, registered

__all__ = ["MEASUREMENTS", "Figure", "Measurement"]

MEASUREMENTS: Mapping[str, Measurement] = registered(
    backup_sets,
    churn_curves,
    construction,
    decentral,
    joined_sites,
    phases,
    printed_churn,
    rebuilding,
    star_bound,
    steps,
    timing,
)
