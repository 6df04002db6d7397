"""Killing a broker under traffic: the exported gate files heal its topics, and its return does no harm."""

import asyncio
import csv
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from topicloom.brokers.gates import failover_path, shut_path
from topicloom.brokers.planned_network import Network, Row
from topicloom.brokers.rehearsal.probes import Probes
from topicloom.brokers.rehearsal.stage import Stage
from topicloom.brokers.rehearsal.tally import Tally

_BEFORE, _AFTER, _RETURNED = 0.15, 0.5, 0.3


@dataclass(frozen=True)
class Failover:
    """What the death of one broker did.

    Attributes
    ----------
    node
        The broker that was killed.
    topics, cut_topics
        Topics that it took part in with two or more others; those of them whose tree passed through it.
    probes
        Messages that were published meanwhile, one tick every ten milliseconds.
    outage_seconds
        From the kill to the last message that did not reach every surviving subscriber of its topic; None where it did
        not end while we watched.
    lost
        Copies that did not arrive, all inside the outage and in the dead broker's topics.
    duplicates
        Extra copies.
    wrong_elsewhere
        Copies missing, extra or unwanted in topics that the dead broker took no part in, and unwanted ones anywhere.
    clients_cut
        Connections to surviving brokers that broke.
    brokers_signalled
        Brokers whose gates moved.
    return_wrong
        Copies missing, extra or unwanted after the broker came back with its gates shut.
    healed
        Whether no topic stayed cut.
    still_cut
        Topics whose survivors the standby rows cannot join, or of which a message that was published after the gates
        had moved did not reach all of them.
    watched_seconds
        From the kill to the last message.
    """

    node: str
    topics: int
    cut_topics: int
    probes: int
    outage_seconds: float | None
    lost: int
    duplicates: int
    wrong_elsewhere: int
    clients_cut: int
    brokers_signalled: int
    return_wrong: int
    healed: bool
    still_cut: int
    watched_seconds: float

    @property
    def ok(self) -> bool:
        """Whether the network healed and nothing but the outage itself went wrong."""
        return self.healed and not (self.duplicates or self.wrong_elsewhere or self.clients_cut or self.return_wrong)

    def to_dict(self) -> dict[str, Any]:
        """Fields by name."""
        return {**asdict(self), "ok": self.ok}


class _Times(NamedTuple):
    killed: float
    moved: float
    ended: float


async def fail_over(stage: Stage, victim: str) -> Failover:
    """Kill a broker under traffic, open the gates of its exported fail-over files, bring it back, take it in again.

    The gates are moved as soon as the connection to the dead broker breaks, as a controller would. Afterwards the
    network is as before.
    """
    network = stage.site.network
    mine = [topic for topic, nodes in network.subscribers.items() if victim in nodes and len(nodes) > 2]
    elsewhere = [topic for topic, nodes in network.subscribers.items() if victim not in nodes and len(nodes) > 1]
    cut = [topic for topic in mine if _degree(network, topic, victim) > 1]
    first = cut + [topic for topic in mine if topic not in set(cut)]
    after = network.open_rows(victim)
    steps = _failover_files(stage, victim)  # a controller, too, has them at hand

    def survivors(topic: str) -> frozenset[str]:
        return frozenset(network.subscribers[topic]) - {victim}

    affected = sorted({node for topic in cut for node in survivors(topic)})
    stage.lost.clear()
    stage.tally, stage.deaf = stage.fresh_tally(), {victim}
    async with Probes(stage, first, elsewhere, survivors):
        await asyncio.sleep(_BEFORE)
        gone = asyncio.Event()
        stage.on_loss = lambda _: gone.set()
        killed = time.monotonic()
        stage.crew.kill(stage.site.slugs[victim])
        await asyncio.wait_for(gone.wait(), 10)
        await stage.settle(affected)  # what is under way by the old rows could arrive by the new ones again
        for texts in steps:
            stage.set_gates(texts)
            await stage.kind.moved(stage, texts, after)
        moved = time.monotonic()
        await asyncio.sleep(_AFTER)
        ended = time.monotonic()
    stage.on_loss = None
    tally, clients_cut = stage.tally, len(set(stage.lost) - {victim})
    returned = await _return(stage, victim, first, elsewhere)
    await _take_back(stage, victim, set(steps[-1]))
    times = _Times(killed, moved, ended)
    return _judged(network, victim, tally, times, cut, mine, clients_cut, len(steps[-1]), returned)


