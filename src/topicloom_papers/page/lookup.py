"""Asking finished cells: means over seeds, by conditions on workload, method and options."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from topicloom_papers.cells.cells import Cell

_OWN = ("measurement", "method", "seed", "metric", "at", "value")


class NotMeasuredError(LookupError):
    """No finished cell answers the question, as at a smaller scale than the paper's."""


class Results:
    """Values of finished cells, a row each.

    Columns are ``measurement``, ``method``, ``seed``, ``metric``, ``at``, ``value``, the options of workload and method
    by their names, and ``partition_size`` where there are partitions. Conditions are equalities; a tuple is one of
    several; None is an option that was not given.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame

    @classmethod
    def of(cls, table: pa.Table) -> "Results":
        """From the table of a `CellStore`."""
        values: pd.DataFrame = table.select(["cell", "metric", "at", "value"]).to_pandas()
        rows = []
        for text in values["cell"].unique():
            cell = json.loads(text)
            own = {name: cell[name] for name in ("measurement", "method", "seed")}
            rows.append({"cell": text, **cell["workload"], **cell["options"], **own})
        cells = pd.DataFrame(rows, columns=None if rows else ["cell", *_OWN[:3]])
        if {"nodes", "partitions"} <= set(cells):
            cells["partition_size"] = cells["nodes"] / cells["partitions"]
        return cls(values.merge(cells, on="cell"))

    def among(self, cells: Iterable[Cell]) -> "Results":
        """The values of some cells only."""
        return Results(self.frame[self.frame["cell"].isin({cell.text for cell in cells})])

    def by_seed(self) -> "Iterator[Results]":
        """The values of one seed after the other."""
        return (Results(values) for _, values in self.frame.groupby("seed"))

    def select(self, metric: str, **conditions: Any) -> pd.DataFrame:
        """Rows of a metric under some conditions.

        Raises
        ------
        NotMeasuredError
            There are none.
        """
        frame = self.frame
        mask = (frame["metric"] == metric).to_numpy()
        for name, wanted in conditions.items():
            if name not in frame:
                mask = mask & (wanted is None)
            elif isinstance(wanted, tuple):
                mask = mask & frame[name].isin(wanted).to_numpy()
            else:
                mask = mask & (frame[name].isna() if wanted is None else frame[name] == wanted).to_numpy()
        if not mask.any():
            raise NotMeasuredError(f"no cell has {metric} with {conditions}")
        return frame[mask]

    def mean(self, metric: str, **conditions: Any) -> float:
        """Mean over everything that fits."""
        return float(self.select(metric, **conditions)["value"].mean())

    def least(self, metric: str, **conditions: Any) -> float:
        """Smallest value that fits."""
        return float(self.select(metric, **conditions)["value"].min())

    def most(self, metric: str, **conditions: Any) -> float:
        """Largest value that fits."""
        return float(self.select(metric, **conditions)["value"].max())

    def by(self, x: str, metric: str, **conditions: Any) -> "pd.Series[float]":
        """Mean for each value of a column, ascending."""
        means: pd.Series[float] = self.select(metric, **conditions).groupby(x)["value"].mean().sort_index()
        return means

    def spread(self, x: str, metric: str, **conditions: Any) -> "pd.Series[float]":
        """Standard deviation over the seeds for each value of a column, 0 with one seed."""
        chosen = self.select(metric, **conditions)
        deviations: pd.Series[float] = chosen.groupby(x)["value"].std(ddof=1).fillna(0.0).sort_index()
        return deviations

    def values(self, x: str, metric: str, **conditions: Any) -> "np.ndarray[Any, np.dtype[np.float64]]":
        """The means of `by` alone."""
        return np.asarray(self.by(x, metric, **conditions), np.float64)

    def lowest_at(self, x: str, metric: str, **conditions: Any) -> float:
        """Value of a column at which the mean is lowest."""
        means = self.by(x, metric, **conditions)
        return float(np.asarray(means.index)[int(np.argmin(means))])

    def seeds(self, metric: str, **conditions: Any) -> int:
        """Over how many seeds a mean is."""
        return int(self.select(metric, **conditions)["seed"].nunique())
