"""NATS 2.10 and newer: leaf nodes, one account per forest, and clients in one account of their own.

Inside a forest's account a message travels over leaf connections that have no cycle. Clients stay in the account APP.
What they publish enters the forest by a service import, what arrives leaves it by a stream import, and a message that
came in by the service is not handed out by the stream again.
"""

import json
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from topicloom.deploy.inventory import Broker, Tls
from topicloom.deploy.planned_network import Network, Row
from topicloom.deploy.safe_names import first_of, injective
from topicloom.deploy.site import Site
from topicloom.errors import InvalidInventoryError, InvalidPlanError

_MOST_BYTES = 4000
_RESERVED = ("_INBOX", "_R_", "_GR_", "_SR_")


class Nats:
    """The target ``nats``."""

    name = "nats"
    default_version = "2.10"
    ordered = True

    def refused_version(self, version: str) -> str | None:
        """Versions from 2.10 on work."""
        numbers = [int(number) for number in version.split(".")[:2]]
        if numbers >= [2, 10]:
            return None
        return f"nats-server {version} delivers twice through imports (measured on 2.9.10); 2.10 or newer is needed"

    def misfit(self, topic: str, version: str) -> str | None:
        """Say why a topic has no subject."""
        space = first_of(topic, " ")
        if space:
            return f"it holds a space ({space}), which ends a subject in NATS' protocol"
        tokens = subject(topic).split(".")
        wild = next((token for token in tokens if token in ("*", ">")), None)
        if wild is not None:
            return f"its level {wild} (U+{ord(wild):04X}) is a wildcard in NATS"
        if topic.startswith("$") or tokens[0] in _RESERVED:
            return f"NATS keeps subjects under {tokens[0][:20]!a} for itself"
        if len(subject(topic).encode()) > _MOST_BYTES:
            return f"its subject has more than {_MOST_BYTES:,} bytes"
        return None

    def config_path(self, slug: str) -> str:
        """``SLUG.conf``."""
        return f"{slug}.conf"

    def files(self, site: Site) -> dict[str, str]:
        """Configuration of every server; where there are credentials, a script that starts it with them."""
        plan = _Accounts(site)
        files = {f"{site.slugs[node]}.conf": _config(plan, node) for node in site.network.nodes}
        for node in site.network.nodes:
            if _secured(site):
                files[f"{site.slugs[node]}.start"] = _start_script(plan, node)
        topics = [f"{json.dumps(topic)}: {json.dumps(name)}" for topic, name in plan.subjects.items()]
        files["subjects.json"] = "{" + ",\n ".join(topics) + "}\n"
        return files


def subject(topic: str) -> str:
    """The subject that NATS' own MQTT server gives to a topic; no two topics have the same.

    Levels become tokens, an empty level becomes ``/`` and a dot becomes ``//``.

    Examples
    --------
    >>> subject("/a/b"), subject("a//b"), subject("a.b"), subject("a/b/")
    ('/.a.b', 'a./.b', 'a//b', 'a.b./')
    """
    return ".".join(level.replace(".", "//") or "/" for level in topic.split("/"))


@dataclass(frozen=True)
class _Accounts:
    """Forests of a site: which topics each server has in which, and who dials whom as what."""

    site: Site

    @cached_property
    def subjects(self) -> dict[str, str]:
        return injective(self.site.network.subscribers, subject, target="nats")

    @cached_property
    def forest_of(self) -> dict[str, int]:
        return forests(self.site.network)

    @cached_property
    def topics(self) -> dict[str, dict[int, list[str]]]:
        """Server to forest to the topics that it shares there."""
        found: dict[str, dict[int, list[str]]] = {node: {} for node in self.site.network.nodes}
        for topic, forest in self.forest_of.items():
            for node in self.site.network.subscribers[topic]:
                found[node].setdefault(forest, []).append(topic)
        return found

    @cached_property
    def dials(self) -> dict[int, dict[tuple[str, str], bool]]:
        """Forest to (owner, acceptor) to whether the owner is the parent."""
        links: dict[int, set[tuple[str, str]]] = {}
        for row in _active(self.site.network):
            links.setdefault(self.forest_of[row.topic], set()).add(row.dial)
        return {forest: _rooted(forest, links[forest]) for forest in sorted(links)}


