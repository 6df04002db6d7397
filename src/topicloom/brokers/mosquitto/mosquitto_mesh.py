"""Mosquitto brokers and their bridges as one mesh in which a message can be followed."""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from topicloom.brokers.auditing.audit_effort import Effort
from topicloom.brokers.auditing.audit_findings import AuditedRow, Finding, Hop, Place, State
from topicloom.brokers.auditing.filters import FilterTree, common, example_of
from topicloom.brokers.auditing.peers import Door, Peers
from topicloom.brokers.mosquitto.mosquitto_broker import Bridge, MosquittoBroker, read_mosquitto
from topicloom.brokers.mosquitto.mosquitto_words import ALIASES, is_known
from topicloom.files.read.patterns import MQTT

_MOST_PAIRS, _MOST_KEPT = 200_000, 200_000
EXPORTED_QOS = 1


@dataclass(frozen=True)
class Link:
    """A bridge with the brokers at its ends. The acceptor is None where it is not among those audited."""

    bridge: Bridge
    owner: str
    acceptor: str | None

    @property
    def client(self) -> str:
        """Its client id at the acceptor. By default it begins with the host's name, and here with the owner's."""
        return self.bridge.value("remote_clientid") or f"{self.owner}.{self.bridge.name}"


class MosquittoMesh:
    """Brokers, links between them, and for every broker an index of what its bridges carry."""

    sends_unasked = True

    def __init__(
        self,
        brokers: Sequence[MosquittoBroker],
        known: Mapping[tuple[str, int], str],
        effort: Effort | None = None,
        *,
        planned_qos: int | None = None,
    ) -> None:
        self.brokers = {broker.name: broker for broker in brokers}
        self.effort = effort or Effort()
        self.planned_qos = planned_qos
        peers = Peers([Door(one.name, one.file, *bound) for one in brokers for bound in one.listeners], known)
        self.links = [
            Link(bridge, one.name, _peer(peers, one, bridge, self.brokers)) for one in brokers for bridge in one.bridges
        ]
        self._trees = {broker: FilterTree() for broker in self.brokers}
        self._ends: list[int] = []  # of each pattern in a tree: the end of the link that subscribes to it, and its line
        self._lines: list[Place] = []
        self._echoing = {2 * number for number, link in enumerate(self.links) if link.bridge.echoes}
        self._arcs: dict[tuple[str, str], list[Hop]] = {}
        for number, link in enumerate(self.links):
            if link.acceptor is not None and link.acceptor in self.brokers:
                self._add(link.owner, link.bridge.sent, 2 * number)
                self._add(link.acceptor, link.bridge.fetched, 2 * number + 1)

    def _add(self, broker: str, patterns: Mapping[str, Place], end: int) -> None:
        for pattern, place in patterns.items():
            self._trees[broker].add(pattern, len(self._ends))
            self._ends.append(end)
            self._lines.append(place)

    def start(self, broker: str, topic: str) -> State:
        """The state of a message that a client has just published."""
        return State(broker, topic, -1)

    def counts(self, state: State) -> bool:
        """Clients see a message in every state."""
        return True

    def spot(self, state: State) -> str:
        """Where links meet: a broker."""
        return state.broker

    def link_of(self, hop: Hop) -> int:
        """The number of the link that a hop crosses."""
        return hop.state.via // 2

    def hops(self, state: State) -> list[Hop]:
        """Where a message goes next. A bridge never takes it back to where it came from, unless it echoes."""
        return [
            hop for hop in self.arcs(state.broker, state.name) if hop.state.via ^ 1 != state.via or self._echoes(hop)
        ]

    def _echoes(self, hop: Hop) -> bool:
        """Whether a hop goes from the acceptor to an owner that takes back what it sent."""
        return hop.state.via in self._echoing

    def are_plain(self, hops: Sequence[Hop], name: str) -> bool:
        """Whether hops keep the name, and none goes back over its own link."""
        echoing = self._echoing
        return all(state.name == name and state.via not in echoing for state, _, _ in hops)

    def arcs(self, broker: str, name: str) -> list[Hop]:
        """Hops of a message from a broker, however it came there."""
        known = self._arcs.get((broker, name))
        if known is not None:
            return known
        if len(self._arcs) > _MOST_KEPT:
            self._arcs.clear()
        tree, before = self._trees[broker], self._trees[broker].looks
        met: dict[int, list[Place]] = {}
        for number in tree.met(name):
            met.setdefault(self._ends[number], []).append(self._lines[number])
        _ = self.effort.spend(tree.looks - before + len(met))
        found = [hop for end in sorted(met) if (hop := self._hop(name, end, met[end])) is not None]
        self._arcs[broker, name] = found
        return found

    def _hop(self, name: str, end: int, met: Sequence[Place]) -> Hop | None:
        link, accepting = self.links[end // 2], end % 2 == 1
        there = link.bridge.inward(name) if accepting else link.bridge.outward(name)
        if link.acceptor is None or not self.lets_through(link, name if accepting else there, writing=not accepting):
            return None
        state = State(link.owner if accepting else link.acceptor, there, end ^ 1)
        if len(met) == 1:
            return Hop(state, 1, met[0])
        return Hop(state, len(met) if link.bridge.newest else 1, min(met))

    def lets_through(self, link: Link, name: str, *, writing: bool) -> bool:
        """Whether the accepting broker's rules allow what a bridge does there."""
        access = self.brokers[link.acceptor].access if link.acceptor else None
        if access is None:
            return True
        user = link.bridge.value("remote_username") or None
        ask = access.may_write if writing else access.may_read
        return ask(user, link.client, name)

    @cached_property
    def names(self) -> set[str]:
        """Names to publish: one for every filter, and one for what a wildcard has in common with another filter."""
        patterns = {pattern for link in self.links for pattern in (*link.bridge.sent, *link.bridge.fetched)}
        wild = sorted(pattern for pattern in patterns if MQTT.has_wildcard(pattern))
        met = set(patterns)
        if self.overlaps_skipped:
            return {example_of(pattern) for pattern in met if pattern}
        met |= {both for one in wild for other in patterns if (both := common(one, other)) is not None}
        return {example_of(pattern) for pattern in met if pattern}

    @cached_property
    def overlaps_skipped(self) -> bool:
        """Whether there are too many wildcards to try what each has in common with every other filter."""
        patterns = {pattern for link in self.links for pattern in (*link.bridge.sent, *link.bridge.fetched)}
        return sum(map(MQTT.has_wildcard, patterns)) * len(patterns) > _MOST_PAIRS

    def points(self) -> Iterator[tuple[str, str]]:
        """(broker, name) of every place where a message goes further than the broker that it is published at."""
        for name in sorted(self.names):
            for broker in self.brokers:
                if not self.effort.spend(1):
                    return
                if self.arcs(broker, name):
                    yield broker, name

    def asked_for(self, name: str) -> set[str]:
        """Brokers to which some line without prefixes brings a name."""
        tree, brokers = self._asking
        before = tree.looks
        found = {broker for number in tree.met(name) for broker in brokers[number]}
        _ = self.effort.spend(tree.looks - before)
        return found & set(self.brokers)

    @cached_property
    def _asking(self) -> tuple[FilterTree, list[set[str]]]:
        places: dict[str, set[str]] = {}
        for link in self.links:
            for rule in link.bridge.rules:
                if not rule.renames:
                    ends = [link.owner] * rule.receives + [link.acceptor or ""] * rule.sends
                    places.setdefault(rule.local, set()).update(ends)
        tree = FilterTree()
        for number, pattern in enumerate(places):
            tree.add(pattern, number)
        return tree, list(places.values())

    def rows(self) -> tuple[AuditedRow, ...]:
        """Which topic uses which link, from lines that have no wildcard and rename nothing."""
        found = set()
        for link in self.links:
            if link.acceptor is None:
                continue
            src, dst = sorted((link.owner, link.acceptor))
            for name in {rule.local for rule in link.bridge.rules if not rule.renames}:
                if not MQTT.has_wildcard(name):
                    active = any(self.lets_through(link, name, writing=writing) for writing in (True, False))
                    found.add(AuditedRow(name, src, dst, link.owner, active))
        return tuple(sorted(found))

    def oddities(self) -> Iterator[Finding]:
        """What is wrong with single lines and links."""
        from topicloom.brokers.auditing.oddities import oddities_of

        return oddities_of(self)


def _peer(peers: Peers, broker: MosquittoBroker, bridge: Bridge, audited: Container[str | None]) -> str | None:
    """Find the first of a bridge's addresses that is an audited broker's. The others are for fail-over."""
    found = (peers.at(broker.name, host, port, bridge.name) for host, port in bridge.addresses)
    return next((one for one in found if one in audited), None)


_LINE, _LOOKED_AT = re.compile(r"\S[^\n]*"), 2_000


class MosquittoReader:
    """Configurations of Mosquitto, each line of which begins with a word that Mosquitto knows."""

    mains: tuple[str, ...] = ("mosquitto.conf",)

    def likeness(self, text: str) -> float:
        """The share of lines that begin with such a word, of the first 2,000; 1 where there are none."""
        lines = [met.group().rstrip() for met in islice(_LINE.finditer(text), _LOOKED_AT)]
        lines = [line for line in lines if not line.startswith(("#", "//"))]
        words = [line.split(" ", 1)[0] for line in lines if "{" not in line]
        return sum(is_known(ALIASES.get(word, word)) for word in words) / len(lines) if lines else 1.0

    def mesh(
        self,
        files: Mapping[str, tuple[Path, str]],
        known: Mapping[tuple[str, int], str],
        effort: Effort,
        *,
        exported: bool,
    ) -> MosquittoMesh:
        """Read brokers from (path, label) by name. What topicloom wrote is of QoS 1."""
        brokers = [read_mosquitto(path, name, label, effort) for name, (path, label) in files.items()]
        return MosquittoMesh(brokers, known, effort, planned_qos=EXPORTED_QOS if exported else None)