async def _return(stage: Stage, victim: str, first: list[str], elsewhere: list[str]) -> int:
    """Start a dead broker again. Returns what went wrong while it was back and not yet taken in.

    Behind a fence it is alone in all its topics. Without one it is alone in those that go other ways now.
    """
    slug, network, folder = stage.site.slugs[victim], stage.site.network, stage.crew.folder
    fenced = stage.gates.fenced
    if fenced and victim in stage.site.accepted_by:
        (folder / stage.gates.path(slug)).write_bytes((folder / stage.gates.fenced_path(slug)).read_bytes())
    healed = {row.topic for row in network.open_rows(victim) if not row.active}
    alone = [topic for topic in first if fenced or topic in healed]
    for key in [key for key in stage.states if key[0] == victim]:
        del stage.states[key]
    stage.kind.launch(stage, victim)
    await stage.attach(victim)
    stage.tally, stage.deaf = stage.fresh_tally(), set()
    async with Probes(stage, alone, elsewhere, lambda topic: frozenset(network.subscribers[topic]) - {victim}):
        await stage.kind.returned(stage, victim)
        for topic in first:
            stage.send(topic, victim, frozenset([victim] if topic in alone else network.subscribers[topic]))
            await asyncio.sleep(0.002)
        await asyncio.sleep(_RETURNED)
    counts = stage.tally.counts()
    return counts.missing + counts.extra + counts.unwanted


async def _take_back(stage: Stage, victim: str, moved: set[str]) -> None:
    """Shut the standby rows, wait for everybody, then open the rows of the broker that is back."""
    normal, after = stage.site.network.open_rows(), stage.site.network.open_rows(victim)
    touched = sorted(moved | {victim})
    for texts in (
        stage.gates.between(stage.site, touched, after, normal),
        stage.gates.texts(stage.site, touched, normal),
    ):
        stage.set_gates(texts)
        await stage.kind.moved(stage, touched, normal)


def _judged(
    network: Network,
    victim: str,
    tally: Tally,
    times: _Times,
    cut: list[str],
    mine: list[str],
    clients_cut: int,
    signalled: int,
    returned: int,
) -> Failover:
    messages = tally.messages()
    own = set(mine)
    inside = [number for number, sent in enumerate(messages) if sent.topic in own]
    outside = tally.counts([number for number, sent in enumerate(messages) if sent.topic not in own])
    wrong = [messages[number] for number in inside if tally.wrong(number)]
    counts = tally.counts(inside)
    outage = max((sent.at - times.killed for sent in wrong), default=0.0)
    still_cut = {*network.cut_topics(victim), *(sent.topic for sent in wrong if sent.at > times.moved)}
    elsewhere = outside.missing + outside.extra + outside.unwanted + counts.unwanted + tally.strange
    return Failover(
        victim,
        len(mine),
        len(cut),
        len(messages),
        None if still_cut else round(max(0.0, outage), 4),
        counts.missing,
        counts.extra,
        elsewhere,
        clients_cut,
        signalled,
        returned,
        not still_cut,
        len(still_cut),
        round(times.ended - times.killed, 4),
    )


def _failover_files(stage: Stage, victim: str) -> list[dict[str, str]]:
    """Broker to the exported text for another one's death, for each step."""
    nodes = {slug: node for node, slug in stage.site.slugs.items()}
    with (stage.crew.folder / "failover.csv").open(encoding="utf-8", newline="") as file:
        rows: list[Mapping[str, str]] = list(csv.DictReader(file))
    dead, folder = stage.site.slugs[victim], stage.crew.folder
    slugs = [row["broker"] for row in rows if row["dead"] == dead]
    paths = [shut_path, failover_path] if stage.gates.steps else [failover_path]
    texts = [
        {slug: (folder / path(stage.gates, dead, slug)).read_text(encoding="utf-8") for slug in slugs} for path in paths
    ]
    return [{nodes[slug]: text for slug, text in step.items()} for step in texts]


def _degree(network: Network, topic: str, node: str) -> int:
    rows: tuple[Row, ...] = network.topic_rows.get(topic, ())
    return sum(row.active and node in (row.src, row.dst) for row in rows)
