"""Counting copies: what was published where, which copies arrived, which were missing, extra or unwanted."""

import statistics
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any

from topicloom.brokers.planned_network import Row

_NUMBERS = count()


@dataclass(frozen=True)
class Counts:
    """Copies of the messages of a rehearsal.

    Attributes
    ----------
    published
        Messages.
    expected
        Copies that should arrive: one at each subscriber of the message's topic, the publisher included.
    exactly_once
        Expected copies that arrived once.
    missing
        Expected copies that did not arrive.
    extra
        Copies beyond the first at a subscriber.
    unwanted
        Copies at brokers that did not ask for the topic.
    """

    published: int
    expected: int
    exactly_once: int
    missing: int
    extra: int
    unwanted: int

    @property
    def ok(self) -> bool:
        """Whether every copy arrived once and no other did."""
        return not (self.missing or self.extra or self.unwanted)

    def to_dict(self) -> dict[str, Any]:
        """Fields by name."""
        return asdict(self)


@dataclass(frozen=True)
class Sent:
    """A message: its topic, where and when (by the monotonic clock) it was published, who should get it."""

    topic: str
    publisher: str
    at: float
    wanted: frozenset[str]


class Tally:
    """Every message that was sent and every copy that was heard."""

    def __init__(self, names: Mapping[bytes, str]) -> None:
        """Take the names on the wire: what the broker is told, to the topic."""
        self._names = names
        self._head = next(_NUMBERS).to_bytes(4, "big")  # a copy from an earlier part of the rehearsal is strange
        self._sent: list[Sent] = []
        self._seen: dict[tuple[int, str], int] = {}
        self.delays: dict[tuple[int, str], float] = {}
        self.outstanding = 0
        self.expected = 0
        self.heard = 0
        self.strange = 0

    def sent(self, topic: str, publisher: str, wanted: frozenset[str]) -> bytes:
        """Note a message that is about to be published. Returns its payload."""
        self._sent.append(Sent(topic, publisher, time.monotonic(), wanted))
        self.outstanding += len(wanted)
        self.expected += len(wanted)
        return self._head + (len(self._sent) - 1).to_bytes(8, "big")

    def hear(self, node: str, topic: bytes, payload: bytes) -> None:
        """Note a copy that reached a broker."""
        self.heard += 1
        number = int.from_bytes(payload[4:], "big")
        if payload[:4] != self._head or number >= len(self._sent):
            self.strange += 1
            return
        message = self._sent[number]
        if self._names.get(topic) != message.topic:
            self.strange += 1
            return
        copies = self._seen.get((number, node), 0)
        self._seen[number, node] = copies + 1
        if not copies and node in message.wanted:
            self.outstanding -= 1
            self.delays[number, node] = time.monotonic() - message.at

    @property
    def published(self) -> int:
        """Number of messages that were sent."""
        return len(self._sent)

    def messages(self) -> tuple[Sent, ...]:
        """Every message that was sent."""
        return tuple(self._sent)

    def copies(self, number: int, node: str) -> int:
        """Copies of a message at a broker."""
        return self._seen.get((number, node), 0)

    def wrong(self, number: int) -> bool:
        """Whether some expected copy of a message is missing."""
        return not self.reached(number, self._sent[number].wanted)

    def reached(self, number: int, nodes: Iterable[str]) -> bool:
        """Whether a message has reached all of these brokers."""
        return all((number, node) in self._seen for node in nodes)

    def counts(self, numbers: range | list[int] | None = None) -> Counts:
        """Count the copies of these messages, or of all."""
        chosen = range(len(self._sent)) if numbers is None else numbers
        kept = set(chosen)
        expected = sum(len(self._sent[number].wanted) for number in chosen)
        once = extra = unwanted = arrived = 0
        for (number, node), copies in self._seen.items():
            if number not in kept:
                continue
            if node in self._sent[number].wanted:
                arrived += 1
                once += copies == 1
                extra += copies - 1
            else:
                unwanted += copies
        strange = self.strange if numbers is None else 0
        return Counts(len(kept), expected, once, expected - arrived, extra, unwanted + strange)


@dataclass(frozen=True)
class Travel:
    """Hops and latency of the copies that left their publisher's broker.

    Attributes
    ----------
    mean_hops, max_hops
        Links from the publisher's broker to the receiver's.
    median_ms, p95_ms, max_ms
        From publishing to hearing, in milliseconds.
    """

    mean_hops: float
    max_hops: int
    median_ms: float
    p95_ms: float
    max_ms: float

    @classmethod
    def of(cls, tally: Tally, links_from: Callable[[str, str], dict[str, int]]) -> "Travel":
        """Measure all copies. ``links_from`` gives for a topic and its publisher the links to each broker."""
        messages = tally.messages()
        distances: dict[tuple[str, str], dict[str, int]] = {}
        hops, delays = [0], [0.0]
        for (number, node), delay in tally.delays.items():
            message = messages[number]
            key = (message.topic, message.publisher)
            if key not in distances:
                distances[key] = links_from(*key)
            hops.append(distances[key].get(node, 0))
            delays.append(delay * 1000)
        away = [hop for hop in hops if hop] or [0]
        delays.sort()
        return cls(
            round(statistics.mean(away), 3),
            max(away),
            round(statistics.median(delays), 3),
            round(delays[int(len(delays) * 0.95)], 3) if len(delays) > 1 else 0.0,
            round(delays[-1], 3),
        )


def tree_distances(rows: tuple[Row, ...], start: str) -> dict[str, int]:
    """Links from a broker to every broker of a topic's tree."""
    near: dict[str, list[str]] = {}
    for row in rows:
        if row.active:
            near.setdefault(row.src, []).append(row.dst)
            near.setdefault(row.dst, []).append(row.src)
    found, queue = {start: 0}, deque([start])
    while queue:
        node = queue.popleft()
        for other in near.get(node, ()):
            if other not in found:
                found[other] = found[node] + 1
                queue.append(other)
    return found
