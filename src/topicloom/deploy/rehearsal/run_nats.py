"""Running nats-server: its command, its version, its leaf connections, its own count of messages."""

import asyncio
import json
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from topicloom.deploy.nats import forests, subject
from topicloom.deploy.rehearsal.nats_wire import NatsWire
from topicloom.deploy.rehearsal.processes import free_ports, program
from topicloom.deploy.rehearsal.scene import HOST
from topicloom.deploy.rehearsal.stage import Kind, Stage
from topicloom.deploy.rehearsal.wire import OnLost, OnMessage, Wire
from topicloom.errors import BrokerUnavailableError

REMEDY = "pip install 'topicloom[brokers]' brings one"


class RunNats(Kind):
    """nats-server of the version that is installed here, each with its monitoring port on loopback."""

    def __init__(self, nodes: tuple[str, ...]) -> None:
        self._program = nats_program()
        self._monitor = dict(zip(nodes, free_ports(len(nodes))))

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
        wanted = _leaf_counts(stage)
        for node, number in wanted.items():
            for _ in range(3000):
                if len((await self.ask(node, "leafz")).get("leafs") or ()) >= number:
                    break
                await asyncio.sleep(0.01)
            else:
                raise BrokerUnavailableError(f"server {node!a} has not all its {number} leaf connections")

    def wire_name(self, topic: str) -> bytes:
        """The topic's subject."""
        return subject(topic).encode()

    async def received(self) -> int:
        """Sum of what every server says it has received, from clients and from other servers."""
        answers = await asyncio.gather(*(self.ask(node, "varz") for node in self._monitor))
        return sum(int(answer["in_msgs"]) for answer in answers)

    async def ask(self, node: str, page: str) -> dict[str, Any]:
        """One page of a server's monitoring, as JSON."""
        reader, writer = await asyncio.open_connection(HOST, self._monitor[node])
        writer.write(f"GET /{page} HTTP/1.0\r\n\r\n".encode())
        text = await asyncio.wait_for(reader.read(), 10)
        writer.close()
        await writer.wait_closed()
        return dict(json.loads(text.split(b"\r\n\r\n", 1)[1]))


def _leaf_counts(stage: Stage) -> dict[str, int]:
    """Leaf connections that every server should have: one per link and forest, at both ends."""
    forest_of = forests(stage.site.network)
    counts = dict.fromkeys(stage.site.network.nodes, 0)
    for _, owner, acceptor in {(forest_of[row.topic], *row.dial) for row in stage.site.network.rows if row.active}:
        counts[owner] += 1
        counts[acceptor] += 1
    return counts


def nats_program() -> str:
    """Path of nats-server: beside this Python, or on the path."""
    beside = Path(sys.executable).with_name("nats-server")
    return str(beside) if beside.exists() else program("nats-server", REMEDY)


@lru_cache(maxsize=1)
def nats_version() -> str:
    """Version of the nats-server that is found here, such as ``2.15.1``."""
    answer = subprocess.run([nats_program(), "--version"], capture_output=True, text=True, timeout=20, check=False)
    found = re.search(r"v(\d\S*)", answer.stdout)
    if found is None:
        raise BrokerUnavailableError("nats-server --version names no version")
    return found[1]
