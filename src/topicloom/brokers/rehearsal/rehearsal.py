"""`rehearse`: a plan on real brokers, every topic published at every subscriber, every copy counted."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from topicloom.brokers.inventory import Inventory
from topicloom.brokers.kinds import KINDS
from topicloom.brokers.planned_network import Network
from topicloom.brokers.rehearsal.failover import Failover, fail_over
from topicloom.brokers.rehearsal.processes import Crew
from topicloom.brokers.rehearsal.scene import on_loopback
from topicloom.brokers.rehearsal.stage import Runner, Stage
from topicloom.brokers.rehearsal.switch import Switch, switch, union
from topicloom.brokers.rehearsal.tally import Counts, Tally, Travel
from topicloom.brokers.targets import export
from topicloom.errors import InvalidOptionError, InvalidPlanError
from topicloom.routing import Plan
from topicloom.routing.ownership import check_kinds

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Rehearsal:
    """What a rehearsal showed.

    Attributes
    ----------
    broker
        Kind and version of the brokers that ran.
    brokers, links
        Numbers of brokers and of links between them.
    counts
        Copies, published and heard, with every broker up and the plan's trees (after a switch: the new plan's).
    travel
        Hops and latency of these copies.
    up_seconds, seconds
        Until all rows worked; in all.
    memory
        Bytes of all brokers together.
    failovers
        One for each broker that was killed.
    switched
        The change of trees, if there was one.
    excess
        NATS: messages that servers received beyond one per wanted copy, by the servers' own count; None elsewhere.
    transit
        Zenoh: copies, at least and at most, that pass through a broker that did not ask; None elsewhere.
    """

    broker: str
    brokers: int
    links: int
    counts: Counts
    travel: Travel
    up_seconds: float
    seconds: float
    memory: int
    failovers: tuple[Failover, ...] = ()
    switched: Switch | None = None
    excess: int | None = None
    transit: tuple[int, int] | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing was missing, extra or unwanted, and every failure and change went as promised."""
        switched = self.switched is None or self.switched.ok
        return self.counts.ok and switched and not self.excess and all(one.ok for one in self.failovers)

    def to_dict(self) -> dict[str, Any]:
        """Fields by name, as ``--json`` prints them."""
        facts: dict[str, Any] = {
            "broker": self.broker,
            "brokers": self.brokers,
            "links": self.links,
            **self.counts.to_dict(),
            "hops": {"mean": self.travel.mean_hops, "max": self.travel.max_hops},
            "latency_ms": {"median": self.travel.median_ms, "p95": self.travel.p95_ms, "max": self.travel.max_ms},
            "memory_mb": round(self.memory / 1e6, 1),
            "up_seconds": round(self.up_seconds, 3),
            "seconds": round(self.seconds, 3),
        }
        if self.failovers:
            facts["failovers"] = [one.to_dict() for one in self.failovers]
        if self.switched is not None:
            facts["switch"] = self.switched.to_dict()
        if self.excess is not None:
            facts["in_msgs_excess"] = self.excess
        if self.transit is not None:
            facts["transit"] = {"least": self.transit[0], "most": self.transit[1]}
        return facts


def rehearse(
    plan: Network | Plan,
    to: str = "mosquitto",
    *,
    inventory: Inventory | None = None,
    kill: Sequence[str] = (),
    new: Network | Plan | None = None,
    tell: Tell = lambda sentence: None,
) -> Rehearsal:
    """Run a plan on real brokers on loopback and count every copy.

    Every topic with at least two subscribers is published at each of them, and a connection to every broker hears all
    that passes there. With ``new`` the trees are switched under traffic first. With ``kill`` brokers are then killed in
    turn under traffic and their topics healed by the exported gate files.

    Parameters
    ----------
    plan
        A plan, or its `Network`.
    to
        Kind of broker: ``"mosquitto"``, ``"nats"``, ``"zenoh"`` or ``"rabbitmq"``. It has to be installed.
    inventory
        Who has TLS and credentials. Hosts, ports and secrets are replaced: nothing leaves 127.0.0.1.
    kill
        Brokers to kill, one after the other, on Mosquitto or NATS from 2.14 on. The plan needs standby rows.
    new
        Another plan of the same subscriptions to switch to, on Mosquitto or NATS from 2.14 on.
    tell
        Called with a sentence at each stage.

    Returns
    -------
    Rehearsal
        All processes have ended and all files are gone.

    Raises
    ------
    BrokerUnavailableError
        The broker is not installed, or one does not start.

    See Also
    --------
    export : the files that are run.
    audit : what is wrong with files of any origin.

    Notes
    -----
    The cost is that of running a broker for every node: seconds for a hundred of Mosquitto.

    Examples
    --------
    >>> import topicloom as tl
    >>> plan = tl.Plan(tl.routes(tl.design(tl.datasets.example())))
    >>> tl.rehearse(plan, to="mosquitto").ok  # doctest: +SKIP
    True
    """
    begun = time.monotonic()
    network, other = Network.of(plan), None if new is None else Network.of(new)
    _check(network, to, inventory, kill, other)
    with Crew() as crew:
        return asyncio.run(_rehearse(network, to, inventory, kill, other, tell, crew, begun))


