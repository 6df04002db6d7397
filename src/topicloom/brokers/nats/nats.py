"""NATS 2.10 and newer: leaf nodes, one account per forest, and clients in one account of their own.

Inside a forest's account a message travels over leaf connections that have no cycle. Clients stay in the account APP.
What they publish enters the forest by a service import, what arrives leaves it by a stream import, and a message that
came in by the service is not handed out by the stream again.

Servers from 2.14 on take a new file while they run. Topics whose trees change move to accounts that are added for them.
The old accounts keep their connections, so no account ever has a cycle, and a server has a topic in one account only.
"""

import json
from collections.abc import Iterable, Set
from dataclasses import dataclass
from functools import cached_property

from topicloom.brokers.gates import failover_files
from topicloom.brokers.inventory import Broker, Tls
from topicloom.brokers.kinds import RELOAD, RESTART, ChangedRow
from topicloom.brokers.planned_network import Row, Site
from topicloom.brokers.safe_names import first_of, injective
from topicloom.brokers.topic_forests import by_topic, packed, rooted
from topicloom.errors import InvalidInventoryError, InvalidOptionError

_MOST_BYTES = 4000
_MOST_FILES = 10_000
_SPARE = 4  # a remote that a reload adds together with its account is connected a second later, so some stand by
_TAKES_LINKS = (2, 14)
_RESERVED = ("_INBOX", "_R_", "_GR_", "_SR_")


class Nats:
    """The target ``nats``."""

    default_version = "2.10"
    ordered = True
    needs_forests = True
    holds_both = False

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
            return f"NATS keeps subjects under {tokens[0][:20]!r} for itself"
        if len(subject(topic).encode()) > _MOST_BYTES:
            return f"its subject has more than {_MOST_BYTES:,} bytes"
        return None

    def config_path(self, slug: str) -> str:
        """``SLUG.conf``."""
        return f"{slug}.conf"

    def files(self, site: Site) -> dict[str, str]:
        """Configuration of every server, also after each one's death, and start scripts where there are credentials."""
        plan, gates = Accounts(site), site.gates and _can_reload(site)
        subjects = injective(site.network.subscribers, subject, target="nats")
        files = {f"{site.slugs[node]}.conf": _config(plan, node) for node in site.network.nodes}
        if plan.secured:
            deaths = [Accounts(site, site.network.open_rows(dead)) for dead in site.network.nodes if gates]
            files |= {f"{site.slugs[node]}.start": _start_script([plan, *deaths], node) for node in site.network.nodes}
        if gates:
            files |= _failover_files(site)
        topics = [f"{json.dumps(topic)}: {json.dumps(name)}" for topic, name in subjects.items()]
        files["subjects.json"] = "{" + ",\n ".join(topics) + "}\n"
        return files

    def notes(self, site: Site) -> tuple[str, ...]:
        """Say which files are missing where some server is too old to take them."""
        old = [node for node in site.network.nodes if not takes_links(site.brokers[node].version or "0.0")]
        if not (site.gates and old):
            return ()
        others = f" and {len(old) - 1:,} more" if len(old) > 1 else ""
        return (
            "no fail-over files were written (failover.csv, failover/DEAD/shut/SLUG.conf, failover/DEAD/SLUG.conf): "
            f"servers take them from 2.14 on, and {old[0]!r}{others} counts as {site.brokers[old[0]].version}; "
            "say --version, or version in the inventory",
        )

    def takes(self, row: ChangedRow) -> str | None:
        """A file is read again, but a server older than 2.14 dials a new link only after a restart."""
        return RESTART if row.dials and not row.same_link and row.version < _TAKES_LINKS else RELOAD


