"""One name at all its publish points: which of them run in circles, in which circles, and what arrives where.

Where nothing is renamed or echoed, links alone decide, and the cost is linear in the links that carry the name.
Elsewhere single messages are followed.
"""

from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

from topicloom.brokers.auditing.audit_effort import Effort
from topicloom.brokers.auditing.audit_findings import Hop, State
from topicloom.brokers.auditing.circles import Arc, blocks, circle_in, strong_parts
from topicloom.brokers.auditing.message_paths import Outcome, follow

_MOST_STATES, _LONGEST_NAME = 20_000, 2_000


class Carrier(Protocol):
    """What a spread asks of a mesh."""

    effort: Effort

    def start(self, broker: str, topic: str) -> State:
        """The state of a message that a client has just published."""

    def counts(self, state: State) -> bool:
        """Whether clients see a message in this state."""

    def hops(self, state: State) -> Sequence[Hop]:
        """Where a message goes next."""

    def arcs(self, broker: str, name: str) -> Sequence[Hop] | None:
        """Hops from a broker however the message came there, or None where that matters."""

    def are_plain(self, hops: Sequence[Hop], name: str) -> bool:
        """Whether hops keep the name, and no link takes a message back."""

    def spot(self, state: State) -> Hashable:
        """Where links meet."""

    def link_of(self, hop: Hop) -> Hashable:
        """The link that a hop crosses."""


class Circle(NamedTuple):
    """Hops that lead back to where they began, and all links that hang together with them.

    The key is the same for every name that takes these links in these directions. ``more`` says that there are other
    circles over the same links.
    """

    key: frozenset[Hashable]
    links: frozenset[Hashable]
    hops: tuple[Hop, ...]
    more: bool


class Feed(NamedTuple):
    """Circles that links of one strongly connected part form, and the brokers whose messages get into it."""

    brokers: list[str]
    circles: list[Circle]


