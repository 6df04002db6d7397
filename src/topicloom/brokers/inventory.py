"""The inventory: where each broker listens, who may dial, which files and references secure it.

YAML, JSON or delimited text with one entry per broker. Secrets are never part of it: a credential is a reference to an
environment variable or to a file, and a literal one is refused with its line and without being printed.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from topicloom.brokers.entries import Entry, read_entries
from topicloom.errors import InvalidInventoryError
from topicloom.model.labels import label_of

REQUIRED = ("node", "host", "port")
TLS = ("ca", "cert", "key")
COLUMNS = (*REQUIRED, "leaf_port", "site", "kind", "version", "dials", "accepts", "tls", "credential")
_LOOPBACK = ("127.", "localhost", "[::1]")
_YES, _NO = ("yes", "true", "1"), ("no", "false", "0")
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,252}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\]")
_CREDENTIAL = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]{0,127}|file:/[^\s\"'$\\]{1,1000}")
_PATH = re.compile(r"/[^\s\"'$\\]{1,1000}")
_VERSION = re.compile(r"[0-9]{1,3}(\.[0-9]{1,5}){0,2}")


@dataclass(frozen=True)
class Tls:
    """Paths, on the broker's own machine, of a certificate authority, a certificate and its key."""

    ca: str
    cert: str
    key: str


@dataclass(frozen=True)
class Broker:
    """One broker of the inventory. `credential` is ``env:NAME`` or ``file:/path``, never a secret."""

    node: str
    host: str
    port: int
    leaf_port: int | None = None
    site: str | None = None
    kind: str | None = None
    version: str | None = None
    dials: bool = True
    accepts: bool = True
    tls: Tls | None = None
    credential: str | None = None

    @property
    def dial_port(self) -> int:
        """The port that other brokers dial: `leaf_port` where there is one."""
        return self.port if self.leaf_port is None else self.leaf_port

    @property
    def bind(self) -> str:
        """The address that it listens on: its own host on loopback, else every address of its machine."""
        return self.host if self.host.startswith(_LOOPBACK) else "0.0.0.0"


@dataclass(frozen=True)
class Inventory:
    """The brokers by node name.

    Examples
    --------
    >>> inventory = Inventory.of([Broker("a", "10.0.0.1", 1883), Broker("b", "10.0.0.2", 1883, dials=False)])
    >>> inventory.brokers["b"].dials
    False

    See Also
    --------
    Inventory.load : read one from a file
    """

    brokers: Mapping[str, Broker]

    @classmethod
    def of(cls, brokers: Iterable[Broker]) -> "Inventory":
        """Build an inventory. Two brokers with one name, or at one address, are refused."""
        named: dict[str, Broker] = {}
        places: dict[tuple[str, int], str] = {}
        for broker in brokers:
            if broker.node in named:
                raise InvalidInventoryError(f"broker {broker.node!a} is in the inventory twice")
            named[broker.node] = broker
            for port in {broker.port, broker.dial_port}:
                other = places.setdefault((broker.host, port), broker.node)
                if other != broker.node:
                    raise InvalidInventoryError(f"brokers {other!a} and {broker.node!a} share {broker.host}:{port}")
        return cls(named)

    @classmethod
    def load(
        cls, path: str | Path, *, separator: str | None = None, encoding: str | None = None, trim: bool = False
    ) -> "Inventory":
        """Read an inventory from a file whose name ends in .yaml, .yml, .json, or .csv, .tsv or .txt, also compressed.

        Parameters
        ----------
        path
            A list of brokers with `node`, `host`, `port` and, optionally, `leaf_port`, `site`, `kind`, `version`,
            `dials`, `accepts` (yes or no), `tls` (`ca`, `cert`, `key`: absolute paths; in CSV the columns `tls_ca`,
            `tls_cert`, `tls_key`) and `credential` (``env:NAME`` or ``file:/path``).
        separator, encoding
            Of text with columns. They are found out unless given, as `topicloom.read_subscriptions` does.
        trim
            Take blanks off both ends of the names of nodes, which are byte for byte what the file holds otherwise.

        Raises
        ------
        InvalidInventoryError
            An unknown key, a missing or ill-formed value, a literal secret. The message has the line, never the value
            of a secret.
        """
        entries = read_entries(Path(path), separator=separator, encoding=encoding, trim=trim)
        return cls.of(_broker(entry) for entry in entries)

    def of_node(self, node: str) -> Broker:
        """Find the broker of a node. An error names the node when there is none."""
        try:
            return self.brokers[node]
        except KeyError:
            alike = next((name for name in self.brokers if name.strip() == node.strip()), None)
            hint = "" if alike is None else f", which has {alike!r}: names are compared with their blanks"
            raise InvalidInventoryError(f"broker {node!r} of the plan is not in the inventory{hint}") from None

    @property
    def fingerprint(self) -> str:
        """A hash of all entries."""
        return sha256(repr(sorted(self.brokers.items())).encode()).hexdigest()[:16]


