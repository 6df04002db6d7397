"""Rebalancing (ours): repeated repairs let degrees creep up. Links are exchanged, a few per event, until they are back.

A fresh design is made rarely, for its degrees alone. While the maximum degree lies above ``factor`` times the fresh
one, a node of maximum degree gives up a link; while the average does, the nodes in turn. A move (`exchange`) leaves
every topic connected and changes at most `CHANGES` links; an event makes at most `MOVES` of them.
"""

import math
import numbers
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from topicloom.churn.exchange import CHANGES, relieve, thin_out
from topicloom.churn.reconnect import fresh_links
from topicloom.churn.state import OverlayState
from topicloom.errors import InvalidOptionError
from topicloom.model.arrays import Int32Array, degrees

MOVES = 2  # per event, and
LOOKS = 6  # nodes looked at, since not every look finds a move
_AIM = 0.99  # of the average that is allowed: the fresh degrees are a little old, and an event may add a few links
_FEWEST_EVENTS = 100  # between two fresh designs; otherwise as many as there are nodes
MOST_CHANGES = MOVES * CHANGES  # of links per event, beside its repair


class Fresh(NamedTuple):
    """Degrees of a fresh design, and how many events had been applied when it was made."""

    max_degree: int
    average: float
    at: int


def checked_factor(factor: Any, policy: str, k: int) -> float | None:
    """Check the factor and return it as a float."""
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

    What it does depends on the state, the number of events and the last `Fresh` alone. So a reopened state continues in
    the same way.
    """

    def __init__(self, factor: float, *, rho: float, k: int, seed: int) -> None:
        self._factor, self._rho, self._k, self._seed = factor, rho, k, seed
        self.fresh: Fresh | None = None

    def restore(self, state: OverlayState, facts: Mapping[str, Any]) -> None:
        """Take over the values of a durable state."""
        if facts.get("fresh_at") is not None:
            self._take_up(state, Fresh(facts["fresh_max"], facts["fresh_average"], facts["fresh_at"]))

    def _take_up(self, state: OverlayState, fresh: Fresh) -> None:
        self.fresh = fresh
        state.cap = int(self._factor * fresh.max_degree)

    def facts(self) -> dict[str, Any]:
        """Return the values that a durable state keeps."""
        if self.fresh is None:
            return {}
        return {"fresh_max": self.fresh.max_degree, "fresh_average": self.fresh.average, "fresh_at": self.fresh.at}

    def after(self, state: OverlayState, events: int, applied: int) -> None:
        """Make the moves that are due after ``events`` events, ``applied`` of them since the beginning.

        Looks first where links were just added: there superfluous ones are likeliest.
        """
        if not events or not state.links:
            return
        if self.fresh is None or applied - self.fresh.at >= max(len(state.nodes), _FEWEST_EVENTS):
            self._take_up(state, self._figures(state, applied))
        links = self._allowed_links(state)
        touched = sorted({state.nodes.number[end] for link in state.added for end in link})
        touched.sort(key=state.neighbours.length)
        moves = relieved = 0
        for look in range(LOOKS * events):
            turn, degree = applied * LOOKS + look, state.neighbours.ragged.length
            dense, busy = len(state.links) > links, np.flatnonzero(degree > state.cap)
            # Some nodes have no move left, and finding out takes longest: the first look, unless nothing else is due.
            due = relieved < len(busy) and (look % LOOKS == 0 or not dense)
            if moves == MOVES * events or not (dense or due):
                return
            if due:
                relieved += 1
                moves += relieve(state, int(busy[turn % len(busy)]), turn=turn, k=self._k)
            else:
                u = touched.pop() if touched else _linked(degree, turn)
                moves += thin_out(state, u, turn=turn, k=self._k)

    def drifted(self, state: OverlayState) -> bool:
        """Whether degrees are above what is allowed, as far as is known."""
        if self.fresh is None:
            return False
        most = int(state.neighbours.ragged.length.max(initial=0))
        return most > state.cap or len(state.links) > self._allowed_links(state)

    def _allowed_links(self, state: OverlayState) -> int:
        assert self.fresh is not None
        return int(_AIM * self._factor * self.fresh.average * len(state.nodes) / 2)

    def _figures(self, state: OverlayState, applied: int) -> Fresh:
        interest, _ = state.snapshot()
        links = fresh_links(interest, rho=self._rho, k=self._k, seed=self._seed)
        degree = degrees(links, interest.n_nodes)
        return Fresh(int(degree.max(initial=0)), float(degree.mean()), applied)


def _linked(degree: Int32Array, turn: int) -> int:
    """Return node number ``turn``, modulo their number, of those with links."""
    slots = np.flatnonzero(degree)
    return int(slots[turn % len(slots)])
