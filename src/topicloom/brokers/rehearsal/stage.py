"""A network of real brokers on loopback, with a connection to each that hears everything."""

import asyncio
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from topicloom.brokers.gates import Gates
from topicloom.brokers.planned_network import Network, Row, Site
from topicloom.brokers.rehearsal.processes import Crew
from topicloom.brokers.rehearsal.scene import Scene
from topicloom.brokers.rehearsal.tally import Tally, tree_distances
from topicloom.brokers.rehearsal.wire import OnLost, OnMessage, Wire
from topicloom.brokers.targets import Export, export_files, write_files
from topicloom.errors import BrokerUnavailableError

_PATIENCE = 30.0
_AT_ONCE = 24
_WINDOW = 240
_STALLED = 3.0
_QUIET = 0.25
_SETTLE = 0.12
_STORM = 5_000


class Runner(ABC):
    """How brokers of one kind are run, connected to, waited for and asked.

    Attributes
    ----------
    patience
        Seconds after which a broker that does not answer, or a row that does not work, is given up.
    gates
        How rows are opened and shut while brokers run; None where they are not.
    leaf_ports
        Whether each broker gets a second port for other brokers.
    needs_credentials
        Whether brokers that have no credential get one.
    """

    patience = 30.0
    gates: Gates | None = None
    leaf_ports = False
    needs_credentials = False

    @abstractmethod
    def __init__(self, nodes: Sequence[str]) -> None:
        """Prepare to run these brokers. An error says what is not installed."""

    @staticmethod
    @abstractmethod
    def installed() -> str:
        """Version of the brokers that are installed here. An error says what to do when there are none."""

    @classmethod
    def refused_change(cls, *, switched: bool, secured: bool) -> str | None:
        """Say why brokers cannot be killed, or with ``switched`` given other trees, while they run. None if they can.

        ``secured`` says that the inventory has credentials.
        """
        return None

    @abstractmethod
    def launch(self, stage: "Stage", node: str) -> None:
        """Start one broker with its exported file."""

    @abstractmethod
    async def connect(self, stage: "Stage", node: str, on_message: OnMessage, on_lost: OnLost) -> Wire:
        """Connect to a broker and hear all that passes there."""

    @abstractmethod
    async def linked(self, stage: "Stage") -> None:
        """Wait until every link of the network is up."""

    @abstractmethod
    def wire_name(self, topic: str) -> bytes:
        """The name of a topic on the wire."""

    async def moved(self, stage: "Stage", nodes: Collection[str], opened: Set[Row]) -> None:
        """Wait until these brokers, which were told to open these rows and no others, have done so."""
        await stage.barrier(nodes)

    async def returned(self, stage: "Stage", node: str) -> None:
        """Wait until a broker that was started again has its links."""
        await self.linked(stage)

    def warm_ups(self, stage: "Stage") -> list[tuple[str, str, frozenset[str]]]:
        """(topic, publisher, receivers): when each message has reached its receivers, every row works.

        Every topic at every subscriber, for brokers that tell each other what they want.
        """
        subscribers = stage.site.network.subscribers.items()
        return [(topic, node, frozenset(nodes)) for topic, nodes in subscribers if len(nodes) > 1 for node in nodes]

    async def received(self) -> int | None:
        """Messages that the brokers say they have received; None where they do not say."""
        return None

    def distances(self, stage: "Stage", network: Network, topic: str, publisher: str) -> dict[str, int]:
        """Links that a message of a topic crosses from its publisher to each broker: those of the topic's tree."""
        return tree_distances(network.topic_rows.get(topic, ()), publisher)

    def transit(self, stage: "Stage") -> tuple[int, int] | None:
        """Bound the copies that pass through brokers that did not ask. Returns None where rows rule these out."""
        return None

    def memory(self, stage: "Stage") -> int:
        """Bytes of memory of all brokers together."""
        return stage.crew.memory()

    async def stop(self) -> None:
        """End brokers that are no processes of the crew; connections are closed already."""
        return


