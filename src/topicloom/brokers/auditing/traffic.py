"""What following messages reveals: loops, duplicates, subscribers cut off, brokers that get what they do not want."""

from collections.abc import Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Protocol

from topicloom.brokers.auditing.audit_effort import MOST_STEPS
from topicloom.brokers.auditing.audit_findings import AuditedRow, Finding, Hop
from topicloom.brokers.auditing.message_paths import Outcome
from topicloom.brokers.auditing.spread import Carrier, Circle, Feed, Spread

_NAMED, _PER_MESSAGE = 3, 10


class Mesh(Carrier, Protocol):
    """Brokers of one kind with their links.

    Attributes
    ----------
    sends_unasked
        Whether messages cross a link that nobody behind it asked for.
    """

    sends_unasked: bool

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
    """Collects what was seen at the publish points of each topic. One finding per circle, else per topic and kind."""

    mesh: Mesh
    points: int = 0
    left_out: int = 0
    _known: dict[frozenset[Hashable], list[Circle]] = field(default_factory=dict)
    _shapes: dict[Hashable, list[Feed]] = field(default_factory=dict)
    _loops: dict[frozenset[Hashable], "_Loop"] = field(default_factory=dict)
    _copies: dict[str, tuple[int, str, str, int]] = field(default_factory=dict)
    _cut: dict[tuple[str, str], tuple[str, str, int]] = field(default_factory=dict)
    _unwanted: dict[str, tuple[str, str, set[str]]] = field(default_factory=dict)

    def publish(self, topic: str, brokers: Sequence[str], wanting: Set[str], *, strict: bool) -> None:
        """Follow one message from each broker. With ``strict``, only brokers that want a topic may get it."""
        spread = Spread(self.mesh, topic, brokers, self._known, self._shapes)
        asked = self.mesh.asked_for(topic) if wanting else set()
        looping: dict[str, Outcome] = {}
        for broker in brokers:
            if not self.mesh.effort.spend(_PER_MESSAGE):
                self.left_out += 1
                continue
            self.points += 1
            outcome = spread.outcome(broker)
            if outcome.loop is not None:
                looping[broker] = outcome
                continue
            self._count(broker, topic, outcome)
            reached = {place for place, name in outcome.copies if name == topic}
            for missed in sorted(wanting - reached - {broker}):
                kind = "cut-off" if missed in asked else "missing"
                pair = self._cut.get((kind, topic), (broker, missed, 0))
                self._cut[kind, topic] = (*pair[:2], pair[2] + 1)
            if strict and self.mesh.sends_unasked:
                self._note_unwanted(broker, topic, {place for place, _ in outcome.copies} - wanting - {broker})
        if looping:
            for circle, points in spread.circles(looping):
                self._loops.setdefault(circle.key, _Loop(circle)).add(topic, points)

    def _note_unwanted(self, broker: str, topic: str, extra: Set[str]) -> None:
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
        """One finding per circle, one per topic and kind of what else is wrong."""
        for loop in self._loops.values():
            yield loop.finding()
        if self.left_out:
            text = f"the audit ended after {MOST_STEPS:,} steps: {self.left_out:,} publish points were not followed"
            yield Finding("not-followed", f"{text}; give fewer files or topics at once")
        for topic, (copies, broker, place, number) in self._copies.items():
            text = f"{topic!r} published at {broker!r} arrives {copies:,} times at {place!r}{_also(number, 'case')}"
            yield Finding("duplicate", text, (), topic)
        for (kind, topic), (broker, missed, number) in self._cut.items():
            why = "though lines ask for it there" if kind == "cut-off" else "and no line brings it there"
            text = f"{topic!r} published at {broker!r} does not reach {missed!r}, {why}{_also(number, 'pair')}"
            yield Finding(kind, text, (), topic)
        for topic, (broker, place, places) in self._unwanted.items():
            text = f"{topic!r} published at {broker!r} arrives at {place!r}, which does not want it"
            yield Finding("unwanted", text + _also(len(places), "broker"), (), topic)


@dataclass
class _Loop:
    """A circle with the topics that run in it."""

    circle: Circle
    topics: dict[str, Sequence[str]] = field(default_factory=dict)

    def add(self, topic: str, points: Sequence[str]) -> None:
        self.topics[topic] = points

    def finding(self) -> Finding:
        """Topics, where they may be published, and the lines of the circle."""
        topic, points = next(iter(self.topics.items()))
        text = f"{topic!r} published at {points[0]!r} runs in a circle: {_circle(self.circle.hops)}"
        text += ", one of several between these brokers" if self.circle.more else ""
        text += _also(len(points), "publish point")
        others = list(self.topics)[1:]
        if others:
            named = ", ".join(map(repr, others[:_NAMED])) + (", …" if len(others) > _NAMED else "")
            text += f"; so do{'es' if len(others) == 1 else ''} {len(others):,} more: {named}"
        return Finding("loop", text, tuple(hop.place for hop in self.circle.hops), topic, tuple(self.topics))


def _circle(cycle: Sequence[Hop]) -> str:
    start = cycle[-1].state.broker
    grown = "" if cycle[-1].state.name == cycle[0].state.name or len(cycle) > 1 else ", under a longer name each time"
    return f"{start!r}" + "".join(f" → {hop.state.broker!r} ({hop.place})" for hop in cycle) + grown


def _also(number: int, what: str) -> str:
    return f" (and {number - 1:,} more {what}{'s' if number > 2 else ''})" if number > 1 else ""


def traffic_of(mesh: Mesh, brokers: Set[str], wanted: Mapping[str, Set[str]] | None) -> Traffic:
    """Follow every message that matters.

    With an interest, every topic is published at every subscriber. Topics that only the configurations know are
    published where they leave a broker, and brokers wanting them are those to which a line brings them.
    """
    traffic = Traffic(mesh)
    for topic, nodes in (wanted or {}).items():
        traffic.publish(topic, sorted(nodes & brokers), nodes & brokers, strict=True)
    points: dict[str, list[str]] = {}
    for broker, topic in mesh.points():
        points.setdefault(topic, []).append(broker)
    for topic, places in points.items():
        if wanted is None:
            traffic.publish(topic, places, mesh.asked_for(topic), strict=False)
        else:
            rest = [broker for broker in places if broker not in wanted.get(topic, ())]
            traffic.publish(topic, rest, set(), strict=False)
    traffic.left_out += not mesh.effort.spend(0)
    return traffic
