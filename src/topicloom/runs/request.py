"""What is asked of a design, and what ``run.json`` says of it: one description for every engine."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from topicloom.files.write.run_file import json_options, run_header
from topicloom.methods.registry import MethodSpec, Size, check_bars, check_options, spec_of
from topicloom.methods.selection import chosen, method_for, options_for, promised
from topicloom.model import ForbiddenLinks, Network, Verdict
from topicloom.model.checks import checked_seed
from topicloom.model.site_network import checked_keep
from topicloom.runs.bars import Bars

FOR_NETWORKS = "network"  # what run.json calls the method for networks
# What does the work: one task of Spark where the input fits one, tasks that share it in any case, or this process.
SPARK, DISTRIBUTED, MEMORY = ENGINES = ("spark", "distributed", "memory")


@dataclass(frozen=True)
class NetworkRequest:
    """The network to design for, the column of what may fail as a whole, and what a standing link saves."""

    network: Network
    survive: str | None = None
    keep: float = 0.0

    def __post_init__(self) -> None:
        checked_keep(self.keep)
        if self.survive is not None:
            self.network.units((), self.survive)  # refuses a column that there is not

    @property
    def options(self) -> dict[str, Any]:
        """What ``run.json`` keeps of it beside the tables."""
        return {"keep": self.keep, **({} if self.survive is None else {"survive": self.survive})}


@dataclass(frozen=True)
class DesignRequest:
    """A design as it was asked for, checked.

    Attributes
    ----------
    method : str
    options : mapping
        Those of the method, ``k`` among them if it has one.
    seed : int
    k : int or None
        The topic-connectivity that was asked for.
    bars : Bars or None
        Links that may not be.
    refine : float or None
        The effort of a refinement after the design; see `topicloom.refine`.
    exact_diameters : bool
        Whether diameters of very large topics are exact as well.
    network : NetworkRequest or None
        The network that there is. The method is then that for networks, whatever ``method`` says.
    """

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    k: int | None = None
    bars: Bars | None = None
    refine: float | None = None
    exact_diameters: bool = False
    network: NetworkRequest | None = None

    @classmethod
    def of(
        cls,
        method: str | None,
        options: Mapping[str, Any],
        *,
        seed: int = 0,
        k: int | None = None,
        barred: bool = False,
    ) -> Self:
        """Check what was asked for, before anything is read.

        Raises
        ------
        InvalidOptionError
        """
        spec = spec_of(method or method_for(1 if k is None else k))
        check_options(spec, options)
        if barred:
            check_bars(spec)
        return cls(spec.name, {**options, **options_for(spec, k, options)}, checked_seed(seed), k)

    def at(self, size: Size, say: Callable[[str], object]) -> Self:
        """Return the request for an interest of that size: a method that only chooses is replaced, with a note."""
        return replace(self, method=chosen(self.method, size, say, barred=self.bars is not None))

    @property
    def forbidden(self) -> ForbiddenLinks:
        """What the overlay is to keep of the links that may not be."""
        if self.network is not None:
            return self.network.network.forbidden_links()
        return ForbiddenLinks() if self.bars is None else self.bars.forbidden

    @property
    def spec(self) -> MethodSpec:
        """The facts of the method."""
        return spec_of(self.method)

    def spread_by(self, engine: str, work: Path | None) -> str:
        """The engine to use for one that was asked for. A work folder for shares of tasks asks for many tasks."""
        return DISTRIBUTED if engine == SPARK and work is not None and self.spec.share is not None else engine

    @property
    def judged_at(self) -> int:
        """The k at which the result is judged."""
        return promised(self.spec, self.k, self.options)


def run_facts(
    request: DesignRequest,
    *,
    report: Mapping[str, Any],
    fingerprint: str,
    counts: Mapping[str, int],
    verdict: Verdict,
    started: float,
    seconds: Mapping[str, float],
) -> dict[str, Any]:
    """What ``run.json`` holds of a design. ``started`` is a time of the clock."""
    return {
        **run_header(),
        "method": request.method if request.network is None else FOR_NETWORKS,
        "options": json_options(request.options if request.network is None else request.network.options),
        "seed": request.seed,
        "report": dict(report),
        "labels": True,
        "input_fingerprint": fingerprint,
        "counts": dict(counts),
        "verified": {"k": verdict.k, "ok": verdict.ok, "broken_topics": verdict.broken_topics},
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "seconds": seconds,
    }
