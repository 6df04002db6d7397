"""Options of a maintainer, checked once."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from topicloom.churn.rebalance import checked_factor
from topicloom.errors import InvalidOptionError, StateFormatError
from topicloom.kernels.repair.backups import GREEDY, PRIMAL_DUAL
from topicloom.model import Overlay
from topicloom.model.checks import checked_rho, checked_seed, checked_whole

POLICIES = ("shadow", "naive", "rebuild")
BUILDERS = {"primal-dual": PRIMAL_DUAL, "greedy": GREEDY}


@dataclass(frozen=True)
class Options:
    """How an overlay is maintained, checked. `Maintainer` defines each option."""

    policy: str = "shadow"
    backups: str = "primal-dual"
    coverage: int = 3
    rho: float = 3.0
    k: int = 1
    seed: int = 0
    rebalance: float | None = None
    release: int = 0

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise InvalidOptionError(f"policy is {self.policy!r}; {', '.join(POLICIES)} are accepted")
        if self.backups not in BUILDERS:
            raise InvalidOptionError(f"backups is {self.backups!r}; {', '.join(BUILDERS)} are accepted")
        rho = checked_rho(self.rho)
        coverage = checked_whole("coverage", self.coverage, 1, 1000)
        k = checked_whole("k", self.k, 1)
        seed = checked_seed(self.seed)
        if self.policy == "shadow" and coverage < k:
            raise InvalidOptionError(
                f"coverage is {coverage}; a node that joins needs at least k = {k} backups per topic"
            )
        if self.policy != "shadow" and k > (2 if self.policy == "rebuild" else 1):
            raise InvalidOptionError(f"policy {self.policy} does not maintain k = {k}; shadow does")
        release = checked_whole("release", self.release, 0, 1000)
        if release and (self.policy != "shadow" or k > 1):
            raise InvalidOptionError(f"release is {release}; only policy shadow at k = 1 releases links, others take 0")
        rebalance = checked_factor(self.rebalance, self.policy, k)
        plain = {"coverage": coverage, "rho": rho, "k": k, "seed": seed, "rebalance": rebalance}
        for name, value in {**plain, "release": release}.items():  # numbers of numpy as those of Python
            object.__setattr__(self, name, value)

    @classmethod
    def kept(cls, facts: Mapping[str, Any], path: Path) -> Self:
        """Check options read from a durable state."""
        try:
            return cls(**{field.name: {"rebalance": None, **facts}[field.name] for field in fields(cls)})
        except (InvalidOptionError, KeyError) as error:
            raise StateFormatError(f"{path} is damaged: its options are invalid ({error})") from None


def recorded_k(overlay: Overlay) -> int:
    """Return the connectivity that an overlay was designed for and judged at by its record, 1 if it does not say."""
    judged = overlay.report.get("verified")
    known = [overlay.options.get("k"), 2 if overlay.method == "gm2" else None]
    if isinstance(judged, Mapping) and judged.get("ok"):
        known.append(judged.get("k"))
    return max((k for k in known if isinstance(k, int) and not isinstance(k, bool)), default=1)


def history_of(overlay: Overlay) -> dict[str, Any]:
    """Return how an overlay was designed and how many events it has seen since, as in its report under ``churn``."""
    told = overlay.report.get("churn")
    if isinstance(told, Mapping) and isinstance(told.get("events"), int):
        return dict(told)
    return {"events": 0, "method": overlay.method, "options": dict(overlay.options)}
