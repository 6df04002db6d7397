"""What the judge and the measures answer: frozen values that render themselves as dictionaries."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple


class BrokenTopic(NamedTuple):
    """A topic that is not k-topic-connected, and why.

    The witness (node ids, ascending) is what a reader can check by hand:

    - components > 1: two subscribers that cannot reach each other, the smallest of two components;
    - at most k subscribers: two of them that are not linked, where all should be;
    - otherwise: fewer than k subscribers whose failure separates the rest.
    """

    topic: int
    components: int
    witness: tuple[int, ...]


@dataclass(frozen=True)
class Verdict:
    """Answer of `topicloom.verify`.

    Attributes
    ----------
    ok : bool
        Every topic is k-topic-connected.
    k : int
        The connectivity that was asked for.
    broken : tuple of BrokenTopic
        The topics that are not, by topic id.
    topics : int
        How many topics were checked.
    idle_links : int
        Links between nodes that share no topic: harmless, but no message ever uses them.
    """

    ok: bool
    k: int
    broken: tuple[BrokenTopic, ...]
    topics: int
    idle_links: int = 0

    def __bool__(self) -> bool:
        return self.ok

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready dictionary; topics and nodes by id."""
        return {**asdict(self), "broken": [broken._asdict() for broken in self.broken]}


@dataclass(frozen=True)
class Metrics:
    """Figures of an overlay; answer of `topicloom.measure`.

    A diameter of a topic whose sub-overlay is not connected is infinite: None here, null in JSON.

    Attributes
    ----------
    links_per_topic_tree : float or None
        Links divided by the links that a separate tree per topic would take: below 1 is what sharing saves.
        None when no topic has two subscribers.
    mean_shared_topics : float or None
        Mean over links of the topics that both ends want.
    degree_histogram : mapping
        Degree -> number of nodes.
    """

    nodes: int
    topics: int
    subscriptions: int
    links: int
    average_degree: float
    max_degree: int
    mean_topic_diameter: float | None
    max_topic_diameter: int | None
    disconnected_topics: int
    links_per_topic_tree: float | None
    mean_shared_topics: float | None
    idle_links: int
    degree_histogram: Mapping[int, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready dictionary: the same keys as ``metrics.json`` and ``topicloom measure --json``."""
        return {**asdict(self), "degree_histogram": {str(d): n for d, n in self.degree_histogram.items()}}
