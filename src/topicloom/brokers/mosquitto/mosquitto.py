"""Mosquitto 2.0 and 2.1: one bridge per link, one ``topic`` line per row, gates as an ``acl_file`` where it accepts.

A *gate* is a rule at the accepting broker: a row is shut when the bridge's user is denied its topic there. Denied rows
stay configured, so opening one is a new ``acl_file`` and SIGHUP; no bridge reconnects and no client is cut. The bridge
of the dialling broker is not subject to that broker's own rules, which is why gates stand at the accepting side only.
"""

from collections.abc import Iterable, Set

from topicloom.brokers.gates import failover_files
from topicloom.brokers.inventory import Broker
from topicloom.brokers.kinds import GATE, RELOAD, RESTART, ChangedRow
from topicloom.brokers.planned_network import Row, Site
from topicloom.brokers.safe_names import first_of
from topicloom.errors import InvalidInventoryError

_BRIDGE = """\
bridge_protocol_version mqttv50
cleansession true
local_cleansession false
restart_timeout 1 5
keepalive_interval 10
notifications true
try_private true
"""
_MOST_BYTES, _MOST_LEVELS = 65535, 201
_RESERVED = ("$SYS", "$share", "$CONTROL")


class Mosquitto:
    """The target ``mosquitto``."""

    default_version = "2.0"
    ordered = True
    needs_forests = False
    holds_both = False

    def refused_version(self, version: str) -> str | None:
        """Versions 2.0 and 2.1 are known."""
        if version.split(".")[:2] in (["2", "0"], ["2", "1"]):
            return None
        return f"Mosquitto {version} is not known to topicloom; 2.0 and 2.1 are"

    def misfit(self, topic: str, version: str) -> str | None:
        """Say why a topic cannot stand in a ``topic`` line, or cannot be published at all."""
        newer = version.startswith("2.1")
        space = first_of(topic, " ")
        if space and not newer:
            return f"it holds a space ({space}), on which Mosquitto 2.0 splits its lines; 2.1 can carry it"
        if topic != topic.strip(" "):
            return "it begins or ends with a space (U+0020), which Mosquitto drops"
        wild = first_of(topic, "+#")
        if wild:
            return (
                f"it holds a wildcard ({wild}), which no MQTT client may publish to; list the topics that it stands for"
            )
        if topic.split("/", 1)[0] in _RESERVED:
            return f"it is under {topic.split('/', 1)[0]}, which Mosquitto keeps for itself"
        if topic.startswith("$") and "%" in topic:
            return "it begins with $ (U+0024) and holds % (U+0025), which access rules would replace"
        if topic == '""' or (newer and (topic.startswith('"') or (space and '"' in topic))):
            return "it holds a quotation mark (U+0022) that Mosquitto would take for its own"
        if len(topic.encode()) > _MOST_BYTES:
            return f"it has more than {_MOST_BYTES:,} bytes"
        if topic.count("/") >= _MOST_LEVELS:
            return f"it has more than {_MOST_LEVELS} levels"
        return None

    def config_path(self, slug: str) -> str:
        """``SLUG.conf``."""
        return f"{slug}.conf"

    def files(self, site: Site) -> dict[str, str]:
        """Configuration of every broker and, with gates, its rules: open, fenced, and after each broker's death."""
        files = {f"{site.slugs[node]}.conf": _config(site, node) for node in site.network.nodes} | _secrets(site)
        if not site.gates:
            return files
        opened = site.network.open_rows()
        for node in site.accepted_by:
            files[gate_path(site.slugs[node])] = gate_file(site, node, opened)
            files[fenced_path(site.slugs[node])] = gate_file(site, node, frozenset())
        return files | failover_files(MosquittoGates(), site)

    def notes(self, site: Site) -> tuple[str, ...]:
        """Say what a broker that comes back has to do first."""
        if not (site.gates and site.network.has_standby):
            return ()
        return (
            "after a fail-over, a broker that restarts by itself with its exported SLUG.acl starts a storm: messages "
            "run in circles. Let it boot with every gate shut ('ExecStartPre=cp SLUG.fenced.acl SLUG.acl' in its "
            "unit), or take Restart= out, and take it in again as docs/guide/brokers.md says",
        )

    def takes(self, row: ChangedRow) -> str | None:
        """A row is opened and shut where the broker accepts it. Its bridges are read at a restart, from 2.1 on live."""
        if not row.dials:
            return GATE
        if row.ready:
            return None
        return RELOAD if row.version >= (2, 1) else RESTART


