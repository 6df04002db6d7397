"""Mosquitto brokers and their bridges as one mesh in which a message can be followed."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from topicloom.auditing.audit_findings import AuditedRow, Finding, Hop, Place, State
from topicloom.auditing.filters import common, example_of, is_wild, matches
from topicloom.auditing.mosquitto_broker import Bridge, MosquittoBroker
from topicloom.auditing.peers import Door, Peers

_MOST_PAIRS = 20_000


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

    def __init__(self, brokers: Sequence[MosquittoBroker], known: Mapping[tuple[str, int], str]) -> None:
        self.brokers = {broker.name: broker for broker in brokers}
        peers = Peers([Door(one.name, one.file, *bound) for one in brokers for bound in one.listeners], known)
        self.links = [
            Link(bridge, one.name, _peer(peers, one, bridge, self.brokers)) for one in brokers for bridge in one.bridges
        ]
        self._exact: dict[tuple[str, str], list[int]] = {}
        self._wild: dict[str, list[tuple[str, int]]] = {}
        for number, link in enumerate(self.links):
            if link.acceptor is not None and link.acceptor in self.brokers:
                self._add(link.owner, link.bridge.sent, 2 * number)
                self._add(link.acceptor, link.bridge.fetched, 2 * number + 1)

    def _add(self, broker: str, patterns: Mapping[str, Place], end: int) -> None:
        for pattern in patterns:
            if is_wild(pattern):
                self._wild.setdefault(broker, []).append((pattern, end))
            else:
                self._exact.setdefault((broker, pattern), []).append(end)

    def start(self, broker: str, topic: str) -> State:
        """The state of a message that a client has just published."""
        return State(broker, topic, -1)

    def counts(self, state: State) -> bool:
        """Clients see a message in every state."""
        return True

    def hops(self, state: State) -> list[Hop]:
        """Where a message goes next. A bridge never takes it back to where it came from, unless it echoes."""
        ends = set(self._exact.get((state.broker, state.name), ()))
        ends.update(end for pattern, end in self._wild.get(state.broker, ()) if matches(pattern, state.name))
        found = (self._hop(state, end) for end in sorted(ends))
        return [hop for hop in found if hop is not None]

    def _hop(self, state: State, end: int) -> Hop | None:
        link, accepting = self.links[end // 2], end % 2 == 1
        if link.acceptor is None or (state.via == end and not (accepting and link.bridge.echoes)):
            return None
        patterns = link.bridge.fetched if accepting else link.bridge.sent
        met = [place for pattern, place in patterns.items() if matches(pattern, state.name)]
        name = link.bridge.inward(state.name) if accepting else link.bridge.outward(state.name)
        if not self.lets_through(link, state.name if accepting else name, writing=not accepting):
            return None
        there = State(link.owner if accepting else link.acceptor, name, end ^ 1)
        return Hop(there, len(met) if link.bridge.newest else 1, min(met))

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
        wild = sorted(pattern for pattern in patterns if is_wild(pattern))
        met = set(patterns)
        if len(wild) * len(patterns) <= _MOST_PAIRS:
            met |= {both for one in wild for other in patterns if (both := common(one, other)) is not None}
        return {example_of(pattern) for pattern in met if pattern}

    def points(self) -> Iterator[tuple[str, str]]:
        """(broker, name) of every place where a message goes further than the broker that it is published at."""
        for name in sorted(self.names):
            for broker in self.brokers:
                if self.hops(State(broker, name, -1)):
                    yield broker, name

    def asked_for(self, name: str) -> set[str]:
        """Brokers to which some line without prefixes brings a name."""
        return {broker for broker in self.brokers if self._asks(broker, name)}

    def _asks(self, broker: str, name: str) -> bool:
        exact, wild = self._asking
        return name in exact.get(broker, ()) or any(matches(pattern, name) for pattern in wild.get(broker, ()))

    @cached_property
    def _asking(self) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        exact: dict[str, set[str]] = {}
        wild: dict[str, set[str]] = {}
        for link in self.links:
            for rule in link.bridge.rules:
                ends = [link.owner] * rule.receives + [link.acceptor or ""] * rule.sends
                for broker in ends if not rule.renames else ():
                    (wild if is_wild(rule.local) else exact).setdefault(broker, set()).add(rule.local)
        return exact, wild

    def rows(self) -> tuple[AuditedRow, ...]:
        """Which topic uses which link, from lines that have no wildcard and rename nothing."""
        found = set()
        for link in self.links:
            for rule in link.bridge.rules:
                if link.acceptor is None or rule.renames or is_wild(rule.local):
                    continue
                src, dst = sorted((link.owner, link.acceptor))
                shut = not any(self.lets_through(link, rule.local, writing=writing) for writing in (True, False))
                found.add(AuditedRow(rule.local, src, dst, link.owner, not shut))
        return tuple(sorted(found))

    def oddities(self) -> Iterator[Finding]:
        """What is wrong with single lines and links."""
        from topicloom.auditing.oddities import oddities_of

        return oddities_of(self.brokers, self.links)


def _peer(peers: Peers, broker: MosquittoBroker, bridge: Bridge, audited: Container[str | None]) -> str | None:
    """Find the first of a bridge's addresses that is an audited broker's. The others are for fail-over."""
    found = (peers.at(broker.name, host, port, bridge.name) for host, port in bridge.addresses)
    return next((one for one in found if one in audited), None)
