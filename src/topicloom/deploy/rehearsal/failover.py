"""Killing a broker under traffic: the exported gate files heal its topics, and its return does no harm."""

import asyncio
import csv
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from topicloom.deploy.mosquitto import fenced_path, gate_file, gate_path
from topicloom.deploy.planned_network import Network, Row
from topicloom.deploy.rehearsal.probes import Probes
from topicloom.deploy.rehearsal.run_mosquitto import exported_gates, set_gates, state_key
from topicloom.deploy.rehearsal.stage import Stage
from topicloom.deploy.rehearsal.tally import Tally

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
        From the kill to the last message that did not reach every surviving subscriber of its topic.
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
        Whether every message that was published after the gates had moved reached all surviving subscribers.
    """

    node: str
    topics: int
    cut_topics: int
    probes: int
    outage_seconds: float
    lost: int
    duplicates: int
    wrong_elsewhere: int
    clients_cut: int
    brokers_signalled: int
    return_wrong: int
    healed: bool

    @property
    def ok(self) -> bool:
        """Whether the network healed and nothing but the outage itself went wrong."""
        return self.healed and not (self.duplicates or self.wrong_elsewhere or self.clients_cut or self.return_wrong)

    def to_dict(self) -> dict[str, Any]:
        """Fields by name."""
        return {**asdict(self), "ok": self.ok}


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
    paths = _failover_files(stage, victim)
    gates = exported_gates(stage, paths)  # a controller, too, has them at hand

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
        set_gates(stage, gates)
        await stage.barrier(node for node, _ in paths)
        moved = time.monotonic()
        await asyncio.sleep(_AFTER)
    stage.on_loss = None
    tally, clients_cut = stage.tally, len(set(stage.lost) - {victim})
    returned = await _return(stage, victim, first, elsewhere)
    await _take_back(stage, victim, {node for node, _ in paths})
    return _judged(victim, tally, killed, moved, cut, mine, clients_cut, len(paths), returned)


async def _return(stage: Stage, victim: str, first: list[str], elsewhere: list[str]) -> int:
    """Start a dead broker again behind shut gates. Returns what went wrong while it was there and cut off."""
    slug, network = stage.site.slugs[victim], stage.site.network
    if victim in stage.site.accepted_by:
        (stage.crew.folder / gate_path(slug)).write_bytes((stage.crew.folder / fenced_path(slug)).read_bytes())
    keys = [state_key(stage, *dial) for dial in network.links if victim in dial]
    for key in keys:
        stage.states.pop(key, None)
    stage.kind.launch(stage, victim)
    await stage.attach(victim)
    stage.tally, stage.deaf = stage.fresh_tally(), set()

    def wanted(topic: str) -> frozenset[str]:
        return frozenset(network.subscribers[topic]) - {victim}

    async with Probes(stage, first, elsewhere, wanted):
        await stage.until(lambda: all(stage.states.get(key) for key in keys), patience=15)
        for topic in first:
            stage.send(topic, victim, frozenset([victim]))
            await asyncio.sleep(0.002)
        await asyncio.sleep(_RETURNED)
    counts = stage.tally.counts()
    return counts.missing + counts.extra + counts.unwanted


async def _take_back(stage: Stage, victim: str, moved: set[str]) -> None:
    """Shut the standby rows, wait for everybody, then open the rows of the broker that is back."""
    normal, after = stage.site.network.open_rows(), stage.site.network.open_rows(victim)
    touched = moved | ({victim} & set(stage.site.accepted_by))
    for opened in (normal & after, normal):
        set_gates(stage, {node: gate_file(stage.site, node, opened) for node in sorted(touched)})
        await stage.barrier(touched)


def _judged(
    victim: str,
    tally: Tally,
    killed: float,
    moved: float,
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
    wrong = [messages[number].at for number in inside if tally.wrong(number)]
    counts = tally.counts(inside)
    outage = max(0.0, max(wrong, default=killed) - killed)
    elsewhere = outside.missing + outside.extra + outside.unwanted + counts.unwanted + tally.strange
    healed = max(wrong, default=killed) <= moved
    return Failover(
        victim,
        len(mine),
        len(cut),
        len(messages),
        round(outage, 4),
        counts.missing,
        counts.extra,
        elsewhere,
        clients_cut,
        signalled,
        returned,
        healed,
    )


def _failover_files(stage: Stage, victim: str) -> list[tuple[str, str]]:
    """(broker, path) of the exported rules for a broker's death."""
    nodes = {slug: node for node, slug in stage.site.slugs.items()}
    with (stage.crew.folder / "failover.csv").open(encoding="utf-8", newline="") as file:
        rows: list[Mapping[str, str]] = list(csv.DictReader(file))
    return [(nodes[row["broker"]], row["file"]) for row in rows if row["dead"] == stage.site.slugs[victim]]


def _degree(network: Network, topic: str, node: str) -> int:
    rows: tuple[Row, ...] = network.topic_rows.get(topic, ())
    return sum(row.active and node in (row.src, row.dst) for row in rows)
