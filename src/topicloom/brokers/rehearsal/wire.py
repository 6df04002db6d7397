"""What a rehearsal asks of a connection to a broker, whatever the protocol."""

import asyncio
import contextlib
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

OnMessage = Callable[[bytes, bytes], None]
OnLost = Callable[[], None]


class Wire(Protocol):
    """One connection that hears everything at a broker and can publish there."""

    def publish(self, topic: bytes, payload: bytes) -> None:
        """Send a message. It is on its way when this returns."""

    async def ping(self) -> None:
        """Wait for an answer of the broker."""

    def close(self) -> None:
        """End the connection."""


@dataclass(frozen=True)
class Door:
    """How a client gets in: address, and user, password and TLS where the broker asks for them."""

    host: str
    port: int
    user: str | None = None
    password: str | None = None
    tls: ssl.SSLContext | None = None


class Pings:
    """Answers that are waited for, in order."""

    def __init__(self) -> None:
        self._waiting: list[asyncio.Future[None]] = []

    def add(self) -> "asyncio.Future[None]":
        """Wait for one more answer."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        return future

    def answered(self) -> None:
        """Note the answer to the oldest."""
        future = self._waiting.pop(0)
        if not future.done():
            future.set_result(None)

    def fail(self) -> None:
        """Note that no answer will come."""
        for future in self._waiting:
            if not future.done():
                future.set_exception(ConnectionResetError("the broker closed the connection"))
        self._waiting.clear()


class Connection(asyncio.Protocol):
    """What the connections of all protocols have in common: the transport, pings, and the end.

    ``awaited`` holds what a caller waits for while the connection opens. It fails when the connection is lost.
    """

    def __init__(self, door: Door, on_message: OnMessage, on_lost: OnLost, awaited: int) -> None:
        loop = asyncio.get_running_loop()
        self._door, self._on_message, self._on_lost = door, on_message, on_lost
        self._buffer = bytearray()
        self._pings = Pings()
        self._closing = False
        self._awaited: list[asyncio.Future[None]] = [loop.create_future() for _ in range(awaited)]
        self.error: str | None = None
        self.transport: asyncio.Transport | None = None

    def close(self) -> None:
        """Drop the connection. `on_lost` is not called."""
        self._closing = True
        if self.transport is not None:
            self.transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        """Fail what still waits, and tell."""
        for future in self._awaited:
            if not future.done():
                future.set_exception(ConnectionResetError(self.error or "the broker closed the connection"))
                future.exception()
        self._pings.fail()
        if not self._closing:
            self._on_lost()

    async def _ping(self, question: bytes) -> None:
        answer = self._pings.add()
        self._write(question)
        await asyncio.wait_for(answer, 10)

    def _write(self, data: bytes) -> None:
        if self.transport is not None and not self.transport.is_closing():
            with contextlib.suppress(ConnectionError):
                self.transport.write(data)
