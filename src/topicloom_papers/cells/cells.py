"""Cells: one measurement on one seeded workload. What a study wants to know is a list of them."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Cell:
    """One measurement.

    Attributes
    ----------
    measurement : str
        A name of `topicloom_papers.measurements.MEASUREMENTS`.
    method : str
        What is measured: a construction method, a join method, a churn policy.
    workload : mapping
        Options of `topicloom.generate` without the seed, ``{"dataset": name}`` or ``{"case": name, …}``.
    options : mapping
        Options of the method and of the measurement.
    seed : int
        Of the workload and of the method.

    Examples
    --------
    >>> a = Cell("design", "gm", {"nodes": 100, "topics": 10}, seed=1)
    >>> b = Cell("design", "gm", {"topics": 10, "nodes": 100}, seed=1)
    >>> a.key == b.key
    True
    """

    measurement: str
    method: str
    workload: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    @property
    def text(self) -> str:
        """The cell as JSON, the same for equal cells."""
        return canonical(
            {
                "measurement": self.measurement,
                "method": self.method,
                "workload": dict(self.workload),
                "options": dict(self.options),
                "seed": self.seed,
            }
        )

    @classmethod
    def parse(cls, text: str) -> "Cell":
        """The cell that a `text` describes."""
        return cls(**json.loads(text))

    @property
    def key(self) -> str:
        """Short name of the cell, the same in every run and on every machine."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @property
    def kind(self) -> str:
        """The cell as JSON without its seed: cells of one kind are repeats of one measurement."""
        return replace(self, seed=0).text

    @property
    def weight(self) -> float:
        """Estimate the cost beside other cells of the same measurement and method, to say what is left of a run."""
        nodes, rounds = self.workload.get("nodes", 1000), self.options.get("rounds", 1)
        return float(nodes**1.5 * rounds)


def canonical(value: Mapping[str, Any]) -> str:
    """JSON with sorted keys and no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def distinct(cells: Iterable[Cell]) -> list[Cell]:
    """The cells without repeats, in order: studies share many."""
    return list({cell.key: cell for cell in cells}.values())
