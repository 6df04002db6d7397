"""Options of a maintainer, checked once."""

import numbers
from dataclasses import dataclass, fields
from typing import Any, Self

from topicloom.churn.rebalance import checked_factor
from topicloom.errors import InvalidOptionError
from topicloom.kernels.churn.backups import GREEDY, PRIMAL_DUAL
from topicloom.model.checks import checked_seed, checked_whole

POLICIES = ("shadow", "naive", "rebuild")
BUILDERS = {"primal-dual": PRIMAL_DUAL, "greedy": GREEDY}


@dataclass(frozen=True)
class Options:
    """How an overlay is maintained; `Maintainer` says what each of them means."""

    policy: str
    backups: str
    coverage: int
    rho: float
    k: int
    seed: int
    rebalance: float | None

    @classmethod
    def checked(cls, policy: Any, backups: Any, coverage: Any, rho: Any, k: Any, seed: Any, rebalance: Any) -> Self:
        """Options as they are given, or an error that says what is accepted."""
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
        return cls(policy, backups, coverage, float(rho), k, seed, checked_factor(rebalance, policy, k))

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Names of the options, in the order in which `checked` takes them."""
        return tuple(field.name for field in fields(cls))
