"""Running Mosquitto: its command, its version, the state of its bridges, its gates."""

import getpass
import re
import subprocess
from functools import lru_cache

from topicloom.deploy.mosquitto import MosquittoGates, client_id, password_path, password_users, placeholder
from topicloom.deploy.rehearsal.mqtt import MqttWire
from topicloom.deploy.rehearsal.processes import program
from topicloom.deploy.rehearsal.scene import CLIENT, hashed_password
from topicloom.deploy.rehearsal.stage import Kind, Stage
from topicloom.deploy.rehearsal.wire import OnLost, OnMessage, Wire
from topicloom.errors import BrokerUnavailableError

REMEDY = "on Debian: apt-get install mosquitto"


class RunMosquitto(Kind):
    """Mosquitto brokers of the version that is installed here."""

    gates = MosquittoGates()

    def __init__(self) -> None:
        self._program = program("mosquitto", REMEDY)

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
    answer = subprocess.run(
        [program("mosquitto", REMEDY), "-h"], capture_output=True, text=True, timeout=20, check=False
    ).stdout
    found = re.search(r"mosquitto version (\S+)", answer)
    if found is None:
        raise BrokerUnavailableError("mosquitto -h names no version")
    return found[1]
