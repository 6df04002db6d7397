"""Does an overlay keep to the network that there is? Answered from the rows of its tables, link by link."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from topicloom.errors import InvalidLinksError, InvalidOptionError
from topicloom.judge.connected import component_labels, split_topics
from topicloom.judge.sub_overlays import topic_batches
from topicloom.model.arrays import Int32Array
from topicloom.model.checks import checked_kind, checked_whole
from topicloom.model.given_links import link_ids
from topicloom.model.interest import Interest, checked_interest, with_relays
from topicloom.model.network_rows import EVERY_SITE, NetworkNode
from topicloom.model.overlay import Overlay
from topicloom.model.results import BrokenTopic, JudgedByOk, Verdict
from topicloom.model.site_network import Network

_SENTENCES = {
    "unknown-node": "node {0} is not in the nodes of the network",
    "forbidden-link": "the link {0} – {1} is forbidden",
    "undialled-link": "neither end of the link {0} – {1} may dial the other",
    "missing-link": "the link {0} – {1} is required and missing",
    "over-limit": "node {0} has {1} links and may have {2}",
    "needless-relay": "node {0} relays the topic {1}, which it wants",
    "relay-not-permitted": "node {0} relays the topic {1} and may not relay",
    "topic-off-site": "node {0} carries the topic {1}, which may not be at {2}",
    "broken-topic": "topic {0}: {1} pieces; {2} cannot reach {3}",
    "broken-without": "topic {0} without {1}: {2} pieces; {3} cannot reach {4}",
}


class NetworkFault(NamedTuple):
    """Something that an overlay does against its network.

    Attributes
    ----------
    kind : str
        unknown-node, forbidden-link, undialled-link, missing-link, over-limit, needless-relay, relay-not-permitted,
        topic-off-site, broken-topic, or broken-without: a topic that breaks when a failure unit is down.
    names : tuple
        Labels (ids if there are none), names of units, and numbers, as `sentence` says them.
    """

    kind: str
    names: tuple[Any, ...]

    @property
    def sentence(self) -> str:
        """The fault in words."""
        return _SENTENCES[self.kind].format(*(repr(one) if isinstance(one, str) else one for one in self.names))


@dataclass(frozen=True)
class NetworkVerdict(JudgedByOk):
    """Answer of `verify_network`.

    Attributes
    ----------
    faults : tuple of NetworkFault
        By kind, then by name.
    survive : str or None
        The column whose groups were taken down, one at a time.
    units : int
        How many groups there are.
    """

    faults: tuple[NetworkFault, ...]
    survive: str | None = None
    units: int = 0

    @property
    def ok(self) -> bool:
        """No fault was found."""
        return not self.faults

    @property
    def broken_topics(self) -> int:
        """Topics that are in pieces, with all nodes up or without some unit."""
        return len({fault.names[0] for fault in self.faults if fault.kind.startswith("broken-")})

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready dictionary."""
        return {
            "ok": self.ok,
            "survive": self.survive,
            "units": self.units,
            "faults": dict(Counter(fault.kind for fault in self.faults)),
            "examples": [fault._asdict() for fault in self.faults[:20]],
        }


