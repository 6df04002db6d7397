"""Running Zenoh routers, all inside this process: each is a session of the package eclipse-zenoh."""

import asyncio
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from topicloom.brokers.planned_network import Network
from topicloom.brokers.rehearsal.processes import proportional_memory
from topicloom.brokers.rehearsal.stage import Runner, Stage
from topicloom.brokers.rehearsal.wire import OnLost, OnMessage, Wire
from topicloom.brokers.zenoh.zenoh import key, neighbours, router_id, shortest_ways, transit
from topicloom.errors import BrokerUnavailableError
from topicloom.extras import remedy

REMEDY = remedy("brokers")
_PATIENCE = 60.0


class RunZenoh(Runner):
    """Zenoh routers of the version that is installed here.

    A subscriber to everything would make every router ask for everything. So each session subscribes to the topics of
    its broker only, and what passes through other routers follows from the links (`zenoh.transit`).
    """

    def __init__(self, nodes: Sequence[str]) -> None:
        zenoh_version()
        self._sessions: dict[str, Any] = {}
        self._memory = proportional_memory(os.getpid())

    @staticmethod
    def installed() -> str:
        """Version of the package eclipse-zenoh that is installed here."""
        return zenoh_version()

    @classmethod
    def refused_change(cls, *, switched: bool, secured: bool) -> str | None:
        """Routers choose among all links."""
        return "there is no killing of brokers or switching of plans on zenoh; Zenoh finds other ways by itself"

    def launch(self, stage: Stage, node: str) -> None:
        """Open a router with the exported file."""
        import zenoh

        config = zenoh.Config.from_file(str(stage.crew.folder / f"{stage.site.slugs[node]}.json5"))
        try:
            self._sessions[node] = zenoh.open(config)
        except zenoh.ZError as error:
            raise BrokerUnavailableError(f"router {node!r} did not start: {str(error).splitlines()[0]}") from None

    async def connect(self, stage: Stage, node: str, on_message: OnMessage, on_lost: OnLost) -> Wire:
        """Subscribe to the topics that the broker wants."""
        wanted = [topic for topic, nodes in stage.site.network.subscribers.items() if node in nodes]
        return ZenohWire(self._sessions[node], [key(topic) for topic in wanted], on_message)

    async def linked(self, stage: Stage) -> None:
        """Wait until every router that dials is connected to those that it dials."""
        ids = {node: router_id(slug) for node, slug in stage.site.slugs.items()}

        down = list(stage.site.network.links)
        deadline = time.monotonic() + _PATIENCE
        while down and time.monotonic() < deadline:
            owners = {owner for owner, _ in down}
            near = {owner: set(map(str, self._sessions[owner].info.routers_zid())) for owner in owners}
            down = [(owner, peer) for owner, peer in down if ids[peer] not in near[owner]]
            await asyncio.sleep(0.02)
        if down:
            raise BrokerUnavailableError(f"{len(down):,} links between routers did not connect, first {down[0]}")

    def wire_name(self, topic: str) -> bytes:
        """The topic's key."""
        return key(topic).encode()

    def distances(self, stage: Stage, network: Network, topic: str, publisher: str) -> dict[str, int]:
        """Links on a shortest way from the publisher to each router."""
        return {node: links for node, (links, _) in shortest_ways(neighbours(network), publisher).items()}

    def transit(self, stage: Stage) -> tuple[int, int]:
        """Least and greatest number of copies on whose way a router lies that does not want the topic."""
        return transit(stage.site.network)

    def memory(self, stage: Stage) -> int:
        """Growth of this process since the first router."""
        return max(0, proportional_memory(os.getpid()) - self._memory)

    async def stop(self) -> None:
        """Close all routers at once: one after the other, each would still learn of the end of those before."""
        with ThreadPoolExecutor(max(1, len(self._sessions))) as threads:
            list(threads.map(lambda session: session.close(), self._sessions.values()))


class ZenohWire:
    """The session of a router, as its client."""

    def __init__(self, session: Any, keys: list[str], on_message: OnMessage) -> None:
        loop = asyncio.get_running_loop()

        def heard(sample: Any) -> None:
            name, payload = str(sample.key_expr).encode(), sample.payload.to_bytes()
            loop.call_soon_threadsafe(on_message, name, payload)

        self._session = session
        self._subscribers = [session.declare_subscriber(one, heard) for one in keys]

    def publish(self, topic: bytes, payload: bytes) -> None:
        """Publish. Waits while the queue is full."""
        import zenoh

        self._session.put(topic.decode(), payload, congestion_control=zenoh.CongestionControl.BLOCK)

    async def ping(self) -> None:
        """Wait until the session has told the router all that it was asked to."""
        await asyncio.to_thread(self._session.info.routers_zid)

    def close(self) -> None:
        """Subscribe to nothing any more."""
        for subscriber in self._subscribers:
            subscriber.undeclare()


def zenoh_version() -> str:
    """Version of the package eclipse-zenoh that is installed here, such as ``1.10.2``."""
    try:
        return version("eclipse-zenoh")
    except PackageNotFoundError:
        raise BrokerUnavailableError(f"the package eclipse-zenoh is not installed; {REMEDY}") from None
