"""RabbitMQ 3.10 and newer: federated exchanges, one per forest, and one exchange for the clients.

Clients publish to the exchange ``loom`` with the topic as routing key, and bind their queues to it the same way. Every
topic of a forest is bound from ``loom`` to the forest's exchange and back. Federation carries it over links that have
no cycle; RabbitMQ passes each exchange of a broker once per message, so the two bindings do not echo.
"""

import json
from functools import cached_property
from typing import Any

from topicloom.brokers.kinds import RELOAD, ChangedRow
from topicloom.brokers.planned_network import Site
from topicloom.errors import InvalidInventoryError

CLIENTS = "loom"
_MOST_BYTES = 255


class RabbitMq:
    """The target ``rabbitmq``."""

    default_version = "3.10"
    ordered = False
    needs_forests = True
    holds_both = True

    def refused_version(self, version: str) -> str | None:
        """Versions from 3.10 on are known."""
        numbers = [int(number) for number in version.split(".")[:2]]
        return None if numbers >= [3, 10] else f"RabbitMQ {version} is not known to topicloom; 3.10 and newer are"

    def misfit(self, topic: str, version: str) -> str | None:
        """Say why a topic is no routing key: only its length can be wrong, because exchanges match whole keys."""
        return f"it has more than {_MOST_BYTES} bytes" if len(topic.encode()) > _MOST_BYTES else None

    def config_path(self, slug: str) -> str:
        """``SLUG.conf``."""
        return f"{slug}.conf"

    def files(self, site: Site) -> dict[str, str]:
        """Configuration and definitions of every broker, the plugins, and a table of what a vault has to fill in."""
        _check(site)
        federation = _Federation(site)
        files = {"enabled_plugins": "[rabbitmq_federation].\n"}
        secrets = ["file,placeholder,hash_placeholder,user,reference"]
        for node in site.network.nodes:
            slug, path = site.slugs[node], f"{site.slugs[node]}.definitions.json"
            files[f"{slug}.conf"] = _config(site, node)
            files[path] = json.dumps(federation.definitions(node), indent=1) + "\n"
            secrets.append(f"{path},{secret(slug)},,{slug},{site.brokers[node].credential}")
            for user in (node, *federation.peers(node)):
                secrets.append(f"{path},,{hashed(site.slugs[user])},{site.slugs[user]},{site.brokers[user].credential}")
        return files | {"secrets.csv": "\n".join(secrets) + "\n"}

    def notes(self, site: Site) -> tuple[str, ...]:
        """Say that rows which stand by are left out."""
        number = sum(not row.active for row in site.network.rows)
        return (f"{number:,} standby rows are left out: rabbitmq has no gates",) if number else ()

    def takes(self, row: ChangedRow) -> str | None:
        """Definitions are imported into a broker that runs."""
        return RELOAD


def secret(slug: str) -> str:
    """What stands for a broker's password until the user's vault puts it there."""
    return f"@LOOM_SECRET:{slug}@"


def hashed(slug: str) -> str:
    """What stands for the hash of a broker's password, as ``rabbitmqctl hash_password`` prints it."""
    return f"@LOOM_HASH:{slug}@"


def _check(site: Site) -> None:
    for node in site.network.nodes:
        broker = site.brokers[node]
        if broker.credential is None:
            raise InvalidInventoryError(
                f"broker {node!r} has no credential; RabbitMQ lets nobody in without: write env:NAME or file:/path"
            )
        if broker.tls is not None:
            raise InvalidInventoryError(f"broker {node!r} has tls; federation over TLS was not run here, leave it out")
        if node in {end for link in site.network.links for end in link} and not (broker.dials and broker.accepts):
            raise InvalidInventoryError(
                f"broker {node!r} does not both dial and accept; federation connects both ends of a link to each other"
            )


