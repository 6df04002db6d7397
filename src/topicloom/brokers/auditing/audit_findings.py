"""What an audit reads and what it finds: places, hops, findings."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from topicloom.model.results import JudgedByOk


class Place(NamedTuple):
    """A line of a configuration file. Lines count from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class State(NamedTuple):
    """Where a message is, under which name, and by which end of which link it came. ``via`` is -1 for a client."""

    broker: str
    name: str
    via: int


class Hop(NamedTuple):
    """Where a message goes next, in how many copies, and the line that makes it go there."""

    state: State
    copies: int
    place: Place


class AuditedRow(NamedTuple):
    """One link used by one topic, as configured. The owner dials. A row that is not active is shut by a gate."""

    topic: str
    src: str
    dst: str
    owner: str
    active: bool


@dataclass(frozen=True)
class Finding:
    """Something that a reader should know about.

    Attributes
    ----------
    kind
        One word, such as ``loop`` or ``duplicate``.
    text
        What is wrong, in a sentence. It never holds a secret.
    places
        Lines that cause it.
    topic
        The topic concerned, where there is one; of a circle the first.
    topics
        All topics that run in a circle.
    """

    kind: str
    text: str
    places: tuple[Place, ...] = ()
    topic: str | None = None
    topics: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The finding as JSON takes it."""
        return {**asdict(self), "places": [str(place) for place in self.places]}


@dataclass(frozen=True)
class Findings(JudgedByOk):
    """What an audit found.

    Attributes
    ----------
    findings
        Worst kinds first.
    brokers
        Broker to the file that it is started with.
    rows
        Which topic uses which link, for topics that are written without wildcards and not renamed.
    points
        Number of publish points (broker and topic) that were followed.
    """

    findings: tuple[Finding, ...]
    brokers: Mapping[str, str]
    rows: tuple[AuditedRow, ...]
    points: int

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    @property
    def kinds(self) -> dict[str, int]:
        """Number of findings by kind, worst kinds first."""
        return dict(Counter(finding.kind for finding in self.findings))

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON takes it."""
        return {
            "ok": self.ok,
            "brokers": dict(self.brokers),
            "points": self.points,
            "kinds": self.kinds,
            "findings": [finding.to_dict() for finding in self.findings],
            "rows": [row._asdict() for row in self.rows],
        }

    def to_json(self) -> str:
        """`to_dict` as text in ASCII."""
        return json.dumps(self.to_dict())