class MosquittoGates:
    """Rules at the accepting brokers."""

    fenced = True
    steps = False

    def path(self, slug: str) -> str:
        """``SLUG.acl``."""
        return gate_path(slug)

    def fenced_path(self, slug: str) -> str:
        """``SLUG.fenced.acl``."""
        return fenced_path(slug)

    def texts(self, site: Site, nodes: Iterable[str], opened: Set[Row]) -> dict[str, str]:
        """Rules of those brokers that accept links."""
        return {node: gate_file(site, node, opened) for node in nodes if node in site.accepted_by}

    def between(self, site: Site, nodes: Iterable[str], before: Set[Row], after: Set[Row]) -> dict[str, str]:
        """Rules that let through what stays."""
        return self.texts(site, nodes, before & after)

    def touched(self, site: Site, before: Set[Row], after: Set[Row]) -> set[str]:
        """Brokers that accept a row that moves."""
        return {row.acceptor for row in before ^ after}

    def moves(self, row: Row, node: str) -> bool:
        """Whether the broker accepts the row."""
        return row.acceptor == node


def gate_path(slug: str) -> str:
    """Path of the rules that a running broker reads."""
    return f"{slug}.acl"


def fenced_path(slug: str) -> str:
    """Path of the rules with which a broker that was dead boots: every gate is shut."""
    return f"{slug}.fenced.acl"


def password_path(slug: str) -> str:
    """Path of the password file of a broker, which the user makes with ``mosquitto_passwd``."""
    return f"{slug}.passwords"


def placeholder(slug: str) -> str:
    """What stands in a configuration for the secret of a broker, until the user's vault puts it there."""
    return f"@LOOM_SECRET:{slug}@"


def password_users(site: Site, node: str) -> list[tuple[str, str]]:
    """(user, reference to the password) of every bridge that a broker has to let in by password.

    Raises
    ------
    InvalidInventoryError
        Some brokers that dial it have a credential and others have none.
    """
    dialling = [(owner, site.brokers[owner].credential) for owner in site.accepted_by.get(node, ())]
    asked = site.brokers[node].credential is not None or any(reference for _, reference in dialling)
    bare = [owner for owner, reference in dialling if asked and not reference]
    if bare:
        raise InvalidInventoryError(f"broker {bare[0]!r} has no credential and dials {node!r}, where one is needed")
    return [(client_id(site, owner, node), reference) for owner, reference in dialling if reference]


def _secrets(site: Site) -> dict[str, str]:
    """A table of what the user's vault has to fill in: references only."""
    lines = []
    for owner, acceptor in site.network.links:
        reference = site.brokers[owner].credential
        if reference:
            slug, user = site.slugs[owner], client_id(site, owner, acceptor)
            lines.append(f"{slug}.conf,{placeholder(slug)},{password_path(site.slugs[acceptor])},{user},{reference}")
    return {"secrets.csv": "\n".join(["file,placeholder,password_file,user,reference", *lines]) + "\n"} if lines else {}


def link_name(site: Site, owner: str, acceptor: str) -> str:
    """Name of a bridge. Slugs hold no double dash, so it tells both ends."""
    return f"{site.slugs[owner]}--{site.slugs[acceptor]}"