def forests(network: Network) -> dict[str, int]:
    """Forest of every topic that has rows: the plan's where it has them, else first fit, largest trees first.

    Raises
    ------
    InvalidPlanError
        The plan gives a topic two forests.
    """
    given: dict[str, int] = {}
    for row in _active(network):
        if row.forest is not None and given.setdefault(row.topic, row.forest) != row.forest:
            raise InvalidPlanError(f"topic {row.topic!a} is in forests {given[row.topic]} and {row.forest}")
    active: dict[str, list[Row]] = {}
    for row in _active(network):
        active.setdefault(row.topic, []).append(row)
    if len(given) == len(active):
        return given
    packed: dict[str, int] = {}
    bins: list[_Forest] = []
    for topic in sorted(active, key=lambda topic: (-len(active[topic]), topic)):
        place = next((place for place, one in enumerate(bins) if one.take(active[topic])), len(bins))
        if place == len(bins):
            bins.append(_Forest())
            bins[-1].take(active[topic])
        packed[topic] = place
    return {topic: packed[topic] for topic in active}


class _Forest:
    """Links without a cycle, to which a tree is added if there is still none."""

    def __init__(self) -> None:
        self._links: set[tuple[str, str]] = set()
        self._parent: dict[str, str] = {}

    def take(self, rows: Iterable[Row]) -> bool:
        parent = dict(self._parent)
        for row in rows:
            if row.dial in self._links:
                continue
            one, other = _root(parent, row.src), _root(parent, row.dst)
            if one == other:
                return False
            parent[one] = other
        self._parent = parent
        self._links.update(row.dial for row in rows)
        return True


def _root(parent: dict[str, str], node: str) -> str:
    while parent.setdefault(node, node) != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


def _active(network: Network) -> list[Row]:
    return [row for row in network.rows if row.active]


def _rooted(forest: int, links: set[tuple[str, str]]) -> dict[tuple[str, str], bool]:
    """(owner, acceptor) to whether the owner is the parent, each tree rooted at its server of most links."""
    near: dict[str, list[str]] = {}
    for one, other in sorted(links):
        near.setdefault(one, []).append(other)
        near.setdefault(other, []).append(one)
    parent: dict[str, str | None] = {}
    for start in sorted(near, key=lambda node: (-len(near[node]), node)):
        if start in parent:
            continue
        parent[start] = None
        queue = deque([start])
        while queue:
            node = queue.popleft()
            for other in near[node]:
                if other not in parent:
                    parent[other] = node
                    queue.append(other)
                elif parent[node] != other and parent[other] != node:
                    raise InvalidPlanError(f"the trees of forest {forest} make a cycle at {node!a} – {other!a}")
    return {(owner, acceptor): parent[acceptor] == owner for owner, acceptor in sorted(links)}


def _config(plan: _Accounts, node: str) -> str:
    site, broker = plan.site, plan.site.brokers[node]
    lines = [
        f"# topicloom, broker {site.slugs[node]}, generation {site.network.generation}",
        f"server_name: {_text(site.slugs[node])}",
        f'listen: "{broker.bind}:{broker.port}"',
    ]
    if broker.tls is not None:
        lines.append(_tls(broker.tls, verify=False))
    lines += ["accounts {", *_accounts(plan, node), "}"]
    if not _secured(site):
        lines.append("no_auth_user: app")
    return "\n".join(lines + _leafnodes(plan, node)) + "\n"


def _accounts(plan: _Accounts, node: str) -> Iterable[str]:
    imports = []
    for forest, topics in sorted(plan.topics[node].items()):
        subjects = [_text(plan.subjects[topic]) for topic in topics]
        users = [_login(plan.site, _user(plan, owner, forest), f"LOOM_{_variable(plan.site, owner)}")
                 for owner in _dialled_from(plan, node, forest)]  # fmt: skip
        yield f"  G{forest} {{"
        yield f"    users: [{', '.join(users)}]"
        yield "    exports: ["
        for name in subjects:
            yield f"      {{stream: {name}}}, {{service: {name}}}"
            imports.append(f"      {{stream: {{account: G{forest}, subject: {name}}}}}, "
                           f"{{service: {{account: G{forest}, subject: {name}}}}}")  # fmt: skip
        yield "    ]"
        yield "  }"
    yield "  APP {"
    yield f"    users: [{_login(plan.site, 'app', 'LOOM_CLIENT')}]"
    yield from ("    imports: [", *imports, "    ]") if imports else ()
    yield "  }"