def verify_network(
    interest: Interest, links: Any, network: Network, *, relays: Any = (), survive: str | None = None
) -> NetworkVerdict:
    """Judge links, and the topics that relays carry, against the rules of a network.

    Every link has to be one that an end may dial and that is not forbidden. Every required link has to be there, and no
    node may have more links than its limit. Every topic has to be connected inside its subscribers and the nodes that
    relay it. Those have to be permitted, and at sites where the topic may be. With ``survive`` the subscribers
    outside any one unit have to stay connected without the nodes of the unit.

    Parameters
    ----------
    interest : Interest
    links : Overlay, pairs, table or graph
        As `verify` takes them. An overlay of the interest brings its relays.
    network : Network
    relays : (r, 2) array of ids, or pairs of labels
        Nodes and the topics that they carry without wanting them.
    survive : str, optional
        ``site``, or another column of the network's nodes: what fails as a whole.

    Returns
    -------
    NetworkVerdict

    Raises
    ------
    InvalidLinksError, InvalidOptionError

    See Also
    --------
    verify : judges an overlay that no network binds.

    Notes
    -----
    Exact. Each unit is taken away and the components of every topic are counted: O(units × Σ over links of the topics
    that both ends carry) time. The rules are read from the rows of the network by code of its own.

    Examples
    --------
    >>> import topicloom as tl
    >>> from topicloom.judge import verify_network
    >>> network = tl.Network.from_tables({"node": ["a", "b", "hub"], "relay": [None, None, "yes"]})
    >>> interest = network.widened(tl.Interest.from_pairs(["a", "b"], ["news", "news"]))
    >>> star = [("a", "hub"), ("b", "hub")]
    >>> verify_network(interest, star, network).faults[0].sentence
    "topic 'news': 2 pieces; 'a' cannot reach 'b'"
    >>> verify_network(interest, star, network, relays=[("hub", "news")]).ok
    True
    """
    checked_interest(interest, "verify_network")
    checked_kind("the network", network, Network, "a Network")
    own = getattr(links, "relays", ()) if getattr(links, "interest", None) is interest else ()
    pairs, carried = link_ids(interest, links), relay_ids(interest, relays if len(relays) else own)
    nodes = {node.node: node for node in network.nodes}
    names = [interest.node_label(v) for v in range(interest.n_nodes)]
    faults = [NetworkFault("unknown-node", (name,)) for name in names if name not in nodes]
    units: dict[str, list[int]] = {}
    if not faults:
        rules = _Rules(network, interest, [nodes[name] for name in names])
        faults += [*rules.of_links(pairs), *rules.of_relays(carried)]
        units = {} if survive is None else rules.units(survive)
    faults += _broken(interest, pairs, carried, units)
    return NetworkVerdict(tuple(faults), survive, len(units))


def verify_carried(overlay: Overlay, k: int = 1) -> Verdict:
    """Judge an overlay whose nodes relay: every topic is connected inside its subscribers and its own relays.

    Raises
    ------
    InvalidOptionError
        ``k`` is above 1.
    """
    if checked_whole("k", k, 1) > 1:
        raise InvalidOptionError(f"k is {k}; where nodes relay topics, 1 is accepted")
    interest = overlay.interest
    broken = tuple(
        BrokenTopic(fault.names[0], fault.names[1], fault.names[2:])
        for fault in _broken(interest, overlay.links, overlay.relays, {})
    )
    _, used = split_topics(overlay.carried, overlay.links)
    return Verdict(not broken, 1, broken, interest.n_topics, int((~used).sum()))


def relay_ids(interest: Interest, relays: Any) -> Int32Array:
    """Nodes and topics that they carry, as (r, 2) int32 ids, ascending, each once."""
    named = [
        (interest.node_id(_plain(node)), interest.topic_id(_plain(topic)))
        for node, topic in (relays.tolist() if isinstance(relays, np.ndarray) else relays)
    ]
    return np.array(sorted(set(named)), np.int32).reshape(-1, 2)


def _plain(name: Any) -> Any:
    """A name as Python's own text or number."""
    return name.item() if isinstance(name, np.generic) else name


