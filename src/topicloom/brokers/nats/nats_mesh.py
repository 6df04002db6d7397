"""NATS servers and their leaf connections as one mesh in which a message can be followed."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from topicloom.brokers.auditing.audit_effort import Effort
from topicloom.brokers.auditing.audit_findings import AuditedRow, Finding, Hop, Place, State
from topicloom.brokers.auditing.filters import PROBE
from topicloom.brokers.auditing.oddities import both_sides, secrets_of, unfollowed_of
from topicloom.brokers.auditing.peers import Door, Peers
from topicloom.brokers.nats.nats_server import Import, NatsServer, Remote, read_nats
from topicloom.files.read.patterns import NATS


class Leaf(NamedTuple):
    """A leaf connection: server and account at both ends. The acceptor is None where it is not among those audited."""

    remote: Remote
    owner: str
    acceptor: str | None
    there: str


class _Way(NamedTuple):
    """How a message got where it is: the account, the end of a leaf connection (-1: none), and by what import."""

    account: str
    end: int
    by: str


class _Taken(NamedTuple):
    """An import, and the account that a message gets into by it."""

    one: Import
    target: str


class NatsMesh:
    """Servers, leaf connections between them, and messages in the accounts of clients."""

    sends_unasked = False

    def __init__(
        self, servers: Sequence[NatsServer], known: Mapping[tuple[str, int], str], effort: Effort | None = None
    ) -> None:
        self.effort = effort or Effort()
        self.servers = {server.name: server for server in servers}
        peers = Peers([Door(one.name, one.file, *bound) for one in servers for bound in one.listeners], known)
        self.leafs = [self._leaf(peers, server, remote) for server in servers for remote in server.remotes]
        self._ends: dict[tuple[str, str], list[int]] = {}
        for number, leaf in enumerate(self.leafs):
            if leaf.acceptor is not None:
                self._ends.setdefault((leaf.owner, leaf.remote.account), []).append(2 * number)
                self._ends.setdefault((leaf.acceptor, leaf.there), []).append(2 * number + 1)
        self._ways: list[_Way] = []
        self._numbers: dict[_Way, int] = {}
        self._imports = {
            (server.name, name): _sorted_imports(account.imports)
            for server in servers
            for name, account in server.accounts.items()
        }
        self._takers: dict[tuple[str, str], tuple[dict[str, list[_Taken]], list[_Taken]]] = {}
        self._exports = {
            (server.name, name, kind): _sorted_exports(subjects)
            for server in servers
            for name, account in server.accounts.items()
            for kind, subjects in (("stream", account.streams), ("service", account.services))
        }
        for server in servers:
            for name, account in server.accounts.items():
                for one in account.imports:
                    self._note(server.name, name, one)

    def _note(self, server: str, importer: str, one: Import) -> None:
        """File an import under the account from which messages take it."""
        if not self._exported(server, one):
            return
        source, target, known = (
            (importer, one.account, one.here) if one.kind == "service" else (one.account, importer, one.subject)
        )
        exact, wild = self._takers.setdefault((server, source), ({}, []))
        if _is_wild(known):
            wild.append(_Taken(one, target))
        else:
            exact.setdefault(known, []).append(_Taken(one, target))

    def _leaf(self, peers: Peers, server: NatsServer, remote: Remote) -> Leaf:
        peer = peers.at(server.name, remote.host, remote.port) if remote.host else None
        peer = peer if peer in self.servers else None
        return Leaf(remote, server.name, peer, self.servers[peer].account_of(remote.user) if peer else "")

    def _number(self, way: _Way) -> int:
        if way not in self._numbers:
            self._numbers[way] = len(self._ways)
            self._ways.append(way)
        return self._numbers[way]

    def start(self, broker: str, topic: str) -> State:
        """The state of a message that a client has just published, in the account of the clients."""
        return State(broker, topic, self._number(_Way(self.servers[broker].home, -1, "")))

    def counts(self, state: State) -> bool:
        """Whether clients see a message in this state: it is in their account."""
        return self._ways[state.via].account == self.servers[state.broker].home

    def hops(self, state: State) -> list[Hop]:
        """Where a message goes next: other leaf connections of its account, and accounts that import it."""
        way = self._ways[state.via]
        found = [self._crossed(state, end) for end in self._ends.get((state.broker, way.account), ()) if end != way.end]
        if way.by != "stream":
            found += self._imported(state, way, "service")
        if way.by != "service":
            found += self._imported(state, way, "stream")
        return found

    def _crossed(self, state: State, end: int) -> Hop:
        leaf = self.leafs[end // 2]
        server, account = (leaf.owner, leaf.remote.account) if end % 2 else (leaf.acceptor or "", leaf.there)
        return Hop(State(server, state.name, self._number(_Way(account, end ^ 1, ""))), 1, leaf.remote.place)

    def _imported(self, state: State, way: _Way, kind: str) -> list[Hop]:
        """Say where an import leads: into a service from the importer, out of a stream to the importer."""
        found = []
        exact, wild = self._takers.get((state.broker, way.account), ({}, []))
        _ = self.effort.spend(len(wild))
        for one, target in (*exact.get(state.name, ()), *wild):
            to = self._renamed(one, state.name) if one.kind == kind else None
            if to is not None:
                found.append(Hop(State(state.broker, to, self._number(_Way(target, -1, kind))), 1, one.place))
        return found

    def _renamed(self, one: Import, name: str) -> str | None:
        known, other = (one.here, one.subject) if one.kind == "service" else (one.subject, one.here)
        if known == name:
            return other
        return name if known == other and NATS.matches(known, name) else None

    def _exported(self, server: str, one: Import) -> bool:
        exact, wild = self._exports.get((server, one.account, one.kind), (set(), []))
        _ = self.effort.spend(len(wild))
        return one.subject in exact or any(NATS.matches(pattern, one.subject) for pattern in wild)

    def arcs(self, broker: str, name: str) -> None:
        """None: where a message goes depends on how it came."""

    def are_plain(self, hops: Sequence[Hop], name: str) -> bool:
        """Never asked, since `arcs` is None."""
        return False

    def spot(self, state: State) -> tuple[str, str]:
        """Where leaf connections and imports meet: an account of a server."""
        return state.broker, self._ways[state.via].account

    def link_of(self, hop: Hop) -> Hashable:
        """The leaf connection that a hop crosses, or the accounts that an import joins."""
        way = self._ways[hop.state.via]
        return way.end // 2 if way.end >= 0 else (hop.state.broker, hop.place)

    def points(self) -> Iterator[tuple[str, str]]:
        """Every server and subject that leaves it. Where no import names a subject, an example stands for all."""
        for server in self.servers.values():
            names = {one.here for one in server.accounts[server.home].imports} if server.home in server.accounts else ()
            names = {_example(name) for name in names} or {PROBE}
            for name in sorted(names):
                if not self.effort.spend(1):
                    return
                if self.hops(self.start(server.name, name)):
                    yield server.name, name

    def asked_for(self, name: str) -> set[str]:
        """Servers whose clients' account imports a subject, or has leaf connections itself."""
        return {server.name for server in self.servers.values() if self._asks(server, name)}

    def _asks(self, server: NatsServer, name: str) -> bool:
        exact, wild = self._imports.get((server.name, server.home), ({}, []))
        imported = ("stream", name) in exact or any(NATS.matches(one.here, name) for one in wild)
        return imported or (server.name, server.home) in self._ends

    def rows(self) -> tuple[AuditedRow, ...]:
        """Which subject uses which connection: those that the accounts at both ends export, without wildcards."""
        found = set()
        for leaf in self.leafs:
            one = self.servers[leaf.owner].accounts.get(leaf.remote.account)
            other = self.servers[leaf.acceptor].accounts.get(leaf.there) if leaf.acceptor else None
            if one is None or other is None or leaf.acceptor is None:
                continue
            src, dst = sorted((leaf.owner, leaf.acceptor))
            shared = {name for name in set(one.streams) & set(other.streams) if not _is_wild(name)}
            found |= {AuditedRow(topic, src, dst, leaf.owner, True) for topic in shared}
        return tuple(sorted(found))

    def oddities(self) -> Iterator[Finding]:
        """What is wrong with single lines and connections."""
        dials: dict[str, list[tuple[str, str | None, Place]]] = {}
        for leaf in self.leafs:
            dials.setdefault(leaf.remote.account, []).append((leaf.owner, leaf.acceptor, leaf.remote.place))
            if leaf.acceptor is None:
                where = f"{leaf.remote.host!r} port {leaf.remote.port}" if leaf.remote.host else "what a variable says"
                text = f"server {leaf.owner!r} dials {where}, none of these servers ({leaf.remote.place})"
                yield Finding("unknown-peer", text, (leaf.remote.place,))
        for account in dials.values():
            yield from both_sides(account)
        yield from self._spokes()
        yield from unfollowed_of({name: server.unfollowed for name, server in self.servers.items()})
        yield from secrets_of({name: server.secrets for name, server in self.servers.items()})

    def _spokes(self) -> Iterator[Finding]:
        """Servers that dial several others in one account: messages pass between those only while a client asks."""
        dialled: dict[tuple[str, str], list[Place]] = {}
        for leaf in self.leafs:
            if not leaf.remote.hub:
                dialled.setdefault((leaf.owner, leaf.remote.account), []).append(leaf.remote.place)
        for (server, _), places in dialled.items():
            if len(places) > 1:
                text = f"server {server!r} dials {len(places)} others in one account and none as hub: it does not pass"
                yield Finding(
                    "cut-off", f"{text} messages between them unless its own clients ask ({places[0]})", tuple(places)
                )


