"""Running nats-server: its command, its version, its leaf connections, its own count of messages."""

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Collection, Sequence, Set
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from topicloom.brokers.nats.nats import Accounts, NatsGates, subject, takes_links
from topicloom.brokers.planned_network import Row
from topicloom.brokers.rehearsal.processes import free_ports, program, version_of
from topicloom.brokers.rehearsal.scene import HOST
from topicloom.brokers.rehearsal.stage import Runner, Stage
from topicloom.brokers.rehearsal.wire import Connection, Door, OnLost, OnMessage, Wire
from topicloom.errors import BrokerUnavailableError
from topicloom.extras import remedy

REMEDY = remedy("brokers")


class RunNats(Runner):
    """nats-server of the version that is installed here, each with its monitoring port on loopback."""

    gates = NatsGates()
    leaf_ports = True

    def __init__(self, nodes: Sequence[str]) -> None:
        self._program = nats_program()
        self._monitor = dict(zip(nodes, free_ports(len(nodes))))

    @staticmethod
    def installed() -> str:
        """Version of the nats-server that is found here."""
        return nats_version()

    @classmethod
    def refused_change(cls, *, switched: bool, secured: bool) -> str | None:
        """Servers take new links from 2.14 on, and passwords only when they start."""
        if not takes_links(nats_version()):
            return f"nats-server {nats_version()} takes no new links while it runs; 2.14 or newer does"
        if switched and secured:
            return "NATS servers get passwords when they start; rehearse a switch without credentials"
        return None

    def launch(self, stage: Stage, node: str) -> None:
        """Start with the exported file, or script where there are credentials."""
        slug = stage.site.slugs[node]
        monitor = ["-a", HOST, "-m", str(self._monitor[node])]
        if f"{slug}.start" in stage.export.files:
            stage.run(node, ["env", f"NATS_SERVER={self._program}", "sh", f"{slug}.start", *monitor])
        else:
            stage.run(node, [self._program, "-c", f"{slug}.conf", *monitor])

    async def connect(self, stage: Stage, node: str, on_message: OnMessage, on_lost: OnLost) -> Wire:
        """Subscribe to everything that clients of this server can hear."""
        return await NatsWire.connect(stage.scene.doors[node], on_message, on_lost)

    async def linked(self, stage: Stage) -> None:
        """Wait until every server has all its leaf connections, dialled and accepted."""
        await self.moved(stage, stage.site.network.nodes, frozenset())

    async def moved(self, stage: Stage, nodes: Collection[str], opened: Set[Row]) -> None:
        """Wait until these servers have connected and told each other what they want."""
        counts = _leaf_accounts(stage, nodes, opened)
        await asyncio.gather(*(self._linked(stage, node, wanted) for node, wanted in counts.items()))
        await stage.settle(nodes)

    async def _linked(self, stage: Stage, node: str, wanted: Counter[str]) -> None:
        """Wait until a server has read its file and has these numbers of leaf connections by account."""
        deadline = time.monotonic() + self.patience
        while not (await self._has_read(stage, node) and await self._has_leaves(node, wanted)):
            if time.monotonic() > deadline:
                raise BrokerUnavailableError(f"server {node!r} has not all its {wanted.total()} leaf connections")
            await asyncio.sleep(0.02)

    async def _has_read(self, stage: Stage, node: str) -> bool:
        """Whether the server has loaded its file since it was written; a file that is refused is never loaded."""
        written = (stage.crew.folder / f"{stage.site.slugs[node]}.conf").stat().st_mtime
        loaded = (await self.ask(node, "varz"))["config_load_time"]
        return datetime.fromisoformat(loaded).timestamp() >= written

    async def _has_leaves(self, node: str, wanted: Counter[str]) -> bool:
        leaves = (await self.ask(node, "leafz")).get("leafs") or ()
        return not wanted - Counter(leaf["account"] for leaf in leaves)

    def wire_name(self, topic: str) -> bytes:
        """The topic's subject."""
        return subject(topic).encode()

    async def received(self) -> int:
        """Sum of what every server says it has received, from clients and from other servers."""
        answers = await asyncio.gather(*(self.ask(node, "varz") for node in self._monitor))
        return sum(int(answer["in_msgs"]) for answer in answers)

    async def ask(self, node: str, page: str) -> dict[str, Any]:
        """One page of a server's monitoring, as JSON. A busy server may hang up half-way: it is asked again."""
        deadline = time.monotonic() + self.patience
        while time.monotonic() < deadline:
            reader, writer = await asyncio.open_connection(HOST, self._monitor[node])
            writer.write(f"GET /{page} HTTP/1.0\r\n\r\n".encode())
            text = await asyncio.wait_for(reader.read(), self.patience)
            writer.close()
            await writer.wait_closed()
            with suppress(ValueError):  # what ends half-way is no JSON
                return dict(json.loads(text.partition(b"\r\n\r\n")[2]))
            await asyncio.sleep(0.02)
        raise BrokerUnavailableError(f"server {node!r} does not answer on its monitoring port")