class NatsGates:
    """The whole file of a server, which it takes while it runs."""

    fenced = False
    steps = True

    def path(self, slug: str) -> str:
        """``SLUG.conf``."""
        return f"{slug}.conf"

    def fenced_path(self, slug: str) -> str:
        """The file itself: a server that comes back is told by the others."""
        return self.path(slug)

    def texts(self, site: Site, nodes: Iterable[str], opened: Set[Row]) -> dict[str, str]:
        """Configurations with the topics that have standby rows among these in accounts of their own."""
        plan = Accounts(site, opened)
        return {node: _config(plan, node) for node in nodes}

    def between(self, site: Site, nodes: Iterable[str], before: Set[Row], after: Set[Row]) -> dict[str, str]:
        """Configurations with the new connections, in which topics that change accounts are in none.

        A server that moves a topic from one account to the other at once may send a message through both: one
        duplicate was counted in 1,257 messages of two deaths on 2.15.1.
        """
        plan = Accounts(site, after, _moving(before | after))
        return {node: _config(plan, node) for node in nodes}

    def touched(self, site: Site, before: Set[Row], after: Set[Row]) -> set[str]:
        """Subscribers of the topics that change accounts."""
        return {node for topic in _moving(before | after) for node in site.network.subscribers[topic]}

    def moves(self, row: Row, node: str) -> bool:
        """Whether the server is an end of the row."""
        return node in (row.src, row.dst)


def _moving(rows: Set[Row]) -> frozenset[str]:
    """Topics that are in an account of their own when these rows are open."""
    return frozenset(row.topic for row in rows if not row.active)


def _failover_files(site: Site) -> dict[str, str]:
    """Files for every death, unless they are too many to be of use."""
    gates, network = NatsGates(), site.network
    deaths = (gates.touched(site, frozenset(), network.open_rows(dead)) - {dead} for dead in network.nodes)
    number = 2 * sum(map(len, deaths))
    if number > _MOST_FILES:
        raise InvalidOptionError(
            f"{number:,} files would be needed for the death of each of {len(network.nodes):,} servers, at most "
            f"{_MOST_FILES:,} are written; --no-gates leaves them out"
        )
    return failover_files(gates, site)


def takes_links(version: str) -> bool:
    """Whether a server of this version takes new leaf connections while it runs: from 2.14 on."""
    return tuple(int(number) for number in version.split(".")[:2]) >= _TAKES_LINKS


def _can_reload(site: Site) -> bool:
    return all(takes_links(site.brokers[node].version or "0.0") for node in site.network.nodes)


def subject(topic: str) -> str:
    """The subject that NATS' own MQTT server gives to a topic. No two topics have the same.

    Levels become tokens, an empty level becomes ``/`` and a dot becomes ``//``.

    Examples
    --------
    >>> subject("/a/b"), subject("a//b"), subject("a.b"), subject("a/b/")
    ('/.a.b', 'a./.b', 'a//b', 'a.b./')
    """
    return ".".join(level.replace(".", "//") or "/" for level in topic.split("/"))


@dataclass(frozen=True)
class Accounts:
    """Forests of a site: which topics each server has in which, and who dials whom as what.

    Topics with standby rows among ``opened`` have left the forests of the plan for forests of their own, numbered after
    them. Topics that are ``shut`` are in no forest, and stay at the server where they are published.
    """

    site: Site
    opened: Set[Row] = frozenset()
    shut: Set[str] = frozenset()

    @cached_property
    def secured(self) -> bool:
        """Whether the inventory has credentials."""
        return _secured(self.site)

    @cached_property
    def trees(self) -> dict[str, list[Row]]:
        """Topic that has moved to the rows of its new tree."""
        topics = _moving(self.opened)
        return by_topic(sorted((row for row in self.opened if row.topic in topics), key=lambda row: row[:3]))

    @cached_property
    def moved(self) -> dict[str, int]:
        """Topic that has moved to its new forest."""
        return {topic: self.first_new + forest for topic, forest in packed(self.trees).items()}

    @cached_property
    def first_new(self) -> int:
        """Number of the first forest that is not the plan's."""
        return 1 + max(self.site.network.forests.values(), default=-1)

    @cached_property
    def spare(self) -> range:
        """Forests whose accounts every server has ready, where rows stand by."""
        standing_by = self.site.network.has_standby and _can_reload(self.site)
        return range(self.first_new, self.first_new + _SPARE * standing_by)

    def topics(self, node: str) -> dict[int, list[str]]:
        """Forest to the topics that a server shares there."""
        found: dict[int, list[str]] = {}
        for topic in self.site.network.topics_of[node]:
            forest = self.moved.get(topic, self.site.network.forests.get(topic))
            if forest is not None and topic not in self.shut:
                found.setdefault(forest, []).append(topic)
        return found

    @cached_property
    def dials(self) -> dict[int, dict[tuple[str, str], bool]]:
        """Forest to (owner, acceptor) to whether the owner is the parent."""
        links: dict[int, set[tuple[str, str]]] = {}
        for topic, forest in self.moved.items():
            links.setdefault(forest, set()).update(row.dial for row in self.trees[topic])
        new = {forest: rooted(forest, links[forest]) for forest in sorted(links)}
        return self.site.network.forest_dials | new

    @cached_property
    def remotes(self) -> dict[str, list[tuple[int, str]]]:
        """Server to the (forest, acceptor) that it dials."""
        return _grouped((owner, forest, acceptor) for forest in self.dials for owner, acceptor in self.dials[forest])

    @cached_property
    def accepted(self) -> dict[str, list[tuple[int, str]]]:
        """Server to the (forest, owner) that dial it."""
        return _grouped((acceptor, forest, owner) for forest in self.dials for owner, acceptor in self.dials[forest])


