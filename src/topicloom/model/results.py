"""What the judge and the measures answer: frozen values that render themselves as dictionaries."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, NoReturn

from topicloom.errors import NoTruthValueError


class JudgedByOk:
    """A result with an ``ok``, which is not true or false itself: ``if result`` could mean that there is one."""

    def __bool__(self) -> NoReturn:
        raise NoTruthValueError(f"a {type(self).__name__} is neither true nor false; use .ok")


class BrokenTopic(NamedTuple):
    """A topic that is not k-topic-connected, and why.

    The topic and the witness are labels, or ids if there are none. The witness (nodes, ascending by id) is what
    a reader can check by hand:

    - components > 1: two subscribers that cannot reach each other, the smallest of two components;
    - at most k subscribers: two of them that are not linked, where all should be;
    - otherwise: fewer than k subscribers whose failure separates the rest.
    """

    topic: Any
    components: int
    witness: tuple[Any, ...]


@dataclass(frozen=True)
class Verdict(JudgedByOk):
    """Answer of `topicloom.verify`, and of the judge on Spark.

    Attributes
    ----------
    ok : bool
        Every topic is k-topic-connected.
    k : int
        The connectivity that was asked for.
    broken : tuple of BrokenTopic
        The topics that are not, in order; commands list the first thousand of them.
    topics : int
        How many topics were checked.
    idle_links : int
        Links between nodes that share no topic: harmless, but no message ever uses them.
    broken_topics : int
        How many topics are broken.
    """

    ok: bool
    k: int
    broken: tuple[BrokenTopic, ...]
    topics: int
    idle_links: int = 0
    broken_topics: int = -1

    def __post_init__(self) -> None:
        if self.broken_topics < 0:
            object.__setattr__(self, "broken_topics", len(self.broken))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready dictionary. Topics and nodes as in ``broken``."""
        return {**asdict(self), "broken": [broken._asdict() for broken in self.broken]}


@dataclass(frozen=True)
class Metrics:
    """Measured properties of an overlay, as `topicloom.measure` returns them.

    A diameter of a topic whose sub-overlay is not connected is infinite: None here, null in JSON.

    Attributes
    ----------
    mean_hops : float or None
        Mean distance of two subscribers of a topic; None is infinite: some topic is not connected.
    unwanted_relays : int or None
        Nodes that have to pass on what they do not want, summed over topics: 0 if every topic is connected, None if
        some topic has no way at all between its subscribers.
    survives_one_failure : bool
        Every topic stays connected when any one node fails.
    links_per_topic_tree : float or None
        Links divided by the links that a separate tree per topic would take: below 1 is what sharing saves.
        None when no topic has two subscribers.
    mean_shared_topics : float or None
        Mean over links of the topics that both ends want.
    sampled_diameters : int
        Topics whose diameter is a lower bound, from 16 searches; mean and maximum are lower bounds then. Commands and
        the pipeline do so for topics with over 20,000 subscribers, or 1,000 where there are over a million
        subscriptions; `tl.measure` never does.
    sampled_hops : int
        Topics whose hops are estimated, because they have many hundred subscribers. ``mean_hops`` is an estimate then,
        from fewer searches above a million subscriptions; `topicloom.measures.mean_hops` gives its standard error.
    degree_histogram : mapping
        Degree -> number of nodes.
    disconnected_topics, relayed_topics : int
        Topics that are not connected among their subscribers; those of them that are joined by nodes which do not want
        them. The others are broken: some subscribers cannot reach each other over any links.
    relaying_nodes : int
        Nodes that relay some topic which they do not want.
    hops_with_relays, mean_diameter_with_relays, max_diameter_with_relays : float, float and int, or None
        As without relays, with the distances of a relayed topic in the tree that `topicloom.measures.filtering_costs`
        counts its relays in. None: some topic is broken.
    """

    nodes: int
    topics: int
    subscriptions: int
    links: int
    average_degree: float
    max_degree: int
    mean_topic_diameter: float | None
    max_topic_diameter: int | None
    mean_hops: float | None
    unwanted_relays: int | None
    survives_one_failure: bool
    disconnected_topics: int
    links_per_topic_tree: float | None
    mean_shared_topics: float | None
    idle_links: int
    sampled_diameters: int = 0
    sampled_hops: int = 0
    degree_histogram: Mapping[int, int] = field(default_factory=dict)
    relayed_topics: int = 0
    relaying_nodes: int = 0
    hops_with_relays: float | None = None
    mean_diameter_with_relays: float | None = None
    max_diameter_with_relays: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready dictionary: the same keys as ``metrics.json`` and ``topicloom measure --json``."""
        return {**asdict(self), "degree_histogram": {str(d): n for d, n in self.degree_histogram.items()}}


class CutTopic(NamedTuple):
    """A topic that a failure splits.

    Attributes
    ----------
    topic : str or int
        Its label, or its id if there are no labels.
    pieces : tuple of int
        Surviving subscribers in each component, the largest first.
    lost_pairs : int
        Pairs of surviving subscribers that could reach each other before the failure and no longer can.
    """

    topic: str | int
    pieces: tuple[int, ...]
    lost_pairs: int


@dataclass(frozen=True)
class DrillReport(JudgedByOk):
    """What the failure of some nodes does to the topics, as `topicloom.drill` returns it.

    Attributes
    ----------
    failed : tuple of str or int
        The failed nodes, ascending: labels, or ids if there are none.
    cut : tuple of CutTopic
        Topics whose surviving subscribers lost each other, by topic id.
    topics_holding : int
        Topics that lost a subscriber and stay in as few pieces as before.
    topics_untouched : int
        Topics without a failed subscriber.
    """

    failed: tuple[str | int, ...]
    cut: tuple[CutTopic, ...]
    topics_holding: int
    topics_untouched: int

    @property
    def ok(self) -> bool:
        """No topic is cut."""
        return not self.cut

    @property
    def lost_pairs(self) -> int:
        """Pairs of surviving subscribers that lost each other, summed over topics."""
        return sum(topic.lost_pairs for topic in self.cut)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready dictionary. Topics and nodes by label, or by id if there are none."""
        return {
            "ok": self.ok,
            "failed": list(self.failed),
            "topics_cut": len(self.cut),
            "topics_holding": self.topics_holding,
            "topics_untouched": self.topics_untouched,
            "lost_pairs": self.lost_pairs,
            "cut": [{**topic._asdict(), "pieces": list(topic.pieces)} for topic in self.cut],
        }


