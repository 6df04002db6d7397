"""Rebalancing (ours): repeated repairs let degrees creep up; links are exchanged, a few per event, until they are back.

A fresh design is made rarely, for its figures alone. While the maximum degree lies above ``factor`` times the fresh
one, a node that has so many gives up a link; while the average does, the nodes in turn. A move (`exchange`) changes at
most three links and leaves every topic connected; an event makes at most `MOVES` of them.
"""

import math
import numbers
from collections.abc import Mapping
from typing import Any, NamedTuple

from topicloom.churn.exchange import relieve, thin_out
from topicloom.churn.state import OverlayState
from topicloom.errors import InvalidOptionError
from topicloom.kernels.greedy import greedy_links
from topicloom.model.arrays import degrees

MOVES = 2  # per event
_FEWEST_EVENTS = 100  # between two fresh designs; otherwise as many as there are nodes


class Fresh(NamedTuple):
    """Degrees of a fresh design, and how many events had been applied when it was made."""

    max_degree: int
    average: float
    at: int


def checked_factor(factor: Any, policy: str, k: int) -> float | None:
    """The factor as a float, or an error that says what is accepted or why it cannot be done."""
    if factor is None:
        return None
    if isinstance(factor, bool) or not isinstance(factor, numbers.Real) or not 1 <= float(factor) < math.inf:
        raise InvalidOptionError(f"rebalance is {factor!r}; a number from 1 up is accepted")
    if policy == "rebuild":
        raise InvalidOptionError("policy rebuild designs afresh at every event: there is nothing to rebalance")
    if k > 2:
        raise InvalidOptionError(f"rebalance knows fresh designs for k = 1 and 2, not for k = {k}")
    return float(factor)


class Balance:
    """Keeps degrees within a factor of a fresh design's.

    What it does depends on the state, the number of events and the last `Fresh` alone: a reopened state goes on alike.
    """

    def __init__(self, factor: float, *, rho: float, k: int, seed: int) -> None:
        self._factor, self._rho, self._k, self._seed = factor, rho, k, seed
        self.fresh: Fresh | None = None

    def restore(self, facts: Mapping[str, Any]) -> None:
        """Take up the figures of a durable state."""
        if facts.get("fresh_at") is not None:
            self.fresh = Fresh(facts["fresh_max"], facts["fresh_average"], facts["fresh_at"])

    def facts(self) -> dict[str, Any]:
        """What a durable state keeps."""
        if self.fresh is None:
            return {}
        return {"fresh_max": self.fresh.max_degree, "fresh_average": self.fresh.average, "fresh_at": self.fresh.at}

    def after(self, state: OverlayState, events: int, applied: int) -> None:
        """Do what is due after ``events`` events; ``applied`` is how many there were since the beginning."""
        n_nodes = len(state.nodes)
        if not events or not n_nodes:
            return
        if self.fresh is None or applied - self.fresh.at >= max(n_nodes, _FEWEST_EVENTS):
            self.fresh = self._figures(state, applied)
        most, average = self._factor * self.fresh.max_degree, self._factor * self.fresh.average
        for move in range(MOVES * events):
            turn = applied * MOVES + move
            spare = 2 * (len(state.links) + 1) <= average * n_nodes
            done = relieve(state, turn, self._k, most, spare=spare)
            if not done and 2 * len(state.links) > average * n_nodes:
                done = thin_out(state, turn, self._k, most)
            if not done and move >= MOVES:  # a large batch shall not look in vain for each of its events
                return

    def _figures(self, state: OverlayState, applied: int) -> Fresh:
        interest, _ = state.snapshot()
        links = greedy_links(
            interest.indptr, interest.topics, interest.n_topics, rho=self._rho, blocks=self._k == 2, seed=self._seed
        )
        degree = degrees(links, interest.n_nodes)
        return Fresh(int(degree.max(initial=0)), float(degree.mean()), applied)
