"""A plan as the targets see it: brokers, who subscribes to what, and the rows of every topic, in a fixed order."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from topicloom.brokers.inventory import Broker
from topicloom.brokers.topic_forests import by_topic, forests, rooted
from topicloom.errors import InvalidPlanError
from topicloom.kernels.trees.standby import openings
from topicloom.model.arrays import Int32Array, Int64Array, frozen
from topicloom.routing import Plan
from topicloom.routing.ownership import start_levels
from topicloom.routing.plan_folder import generation_of_table

_TEXTS = ("topic", "src", "dst", "owner", "parent")
_SCHEMA = pa.schema([*((name, pa.large_string()) for name in _TEXTS), ("forest", pa.int32()), ("active", pa.bool_())])


class Row(NamedTuple):
    """One link used by one topic. The owner dials the other end. A standby row is configured and shut."""

    topic: str
    src: str
    dst: str
    owner: str
    parent: str | None
    forest: int | None
    active: bool

    @property
    def acceptor(self) -> str:
        """The end that is dialled."""
        return self.dst if self.owner == self.src else self.src

    @property
    def dial(self) -> tuple[str, str]:
        """The link as (owner, acceptor)."""
        return self.owner, self.acceptor


class _Arrays(NamedTuple):
    """Rows by number: what a topic is, where its rows begin, and the ends of every row."""

    topics: dict[str, int]
    starts: Int64Array
    src: Int32Array
    dst: Int32Array
    active: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Network:
    """Brokers, subscribers and rows of a plan, sorted, so that equal plans give equal files.

    Attributes
    ----------
    nodes
        Every broker.
    subscribers
        Topic to its subscribers, also of topics that have only one.
    rows
        Active and standby rows of all topics, sorted by topic, src and dst.
    """

    nodes: tuple[str, ...]
    subscribers: Mapping[str, tuple[str, ...]]
    rows: tuple[Row, ...]

    @classmethod
    def from_table(cls, table: pa.Table, pairs: Iterable[tuple[str, str]] = (), nodes: Iterable[str] = ()) -> "Network":
        """Build a network from the table of routes and, if known, all (node, topic) subscriptions and all brokers.

        Raises
        ------
        InvalidPlanError
            A row whose owner is neither of its ends.
        """
        columns = [table.column(name).to_pylist() for name in Row._fields]
        rows = tuple(sorted((Row(*values) for values in zip(*columns, strict=True)), key=lambda row: row[:4]))
        for row in rows:
            if row.src == row.dst or row.owner not in (row.src, row.dst):
                raise InvalidPlanError(f"row {row.src!r} – {row.dst!r} of topic {row.topic!r} has owner {row.owner!r}")
        wanted: dict[str, set[str]] = {}
        for node, topic in pairs:
            wanted.setdefault(topic, set()).add(node)
        for row in rows:
            wanted.setdefault(row.topic, set()).update((row.src, row.dst))
        brokers = sorted(set(nodes).union(*wanted.values()))
        return cls(tuple(brokers), {topic: tuple(sorted(wanted[topic])) for topic in sorted(wanted)}, rows)

    @classmethod
    def of(cls, given: "Network | Plan") -> "Network":
        """The network of a plan, or the network itself."""
        return given if isinstance(given, Network) else cls.from_plan(given)

    @classmethod
    def from_plan(cls, plan: Plan) -> "Network":
        """Build the network of a plan."""
        interest = plan.interest
        node_names = [interest.node_label(node) for node in range(interest.n_nodes)]
        topic_names = [interest.topic_label(topic) for topic in range(interest.n_topics)]
        pairs = zip(interest.nodes.tolist(), interest.topics.tolist(), strict=True)
        named = ((node_names[node], topic_names[topic]) for node, topic in pairs)
        return cls.from_table(plan.routes.table(), named, node_names)

    @cached_property
    def links(self) -> dict[tuple[str, str], tuple[Row, ...]]:
        """(owner, acceptor) to the rows of that link, sorted."""
        found: dict[tuple[str, str], list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.dial, []).append(row)
        return {dial: tuple(found[dial]) for dial in sorted(found)}

    @cached_property
    def topic_rows(self) -> dict[str, tuple[Row, ...]]:
        """Topic to its rows, active and standby."""
        return {topic: tuple(rows) for topic, rows in by_topic(self.rows).items()}

    @cached_property
    def topics_of(self) -> dict[str, list[str]]:
        """Broker to the topics that it subscribes to."""
        found: dict[str, list[str]] = {node: [] for node in self.nodes}
        for topic, nodes in self.subscribers.items():
            for node in nodes:
                found[node].append(topic)
        return found

    @cached_property
    def forests(self) -> dict[str, int]:
        """Topic that has rows to its forest."""
        return forests(row for row in self.rows if row.active)

    @cached_property
    def forest_dials(self) -> dict[int, dict[tuple[str, str], bool]]:
        """Forest to (owner, acceptor) to whether the owner is the parent."""
        links: dict[int, set[tuple[str, str]]] = {}
        for row in self.rows:
            if row.active:
                links.setdefault(self.forests[row.topic], set()).add(row.dial)
        return {forest: rooted(forest, links[forest]) for forest in sorted(links)}

    @cached_property
    def has_standby(self) -> bool:
        """Whether some row is configured and shut."""
        return any(not row.active for row in self.rows)

    @cached_property
    def generation(self) -> str:
        """The `Plan.generation` of the rows: that of the plan, for the network of a plan."""
        columns = {name: [row[place] for row in self.rows] for place, name in enumerate(Row._fields)}
        return generation_of_table(pa.table(columns, schema=_SCHEMA))

    def open_rows(self, dead: str | None = None) -> frozenset[Row]:
        """Rows that carry messages, with every broker up or after one has died and its standby rows are open.

        All surviving rows stay; standby rows of the topics that the dead broker took part in are added, in table
        order, while they join two parts of their topic. Nothing but the dead broker's rows is switched off.
        """
        rows = {row for row in self.rows if row.active and dead not in (row.src, row.dst)}
        opened = () if dead is None else self._failover(dead)[0]
        return frozenset(rows.union(self.rows[at] for at in opened))

    def cut_topics(self, dead: str) -> tuple[str, ...]:
        """Topics that the death of a broker cuts and that `open_rows` does not join again."""
        topics = list(self.subscribers)
        return tuple(topics[topic] for topic in self._failover(dead)[1])

    def _failover(self, dead: str) -> tuple[Int64Array, Int32Array]:
        """Positions of the rows to open, and numbers of the topics that stay cut, as `Routes.failover` finds them."""
        if dead not in self._numbers:
            raise InvalidPlanError(f"there is no broker {dead!r} in the plan")
        numbers, arrays = self._numbers, self._arrays
        topics = [arrays.topics[topic] for topic in self.topics_of[dead]]
        part = np.arange(len(numbers), dtype=np.int32)
        topic_ids = frozen(np.array(topics, np.int32))
        rows, cut = openings(numbers[dead], topic_ids, arrays.starts, arrays.src, arrays.dst, arrays.active, part)
        return rows, cut

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {node: number for number, node in enumerate(self.nodes)}

    @cached_property
    def _arrays(self) -> "_Arrays":
        topics = {topic: number for number, topic in enumerate(self.subscribers)}
        of_rows = [topics[row.topic] for row in self.rows]
        src, dst = ([self._numbers[getattr(row, end)] for row in self.rows] for end in ("src", "dst"))
        return _Arrays(
            topics,
            np.searchsorted(of_rows, np.arange(len(topics) + 1)),
            frozen(np.array(src, np.int32)),
            frozen(np.array(dst, np.int32)),
            frozen(np.array([row.active for row in self.rows], bool)),
        )

    def start_levels(self) -> tuple[tuple[str, ...], ...]:
        """Brokers in levels: each dials only brokers of earlier levels, where the plan's owners allow it."""
        dials = [(self._numbers[owner], self._numbers[acceptor]) for owner, acceptor in self.links]
        levels = start_levels(len(self.nodes), np.array(dials, np.int32).reshape(-1, 2))
        return tuple(tuple(self.nodes[node] for node in level) for level in levels)

    def busiest(self) -> tuple[str, ...]:
        """Brokers by how much hangs on them: rows that they pass messages on to, then rows, then names."""
        ends: dict[tuple[str, str], int] = {}
        for row in self.rows:
            if row.active:
                for node in (row.src, row.dst):
                    ends[node, row.topic] = ends.get((node, row.topic), 0) + 1
        passed, rows = dict.fromkeys(self.nodes, 0), dict.fromkeys(self.nodes, 0)
        for (node, _), number in ends.items():
            passed[node] += number - 1
            rows[node] += number
        return tuple(sorted(self.nodes, key=lambda node: (-passed[node], -rows[node], node)))


@dataclass(frozen=True)
class Site:
    """A network with the place and the slug of every broker.

    Attributes
    ----------
    network
        Rows by topic and link.
    brokers
        Node to its entry in the inventory, with the version that is written for.
    slugs
        Node to its slug, which is what files may hold.
    gates
        Whether rows can be opened and shut while brokers run.
    prefix
        Folder of the files on the brokers' machines, ending in ``/``, or empty.
    """

    network: Network
    brokers: Mapping[str, Broker]
    slugs: Mapping[str, str]
    gates: bool
    prefix: str

    @cached_property
    def dialled_by(self) -> dict[str, list[str]]:
        """Owner to the brokers that it dials."""
        return _grouped((owner, acceptor) for owner, acceptor in self.network.links)

    @cached_property
    def accepted_by(self) -> dict[str, list[str]]:
        """Acceptor to the brokers that dial it."""
        return _grouped((acceptor, owner) for owner, acceptor in self.network.links)

    def link_rows(self, owner: str, acceptor: str) -> tuple[Row, ...]:
        """Rows of a link, active and standby, by topic."""
        return self.network.links[owner, acceptor]


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return {key: sorted(values) for key, values in found.items()}