@dataclass
class Spread:
    """What becomes of one name.

    Attributes
    ----------
    mesh
        Brokers with their links.
    name
        What is published.
    known
        Circles that other names were found to take, by all links that hang together.
    shapes
        Circles of other names, and brokers whose messages get into them, by all links that carry the name.
    """

    mesh: Carrier
    name: str
    brokers: Sequence[str]
    known: dict[frozenset[Hashable], list[Circle]] = field(default_factory=dict)
    shapes: dict[Hashable, list[Feed]] = field(default_factory=dict)

    def outcome(self, broker: str) -> Outcome:
        """What becomes of a message that is published at a broker."""
        if self._plain is None:
            return follow(self.mesh.start(broker, self.name), self._spent_hops, self.mesh.counts)
        if broker in self._looping:
            return Outcome({}, ())
        if self._calm:
            return Outcome(self._reached(broker))
        return follow(self.mesh.start(broker, self.name), self._spent_hops, self.mesh.counts)

    def circles(self, looping: Mapping[str, Outcome]) -> list[tuple[Circle, list[str]]]:
        """Circles, each with the publish points among the looping ones whose messages get into it."""
        return self._of_states(looping) if self._plain is None else self._of_links()

    def _spent_hops(self, state: State) -> Sequence[Hop]:
        found = self.mesh.hops(state)
        _ = self.mesh.effort.spend(1 + len(found))
        return found

    @cached_property
    def _plain(self) -> dict[str, list[Hop]] | None:
        """Hops by broker, or None unless nothing is renamed or echoed."""
        found: dict[str, list[Hop]] = {}
        waiting = list(self.brokers)
        while waiting:
            broker = waiting.pop()
            if broker in found:
                continue
            arcs = self.mesh.arcs(broker, self.name)
            if arcs is None or not self.mesh.are_plain(arcs, self.name):
                return None
            found[broker] = list(arcs)
            _ = self.mesh.effort.spend(1 + len(arcs))
            waiting += [hop.state.broker for hop in arcs]
        return found

    @cached_property
    def _calm(self) -> bool:
        """Whether links form a forest that every message crosses in one copy."""
        plain = self._plain or {}
        above = {broker: broker for broker in plain}
        seen: dict[Hashable, bool] = {}
        for broker, hops in plain.items():
            for hop in hops:
                link = self.mesh.link_of(hop)
                if hop.copies > 1 or (link not in seen and _joined(above, broker, hop.state.broker)):
                    return False
                seen[link] = True
        return True

    @cached_property
    def _trees(self) -> dict[str, dict[tuple[str, str], int]]:
        return {}

    def _reached(self, broker: str) -> dict[tuple[str, str], int]:
        """Brokers that a message gets to in a forest. Where all links carry both ways, they share one answer."""
        if broker in self._trees:
            return self._trees[broker]
        plain = self._plain or {}
        met, waiting, both = {broker}, deque([broker]), True
        while waiting:
            here = waiting.popleft()
            for hop in plain[here]:
                if hop.state.broker not in met:
                    met.add(hop.state.broker)
                    waiting.append(hop.state.broker)
                    both = both and any(back.state.broker == here for back in plain[hop.state.broker])
        _ = self.mesh.effort.spend(len(met))
        copies = {(one, self.name): 1 for one in met}
        for one in met if both else ():
            self._trees[one] = copies
        return copies

    @cached_property
    def _graph(self) -> tuple[list[str], list[list[Arc]], list[Hop]]:
        """Brokers, arcs by broker, hops by number."""
        plain = self._plain or {}
        names = sorted(plain)
        number = {name: place for place, name in enumerate(names)}
        hops: list[Hop] = []
        ahead: list[list[Arc]] = []
        link_of = self.mesh.link_of
        for src, name in enumerate(names):
            numbered = enumerate(plain[name], len(hops))
            ahead.append([Arc(src, number[hop.state.broker], link_of(hop), which) for which, hop in numbered])
            hops += plain[name]
        return names, ahead, hops

    @cached_property
    def _parts(self) -> list[tuple[set[int], list[Arc]]]:
        """Strongly connected parts with a circle: those with as many links as brokers. Each with its arcs."""
        names, ahead, _ = self._graph
        found = []
        for part in strong_parts(len(names), lambda node: [arc.dst for arc in ahead[node]]):
            inside = set(part)
            arcs = [arc for node in sorted(part) for arc in ahead[node] if arc.dst in inside]
            if len({arc.link for arc in arcs}) >= len(part):
                found.append((inside, arcs))
        return found

    @cached_property
    def _behind(self) -> list[list[int]]:
        _, ahead, _ = self._graph
        found: list[list[int]] = [[] for _ in ahead]
        for arcs in ahead:
            for arc in arcs:
                found[arc.dst].append(arc.src)
        return found

    def _leading_to(self, inside: Iterable[int]) -> set[int]:
        met = set(inside)
        waiting = list(met)
        while waiting:
            for node in self._behind[waiting.pop()]:
                if node not in met:
                    met.add(node)
                    waiting.append(node)
        _ = self.mesh.effort.spend(len(met))
        return met

    @cached_property
    def _feeds(self) -> list[Feed]:
        """All circles of the name. Names that the same links carry the same ways share them."""
        link_of = self.mesh.link_of
        plain = self._plain or {}
        shape = tuple(
            (name, tuple([(link_of(hop), hop.state.broker) for hop in plain[name]])) for name in sorted(plain)
        )
        if shape not in self.shapes:
            names, _, hops = self._graph
            self.shapes[shape] = [
                Feed(
                    [names[node] for node in sorted(self._leading_to(inside))],
                    self._circles_of(arcs, hops, names.__getitem__),
                )
                for inside, arcs in self._parts
            ]
        return self.shapes[shape]

    @cached_property
    def _looping(self) -> set[str]:
        return set() if self._calm else {broker for feed in self._feeds for broker in feed.brokers}

    def _of_links(self) -> list[tuple[Circle, list[str]]]:
        published = set(self.brokers)
        return [
            (circle, [broker for broker in feed.brokers if broker in published])
            for feed in self._feeds
            for circle in feed.circles
        ]

    def _circles_of(self, arcs: Sequence[Arc], hops: Sequence[Hop], spot: "Spotter") -> list[Circle]:
        """One circle for each group of links that hang together."""
        whole = frozenset((arc.link, hops[arc.hop].state.broker) for arc in arcs)
        if whole not in self.known:
            self.known[whole] = self._found(arcs, hops, spot)
        return self.known[whole]

    def _found(self, arcs: Sequence[Arc], hops: Sequence[Hop], spot: "Spotter") -> list[Circle]:
        links = {arc.link: (spot(arc.src), spot(arc.dst)) for arc in arcs}
        by_link: dict[Hashable, list[Arc]] = {}
        for arc in arcs:
            by_link.setdefault(arc.link, []).append(arc)
        found = []
        for block in blocks(links):
            if len(block) == 1 and links[block[0]][0] != links[block[0]][1]:
                continue
            inner = sorted(
                (arc for link in block for arc in by_link[link]), key=lambda arc: (arc.src, arc.dst, arc.hop)
            )
            circle = circle_in(inner)
            if circle is not None:
                key = frozenset((arc.link, hops[arc.hop].state.broker) for arc in inner)
                ends = {end for link in block for end in links[link]}
                shown = tuple(hops[arc.hop] for arc in circle)
                found.append(Circle(key, frozenset(block), shown, len(block) > len(ends)))
        return found

    def _of_states(self, looping: Mapping[str, Outcome]) -> list[tuple[Circle, list[str]]]:
        """Circles of names that are renamed on their way: each state counts for itself."""
        found: dict[frozenset[Hashable], tuple[Circle, list[str]]] = {}
        numbers, ahead, hops = self._explored(looping)
        states = list(numbers)
        for part in strong_parts(len(states), lambda node: [arc.dst for arc in ahead[node]]):
            inside = set(part)
            arcs = [arc for node in sorted(part) for arc in ahead[node] if arc.dst in inside]
            if arcs:
                for circle in self._circles_of(arcs, hops, lambda node: self.mesh.spot(states[node])):
                    found.setdefault(circle.links, (circle, []))
        for broker, outcome in looping.items():
            links = frozenset(self.mesh.link_of(hop) for hop in outcome.loop or ())
            keys = [key for key in found if links & key]
            if not keys and outcome.loop:
                keys = [links]
                found[links] = (Circle(links, links, outcome.loop, more=False), [])
            for key in keys:
                found[key][1].append(broker)
        return [(circle, points or list(looping)[:1]) for circle, points in found.values()]

    def _explored(self, looping: Iterable[str]) -> tuple[dict[State, int], list[list[Arc]], list[Hop]]:
        """States that the messages get into, as far as there are not too many."""
        numbers: dict[State, int] = {}
        for broker in looping:
            numbers.setdefault(self.mesh.start(broker, self.name), len(numbers))
        states = list(numbers)
        hops: list[Hop] = []
        ahead: list[list[Arc]] = []
        while len(ahead) < len(states):
            src = len(ahead)
            ahead.append([])
            cut = len(states) > _MOST_STATES or len(states[src].name) > _LONGEST_NAME or not self.mesh.effort.spend(0)
            for hop in () if cut else self._spent_hops(states[src]):
                if hop.state not in numbers:
                    numbers[hop.state] = len(numbers)
                    states.append(hop.state)
                ahead[src].append(Arc(src, numbers[hop.state], self.mesh.link_of(hop), len(hops)))
                hops.append(hop)
        return numbers, ahead, hops


def _joined(above: dict[str, str], one: str, other: str) -> bool:
    """Whether two brokers are joined already; they are afterwards."""
    first, second = _root(above, one), _root(above, other)
    above[first] = second
    return first == second


def _root(above: dict[str, str], node: str) -> str:
    while above[node] != node:
        above[node] = above[above[node]]
        node = above[node]
    return node


class Spotter(Protocol):
    """From the number of a node to where links meet."""

    def __call__(self, node: int, /) -> Hashable: ...