def _grouped(ends: Iterable[tuple[str, int, str]]) -> dict[str, list[tuple[int, str]]]:
    found: dict[str, list[tuple[int, str]]] = {}
    for node, forest, other in ends:
        found.setdefault(node, []).append((forest, other))
    return found


def _config(plan: Accounts, node: str) -> str:
    site, broker = plan.site, plan.site.brokers[node]
    lines = [
        f"# topicloom, broker {site.slugs[node]}, generation {site.network.generation}",
        f"server_name: {_text(site.slugs[node])}",
        f'listen: "{broker.bind}:{broker.port}"',
    ]
    if broker.tls is not None:
        lines.append(_tls(broker.tls, verify=False))
    lines += ["accounts {", *_accounts(plan, node), "}"]
    if not plan.secured:
        lines.append("no_auth_user: app")
    return "\n".join(lines + _leafnodes(plan, node)) + "\n"


def _accounts(plan: Accounts, node: str) -> Iterable[str]:
    imports = []
    topics, accepted = plan.topics(node), plan.accepted.get(node, ())
    linked = {forest for forest, _ in (*accepted, *plan.remotes.get(node, ()))}
    for forest in sorted(linked.union(topics, plan.spare)):
        subjects = [_text(subject(topic)) for topic in topics.get(forest, ())]
        users = [_login(plan, _user(plan, owner, forest), f"LOOM_{_variable(plan.site, owner)}")
                 for owner in _users(plan, node, forest)]  # fmt: skip
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
    yield f"    users: [{_login(plan, 'app', 'LOOM_CLIENT')}]"
    yield from ("    imports: [", *imports, "    ]") if imports else ()
    yield "  }"


def _leafnodes(plan: Accounts, node: str) -> list[str]:
    broker = plan.site.brokers[node]
    accepts = node in plan.site.accepted_by  # by a standby row, too: a server that runs cannot begin to listen
    remotes = [_remote(plan, node, forest, acceptor) for forest, acceptor in plan.remotes.get(node, ())]
    if not accepts and node not in plan.site.dialled_by:
        return []
    lines = ["leafnodes {", '  reconnect: "1s"']
    if accepts:
        if broker.leaf_port is None:
            raise InvalidInventoryError(f"broker {node!r} is dialled by others; NATS needs its leaf_port")
        lines.append(f'  listen: "{broker.bind}:{broker.leaf_port}"')
        if broker.tls is not None:
            lines.append("  " + _tls(broker.tls, verify=True))
    return [*lines, *(["  remotes: [", *remotes, "  ]"] if remotes else []), "}"]


