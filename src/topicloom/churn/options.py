"""Options of a maintainer, checked once."""

import numbers
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from topicloom.churn.rebalance import checked_factor
from topicloom.errors import InvalidOptionError, StateFormatError
from topicloom.kernels.churn.backups import GREEDY, PRIMAL_DUAL
from topicloom.model import Overlay
from topicloom.model.checks import checked_seed, checked_whole

POLICIES = ("shadow", "naive", "rebuild")
BUILDERS = {"primal-dual": PRIMAL_DUAL, "greedy": GREEDY}


@dataclass(frozen=True)
class Options:
    """How an overlay is maintained. `Maintainer` defines each option."""

    policy: str
    backups: str
    coverage: int
    rho: float
    k: int
    seed: int
    rebalance: float | None
    release: int

    @classmethod
    def checked(
        cls, policy: Any, backups: Any, coverage: Any, rho: Any, k: Any, seed: Any, rebalance: Any, release: Any
    ) -> Self:
        """Check options as they are given."""
        if policy not in POLICIES:
            raise InvalidOptionError(f"policy is {policy!r}; {', '.join(POLICIES)} are accepted")
        if backups not in BUILDERS:
            raise InvalidOptionError(f"backups is {backups!r}; {', '.join(BUILDERS)} are accepted")
        if isinstance(rho, bool) or not isinstance(rho, numbers.Real) or not float(rho) >= 1:
            raise InvalidOptionError(f"rho is {rho!r}; a number from 1 up is accepted")
        coverage = checked_whole("coverage", coverage, 1, 1000)
        k = checked_whole("k", k, 1)
        seed = checked_seed(seed)
        if policy == "shadow" and coverage < k:
            raise InvalidOptionError(
                f"coverage is {coverage}; a node that joins needs at least k = {k} backups per topic"
            )
        if policy != "shadow" and k > (2 if policy == "rebuild" else 1):
            raise InvalidOptionError(f"policy {policy} does not maintain k = {k}; shadow does")
        release = checked_whole("release", release, 0, 1000)
        if release and (policy != "shadow" or k > 1):
            raise InvalidOptionError(f"release is {release}; only policy shadow at k = 1 releases links, others take 0")
        return cls(policy, backups, coverage, float(rho), k, seed, checked_factor(rebalance, policy, k), release)

    @classmethod
    def kept(cls, facts: Mapping[str, Any], path: Path) -> Self:
        """Check options read from a durable state."""
        try:
            return cls.checked(*({"rebalance": None, **facts}[name] for name in cls.names()))
        except (InvalidOptionError, KeyError) as error:
            raise StateFormatError(f"{path} is damaged: its options cannot be ({error})") from None

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Names of the options, in the order in which `checked` takes them."""
        return tuple(field.name for field in fields(cls))


def recorded_k(overlay: Overlay) -> int:
    """Return the connectivity that an overlay was designed for and judged at by its record, 1 if it does not say."""
    judged = overlay.report.get("verified")
    known = [overlay.options.get("k"), 2 if overlay.method == "gm2" else None]
    if isinstance(judged, Mapping) and judged.get("ok"):
        known.append(judged.get("k"))
    return max((k for k in known if isinstance(k, int) and not isinstance(k, bool)), default=1)


def life_of(overlay: Overlay) -> dict[str, Any]:
    """Return how an overlay was designed and how many events it has seen since, as in its report under ``churn``."""
    told = overlay.report.get("churn")
    if isinstance(told, Mapping) and isinstance(told.get("events"), int):
        return dict(told)
    return {"events": 0, "method": overlay.method, "options": dict(overlay.options)}
