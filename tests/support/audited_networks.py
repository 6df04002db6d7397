"""Random small networks of real Mosquitto brokers: copies counted against copies that the auditor predicts.

Run ``python -m support.audited_networks 50`` in the folder ``tests`` for fifty networks; exit code 1 on a difference.
"""

import asyncio
import random
import sys
import time
from collections import Counter
from typing import NamedTuple

from topicloom.auditing import MosquittoMesh, follow
from topicloom.brokers.mosquitto.mosquitto_broker import read_mosquitto
from topicloom.brokers.mosquitto.run_mosquitto import MqttWire
from topicloom.brokers.rehearsal.processes import Crew, free_ports, program
from topicloom.brokers.rehearsal.wire import Door

NAMES = ("a", "a/b", "a/b/c", "x", "x/b", "b/x", "l/a", "r/a", "l/a/b", "r/x")
PATTERNS = ("a", "a/b", "x", "x/b", "a/#", "+/b", "#", "+", "x/+", "b/x")
PREFIXES = ('""', '""', "l/", "r/", "x/")
STORM = 20


class Trial(NamedTuple):
    """What one network showed."""

    points: int
    duplicates: int
    loops: int
    stormed: bool | None
    differences: list[str]


def configurations(draw: random.Random, ports: list[int]) -> dict[str, str]:
    """Random brokers: every later broker dials some earlier ones, sometimes a later one dials back."""
    files = {}
    for own, port in enumerate(ports):
        lines = [f"listener {port} 127.0.0.1", "allow_anonymous true"]
        peers = [
            place for place in range(len(ports)) if place != own and draw.random() < (0.7 if place < own else 0.08)
        ]
        for peer in peers:
            lines += bridge(draw, own, peer, ports[peer])
        files[f"n{own}"] = "\n".join(lines) + "\n"
    return files


def bridge(draw: random.Random, own: int, peer: int, port: int) -> list[str]:
    lines = [f"connection c{own}-{peer}", f"address 127.0.0.1:{port}", f"clientid id-{own}-{peer}", "cleansession true"]
    lines += ["restart_timeout 1 2", f"bridge_protocol_version {draw.choice(['mqttv311', 'mqttv50'])}"]
    if draw.random() < 0.15:
        lines.append("try_private false")
    for _ in range(draw.choice([1, 1, 2, 3])):
        words = ["topic", draw.choice(PATTERNS), draw.choice(["in", "out", "both", "both"]), str(draw.randrange(3))]
        if draw.random() < 0.35:
            words += [draw.choice(PREFIXES), draw.choice(PREFIXES)]
        lines.append(" ".join(words))
    return lines


class Spies:
    """One client on every broker that hears everything."""

    def __init__(self) -> None:
        self.heard: Counter[tuple[str, str, bytes]] = Counter()
        self.up: set[bytes] = set()
        self.last = time.monotonic()
        self.wires: dict[str, MqttWire] = {}

    async def connect(self, doors: dict[str, int]) -> None:
        for name, port in doors.items():
            self.wires[name] = await self._patient(name, port)

    async def _patient(self, name: str, port: int) -> MqttWire:
        for _ in range(200):
            try:
                filters = ["#", "$SYS/broker/connection/+/state"]
                hears = lambda topic, body: self._hear(name, topic, body)  # noqa: E731
                return await MqttWire.connect(f"spy-{name}", Door("127.0.0.1", port), filters, hears, lambda: None)
            except OSError:
                await asyncio.sleep(0.05)
        raise TimeoutError(f"broker {name} does not listen")

    def _hear(self, name: str, topic: bytes, body: bytes) -> None:
        if topic.startswith(b"$SYS"):
            (self.up.add if body == b"1" else self.up.discard)(topic.split(b"/")[3])
            return
        if body.isdigit():
            self.heard[name, topic.decode(), body] += 1
            self.last = time.monotonic()

    async def quiet(self, longest: float) -> None:
        end = time.monotonic() + longest
        while time.monotonic() < min(self.last + 0.4, end):
            await asyncio.sleep(0.05)
            for wire in self.wires.values():
                await wire.ping()


def trial(seed: int) -> Trial:
    """Make a network, predict, run it, count."""
    draw = random.Random(seed)
    ports = free_ports(draw.choice([2, 3, 3, 4, 5]))
    files = configurations(draw, ports)
    with Crew() as crew:
        for name, text in files.items():
            (crew.folder / f"{name}.conf").write_text(text)
        mesh = MosquittoMesh([read_mosquitto(crew.folder / f"{name}.conf", name, f"{name}.conf") for name in files], {})
        outcomes = {(broker, name): follow(mesh.start(broker, name), mesh.hops) for broker in files for name in NAMES}
        for name in files:
            crew.start(name, [program("mosquitto", "apt has it"), "-c", f"{name}.conf"])
        return asyncio.run(_observed(dict(zip(files, ports)), mesh, outcomes))


async def _observed(doors, mesh, outcomes) -> Trial:
    spies = Spies()
    await spies.connect(doors)
    bridges = {link.client.encode() for link in mesh.links}
    for _ in range(400):
        if bridges <= spies.up:
            break
        await asyncio.sleep(0.05)
    assert bridges <= spies.up, "bridges do not come up"
    await asyncio.sleep(0.4)
    calm = [point for point, outcome in outcomes.items() if outcome.loop is None]
    for number, (broker, name) in enumerate(calm):
        spies.wires[broker].publish(name.encode(), b"%d" % number)
    spies.last = time.monotonic()
    await spies.quiet(10)
    differences = []
    for number, point in enumerate(calm):
        seen = {place[:2]: copies for place, copies in spies.heard.items() if place[2] == b"%d" % number}
        if seen != outcomes[point].copies:
            differences.append(f"{point}: predicted {outcomes[point].copies}, counted {seen}")
    looping = [point for point, outcome in outcomes.items() if outcome.loop is not None]
    stormed = await _storms(spies, looping[0]) if looping else None
    for wire in spies.wires.values():
        wire.close()
    twice = sum(max(outcomes[point].copies.values()) > 1 for point in calm)
    return Trial(len(calm), twice, len(looping), stormed, differences)


async def _storms(spies: Spies, point: tuple[str, str]) -> bool:
    """Whether a message at a predicted loop really circles: many copies, not the few of a duplicate."""
    body = b"999999"
    spies.wires[point[0]].publish(point[1].encode(), body)
    for _ in range(100):
        if sum(copies for place, copies in spies.heard.items() if place[2] == body) > STORM:
            return True
        await asyncio.sleep(0.05)
    return False


def main(networks: int, first: int = 0) -> int:
    total, bad, storms = Counter(), 0, Counter()
    for seed in range(first, first + networks):
        one = trial(seed)
        total.update(points=one.points, duplicates=one.duplicates, loops=one.loops)
        storms[one.stormed] += 1
        bad += len(one.differences) + (one.stormed is False)
        for text in [*one.differences, *(["a predicted loop did not storm"] if one.stormed is False else [])]:
            print(f"network {seed}: {text}")
    print(
        f"{networks} networks, {total['points']:,} publish points ({total['duplicates']:,} with duplicates), "
        f"{storms[True]} of {storms[True] + storms[False]} predicted loops stormed, {bad} differences"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
