"""A small NATS client on asyncio."""

import asyncio
import json

from topicloom.deploy.rehearsal.wire import Connection, Door, OnLost, OnMessage


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
        """Publish; the server confirms nothing."""
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