def _leafnodes(plan: _Accounts, node: str) -> list[str]:
    broker = plan.site.brokers[node]
    accepts = any(_dialled_from(plan, node, forest) for forest in plan.dials)
    dialled = enumerate(_remotes(plan, node))
    remotes = [_remote(plan, node, forest, acceptor, number) for number, (forest, acceptor) in dialled]
    if not accepts and not remotes:
        return []
    lines = ["leafnodes {", '  reconnect: "1s"']
    if accepts:
        if broker.leaf_port is None:
            raise InvalidInventoryError(f"broker {node!a} is dialled by others; NATS needs its leaf_port")
        lines.append(f'  listen: "{broker.bind}:{broker.leaf_port}"')
        if broker.tls is not None:
            lines.append("  " + _tls(broker.tls, verify=True))
    return [*lines, *(["  remotes: [", *remotes, "  ]"] if remotes else []), "}"]


def _remotes(plan: _Accounts, node: str) -> list[tuple[int, str]]:
    """(forest, acceptor) that a server dials."""
    return [(forest, acceptor) for forest, dials in plan.dials.items() for owner, acceptor in dials if owner == node]


def _dialled_from(plan: _Accounts, node: str, forest: int) -> list[str]:
    return [owner for owner, acceptor in plan.dials.get(forest, {}) if acceptor == node]


def _remote(plan: _Accounts, node: str, forest: int, acceptor: str, number: int) -> str:
    own = plan.site.brokers[node]
    url = f"$LOOM_REMOTE_{number}" if _secured(plan.site) else _text(_url(plan, node, forest, acceptor, ""))
    parts = [f"urls: [{url}]", f"account: G{forest}"]
    if plan.dials[forest][node, acceptor]:
        parts.append("hub: true")
    if plan.site.brokers[acceptor].tls is not None and own.tls is not None:
        parts.append(_tls(own.tls, verify=False))
    return f"    {{{', '.join(parts)}}}"


def _url(plan: _Accounts, node: str, forest: int, acceptor: str, password: str) -> str:
    peer = plan.site.brokers[acceptor]
    scheme = "nats-leaf" if peer.tls is None else "tls"
    user = _user(plan, node, forest).strip('"')
    return f"{scheme}://{user}{password and ':'}{password}@{peer.host}:{peer.leaf_port}"


def _user(plan: _Accounts, owner: str, forest: int) -> str:
    return _text(f"{plan.site.slugs[owner]}.g{forest}")


def _login(site: Site, user: str, variable: str) -> str:
    """A user with the password of a variable; without credentials no password is asked, and none is made up."""
    return f"{{user: {user}, password: ${variable}}}" if _secured(site) else f"{{user: {user}}}"


def _variable(site: Site, node: str) -> str:
    return site.slugs[node].upper().replace("-", "_")


def _start_script(plan: _Accounts, node: str) -> str:
    """A script that reads the references and starts the server; it holds no secret."""
    site, slug = plan.site, plan.site.slugs[node]
    dialling = sorted({owner for forest in plan.dials for owner in _dialled_from(plan, node, forest)} | {node})
    lines = ["#!/bin/sh", "set -eu"]
    lines += [f"LOOM_{_variable(site, one)}={_reference(site.brokers[one])}" for one in dialling]
    lines.append(f'LOOM_CLIENT="$LOOM_{_variable(site, node)}"')
    names = [*(f"LOOM_{_variable(site, one)}" for one in dialling), "LOOM_CLIENT"]
    for number, (forest, acceptor) in enumerate(_remotes(plan, node)):
        url = _url(plan, node, forest, acceptor, f"${{LOOM_{_variable(site, node)}}}")
        lines.append(f'LOOM_REMOTE_{number}="{url}"')
        names.append(f"LOOM_REMOTE_{number}")
    path = f"{site.prefix}{slug}.conf"
    return (
        "\n".join([*lines, f"export {' '.join(names)}", f'exec "${{NATS_SERVER:-nats-server}}" -c {path} "$@"']) + "\n"
    )


def _reference(broker: Broker) -> str:
    kind, _, place = (broker.credential or "").partition(":")
    return f'"${{{place}}}"' if kind == "env" else f"\"$(cat '{place}')\""


def _secured(site: Site) -> bool:
    """Whether the inventory has credentials; all brokers must have one then, or none."""
    given = [node for node in site.network.nodes if site.brokers[node].credential]
    if given and len(given) < len(site.network.nodes):
        missing = next(node for node in site.network.nodes if not site.brokers[node].credential)
        raise InvalidInventoryError(f"broker {missing!a} has no credential, others have one; NATS needs all or none")
    return bool(given)


def _tls(tls: Tls, *, verify: bool) -> str:
    asked = ", verify: true" if verify else ""
    return f"tls {{ca_file: {_text(tls.ca)}, cert_file: {_text(tls.cert)}, key_file: {_text(tls.key)}{asked}}}"


def _text(text: str) -> str:
    r"""A quoted text of NATS' configuration; control characters never get here."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
