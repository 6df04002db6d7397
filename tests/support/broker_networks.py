"""Networks for the tests of `deploy`, with trees made the obvious way, and which brokers are installed here."""

import csv
import io
import random
from itertools import pairwise

import pyarrow as pa
import pytest

import topicloom as tl
from topicloom.brokers.mosquitto.run_mosquitto import mosquitto_version
from topicloom.brokers.nats.run_nats import nats_version
from topicloom.brokers.zenoh.run_zenoh import zenoh_version
from topicloom.deploy import Broker, Inventory, Network, Row
from topicloom.errors import BrokerUnavailableError

SECURED = {"rabbitmq": {"credential": "env:LOOM_TEST"}}  # what a target asks of every broker
FIELDS = ("topic", "src", "dst", "owner", "parent", "forest", "active")


def installed(version) -> str | None:
    try:
        return version()
    except BrokerUnavailableError:
        return None


needs_mosquitto = pytest.mark.skipif(installed(mosquitto_version) is None, reason="mosquitto is not installed here")
needs_nats = pytest.mark.skipif(installed(nats_version) is None, reason="nats-server is not installed here")
needs_zenoh = pytest.mark.skipif(installed(zenoh_version) is None, reason="eclipse-zenoh is not installed here")


def network_of(rows, pairs=(), nodes=()) -> Network:
    """A network of (topic, src, dst, owner[, active[, forest]]) rows."""
    full = [(*row[:4], row[1], row[5] if len(row) > 5 else None, row[4] if len(row) > 4 else True) for row in rows]
    schema = pa.schema([(name, pa.string()) for name in FIELDS[:5]] + [("forest", pa.int32()), ("active", pa.bool_())])
    columns = list(zip(*full)) if full else [()] * 7
    arrays = [pa.array(list(column), kind.type) for column, kind in zip(columns, schema)]
    return Network.from_table(pa.table(arrays, schema=schema), pairs, nodes)


def chain(names, topic="news") -> Network:
    """Brokers in a row with one topic; each dials the one before."""
    return network_of([(topic, one, other, other) for one, other in pairwise(names)])


def stand_in(nodes=94, topics=120, seed=7) -> tl.Interest:
    """The project's own stand-in for a robot's brokers: most topics have few subscribers, some have many."""
    return tl.generate(nodes=nodes, topics=topics, subscriptions=5, popularity="zipf", alpha=1.0, seed=seed)


def planned(interest, method="gm", **options) -> Network:
    """The network of a plan that the library makes."""
    return Network.from_plan(tl.Plan(tl.routes(tl.design(interest, method), **options)))


def with_standby(overlay) -> Network:
    """A plan in which every link that two subscribers of a topic share, and its tree does not use, stands by."""
    network = Network.from_plan(tl.Plan(tl.routes(overlay)))
    interest, order = overlay.interest, {node: place for place, node in enumerate(network.busiest())}
    used = {row[:3] for row in network.rows}
    spare = []
    for one, other in overlay.links.tolist():
        src, dst = interest.node_label(one), interest.node_label(other)
        shared = [topic for topic, nodes in network.subscribers.items() if src in nodes and dst in nodes]
        owner = {frozenset(dial): dial[0] for dial in network.links}.get(
            frozenset((src, dst)), max(src, dst, key=order.__getitem__)
        )
        spare += [Row(topic, src, dst, owner, None, None, False) for topic in shared if (topic, src, dst) not in used]
    return Network(network.nodes, network.subscribers, tuple(sorted((*network.rows, *spare), key=lambda row: row[:4])))


def other_trees(network, seed=0) -> Network:
    """The same network with other trees where its links allow it: a seeded walk through each topic's links."""
    draw = random.Random(seed)
    chosen = set()
    for topic, nodes in network.subscribers.items():
        rows = network.topic_rows.get(topic, ())
        reached, left = {nodes[0]}, True
        while left:
            left = [row for row in rows if (row.src in reached) != (row.dst in reached)]
            if left:
                row = draw.choice(left)
                chosen.add(row)
                reached |= {row.src, row.dst}
    moved = (row._replace(active=row in chosen) for row in network.rows)
    return Network(network.nodes, network.subscribers, tuple(moved))


def loopback(network, **values) -> Inventory:
    """An inventory with one port after the other; nobody listens there."""
    brokers = (
        Broker(node, "127.0.0.1", 20_000 + 2 * place, leaf_port=20_001 + 2 * place, **values)
        for place, node in enumerate(network.nodes)
    )
    return Inventory.of(brokers)


def copies(network) -> int:
    """Copies that a rehearsal expects, by the definition."""
    return sum(len(nodes) ** 2 for nodes in network.subscribers.values() if len(nodes) > 1)


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))
