"""A small NATS client on asyncio."""

import asyncio
import contextlib
import json

from topicloom.deploy.rehearsal.wire import Door, OnLost, OnMessage, Pings


class NatsWire(asyncio.Protocol):
    """A connection that subscribes to everything in its account."""

    def __init__(self, door: Door, on_message: OnMessage, on_lost: OnLost) -> None:
        self._door, self._on_message, self._on_lost = door, on_message, on_lost
        self._buffer = bytearray()
        self._pings = Pings()
        self._closing = False
        self._need = -1
        self._subject = b""
        self._greeted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.error: str | None = None
        self.transport: asyncio.Transport | None = None

    @classmethod
    async def connect(cls, door: Door, on_message: OnMessage, on_lost: OnLost) -> "NatsWire":
        """Connect and subscribe to ``>``; returns when the server has done so."""
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
        answer = self._pings.add()
        self._write(b"PING\r\n")
        await asyncio.wait_for(answer, 10)

    def close(self) -> None:
        """Drop the connection; `on_lost` is not called."""
        self._closing = True
        if self.transport is not None:
            self.transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport; the server speaks first."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        """Fail what still waits, and tell."""
        if not self._greeted.done():
            self._greeted.set_exception(ConnectionResetError(self.error or "the server closed the connection"))
            self._greeted.exception()
        self._pings.fail()
        if not self._closing:
            self._on_lost()

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

    def _write(self, data: bytes) -> None:
        if self.transport is not None and not self.transport.is_closing():
            with contextlib.suppress(ConnectionError):
                self.transport.write(data)