class _Rules:
    """The rows of a network, asked one link at a time."""

    def __init__(self, network: Network, interest: Interest, nodes: list[NetworkNode]) -> None:
        self._network, self._interest, self._nodes = network, interest, nodes
        self._rows = {(row.src, row.dst): row.may_dial for row in network.site_pairs}
        self._else = self._rows.pop((EVERY_SITE, EVERY_SITE), all(src == dst for src, dst in self._rows))
        self._inside = {site.site: site.may_dial for site in network.sites}
        self._forbidden = {frozenset((pair.src, pair.dst)) for pair in network.pairs if pair.forbidden}
        self._told: dict[tuple[str, str], bool] = {}

    def of_links(self, links: Int32Array) -> Iterator[NetworkFault]:
        """What is wrong with links: those that may not be, those that are missing, and those that are too many."""
        there = set()
        for u, v in links.tolist():
            one, other = self._nodes[u], self._nodes[v]
            there.add(frozenset((one.node, other.node)))
            if frozenset((one.node, other.node)) in self._forbidden:
                yield NetworkFault("forbidden-link", self._named(u, v))
            elif not (self._dials(one, other) or self._dials(other, one)):
                yield NetworkFault("undialled-link", self._named(u, v))
        for pair in self._network.pairs:
            if pair.required and frozenset((pair.src, pair.dst)) not in there:
                yield NetworkFault("missing-link", (pair.src, pair.dst))
        degree = Counter(links.ravel().tolist())
        for v, node in enumerate(self._nodes):
            if node.max_links is not None and degree[v] > node.max_links:
                yield NetworkFault("over-limit", (self._interest.node_name(v), degree[v], node.max_links))

    def of_relays(self, relays: Int32Array) -> Iterator[NetworkFault]:
        """What is wrong with carriers: those that may not relay, and those at sites where a topic may not be."""
        interest = self._interest
        bound = {topic.topic: topic.allowed_sites for topic in self._network.topics if topic.allowed_sites is not None}
        for v, t in relays.tolist():
            if t in interest.topics_of(v):
                yield NetworkFault("needless-relay", (interest.node_name(v), interest.topic_name(t)))
            elif not self._nodes[v].relay:
                yield NetworkFault("relay-not-permitted", (interest.node_name(v), interest.topic_name(t)))
        for t in range(interest.n_topics):
            sites = bound.get(interest.topic_label(t))
            carriers = {*interest.subscribers(t).tolist(), *relays[relays[:, 1] == t, 0].tolist()} if sites else ()
            for v in sorted(carriers):
                site = self._nodes[v].site
                if sites is not None and site not in sites:
                    yield NetworkFault("topic-off-site", (interest.node_name(v), interest.topic_name(t), site))

    def units(self, column: str) -> dict[str, list[int]]:
        """Nodes of each failure unit."""
        self._network.units([node.node for node in self._nodes], column)  # refuses what has no such column
        found: dict[str, list[int]] = {}
        for v, node in enumerate(self._nodes):
            unit = node.site if column == "site" else dict(node.units).get(column, "")
            found.setdefault(unit, []).append(v)
        return dict(sorted(found.items()))

    def _dials(self, one: NetworkNode, other: NetworkNode) -> bool:
        return one.dials and other.accepts and self._site_dials(one.site, other.site)

    def _site_dials(self, src: str, dst: str) -> bool:
        if (src, dst) not in self._told:
            usual = self._inside.get(src, True) if src == dst else self._else
            self._told[src, dst] = self._rows.get((src, dst), self._rows.get((dst, src), usual))
        return self._told[src, dst]

    def _named(self, u: int, v: int) -> tuple[Any, Any]:
        return self._interest.node_name(u), self._interest.node_name(v)


def _broken(
    interest: Interest, links: Int32Array, relays: Int32Array, units: dict[str, list[int]]
) -> Iterator[NetworkFault]:
    """Topics of which some subscribers cannot reach each other, with all nodes up and without each unit."""
    if len(relays) and (relays.min() < 0 or (relays.max(axis=0) >= (interest.n_nodes, interest.n_topics)).any()):
        raise InvalidLinksError("relays name nodes or topics that there are not")
    carried = with_relays(interest, relays)
    wanted = set(zip(interest.topics.tolist(), interest.nodes.tolist()))
    for batch in topic_batches(carried, links):
        inside = slice(batch.first, batch.first + batch.size)
        members = carried.topic_nodes[inside]
        sizes = np.diff(carried.topic_indptr[batch.start : batch.stop + 1])
        topics = np.repeat(np.arange(batch.start, batch.stop), sizes)
        wants = np.array([pair in wanted for pair in zip(topics.tolist(), members.tolist())], bool)
        for name, unit in (("", None), *units.items()):
            up = np.ones(interest.n_nodes, bool)
            up[[] if unit is None else unit] = False
            alive = up[members]
            both = alive[batch.a] & alive[batch.b]
            piece = component_labels(batch.a[both], batch.b[both], batch.size)
            asked = np.flatnonzero(alive & wants)
            for topic, heads in _pieces(topics[asked], piece[asked], members[asked]).items():
                names = (len(heads), *(interest.node_name(v) for v in heads[:2]))
                about = (interest.topic_name(topic),) if unit is None else (interest.topic_name(topic), name)
                yield NetworkFault("broken-topic" if unit is None else "broken-without", (*about, *names))


def _pieces(topics: Any, pieces: Any, members: Any) -> dict[int, list[int]]:
    """Topics that lie in more than one piece, with the first member of each piece."""
    _, first = np.unique(np.column_stack((topics, pieces)), axis=0, return_index=True)
    found: dict[int, list[int]] = {}
    for at in np.sort(first).tolist():
        found.setdefault(int(topics[at]), []).append(int(members[at]))
    return {topic: heads for topic, heads in found.items() if len(heads) > 1}