def _check(network: Network, to: str, inventory: Inventory | None, kill: Sequence[str], new: Network | None) -> None:
    runner = _runner(to)
    if inventory is not None:
        check_kinds(network.nodes, inventory.brokers, to)
    if kill or new is not None:
        secured = inventory is not None and any(one.credential for one in inventory.brokers.values())
        reason = runner.refused_change(switched=new is not None, secured=secured)
        if reason is not None:
            raise InvalidOptionError(reason)
    unknown = [node for node in kill if node not in set(network.nodes)]
    if unknown:
        raise InvalidOptionError(f"there is no broker {unknown[0]!r} to kill in the plan")
    if kill and not network.has_standby and new is None:
        raise InvalidPlanError("the plan has no standby rows to heal with; make it with topicloom routes --standby 1")
    if kill and new is not None:
        raise InvalidOptionError("kill and switch exclude each other: rehearse one after the other")


def _runner(to: str) -> type[Runner]:
    """How brokers of a kind are run. An error lists the kinds that are."""
    runner = KINDS[to].runner if to in KINDS else None
    if runner is None:
        runnable = [name for name, kind in KINDS.items() if kind.runner is not None]
        raise InvalidOptionError(f"there is no rehearsal on {to!r}; there are {', '.join(runnable)}")
    return runner


async def _rehearse(
    network: Network,
    to: str,
    inventory: Inventory | None,
    kill: Sequence[str],
    new: Network | None,
    tell: Tell,
    crew: Crew,
    begun: float,
) -> Rehearsal:
    running = network if new is None else union(network, new)
    stage, version = _stage(running, to, inventory, crew)
    tell(f"starting {len(running.nodes):,} brokers, {len(running.links):,} links")
    try:
        await stage.start()
        up = time.monotonic() - begun
        switched = None if new is None else await switch(stage, network, new)
        failovers = []
        for number, node in enumerate(kill, 1):
            tell(f"killing broker {number} of {len(kill)}: {node}")
            failovers.append(await fail_over(stage, node))
        tell("publishing every topic at every subscriber")
        excess = await _publish(stage)
        memory = stage.kind.memory(stage)
        travel = Travel.of(stage.tally, partial(stage.kind.distances, stage, new or network))
        transit = stage.kind.transit(stage)
    finally:
        await stage.stop()
    return Rehearsal(
        broker=f"{to} {version}",
        brokers=len(running.nodes),
        links=len(running.links),
        counts=stage.tally.counts(),
        travel=travel,
        up_seconds=up,
        seconds=time.monotonic() - begun,
        memory=memory,
        failovers=tuple(failovers),
        switched=switched,
        excess=excess,
        transit=transit,
    )


async def _publish(stage: Stage) -> int | None:
    """Publish every topic at every subscriber. Returns what brokers that count received beyond the wanted copies."""
    stage.tally = stage.fresh_tally()
    topics = [(topic, nodes) for topic, nodes in stage.site.network.subscribers.items() if len(nodes) > 1]
    before = await stage.kind.received()
    await stage.publish_all((topic, node) for topic, nodes in topics for node in nodes)
    after = await stage.kind.received()
    return None if before is None or after is None else after - before - stage.tally.expected


def _stage(network: Network, to: str, inventory: Inventory | None, crew: Crew) -> tuple[Stage, str]:
    """A stage that is ready to start, and the version of its brokers."""
    runner = _runner(to)
    kind, version = runner(network.nodes), runner.installed()
    scene = on_loopback(network, inventory, crew.folder, leaves=runner.leaf_ports, secured=runner.needs_credentials)
    exported = export(network, to, scene.inventory, version=version, prefix=f"{crew.folder}/")
    stage = Stage(kind, exported.site, exported, crew, scene, Tally({}))
    stage.tally = stage.fresh_tally()
    return stage, version
