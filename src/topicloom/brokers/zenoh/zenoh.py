"""Zenoh 1.x: routers that are linked as the plan says and find their ways themselves.

Zenoh routes by itself over shortest paths and knows no tree per topic. The links of a plan are all that is written: a
message reaches every subscriber once, and may pass through routers that did not ask for it.
"""

import json
from collections import deque
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from topicloom.brokers.inventory import Broker
from topicloom.brokers.kinds import RESTART, ChangedRow
from topicloom.brokers.planned_network import Network, Site
from topicloom.brokers.safe_names import injective
from topicloom.errors import InvalidInventoryError

_MOST_BYTES = 65_000
_ESCAPED = str.maketrans({sign: f"%{ord(sign):02X}" for sign in "%#?$*"})


class Zenoh:
    """The target ``zenoh``."""

    default_version = "1.10"
    ordered = True
    needs_forests = False
    holds_both = True

    def refused_version(self, version: str) -> str | None:
        """Versions from 1.0 on are known."""
        if int(version.partition(".")[0]) >= 1:
            return None
        return f"Zenoh {version} is not known to topicloom; 1.0 and newer are"

    def misfit(self, topic: str, version: str) -> str | None:
        """Say why a topic has no key: only its length can be wrong."""
        return f"its key has more than {_MOST_BYTES:,} bytes" if len(key(topic).encode()) > _MOST_BYTES else None

    def config_path(self, slug: str) -> str:
        """``SLUG.json5``."""
        return f"{slug}.json5"

    def files(self, site: Site) -> dict[str, str]:
        """Configuration of every router, and the key of every topic."""
        files = {f"{site.slugs[node]}.json5": _written(_config(site, node)) for node in site.network.nodes}
        return files | {"keys.json": _written(injective(site.network.subscribers, key, target="zenoh"))}

    def notes(self, site: Site) -> tuple[str, ...]:
        """Say that rows which stand by are not shut."""
        if not site.network.has_standby:
            return ()
        return ("zenoh has no gates: the links of standby rows are links like others, and routers choose among all",)

    def takes(self, row: ChangedRow) -> str | None:
        """A router that dials another link is started again. Rows are nothing to it."""
        return RESTART if row.dials and not row.same_link else None


def key(topic: str) -> str:
    """The key expression of a topic. No two topics have the same.

    An empty level becomes ``%``. The signs that Zenoh keeps for itself, and ``%``, become ``%`` and two hexadecimal
    digits, as does ``@`` at the beginning of a level.

    Examples
    --------
    >>> key("a/b"), key("/a//b"), key("a/*/50%"), key("@/x")
    ('a/b', '%/a/%/b', 'a/%2A/50%25', '%40/x')
    """
    return "/".join(_level(level) for level in topic.split("/"))


def _level(level: str) -> str:
    escaped = level.translate(_ESCAPED) or "%"
    return f"%40{escaped[1:]}" if escaped.startswith("@") else escaped


def router_id(slug: str) -> str:
    """Zenoh's id of a router: 32 hexadecimal digits, the first of them no zero."""
    return "a" + sha256(slug.encode()).hexdigest()[:31]


def transit(network: Network) -> tuple[int, int]:
    """Count the copies that pass through a router that does not want their topic.

    Zenoh takes a shortest way over the links of the whole network. Returns the number of copies of which every shortest
    way leaves the topic, and of those of which some shortest way does: which one it takes is the routers' choice.
    Topics are published at every subscriber, as in a rehearsal.

    Examples
    --------
    >>> import topicloom as tl
    >>> star = tl.Overlay(tl.Interest.from_pairs([*"aabbcc"], [*"tuttuu"]), [(0, 1), (0, 2)])
    >>> transit(Network.from_plan(tl.Plan(tl.routes(star))))
    (0, 0)
    """
    near = neighbours(network)
    anywhere = {node: shortest_ways(near, node) for node in network.nodes}
    least = most = 0
    for nodes in network.subscribers.values():
        inner = {node: near[node] & set(nodes) for node in nodes}
        for publisher in nodes:
            inside = shortest_ways(inner, publisher)
            for node in nodes:
                links, ways = anywhere[publisher].get(node, (0, 0))
                inner_links, inner_ways = inside.get(node, (-1, 0))
                least += inner_links != links
                most += (inner_links, inner_ways) != (links, ways)
    return least, most


def neighbours(network: Network) -> dict[str, set[str]]:
    """Every broker to those that it is linked with."""
    near: dict[str, set[str]] = {node: set() for node in network.nodes}
    for owner, acceptor in network.links:
        near[owner].add(acceptor)
        near[acceptor].add(owner)
    return near


def shortest_ways(near: Mapping[str, set[str]], start: str) -> dict[str, tuple[int, int]]:
    """Broker to the number of links on a shortest way from ``start``, and how many shortest ways there are."""
    found, queue = {start: (0, 1)}, deque([start])
    while queue:
        node = queue.popleft()
        links, ways = found[node]
        for other in near[node]:
            if other not in found:
                found[other] = (links + 1, 0)
                queue.append(other)
            if found[other][0] == links + 1:
                found[other] = (links + 1, found[other][1] + ways)
    return found


def _config(site: Site, node: str) -> dict[str, Any]:
    broker, slug = site.brokers[node], site.slugs[node]
    if broker.credential is not None:
        raise InvalidInventoryError(f"broker {node!r} has a credential; Zenoh is secured by tls alone here")
    ports = sorted({broker.port, broker.dial_port})
    config: dict[str, Any] = {
        "mode": "router",
        "id": router_id(slug),
        "metadata": {"name": slug, "generation": site.network.generation},
        "listen": {"endpoints": [_endpoint(broker, broker.bind, port) for port in ports]},
        "connect": {"endpoints": [_dialled(site, node, acceptor) for acceptor in site.dialled_by.get(node, ())]},
        "scouting": {"delay": 1, "multicast": {"enabled": False}, "gossip": {"enabled": False}},
    }
    if broker.tls is not None:
        config["transport"] = {"link": {"tls": _tls(broker)}}
    return config


def _dialled(site: Site, owner: str, acceptor: str) -> str:
    peer = site.brokers[acceptor]
    if peer.tls is not None and site.brokers[owner].tls is None:
        raise InvalidInventoryError(f"broker {owner!r} dials {acceptor!r}, which has tls, and has no tls itself")
    return _endpoint(peer, peer.host, peer.dial_port)


def _endpoint(broker: Broker, host: str, port: int) -> str:
    return f"{'tcp' if broker.tls is None else 'tls'}/{host}:{port}"


def _tls(broker: Broker) -> dict[str, Any]:
    assert broker.tls is not None
    ca, cert, own = broker.tls.ca, broker.tls.cert, broker.tls.key
    return {
        "root_ca_certificate": ca,
        "listen_certificate": cert,
        "listen_private_key": own,
        "connect_certificate": cert,
        "connect_private_key": own,
        "enable_mtls": True,
    }


def _written(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=1) + "\n"
