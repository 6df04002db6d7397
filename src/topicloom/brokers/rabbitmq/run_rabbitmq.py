"""Running RabbitMQ: its command, its version, a client, and the port mapper of Erlang, which ends with the rest."""

import asyncio
import base64
import hashlib
import os
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from topicloom.brokers.rabbitmq.rabbitmq import CLIENTS, hashed, secret
from topicloom.brokers.rehearsal.processes import free_ports, program
from topicloom.brokers.rehearsal.scene import HOST
from topicloom.brokers.rehearsal.stage import Runner, Stage
from topicloom.brokers.rehearsal.wire import OnLost, OnMessage, Wire
from topicloom.errors import BrokerUnavailableError

REMEDY = "on Debian: ERL_EPMD_ADDRESS=127.0.0.1 apt-get install rabbitmq-server; pip install pika"
_SCRIPTS = Path("/usr/lib/rabbitmq/bin")  # the wrapper on the path runs brokers as another user


class RunRabbitMq(Runner):
    """RabbitMQ brokers of the version that is installed here, each a node of Erlang of its own on loopback."""

    patience = 240.0
    needs_credentials = True

    def __init__(self, nodes: Sequence[str]) -> None:
        rabbitmq_version()
        self._epmd = free_ports(1)[0]

    @staticmethod
    def installed() -> str:
        """Version of the RabbitMQ that is installed here."""
        return rabbitmq_version()

    @classmethod
    def refused_change(cls, *, switched: bool, secured: bool) -> str | None:
        """A federation has no gates."""
        return (
            "there is no killing of brokers or switching of plans on rabbitmq; "
            "a federation takes minutes to start and has no gates"
        )

    def launch(self, stage: Stage, node: str) -> None:
        """Start with the exported files, in which passwords and their hashes stand in the places kept for them."""
        if "epmd" not in stage.crew.processes:
            stage.crew.start("epmd", [program("epmd", REMEDY), "-address", HOST, "-port", str(self._epmd)])
        slug, folder = stage.site.slugs[node], stage.crew.folder
        definitions = folder / f"{slug}.definitions.json"
        text = definitions.read_text(encoding="utf-8")
        for other, word in _passwords(stage).items():
            text = text.replace(secret(other), word).replace(hashed(other), hashed_password(word))
        definitions.write_text(text, encoding="utf-8")
        stage.crew.start(slug, [str(_SCRIPTS / "rabbitmq-server")], self._environment(slug, folder))

    def _environment(self, slug: str, folder: Path) -> dict[str, str]:
        given = {
            "HOME": folder,
            "ERL_EPMD_ADDRESS": HOST,
            "ERL_EPMD_PORT": self._epmd,
            "RABBITMQ_NODENAME": f"{slug}@localhost",
            "RABBITMQ_CONFIG_FILE": folder / f"{slug}.conf",
            "RABBITMQ_ENABLED_PLUGINS_FILE": folder / "enabled_plugins",
            "RABBITMQ_MNESIA_BASE": folder / f"{slug}.data",
            "RABBITMQ_LOG_BASE": folder / f"{slug}.logs",
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_PID_FILE": folder / f"{slug}.pid",
            "RABBITMQ_DIST_PORT": free_ports(1)[0],
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1} +S 2:2",
            "RUNNING_UNDER_SYSTEMD": "1",  # then the script becomes the broker, and ends when we do
        }
        return {**os.environ, **{name: str(value) for name, value in given.items()}}

    async def connect(self, stage: Stage, node: str, on_message: OnMessage, on_lost: OnLost) -> Wire:
        """Bind a queue to the clients' exchange, for every topic of the plan."""
        slug = stage.site.slugs[node]
        topics = list(stage.site.network.subscribers)
        return await AmqpWire.connect(
            stage.site.brokers[node].port, slug, _passwords(stage)[slug], topics, on_message, on_lost
        )

    async def linked(self, stage: Stage) -> None:
        """Wait for nothing: federation connects while the warm-up messages are repeated."""

    def wire_name(self, topic: str) -> bytes:
        """The topic's own name."""
        return topic.encode()


class AmqpWire:
    """A connection with an exclusive queue that hears the topics of the plan."""

    def __init__(self, connection: Any, channel: Any) -> None:
        self._connection, self._channel = connection, channel

    @classmethod
    async def connect(
        cls, port: int, user: str, password: str, topics: list[str], on_message: OnMessage, on_lost: OnLost
    ) -> "AmqpWire":
        """Connect and bind. Returns when the broker has done so."""
        import pika
        from pika.adapters.asyncio_connection import AsyncioConnection

        def failed(_: object, error: object) -> None:
            if not ready.done():
                ready.set_exception(ConnectionRefusedError(str(error)))
            else:
                on_lost()

        ready: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        login = pika.PlainCredentials(user, password)
        connection = AsyncioConnection(
            pika.ConnectionParameters(HOST, port, "/", login, heartbeat=0),
            on_open_callback=lambda opened: opened.channel(on_open_callback=ready.set_result),
            on_open_error_callback=failed,
            on_close_callback=failed,
        )
        channel = await asyncio.wait_for(ready, 20)
        queue = (await _answer(partial(channel.queue_declare, "", exclusive=True))).method.queue
        for topic in topics:
            await _answer(partial(channel.queue_bind, queue, CLIENTS, topic))

        def heard(_: object, method: Any, __: object, body: bytes) -> None:
            on_message(method.routing_key.encode(), body)

        await _answer(partial(channel.basic_consume, queue, heard, auto_ack=True))
        return cls(connection, channel)

    def publish(self, topic: bytes, payload: bytes) -> None:
        """Publish. The broker confirms nothing."""
        self._channel.basic_publish(CLIENTS, topic.decode(), payload)

    async def ping(self) -> None:
        """Wait until the broker has declared an exchange that exists."""
        await _answer(partial(self._channel.exchange_declare, CLIENTS, passive=True))

    def close(self) -> None:
        """End the connection."""
        if self._connection.is_open:
            self._connection.close()


async def _answer(ask: Any) -> Any:
    answer = asyncio.get_running_loop().create_future()
    ask(callback=answer.set_result)
    return await asyncio.wait_for(answer, 30)


def _passwords(stage: Stage) -> dict[str, str]:
    """Slug of every broker to its throw-away password."""
    brokers = stage.site.brokers.values()
    return {stage.site.slugs[one.node]: stage.scene.passwords[one.credential] for one in brokers if one.credential}


def hashed_password(password: str) -> str:
    """A password as RabbitMQ's definitions hold it: a salt and SHA-256."""
    salt = os.urandom(4)
    return base64.b64encode(salt + hashlib.sha256(salt + password.encode()).digest()).decode()


@lru_cache(maxsize=1)
def rabbitmq_version() -> str:
    """Version of the RabbitMQ that is installed here, such as ``3.10.8``."""
    try:
        import pika  # noqa: F401
    except ImportError:
        raise BrokerUnavailableError(f"the package pika is not installed; {REMEDY}") from None
    if not (_SCRIPTS / "rabbitmq-server").exists():
        raise BrokerUnavailableError(f"the program rabbitmq-server is not installed; {REMEDY}")
    found = sorted(Path("/usr/lib/rabbitmq/lib").glob("rabbitmq_server-*"))
    if not found:
        raise BrokerUnavailableError("rabbitmq-server has no version below /usr/lib/rabbitmq/lib")
    return found[-1].name.partition("-")[2]
