"""Refine an overlay: the same promise with fewer links, or with a lower maximum degree."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from topicloom.churn.options import recorded_k
from topicloom.errors import InvalidOptionError, NotTopicConnectedError
from topicloom.judge import verify
from topicloom.kernels.streams import REFINE_STREAM, stream_key
from topicloom.kernels.swaps.depths import price_depths
from topicloom.kernels.swaps.robust import robust_sweep
from topicloom.kernels.swaps.swap_state import (
    LINKS,
    STANDING,
    VISITS,
    Swaps,
    new_swaps,
    sorted_links,
    with_more_room,
)
from topicloom.kernels.swaps.swaps import steps_of, sweep
from topicloom.methods.refinement.effort import Schedule
from topicloom.model import Overlay, Verdict
from topicloom.model.arrays import Int32Array, Int64Array
from topicloom.model.checks import checked_above_zero, checked_kind, checked_seed, checked_whole

OBJECTIVES = ("links", "degree")
_UNIT = 1024  # weight of a topic of median size
_HEAVIEST = 1 << 18
_UNWANTED = np.int64(1) << 50
_STEEPNESS = 307
_STEPS_TO_BEGIN, _STEPS_PER_ENTRY = 150_000, 135  # the state and the judge
_LOWERING = 460  # temperature while the maximum degree is lowered


class Progress(NamedTuple):
    """Where a refinement is: effort spent of all, links and maximum degree now."""

    spent: float
    effort: float
    links: int
    max_degree: int


def refine(
    overlay: Overlay,
    *,
    effort: float = 10,
    objective: str = "links",
    k: int | None = None,
    shorten: float = 0,
    until: int | None = None,
    progress: Callable[[Progress], object] | None = None,
    seed: int = 0,
) -> Overlay:
    """Find an overlay with fewer links, or with a lower maximum degree, that keeps the same promise.

    A *visit* takes one link out. If no topic needs it, it stays out. Otherwise one of the links that mend every topic
    that fell apart takes its place, drawn with a preference for links that serve many and rare topics. Neither the
    number of links nor the maximum degree that is aimed at ever rises, and no link is put in that the overlay forbids.
    Where neither has fallen in the end, the links that were given are returned, so that nothing is changed for nothing.

    Same overlay, effort and seed: identical links, on every machine. The clock decides nothing. Ctrl-C ends the
    refinement and returns what it has reached, a whole overlay.

    Parameters
    ----------
    overlay : Overlay
        Of any method, or links of your own (`Overlay.from_links`). What it forbids stays forbidden.
    effort : float
        Above 0. One unit is a number of steps, a formula of the interest and the overlay that comes out at about the
        time of ``gm``; `topicloom.methods.refinement.effort` has it. An effort of 1 does little more than get ready.
    objective : str
        ``links``, or ``degree``: lowers the maximum degree first and then the links.
    k : int, optional
        The topic-connectivity to keep. Unless given, the one that the overlay was designed for.
    shorten : float
        At least 0: what a step of distance from the centre of a topic counts for, in topics of median size. Some 0.05
        keeps topic diameters lower at the price of links. Not for k above 1.
    until : int, optional
        Number of links at which to stop before the effort is spent, such as a share above a `lower_bound`.
    progress : callable, optional
        Called with a `Progress` some hundred times.
    seed : int

    Returns
    -------
    Overlay
        With at most as many links. ``report["refinement"]`` holds the effort, the visits, and the curve of links and
        maximum degree against effort.

    Raises
    ------
    NotTopicConnectedError
        ``k`` is above 1 and the overlay is not k-topic-connected. With k = 1 a topic may be in several components; it
        gets no more of them.
    InvalidOptionError
        An option is out of range.

    See Also
    --------
    weighted_greedy_merge : the best start where topics differ much in their subscribers.
    drop_redundant_links : only what can go without a substitute.

    Notes
    -----
    Memory is O(subscriptions + Σ over links of the topics that the end with fewer topics wants), and 490 bytes per node
    for its partners. The overlay is judged before and after.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.generate(nodes=200, topics=40, subscriptions=8, popularity="zipf", seed=1)
    >>> overlay = tl.greedy_merge(interest)
    >>> better = tl.refine(overlay, effort=30)
    >>> better.n_links < 0.9 * overlay.n_links, better.verify().ok
    (True, True)
    >>> factory = tl.datasets.example()
    >>> rings = tl.ring_per_topic(factory)
    >>> rings.n_links, tl.refine(rings).n_links
    (12, 7)
    """
    checked_kind("overlay", overlay, Overlay, "an Overlay")
    _check_options(effort, objective, shorten)
    seed = checked_seed(seed)
    overlay.refuse_change("refine")
    until = 0 if until is None else checked_whole("until", until, 0)
    k = recorded_k(overlay) if k is None else checked_whole("k", k, 1)
    before = _judged(overlay, k)
    run = _Run(overlay, float(effort), objective, k, float(shorten), seed)
    stopped = False
    try:
        for at in run.steps():
            if progress is not None:
                progress(at)
            if at.links <= until:
                break
    except KeyboardInterrupt:
        stopped = True
    links = run.result()
    try:
        after = verify(overlay.interest, links, k)
    except KeyboardInterrupt:  # what was reached is still worth a second look
        stopped = True
        after = verify(overlay.interest, links, k)
    if after.broken_topics > before.broken_topics:
        raise AssertionError(
            f"refinement broke {after.broken_topics - before.broken_topics} topics; please report this"
        )
    facts = {"effort": effort, "objective": objective, "k": k, "shorten": shorten, "seed": seed, "stopped": stopped}
    report = {**overlay.report, "refinement": {**facts, **run.report()}}
    return replace(overlay, links=links, report=report)


def refine_beside(overlay: Overlay, n_standing: int, *, effort: float, seed: int = 0) -> Overlay:
    """Refine all links but the first ``n_standing``, which stay. Returns those first, the others sorted.

    Topic-connected as the overlay was; the judge is left to the caller.
    """
    run = _Run(overlay, effort, "links", 1, 0.0, seed, n_standing)
    for _ in run.steps():
        pass
    first, links = overlay.links[:n_standing], run.result()
    stays = np.isin(links @ [overlay.interest.n_nodes, 1], first @ [overlay.interest.n_nodes, 1])
    return Overlay(overlay.interest, np.concatenate([first, links[~stays]]), overlay.method, {}, overlay.seed)


def _check_options(effort: Any, objective: Any, shorten: Any) -> None:
    checked_above_zero("effort", effort)
    if isinstance(shorten, bool) or shorten != 0:
        checked_above_zero("shorten", shorten)
    if objective not in OBJECTIVES:
        raise InvalidOptionError(f"there is no objective {objective!r}; accepted: {', '.join(OBJECTIVES)}")


def _judged(overlay: Overlay, k: int) -> Verdict:
    verdict = verify(overlay.interest, overlay.links, k)
    if k > 1 and not verdict.ok:
        raise NotTopicConnectedError(
            f"topic {verdict.broken[0].topic!r} is not {k}-connected, the first of {verdict.broken_topics:,}; a "
            f"{k}-topic-connected overlay is accepted, or a lower k"
        )
    return verdict


def swap_weights(subscribers: Int64Array, links_inside: Int64Array) -> Int64Array:
    """What sharing a topic counts for in swaps, 1,024 for a topic of median size.

    Rare topics count more, by the square root. Topics that have many more links than a tree needs count less, by the
    cube: links of other topics connect them anyway.
    """
    if len(subscribers) == 0:
        return np.zeros(0, np.int64)
    slack = np.maximum(links_inside / (subscribers - 1), 1.0)
    weight = _UNIT * np.sqrt(np.median(subscribers) / subscribers) / (slack * slack * slack)
    rounded: Int64Array = np.clip(np.rint(weight), 1, _HEAVIEST).astype(np.int64)
    return rounded


class _Run:
    """A refinement under way. Between two steps its links are a whole overlay, the best so far."""

    def __init__(
        self, overlay: Overlay, effort: float, objective: str, k: int, shorten: float, seed: int, n_standing: int = 0
    ) -> None:
        interest = overlay.interest
        self.effort, self.k = effort, k
        self.key = np.uint64(stream_key(np.int64(seed), REFINE_STREAM))
        self.lowers = objective == "degree"
        self.step_price = round(_UNIT * shorten) if k == 1 else 0
        swaps = new_swaps(interest, overlay.links, swap_weights, overlay.forbidden.among(interest))
        swaps.counters[STANDING] = n_standing
        served = int(swaps.shared.sum())
        self.schedule = Schedule.of(interest, overlay.n_links, served, effort)
        self.done = self.made = _STEPS_TO_BEGIN + _STEPS_PER_ENTRY * (len(interest.topics) + interest.n_topics + served)
        self.swaps: Swaps = swaps._replace(depth=np.zeros(len(swaps.member) if self.step_price else 0, np.int64))
        self.curve: list[tuple[float, int, int]] = []
        self.given: Int32Array = overlay.links
        self._keep()

    def steps(self) -> Iterator[Progress]:
        """Work chunk by chunk. Yields after each."""
        while self.done < self.schedule.steps and self.swaps.counters[LINKS] > self.swaps.counters[STANDING]:
            hot = self._set_penalties()
            if self.step_price:
                price_depths(self.swaps, np.int64(self.step_price))
            self._sweep(min(self.done + self.schedule.chunk, self.schedule.steps) - self.made, hot)
            self.done = self.made + int(steps_of(self.swaps.counters))
            self._keep()
            yield Progress(*self.curve[-1][:1], self.effort, *self.curve[-1][1:])

    def _keep(self) -> None:
        """Keep the links as they are between two steps, with their point of the curve. Ctrl-C never parts the two."""
        m = int(self.swaps.counters[LINKS])
        point = round(self.done / self.schedule.per_unit, 3), m, int(self.swaps.degree.max(initial=0))
        self.best = self.swaps.end_u[:m].copy(), self.swaps.end_v[:m].copy(), point
        self.curve.append(point)

    def result(self) -> Int32Array:
        """The links to return: those that were given if the objective has gained nothing and no path was to shorten."""
        if self.curve[-1] != self.best[2]:
            self.curve.append(self.best[2])
        before, after = self.curve[0][1:], self.curve[-1][1:]
        gained = after[::-1] < before[::-1] if self.lowers else after < before
        if gained or self.step_price:
            links: Int32Array = sorted_links(*self.best[:2])
            return links
        self.curve[-1] = self.curve[-1][0], *before
        return self.given

    def _sweep(self, upto: int, hot: int) -> None:
        temperature = _LOWERING if hot else self.schedule.temperature(self.done)
        read = self.schedule.most_read
        if self.k > 1:
            robust_sweep(self.swaps, self.k, upto, temperature, read, self.key)
        else:
            while sweep(self.swaps, upto, temperature, read, hot, self.key):
                self.swaps = with_more_room(self.swaps)

    def _set_penalties(self) -> int:
        """Let no degree rise to the highest if that is to fall. Returns the degree of the links to prefer, or 0."""
        if not self.lowers:
            return 0
        highest = int(self.swaps.degree.max(initial=0))
        second_half = 2 * self.done >= self.schedule.steps
        ceiling = highest - 1 if second_half else highest
        above = np.maximum(np.arange(len(self.swaps.penalty)) - (ceiling - 4), 0)
        self.swaps.penalty[:] = _STEEPNESS * above * above
        self.swaps.penalty[max(ceiling, 0) :] = _UNWANTED
        self.swaps.penalty[highest:] = 4 * _UNWANTED  # more than both ends of a link that stood can cost
        return highest if second_half else 0

    def report(self) -> dict[str, Any]:
        """Visits and the curve: at most 101 points of (effort spent, links, maximum degree)."""
        kept = sorted({round(at) for at in np.linspace(0, len(self.curve) - 1, min(len(self.curve), 101))})
        return {"visits": int(self.swaps.counters[VISITS]), "curve": [list(self.curve[at]) for at in kept]}