def client_id(site: Site, owner: str, acceptor: str) -> str:
    """Client id and user name of a bridge at the broker that accepts it."""
    return f"tl-{link_name(site, owner, acceptor)}"


def gate_file(site: Site, acceptor: str, opened: Set[Row]) -> str:
    """Rules of an accepting broker that let these rows through and no other row.

    Clients may do everything. A bridge may do everything but use the rows that are shut.
    """
    rows = [row for owner in site.accepted_by[acceptor] for row in site.link_rows(owner, acceptor)]
    special = sorted({row.topic for row in rows if row.topic.startswith("$")})
    lines = [
        "topic readwrite #",
        "topic read $SYS/#",
        *(f"topic readwrite {topic}" for topic in special),
        "pattern readwrite #",
        "pattern read $SYS/#",
        "pattern write $SYS/broker/connection/%c/state",
        *(f"pattern readwrite {topic}" for topic in special),
    ]
    for owner in site.accepted_by[acceptor]:
        shut = [row.topic for row in site.link_rows(owner, acceptor) if row not in opened]
        if shut:
            lines += [f"user {client_id(site, owner, acceptor)}", *(f"topic deny {topic}" for topic in shut)]
    return "\n".join(lines) + "\n"


def _config(site: Site, node: str) -> str:
    broker = site.brokers[node]
    lines = [f"# topicloom, broker {site.slugs[node]}, generation {site.network.generation}"]
    lines.append("set_tcp_nodelay true")  # else the kernel holds small packets back for up to 40 ms a hop
    lines += _listener(site, broker, broker.port, brokers_only=False)
    if broker.leaf_port is not None:
        lines += _listener(site, broker, broker.leaf_port, brokers_only=True)
    secured = bool(password_users(site, node)) or broker.credential is not None
    lines.append(f"allow_anonymous {'false' if secured else 'true'}")
    if secured:
        lines.append(f"password_file {site.prefix}{password_path(site.slugs[node])}")
    if site.gates and node in site.accepted_by:
        lines.append(f"acl_file {site.prefix}{gate_path(site.slugs[node])}")
    for acceptor in site.dialled_by.get(node, ()):
        lines += ["", *_bridge(site, node, acceptor)]
    return "\n".join(lines) + "\n"


def _listener(site: Site, broker: Broker, port: int, *, brokers_only: bool) -> list[str]:
    bind = f" {broker.host}" if broker.bind == broker.host else ""
    lines = [f"listener {port}{bind}"]
    if broker.tls is not None:
        lines += [f"cafile {broker.tls.ca}", f"certfile {broker.tls.cert}", f"keyfile {broker.tls.key}"]
        if brokers_only:
            lines.append("require_certificate true")
    return lines


def _bridge(site: Site, owner: str, acceptor: str) -> list[str]:
    own, peer = site.brokers[owner], site.brokers[acceptor]
    lines = [
        f"connection {link_name(site, owner, acceptor)}",
        f"address {peer.host}:{peer.dial_port}",
        f"remote_clientid {client_id(site, owner, acceptor)}",
        f"local_clientid tl-local-{link_name(site, owner, acceptor)}",
        f"remote_username {client_id(site, owner, acceptor)}",
    ]
    if own.credential is not None:
        lines.append(f"remote_password {placeholder(site.slugs[owner])}")
    lines += _BRIDGE.splitlines()
    if peer.tls is not None:
        if own.tls is None:
            raise InvalidInventoryError(f"broker {owner!r} dials {acceptor!r}, which has tls, and has no tls itself")
        lines += [f"bridge_cafile {own.tls.ca}", f"bridge_certfile {own.tls.cert}", f"bridge_keyfile {own.tls.key}"]
    return [*lines, *(f"topic {_quoted(row.topic)} both 1" for row in site.link_rows(owner, acceptor))]


def _quoted(topic: str) -> str:
    return f'"{topic}"' if " " in topic else topic