@dataclass
class Stage:
    """Running brokers. `tally` counts what the connections hear. It can be replaced between parts of a rehearsal."""

    kind: Runner
    site: Site
    export: Export
    crew: Crew
    scene: Scene
    tally: Tally
    wires: dict[str, Wire] = field(default_factory=dict)
    states: dict[tuple[str, str], bool] = field(default_factory=dict)
    lost: dict[str, float] = field(default_factory=dict)
    deaf: set[str] = field(default_factory=set)
    on_loss: Callable[[str], None] | None = None

    async def start(self) -> None:
        """Start all brokers, level by level, connect to each and wait for the links and the rows."""
        write_files(export_files(self.export), self.crew.folder)
        nodes = {slug: node for node, slug in self.site.slugs.items()}
        for level in self.export.levels:
            for begin in range(0, len(level), _AT_ONCE):
                some = [nodes[slug] for slug in level[begin : begin + _AT_ONCE]]
                for node in some:
                    self.kind.launch(self, node)
                await asyncio.gather(*map(self.attach, some))
        await self.kind.linked(self)
        await self.warm_up(self.kind.warm_ups(self))

    def run(self, node: str, command: list[str]) -> None:
        """Start the process of one broker in the stage's folder."""
        self.crew.start(self.site.slugs[node], command, self.scene.environment)

    async def attach(self, node: str) -> None:
        """Connect to a broker as soon as it listens."""

        def on_message(topic: bytes, payload: bytes) -> None:
            if topic.startswith(b"$SYS/"):
                self.states[node, topic.decode()] = payload == b"1"
            elif node not in self.deaf:
                self.tally.hear(node, topic, payload)

        def on_lost() -> None:
            self.lost[node] = time.monotonic()
            self.wires.pop(node, None)
            if self.on_loss is not None:
                self.on_loss(node)

        deadline = time.monotonic() + self.kind.patience
        while True:
            try:
                self.wires[node] = await self.kind.connect(self, node, on_message, on_lost)
                self.lost.pop(node, None)
            except (OSError, TimeoutError) as error:
                words = self.crew.last_words(self.site.slugs[node])
                if words is not None or time.monotonic() > deadline:
                    raise BrokerUnavailableError(f"broker {node!r} did not start: {words or error}") from None
                await asyncio.sleep(0.01)
            else:
                return

    async def until(self, condition: Callable[[], bool], *, patience: float = _PATIENCE) -> bool:
        """Wait for a condition. Returns whether it came true in time."""
        deadline = time.monotonic() + patience
        while not condition():
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(0.005)
        return True

    def send(self, topic: str, publisher: str, wanted: frozenset[str]) -> int:
        """Publish one message at a broker. Returns its number in the tally."""
        payload = self.tally.sent(topic, publisher, wanted)
        self.wires[publisher].publish(self.kind.wire_name(topic), payload)
        return self.tally.published - 1

    async def publish_all(self, messages: Iterable[tuple[str, str]]) -> None:
        """Publish (topic, publisher) pairs, never with more copies on the way than a broker queues, and wait."""
        subscribers = {topic: frozenset(nodes) for topic, nodes in self.site.network.subscribers.items()}
        for topic, publisher in messages:
            self.send(topic, publisher, subscribers[topic])
            if self.tally.outstanding > _WINDOW:
                await self.drain(_WINDOW // 2)
            if self.tally.heard > _STORM + 4 * self.tally.expected:
                return
        await self.drain(0)
        await self.quiet()

    async def drain(self, left: int) -> None:
        """Wait until at most this many copies are outstanding; what does not come in time counts as missing."""
        heard, since = self.tally.heard, time.monotonic()
        while self.tally.outstanding > left:
            await asyncio.sleep(0.002)
            if self.tally.heard != heard:
                heard, since = self.tally.heard, time.monotonic()
            elif time.monotonic() - since > _STALLED:
                self.tally.outstanding = 0
            if heard > _STORM + 4 * self.tally.expected:
                return

    async def quiet(self) -> None:
        """Wait until nothing has been heard for a quarter of a second: time for extra copies to show."""
        heard, since, begun = self.tally.heard, time.monotonic(), time.monotonic()
        while time.monotonic() - since < _QUIET and time.monotonic() - begun < 8 * _QUIET:
            await asyncio.sleep(0.01)
            if self.tally.heard != heard:
                heard, since = self.tally.heard, time.monotonic()

    @property
    def gates(self) -> Gates:
        """How this kind of broker opens and shuts rows. Only kinds that do so get here."""
        assert self.kind.gates is not None
        return self.kind.gates

    def set_gates(self, texts: Mapping[str, str]) -> None:
        """Give brokers new texts and tell those to read them that had others. Needs a `Runner.moved` afterwards."""
        paths = {node: self.crew.folder / self.gates.path(self.site.slugs[node]) for node in texts}
        changed = [node for node, text in texts.items() if paths[node].read_text(encoding="utf-8") != text]
        for node in changed:
            paths[node].write_text(texts[node], encoding="utf-8")
        for node in changed:
            self.crew.signal(self.site.slugs[node], signal.SIGHUP)

    async def barrier(self, nodes: Iterable[str]) -> None:
        """Wait until these brokers have handled the signals that they were sent before.

        A broker may answer a first ping in the round in which it notices the signal; the second comes after.
        """
        await self._pinged(nodes, 2)

    async def _pinged(self, nodes: Iterable[str], times: int) -> None:
        wires = [self.wires[node] for node in nodes if node in self.wires]
        for _ in range(times):
            await asyncio.gather(*(wire.ping() for wire in wires))

    async def settle(self, nodes: Iterable[str]) -> None:
        """Wait until messages that are under way between these brokers have arrived.

        The socket of a Mosquitto bridge has no TCP_NODELAY, so a small packet may wait 40 ms for an acknowledgement.
        The pings take longer the busier the machine is.
        """
        await asyncio.sleep(_SETTLE)
        await self._pinged(nodes, 3)

    async def warm_up(self, probes: list[tuple[str, str, frozenset[str]]]) -> None:
        """Publish probes, again and again, until each has reached its receivers once; they are not counted."""
        counted, self.tally = self.tally, self.fresh_tally()
        everybody = {topic: frozenset(nodes) for topic, nodes in self.site.network.subscribers.items()}
        deadline = time.monotonic() + self.kind.patience
        while probes and time.monotonic() < deadline:  # what is still missing then will be counted as missing
            waiting = []
            for begin in range(0, len(probes), _WINDOW // 8):
                some = probes[begin : begin + _WINDOW // 8]
                sent = [self.send(topic, node, everybody[topic]) for topic, node, _ in some]
                await self.until(self._arrived, patience=0.3)
                waiting += [probe for number, probe in zip(sent, some) if not self.tally.reached(number, probe[2])]
                self.tally.outstanding = 0
            probes = waiting
        await self.quiet()
        self.tally = counted

    def _arrived(self) -> bool:
        return self.tally.outstanding <= 0

    def fresh_tally(self) -> Tally:
        """A tally that has counted nothing."""
        return Tally({self.kind.wire_name(topic): topic for topic in self.site.network.subscribers})

    async def stop(self) -> None:
        """Close every connection."""
        for wire in self.wires.values():
            wire.close()
        self.wires.clear()
        for _ in range(3):  # the loop drops a connection in its next rounds
            await asyncio.sleep(0)
        await self.kind.stop()