class _Federation:
    """Forests of a site: the topics and the neighbours that every broker has in each."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._forest = site.network.forests

    @cached_property
    def _near(self) -> dict[str, dict[int, set[str]]]:
        near: dict[str, dict[int, set[str]]] = {node: {} for node in self._site.network.nodes}
        for row in self._site.network.rows:
            if row.active:
                forest = self._forest[row.topic]
                near[row.src].setdefault(forest, set()).add(row.dst)
                near[row.dst].setdefault(forest, set()).add(row.src)
        return near

    def peers(self, node: str) -> list[str]:
        """Brokers that a broker shares rows with."""
        return sorted(set().union(*self._near[node].values()))

    def definitions(self, node: str) -> dict[str, Any]:
        """Users, exchanges, bindings, upstreams and policies of a broker, as ``load_definitions`` reads them."""
        slugs, forests_here = self._site.slugs, sorted(self._near[node])
        users = [slugs[node], *(slugs[peer] for peer in self.peers(node))]
        return {
            "vhosts": [{"name": "/"}],
            "users": [_user(user) for user in users],
            "permissions": [_allowed(user) for user in users],
            "exchanges": [_exchange(name) for name in (CLIENTS, *map(_name, forests_here))],
            "bindings": [binding for pair in self._shared(node) for binding in _both_ways(*pair)],
            "parameters": [
                *(self._upstream(node, peer) for peer in self.peers(node)),
                *(self._upstream_set(node, forest) for forest in forests_here),
            ],
            "policies": [_policy(_name(forest)) for forest in forests_here],
        }

    def _shared(self, node: str) -> list[tuple[str, str]]:
        """(forest's exchange, topic) of the topics that a broker shares with others."""
        subscribers = self._site.network.subscribers
        return [(_name(forest), topic) for topic, forest in self._forest.items() if node in subscribers[topic]]

    def _upstream(self, node: str, peer: str) -> dict[str, Any]:
        own, broker = self._site.slugs[node], self._site.brokers[peer]
        address = f"amqp://{own}:{secret(own)}@{broker.host}:{broker.dial_port}/%2f"
        value = {"uri": address, "max-hops": len(self._site.network.nodes), "reconnect-delay": 1}
        return _parameter("federation-upstream", self._site.slugs[peer], value)

    def _upstream_set(self, node: str, forest: int) -> dict[str, Any]:
        near = [{"upstream": self._site.slugs[peer]} for peer in sorted(self._near[node][forest])]
        return _parameter("federation-upstream-set", _name(forest), near)


def _config(site: Site, node: str) -> str:
    broker, slug = site.brokers[node], site.slugs[node]
    ports = sorted({broker.port, broker.dial_port})
    lines = [f"# topicloom, broker {slug}, generation {site.network.generation}"]
    lines += [f"listeners.tcp.{number} = {broker.bind}:{port}" for number, port in enumerate(ports, 1)]
    return "\n".join([*lines, f"load_definitions = {site.prefix}{slug}.definitions.json"]) + "\n"


def _name(forest: int) -> str:
    return f"{CLIENTS}.g{forest}"


def _user(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "password_hash": hashed(name),
        "hashing_algorithm": "rabbit_password_hashing_sha256",
        "tags": [],
    }


def _allowed(user: str) -> dict[str, str]:
    return {"user": user, "vhost": "/", "configure": ".*", "write": ".*", "read": ".*"}


def _exchange(name: str) -> dict[str, Any]:
    facts = {"durable": True, "auto_delete": False, "internal": False, "arguments": {}}
    return {"name": name, "vhost": "/", "type": "direct", **facts}


def _both_ways(exchange: str, topic: str) -> list[dict[str, Any]]:
    rest = {"vhost": "/", "destination_type": "exchange", "routing_key": topic, "arguments": {}}
    return [{"source": one, "destination": other, **rest} for one, other in ((CLIENTS, exchange), (exchange, CLIENTS))]


def _parameter(component: str, name: str, value: object) -> dict[str, Any]:
    return {"vhost": "/", "component": component, "name": name, "value": value}


def _policy(name: str) -> dict[str, Any]:
    pattern = f"^{name.replace('.', chr(92) + '.')}$"
    rest = {"vhost": "/", "pattern": pattern, "apply-to": "exchanges", "priority": 0}
    return {"name": name, "definition": {"federation-upstream-set": name}, **rest}
