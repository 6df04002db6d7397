"""Read events of churn, put them in order, and find those that cannot be applied."""

import math
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from topicloom.errors import InvalidEventError
from topicloom.model import Rejection
from topicloom.model.labels import label_of

JOIN, LEAVE, SUBSCRIBE, UNSUBSCRIBE = KINDS = ("join", "leave", "subscribe", "unsubscribe")
WantedBy = Callable[[str], frozenset[str] | None]  # topics of a present node, None for others


@dataclass(frozen=True)
class Event:
    """A node joins, leaves, or changes its topics.

    ``at`` (a number, or ISO 8601 text; without a zone it is UTC) and ``id`` (text or a whole number) say in which order
    the events of a batch apply: by ``at``, then by ``id``, those without before those with, else as given. ``origin``
    is what `read` made it of: an event that has one was checked, and is not read again.
    """

    event: str
    node: str
    topics: tuple[str, ...] = ()
    at: float | None = None
    id: int | str | None = None
    origin: Any = field(default=None, compare=False, repr=False)

    @classmethod
    def read(cls, given: Any) -> "Event":
        """Read an event from a mapping with the keys event, node, topics, at and id, or from an Event.

        Raises
        ------
        InvalidEventError
            The kind is unknown, a label is blank or no text, or a field is malformed.
        """
        origin = given
        if isinstance(given, Event):
            if given.origin is not None:
                return given
            given = given.to_dict()
        if not isinstance(given, Mapping):
            raise InvalidEventError(f"an event is a mapping with event, node and topics, not {type(given).__name__}")
        kind = given.get("event")
        if kind not in KINDS:
            raise InvalidEventError(f"unknown kind of event {kind!r}; {', '.join(KINDS)} are accepted")
        topics = given.get("topics")
        if topics is None:
            topics = ()
        if isinstance(topics, str | bytes | Mapping) or not isinstance(topics, Iterable):
            raise InvalidEventError(f"topics is {type(topics).__name__}; a list of labels is accepted")
        return cls(
            kind,
            checked_label(given.get("node"), "node"),
            tuple(dict.fromkeys(checked_label(topic, "topic") for topic in topics)),
            _time(given.get("at")),
            _id(given.get("id")),
            origin,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the event as a mapping, without absent fields."""
        fields = {"event": self.event, "node": self.node, "topics": self.topics, "at": self.at, "id": self.id}
        return {name: value for name, value in fields.items() if value is not None and value != ()}

    def told(self) -> dict[str, Any]:
        """Return the same as `to_dict`. Deprecated: this was its name up to 0.2."""
        warnings.warn("Event.told() is now called to_dict()", DeprecationWarning, stacklevel=2)
        return self.to_dict()

    @property
    def rank(self) -> tuple[Any, ...]:
        """The key by which events of a batch are sorted."""
        at = -math.inf if self.at is None else self.at
        return (at, 0 if self.id is None else 1 if isinstance(self.id, int) else 2, 0 if self.id is None else self.id)


def checked_label(label: Any, what: str) -> str:
    """Check a label and return it as text. Integers become their digits.

    Raises
    ------
    InvalidEventError
        It is null, blank, too long, or neither text nor a whole number.
    """
    if not isinstance(label, str):
        if hasattr(label, "__index__") and not isinstance(label, bool):
            return str(label.__index__())
        raise InvalidEventError(f"a {what} is {label!r}; text or a whole number is accepted")
    _, wrong = label_of(label, f"a {what}")
    if wrong is not None:
        raise InvalidEventError(f"{wrong}; every {what} needs a label of text that can be used")
    return str(label)


def why_not(event: Event, wanted: frozenset[str] | None) -> str | None:
    """Say why an event cannot be applied to a node that wants these topics. ``wanted`` is None for an absent node.

    Returns None if it can be applied.
    """
    if event.event == JOIN:
        return None if wanted is None else f"node {event.node!r} joins, but it is already there"
    if wanted is None:
        return f"there is no node {event.node!r} to {event.event}"
    if event.event == LEAVE:
        return None
    if not event.topics:
        return f"node {event.node!r} is to {event.event}, but no topic is named"
    if event.event == SUBSCRIBE:
        double = [topic for topic in event.topics if topic in wanted]
        return f"node {event.node!r} already wants topic {double[0]!r}" if double else None
    missing = [topic for topic in event.topics if topic not in wanted]
    return f"node {event.node!r} does not want topic {missing[0]!r}" if missing else None


def after(event: Event, wanted: frozenset[str] | None) -> frozenset[str] | None:
    """Return the topics of the node after the event, None if it has left."""
    if event.event == LEAVE:
        return None
    before = wanted or frozenset()
    return before - set(event.topics) if event.event == UNSUBSCRIBE else before | set(event.topics)


def in_order(
    given: Iterable[Any], wanted_by: WantedBy, hindered: Callable[[Event, WantedBy], str | None]
) -> tuple[list[Event], list[Rejection]]:
    """Sort events by their rank. Returns those that can be applied one after the other, and the rejected ones.

    ``hindered`` says why an event that would be possible otherwise is not.
    """
    read: list[Event] = []
    rejected = []
    for raw in given:
        try:
            read.append(Event.read(raw))
        except InvalidEventError as error:
            rejected.append(Rejection(raw, str(error)))
    wanted: dict[str, frozenset[str] | None] = {}
    accepted = []

    def wanted_now(node: str) -> frozenset[str] | None:
        return wanted[node] if node in wanted else wanted_by(node)

    for event in sorted(read, key=lambda event: event.rank):
        now = wanted_now(event.node)
        reason = why_not(event, now) or hindered(event, wanted_now)
        if reason is None:
            wanted[event.node] = after(event, now)
            accepted.append(event)
        else:
            rejected.append(Rejection(event.origin, reason))
    return accepted, rejected


def _time(at: Any) -> float | None:
    if at is None:
        return None
    if isinstance(at, str):
        try:
            at = datetime.fromisoformat(at)
        except ValueError:
            raise InvalidEventError(f"at is {at!r}; a number or ISO 8601 text is accepted") from None
    if isinstance(at, datetime):
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    if isinstance(at, int) and abs(at) > sys.float_info.max:
        raise InvalidEventError("at is too large a number to be a time")
    if isinstance(at, bool) or not isinstance(at, int | float) or not math.isfinite(at):
        raise InvalidEventError(f"at is {at!r}; a number or ISO 8601 text is accepted")
    return float(at)


def _id(given: Any) -> int | str | None:
    if given is None or (isinstance(given, int) and not isinstance(given, bool)):
        return given
    if isinstance(given, str) and not any("\ud800" <= sign <= "\udfff" for sign in given):
        return given
    raise InvalidEventError(f"id is {given!r}; text or a whole number is accepted")