def _is_wild(name: str) -> bool:
    return any(level in ("*", ">") for level in name.split("."))


def _example(name: str) -> str:
    return ".".join(PROBE if level in ("*", ">") else level for level in name.split("."))


def _sorted_imports(imports: Sequence[Import]) -> tuple[dict[tuple[str, str], list[Import]], list[Import]]:
    exact: dict[tuple[str, str], list[Import]] = {}
    wild = []
    for one in imports:
        known = one.here if one.kind == "service" else one.subject
        if _is_wild(known):
            wild.append(one)
        else:
            exact.setdefault((one.kind, known), []).append(one)
    return exact, wild


def _sorted_exports(subjects: Iterable[str]) -> tuple[set[str], list[str]]:
    given = list(subjects)
    return set(given), [name for name in given if _is_wild(name)]


class NatsReader:
    """Configurations of NATS: blocks, and names with values."""

    mains: tuple[str, ...] = ("nats-server.conf", "nats.conf")

    def likeness(self, text: str) -> float:
        """One half: NATS' language has no form of line to know it by, so it is what is less like the others."""
        return 0.5

    def mesh(
        self,
        files: Mapping[str, tuple[Path, str]],
        known: Mapping[tuple[str, int], str],
        effort: Effort,
        *,
        exported: bool,
    ) -> NatsMesh:
        """Read servers from (path, label) by name."""
        return NatsMesh([read_nats(path, name, label, effort) for name, (path, label) in files.items()], known, effort)
