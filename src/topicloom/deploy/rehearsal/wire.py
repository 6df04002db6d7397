"""What a rehearsal asks of a connection to a broker, whatever the protocol."""

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

OnMessage = Callable[[bytes, bytes], None]
OnLost = Callable[[], None]


class Wire(Protocol):
    """One connection that hears everything at a broker and can publish there."""

    def publish(self, topic: bytes, payload: bytes) -> None:
        """Send a message; it is on its way when this returns."""

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
