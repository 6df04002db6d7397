"""Running Mosquitto: its command, its version, the state of its bridges, its gates."""

import asyncio
import getpass
from collections.abc import Sequence
from functools import lru_cache

from topicloom.brokers.mosquitto.mosquitto import MosquittoGates, client_id, password_path, password_users, placeholder
from topicloom.brokers.rehearsal.processes import program, version_of
from topicloom.brokers.rehearsal.scene import CLIENT, hashed_password
from topicloom.brokers.rehearsal.stage import Runner, Stage
from topicloom.brokers.rehearsal.wire import Connection, Door, OnLost, OnMessage, Wire
from topicloom.errors import BrokerUnavailableError

REMEDY = "on Debian: apt-get install mosquitto"


class RunMosquitto(Runner):
    """Mosquitto brokers of the version that is installed here."""

    gates = MosquittoGates()

    def __init__(self, nodes: Sequence[str]) -> None:
        self._program = program("mosquitto", REMEDY)

    @staticmethod
    def installed() -> str:
        """Version of the Mosquitto that is installed here."""
        return mosquitto_version()

    def launch(self, stage: Stage, node: str) -> None:
        """Start with the exported file, behind one line that keeps the user: root's brokers read a private folder."""
        slug, folder = stage.site.slugs[node], stage.crew.folder
        exported = (folder / f"{slug}.conf").read_text(encoding="utf-8")
        own = stage.site.brokers[node].credential
        rendered = exported.replace(placeholder(slug), stage.scene.passwords[own]) if own else exported
        (folder / f"{slug}.run").write_text(f"user {getpass.getuser()}\n{rendered}", encoding="utf-8")
        users = password_users(stage.site, node)
        if users or own:
            words = [(CLIENT, stage.scene.doors[node].password or "")]
            words += [(user, stage.scene.passwords[reference]) for user, reference in users]
            lines = [f"{user}:{hashed_password(word)}\n" for user, word in words]
            (folder / password_path(slug)).write_text("".join(lines), encoding="ascii")
        stage.run(node, [self._program, "-c", f"{slug}.run"])

    async def connect(self, stage: Stage, node: str, on_message: OnMessage, on_lost: OnLost) -> Wire:
        """Subscribe to everything, to the state of bridges and to topics that begin with $."""
        special = [topic for topic in stage.site.network.subscribers if topic.startswith("$")]
        filters = ["#", "$SYS/broker/connection/+/state", *special]
        return await MqttWire.connect("rehearsal", stage.scene.doors[node], filters, on_message, on_lost)

    async def linked(self, stage: Stage) -> None:
        """Wait until the accepting end of every bridge says that it is connected."""
        wanted = [state_key(stage, *dial) for dial in stage.site.network.links]
        if not await stage.until(lambda: all(stage.states.get(key) for key in wanted)):
            down = [key for key in wanted if not stage.states.get(key)]
            raise BrokerUnavailableError(
                f"{len(down):,} of {len(wanted):,} bridges did not connect, first {down[0][1]}"
            )

    async def returned(self, stage: Stage, node: str) -> None:
        """Wait until both ends of the broker's bridges say that they are connected again."""
        keys = [state_key(stage, *dial) for dial in stage.site.network.links if node in dial]
        await stage.until(lambda: all(stage.states.get(key) for key in keys), patience=15)

    def wire_name(self, topic: str) -> bytes:
        """The topic's own name."""
        return topic.encode()

    def warm_ups(self, stage: Stage) -> list[tuple[str, str, frozenset[str]]]:
        """The last open row of every bridge, both ways: a bridge subscribes to its topics in their order."""
        probes = []
        for rows in stage.site.network.links.values():
            opened = [row for row in rows if row.active]
            if opened:
                row = opened[-1]
                probes += [(row.topic, row.src, frozenset([row.dst])), (row.topic, row.dst, frozenset([row.src]))]
        return probes


def state_key(stage: Stage, owner: str, acceptor: str) -> tuple[str, str]:
    """Where the accepting broker publishes whether a bridge is connected."""
    return acceptor, f"$SYS/broker/connection/{client_id(stage.site, owner, acceptor)}/state"


@lru_cache(maxsize=1)
def mosquitto_version() -> str:
    """Version of the Mosquitto that is installed here, such as ``2.0.11``."""
    return version_of(program("mosquitto", REMEDY), "-h", r"mosquitto version (\S+)")


