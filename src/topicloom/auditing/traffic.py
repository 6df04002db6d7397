"""What following messages reveals: loops, duplicates, subscribers cut off, brokers that get what they do not want."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Protocol

from topicloom.auditing.audit_findings import AuditedRow, Finding, Hop, State
from topicloom.auditing.message_paths import Outcome, follow


class Mesh(Protocol):
    """Brokers of one kind with their links.

    Attributes
    ----------
    sends_unasked
        Whether messages cross a link that nobody behind it asked for.
    """

    sends_unasked: bool

    def start(self, broker: str, topic: str) -> State:
        """The state of a message that a client has just published."""

    def counts(self, state: State) -> bool:
        """Whether clients see a message in this state."""

    def hops(self, state: State) -> Sequence[Hop]:
        """Where a message goes next."""

    def points(self) -> Iterator[tuple[str, str]]:
        """Publish points worth following when nobody says who wants what."""

    def asked_for(self, name: str) -> set[str]:
        """Brokers to which some line brings a topic."""

    def rows(self) -> tuple[AuditedRow, ...]:
        """Which topic uses which link."""

    def oddities(self) -> Iterator[Finding]:
        """What is wrong with single lines and links."""


@dataclass
class Traffic:
    """Collects what was seen at the publish points of each topic, and makes one finding per topic and kind."""

    mesh: Mesh
    points: int = 0
    _loops: dict[str, tuple[str, tuple[Hop, ...], int]] = field(default_factory=dict)
    _copies: dict[str, tuple[int, str, str, int]] = field(default_factory=dict)
    _cut: dict[tuple[str, str], tuple[str, str, int]] = field(default_factory=dict)
    _unwanted: dict[str, tuple[str, str, set[str]]] = field(default_factory=dict)

    def publish(self, broker: str, topic: str, wanting: Set[str], *, strict: bool) -> None:
        """Follow one message. With ``strict``, only brokers that want a topic may get it."""
        self.points += 1
        outcome = follow(self.mesh.start(broker, topic), self.mesh.hops, self.mesh.counts)
        if outcome.loop is not None:
            first = self._loops.get(topic, (broker, outcome.loop, 0))
            self._loops[topic] = (*first[:2], first[2] + 1)
            return
        self._count(broker, topic, outcome)
        for missed in sorted(wanting - {place for place, name in outcome.copies if name == topic} - {broker}):
            kind = "cut-off" if missed in self.mesh.asked_for(topic) else "missing"
            pair = self._cut.get((kind, topic), (broker, missed, 0))
            self._cut[kind, topic] = (*pair[:2], pair[2] + 1)
        extra = (
            {place for place, _ in outcome.copies} - wanting - {broker} if strict and self.mesh.sends_unasked else set()
        )
        if extra:
            seen = self._unwanted.setdefault(topic, (broker, min(extra), set()))
            seen[2].update(extra)

    def _count(self, broker: str, topic: str, outcome: Outcome) -> None:
        for (place, _), copies in outcome.copies.items():
            if copies > 1:
                worst = self._copies.get(topic, (0, "", "", 0))
                number = worst[3] + 1
                self._copies[topic] = (copies, broker, place, number) if copies > worst[0] else (*worst[:3], number)

    def findings(self) -> Iterator[Finding]:
        """One finding per topic and kind."""
        for topic, (broker, cycle, number) in self._loops.items():
            text = (
                f"{topic!a} published at {broker!a} runs in a circle: {_circle(cycle)}{_also(number, 'publish point')}"
            )
            yield Finding("loop", text, tuple(hop.place for hop in cycle), topic)
        for topic, (copies, broker, place, number) in self._copies.items():
            text = f"{topic!a} published at {broker!a} arrives {copies:,} times at {place!a}{_also(number, 'case')}"
            yield Finding("duplicate", text, (), topic)
        for (kind, topic), (broker, missed, number) in self._cut.items():
            why = "though lines ask for it there" if kind == "cut-off" else "and no line brings it there"
            text = f"{topic!a} published at {broker!a} does not reach {missed!a}, {why}{_also(number, 'pair')}"
            yield Finding(kind, text, (), topic)
        for topic, (broker, place, places) in self._unwanted.items():
            text = f"{topic!a} published at {broker!a} arrives at {place!a}, which does not want it"
            yield Finding("unwanted", text + _also(len(places), "broker"), (), topic)


def _circle(cycle: Sequence[Hop]) -> str:
    start = cycle[-1].state.broker
    grown = "" if cycle[-1].state.name == cycle[0].state.name or len(cycle) > 1 else ", under a longer name each time"
    return f"{start!a}" + "".join(f" → {hop.state.broker!a} ({hop.place})" for hop in cycle) + grown


def _also(number: int, what: str) -> str:
    return f" (and {number - 1:,} more {what}{'s' if number > 2 else ''})" if number > 1 else ""


def traffic_of(mesh: Mesh, brokers: Set[str], wanted: Mapping[str, Set[str]] | None) -> Traffic:
    """Follow every message that matters.

    With an interest, every topic is published at every subscriber. Topics that only the configurations know are
    published where they leave a broker, and brokers wanting them are those to which a line brings them.
    """
    traffic = Traffic(mesh)
    for topic, nodes in (wanted or {}).items():
        for broker in sorted(nodes & brokers):
            traffic.publish(broker, topic, nodes & brokers, strict=True)
    for broker, topic in mesh.points():
        if wanted is None:
            traffic.publish(broker, topic, mesh.asked_for(topic), strict=False)
        elif broker not in wanted.get(topic, ()):
            traffic.publish(broker, topic, set(), strict=False)
    return traffic