def _users(plan: Accounts, node: str, forest: int) -> list[str]:
    """Servers that dial into an account, or may do so after a change."""
    if forest >= plan.first_new:
        return plan.site.accepted_by.get(node, [])
    return [owner for place, owner in plan.accepted.get(node, ()) if place == forest]


def _remote(plan: Accounts, node: str, forest: int, acceptor: str) -> str:
    own = plan.site.brokers[node]
    plain, variable = _url(plan, node, forest, acceptor, ""), _remote_variable(plan.site, forest, acceptor)
    parts = [f"urls: [{f'${variable}' if plan.secured else _text(plain)}]", f"account: G{forest}"]
    if plan.dials[forest][node, acceptor]:
        parts.append("hub: true")
    if plan.site.brokers[acceptor].tls is not None and own.tls is not None:
        parts.append(_tls(own.tls, verify=False))
    return f"    {{{', '.join(parts)}}}"


def _url(plan: Accounts, node: str, forest: int, acceptor: str, password: str) -> str:
    peer = plan.site.brokers[acceptor]
    scheme = "nats-leaf" if peer.tls is None else "tls"
    user = _user(plan, node, forest).strip('"')
    return f"{scheme}://{user}{password and ':'}{password}@{peer.host}:{peer.leaf_port}"


def _user(plan: Accounts, owner: str, forest: int) -> str:
    return _text(f"{plan.site.slugs[owner]}.g{forest}")


def _login(plan: Accounts, user: str, variable: str) -> str:
    """A user with the password of a variable. Without credentials no password is asked, and none is made up."""
    return f"{{user: {user}, password: ${variable}}}" if plan.secured else f"{{user: {user}}}"


def _variable(site: Site, node: str) -> str:
    return site.slugs[node].upper().replace("-", "_")


def _remote_variable(site: Site, forest: int, acceptor: str) -> str:
    return f"LOOM_REMOTE_{forest}_{_variable(site, acceptor)}"


def _start_script(plans: list[Accounts], node: str) -> str:
    """A script that reads the references and starts the server, for every file that it may get. It holds no secret."""
    site, slug = plans[0].site, plans[0].site.slugs[node]
    dialling = sorted({node, *site.accepted_by.get(node, ())})
    lines = ["#!/bin/sh", "set -eu"]
    lines += [f"LOOM_{_variable(site, one)}={_reference(site.brokers[one])}" for one in dialling]
    lines.append(f'LOOM_CLIENT="$LOOM_{_variable(site, node)}"')
    names = [*(f"LOOM_{_variable(site, one)}" for one in dialling), "LOOM_CLIENT"]
    for forest, acceptor in sorted({remote for plan in plans for remote in plan.remotes.get(node, ())}):
        url = _url(plans[0], node, forest, acceptor, f"${{LOOM_{_variable(site, node)}}}")
        name = _remote_variable(site, forest, acceptor)
        lines.append(f'{name}="{url}"')
        names.append(name)
    path = f"{site.prefix}{slug}.conf"
    return (
        "\n".join([*lines, f"export {' '.join(names)}", f'exec "${{NATS_SERVER:-nats-server}}" -c {path} "$@"']) + "\n"
    )


def _reference(broker: Broker) -> str:
    kind, _, place = (broker.credential or "").partition(":")
    return f'"${{{place}}}"' if kind == "env" else f"\"$(cat '{place}')\""


def _secured(site: Site) -> bool:
    """Whether the inventory has credentials. All brokers must have one then, or none."""
    given = [node for node in site.network.nodes if site.brokers[node].credential]
    if given and len(given) < len(site.network.nodes):
        missing = next(node for node in site.network.nodes if not site.brokers[node].credential)
        raise InvalidInventoryError(f"broker {missing!r} has no credential, others have one; NATS needs all or none")
    return bool(given)


def _tls(tls: Tls, *, verify: bool) -> str:
    asked = ", verify: true" if verify else ""
    return f"tls {{ca_file: {_text(tls.ca)}, cert_file: {_text(tls.cert)}, key_file: {_text(tls.key)}{asked}}}"


def _text(text: str) -> str:
    r"""A quoted text of NATS' configuration. Control characters never get here."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