def _broker(entry: Entry) -> Broker:
    flat = {f"tls_{name}" for name in TLS}
    unknown = sorted(set(entry.values) - set(COLUMNS) - flat)
    if unknown:
        raise entry.error(f"unknown key {unknown[0]!a}; known are {', '.join(COLUMNS)}", unknown[0])
    missing = [name for name in REQUIRED if not entry.text(name)]
    if missing:
        raise entry.error(f"{missing[0]} is missing; node, host and port are needed")
    wrong = label_of(entry.text("node"), "node")[1]
    if wrong is not None:
        raise entry.error(wrong, "node")
    leaf = entry.text("leaf_port")
    return Broker(
        node=entry.text("node"),
        host=_matching(entry, "host", _HOST, "a host name or address, without user, password or port"),
        port=_port(entry, "port"),
        leaf_port=_port(entry, "leaf_port") if leaf else None,
        site=entry.text("site") or None,
        kind=(entry.text("kind") or "").lower() or None,
        version=_matching(entry, "version", _VERSION, "a version such as 2.0.11") if entry.text("version") else None,
        dials=_yes(entry, "dials"),
        accepts=_yes(entry, "accepts"),
        tls=_tls(entry),
        credential=_credential(entry),
    )


def _matching(entry: Entry, name: str, pattern: re.Pattern[str], wanted: str) -> str:
    value = entry.text(name)
    if pattern.fullmatch(value) is None:
        raise entry.error(f"{name} is not {wanted}", name)  # the value may hold a secret: it is not printed
    return value


def _port(entry: Entry, name: str) -> int:
    value = entry.text(name)
    if not re.fullmatch(r"[0-9]{1,5}", value) or not 0 < int(value) < 65536:
        raise entry.error(f"{name} is not a number from 1 to 65535", name)
    return int(value)


def _yes(entry: Entry, name: str) -> bool:
    value = entry.text(name).lower()
    if value in (*_YES, ""):
        return True
    if value in _NO:
        return False
    raise entry.error(f"{name} is neither yes nor no", name)


def _tls(entry: Entry) -> Tls | None:
    nested = entry.values.get("tls")
    if isinstance(nested, str) and nested:
        raise entry.error("tls is not a group of ca, cert and key (in CSV: columns tls_ca, tls_cert, tls_key)", "tls")
    given = dict(nested) if isinstance(nested, dict) else {}
    given |= {name: entry.text(f"tls_{name}") for name in TLS if entry.text(f"tls_{name}")}
    unknown = sorted(set(given) - set(TLS))
    if unknown:
        raise entry.error(f"unknown key {unknown[0]!a} in tls; known are ca, cert, key", "tls")
    if not given:
        return None
    for name in TLS:
        if _PATH.fullmatch(given.get(name, "")) is None:
            raise entry.error(f"tls {name} is not an absolute path (a key or certificate itself is refused)", "tls")
    return Tls(**given)


def _credential(entry: Entry) -> str | None:
    value = entry.text("credential")
    if not value:
        return None
    if _CREDENTIAL.fullmatch(value) is None:
        raise entry.error("credential is a literal; write env:NAME or file:/path", "credential")
    return value