def _leaf_accounts(stage: Stage, nodes: Collection[str], opened: Set[Row]) -> dict[str, Counter[str]]:
    """How many leaf connections each of these servers should have in which account, to servers that run."""
    accounts = {node: Counter[str]() for node in nodes if node in stage.wires}
    for forest, dials in Accounts(stage.site, opened).dials.items():
        for dial in dials:
            for node in dial if all(end in stage.wires for end in dial) else ():
                if node in accounts:
                    accounts[node][f"G{forest}"] += 1
    return accounts


def nats_program() -> str:
    """Path of nats-server: beside this Python, or on the path."""
    beside = Path(sys.executable).with_name("nats-server")
    return str(beside) if beside.exists() else program("nats-server", REMEDY)


@lru_cache(maxsize=1)
def nats_version() -> str:
    """Version of the nats-server that is found here, such as ``2.15.1``."""
    return version_of(nats_program(), "--version", r"v(\d\S*)")


class NatsWire(Connection):
    """A connection that subscribes to everything in its account."""

    def __init__(self, door: Door, on_message: OnMessage, on_lost: OnLost) -> None:
        super().__init__(door, on_message, on_lost, awaited=1)
        (self._greeted,) = self._awaited
        self._need, self._subject = -1, b""

    @classmethod
    async def connect(cls, door: Door, on_message: OnMessage, on_lost: OnLost) -> "NatsWire":
        """Connect and subscribe to ``>``. Returns when the server has done so."""
        loop = asyncio.get_running_loop()
        _, wire = await loop.create_connection(lambda: cls(door, on_message, on_lost), door.host, door.port)
        try:
            await asyncio.wait_for(wire._greeted, 10)
            if door.tls is not None and wire.transport is not None:
                upgraded = await loop.start_tls(wire.transport, wire, door.tls, server_hostname=door.host)
                wire.transport = upgraded
            options = {"verbose": False, "pedantic": False, "name": "rehearsal", "lang": "python", "version": "0"}
            if door.user is not None:
                options |= {"user": "app", "pass": door.password}
            wire._write(b"CONNECT " + json.dumps(options).encode() + b"\r\nSUB > 1\r\n")
            await wire.ping()
        except BaseException:
            wire.close()
            raise
        return wire

    def publish(self, topic: bytes, payload: bytes) -> None:
        """Publish. The server confirms nothing."""
        self._write(b"PUB %b %d\r\n%b\r\n" % (topic, len(payload), payload))

    async def ping(self) -> None:
        """Wait for the answer to a PING."""
        await self._ping(b"PING\r\n")

    def data_received(self, data: bytes) -> None:
        """Handle every whole line and payload that has arrived."""
        buffer = self._buffer
        buffer += data
        start = 0
        while True:
            if self._need >= 0:
                if len(buffer) - start < self._need + 2:
                    break
                payload = bytes(buffer[start : start + self._need])
                start += self._need + 2
                self._need = -1
                self._on_message(self._subject, payload)
                continue
            end = buffer.find(b"\r\n", start)
            if end < 0:
                break
            self._line(bytes(buffer[start:end]))
            start = end + 2
        del buffer[:start]

    def _line(self, line: bytes) -> None:
        word = line[:4]
        if word == b"MSG ":
            parts = line.split(b" ")
            self._subject, self._need = parts[1], int(parts[-1])
        elif word == b"PING":
            self._write(b"PONG\r\n")
        elif word == b"PONG":
            self._pings.answered()
        elif word == b"INFO" and not self._greeted.done():
            self._greeted.set_result(None)
        elif word == b"-ERR":
            self.error = line.decode("utf-8", "replace")