_CONNECT, _CONNACK, _PUBLISH, _PUBACK, _SUBACK, _PINGRESP = 0x10, 0x20, 0x30, 0x40, 0x90, 0xD0
_SUBSCRIBE, _PINGREQ = b"\x82", b"\xc0\x00"
_QOS_1 = 0x02


class MqttWire(Connection):
    """A connection with a clean session, QoS 1 both ways and no keep-alive."""

    def __init__(self, name: str, door: Door, on_message: OnMessage, on_lost: OnLost) -> None:
        super().__init__(door, on_message, on_lost, awaited=2)
        self._connected, self._subscribed = self._awaited
        self._name, self._packet = name, 0

    @classmethod
    async def connect(
        cls, name: str, door: Door, filters: Sequence[str], on_message: OnMessage, on_lost: OnLost
    ) -> "MqttWire":
        """Connect and subscribe. Returns when the broker has granted every filter."""
        loop = asyncio.get_running_loop()
        _, wire = await loop.create_connection(
            lambda: cls(name, door, on_message, on_lost), door.host, door.port, ssl=door.tls
        )
        try:
            await asyncio.wait_for(wire._connected, 10)
            wire._subscribe(filters)
            await asyncio.wait_for(wire._subscribed, 10)
        except BaseException:
            wire.close()
            raise
        return wire

    def publish(self, topic: bytes, payload: bytes) -> None:
        """Publish with QoS 1."""
        body = len(topic).to_bytes(2, "big") + topic + self._next_id() + payload
        self._write(_packet(_PUBLISH | _QOS_1, body))

    async def ping(self) -> None:
        """Wait for the answer to a PINGREQ."""
        await self._ping(_PINGREQ)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send CONNECT."""
        super().connection_made(transport)
        texts, flags = [self._name], 0x02
        if self._door.user is not None:
            texts.append(self._door.user)
            flags |= 0x80
        if self._door.password is not None:
            texts.append(self._door.password)
            flags |= 0x40
        body = b"\x00\x04MQTT\x04" + bytes([flags]) + b"\x00\x00" + b"".join(map(_text, texts))
        self._write(_packet(_CONNECT, body))

    def data_received(self, data: bytes) -> None:
        """Handle every whole packet that has arrived."""
        buffer = self._buffer
        buffer += data
        start, end = 0, len(buffer)
        while end - start >= 2:
            length, place, shift = 0, start + 1, 0
            while place < end:
                byte = buffer[place]
                length |= (byte & 0x7F) << shift
                place, shift = place + 1, shift + 7
                if not byte & 0x80:
                    break
            else:
                break
            if place + length > end:
                break
            self._handle(buffer[start], bytes(buffer[place : place + length]))
            start = place + length
        del buffer[:start]

    def _handle(self, kind: int, body: bytes) -> None:
        if kind & 0xF0 == _PUBLISH:
            size = int.from_bytes(body[:2], "big")
            topic, rest = body[2 : 2 + size], body[2 + size :]
            if kind & 0x06:
                self._write(bytes((_PUBACK, 2)) + rest[:2])
                rest = rest[2:]
            self._on_message(topic, rest)
        elif kind == _PINGRESP:
            self._pings.answered()
        elif kind == _CONNACK and not self._connected.done():
            if body[1]:
                self._connected.set_exception(PermissionError(f"the broker refused the client (code {body[1]})"))
            else:
                self._connected.set_result(None)
        elif kind == _SUBACK and not self._subscribed.done():
            if 0x80 in body[2:]:
                self._subscribed.set_exception(PermissionError("the broker refused a subscription"))
            else:
                self._subscribed.set_result(None)

    def _subscribe(self, filters: Sequence[str]) -> None:
        body = self._next_id() + b"".join(_text(one) + b"\x01" for one in filters)
        self._write(_packet(_SUBSCRIBE[0], body))

    def _next_id(self) -> bytes:
        self._packet = self._packet % 65_535 + 1
        return self._packet.to_bytes(2, "big")


def _text(text: str) -> bytes:
    data = text.encode()
    return len(data).to_bytes(2, "big") + data


def _packet(kind: int, body: bytes) -> bytes:
    length, head = len(body), bytearray([kind])
    while True:
        length, byte = length >> 7, length & 0x7F
        head.append(byte | (0x80 if length else 0))
        if not length:
            return bytes(head) + body
