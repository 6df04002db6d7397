"""Changing the trees of a running network: rows off, barrier, rows on, under traffic."""

import asyncio
import time
from dataclasses import asdict, dataclass
from typing import Any

from topicloom.brokers.planned_network import Network, Row
from topicloom.brokers.rehearsal.probes import Probes
from topicloom.brokers.rehearsal.stage import Stage
from topicloom.errors import InvalidPlanError

_BEFORE, _AFTER = 0.15, 0.4


@dataclass(frozen=True)
class Switch:
    """What a change of trees did.

    Attributes
    ----------
    topics
        Topics whose trees changed.
    rows_off, rows_on
        Rows that were shut, and then opened.
    new_links
        Links that the old plan had no row for. Here they were up before; a running Mosquitto 2.0 that dials one needs a
        restart first.
    brokers_signalled
        Brokers whose gates moved.
    switch_seconds
        From the first signal to the end of the second step.
    probes
        Messages that were published meanwhile.
    lost
        Copies that did not arrive, all in the topics that changed.
    extra
        Extra copies.
    wrong_elsewhere
        Copies missing, extra or unwanted in topics that did not change, and unwanted ones anywhere.
    """

    topics: int
    rows_off: int
    rows_on: int
    new_links: int
    brokers_signalled: int
    switch_seconds: float
    probes: int
    lost: int
    extra: int
    wrong_elsewhere: int

    @property
    def ok(self) -> bool:
        """Whether no copy was extra and no other topic noticed."""
        return not (self.extra or self.wrong_elsewhere)

    def to_dict(self) -> dict[str, Any]:
        """Fields by name."""
        return {**asdict(self), "ok": self.ok}


def union(old: Network, new: Network) -> Network:
    """Both plans in one network: the old one's active rows are open, all others shut, and old owners keep dialling.

    Raises
    ------
    InvalidPlanError
        The plans are of different subscriptions.
    """
    if old.subscribers != new.subscribers or old.nodes != new.nodes:
        raise InvalidPlanError("the two plans are of different subscriptions; a switch changes trees only")
    owners = {frozenset(dial): dial[0] for network in (new, old) for dial in network.links}
    rows = {row[:3]: row._replace(active=False) for row in (*new.rows, *old.rows)}
    rows |= {row[:3]: row for row in old.rows if row.active}
    renamed = [row._replace(owner=owners[frozenset(row[1:3])], parent=None) for row in rows.values()]
    return Network(old.nodes, old.subscribers, tuple(sorted(renamed, key=lambda row: row[:4])))


async def switch(stage: Stage, old: Network, new: Network) -> Switch:
    """Move a running `union` of two plans from the old trees to the new ones, under traffic."""
    network = stage.site.network
    wanted = {row[:3] for row in new.rows if row.active}
    now = network.open_rows()
    then = frozenset(row for row in network.rows if row[:3] in wanted)
    changed = {row.topic for row in now ^ then}
    others = [topic for topic, nodes in network.subscribers.items() if len(nodes) > 1 and topic not in changed]
    touched = sorted(stage.gates.touched(stage.site, now, then))
    affected = sorted({node for topic in changed for node in network.subscribers[topic]})
    shut = stage.gates.between(stage.site, touched, now, then)
    opened = stage.gates.texts(stage.site, touched, then)
    stage.tally = stage.fresh_tally()
    async with Probes(stage, sorted(changed), others, lambda topic: frozenset(network.subscribers[topic])):
        await asyncio.sleep(_BEFORE)
        begun = time.monotonic()
        stage.set_gates(shut)
        await stage.kind.moved(stage, touched, then)
        await stage.settle(affected)
        stage.set_gates(opened)
        await stage.kind.moved(stage, opened, then)
        seconds = time.monotonic() - begun
        await asyncio.sleep(_AFTER)
    return _judged(stage, changed, now, then, old, len(touched), seconds)


def _judged(
    stage: Stage,
    changed: set[str],
    now: frozenset[Row],
    then: frozenset[Row],
    old: Network,
    signalled: int,
    seconds: float,
) -> Switch:
    messages = stage.tally.messages()
    inside = stage.tally.counts([number for number, sent in enumerate(messages) if sent.topic in changed])
    outside = stage.tally.counts([number for number, sent in enumerate(messages) if sent.topic not in changed])
    return Switch(
        topics=len(changed),
        rows_off=len(now - then),
        rows_on=len(then - now),
        new_links=len({frozenset(row.dial) for row in then} - {frozenset(dial) for dial in old.links}),
        brokers_signalled=signalled,
        switch_seconds=round(seconds, 4),
        probes=len(messages),
        lost=inside.missing,
        extra=inside.extra,
        wrong_elsewhere=outside.missing + outside.extra + outside.unwanted + inside.unwanted + stage.tally.strange,
    )