@dataclass(frozen=True)
class DrillSummary(JudgedByOk):
    """Many random failures of one size, as `topicloom.random_drills` returns them.

    Attributes
    ----------
    size, count, seed : int
        Nodes that fail at once, how many drills, and the seed that drew the nodes.
    drills_with_cuts : int
        Drills in which some topic was cut.
    mean_topics_cut, mean_lost_pairs : float
        Per drill.
    max_topics_cut, max_lost_pairs : int
        In the worst drill of each kind.
    worst : DrillReport or None
        The drill that lost most pairs, the first one if several lost as many. None without any drill.
    """

    size: int
    count: int
    seed: int
    drills_with_cuts: int
    mean_topics_cut: float
    max_topics_cut: int
    mean_lost_pairs: float
    max_lost_pairs: int
    worst: DrillReport | None

    @property
    def ok(self) -> bool:
        """No drill cut a topic."""
        return self.drills_with_cuts == 0

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready dictionary. Topics and nodes by label, or by id if there are none."""
        return {**vars(self), "worst": None if self.worst is None else self.worst.to_dict()}


class WeakNode(NamedTuple):
    """A single point of failure: a node whose failure alone cuts topics.

    Attributes
    ----------
    node : str or int
        Its label, or its id if there are no labels.
    topics_cut : int
        Topics that it cuts.
    lost_pairs : int
        Pairs of other subscribers that lose each other, summed over topics.
    """

    node: str | int
    topics_cut: int
    lost_pairs: int


@dataclass(frozen=True)
class Hops:
    """Mean distance of two subscribers of a topic, as `topicloom.measures.mean_hops` returns it.

    Attributes
    ----------
    mean : float or None
        None when some topic is not connected; 0.0 when no topic has two subscribers.
    standard_error : float or None
        Of the mean, 0.0 when it is exact; None without a mean.
    exact : bool
        All pairs were counted; otherwise a sample.
    """

    mean: float | None
    standard_error: float | None
    exact: bool

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready dictionary."""
        return asdict(self)


@dataclass(frozen=True)
class SocAnswer(JudgedByOk):
    """Whether an overlay keeps to a degree d and a routing cost C, as `topicloom.soc` returns it.

    Attributes
    ----------
    ok : bool
        Both bounds hold.
    degree : float
        Value of the degree function.
    cost : float or None
        Value of the routing cost; None when it is infinite.
    degree_function, cost_function : str
        Which functions these are.
    d, C : float
        The bounds.
    """

    ok: bool
    degree: float
    cost: float | None
    degree_function: str
    cost_function: str
    d: float
    C: float

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready dictionary."""
        return asdict(self)
