"""Routes: the rows of all topics, and which end of each link dials."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from topicloom.errors import InvalidOptionError
from topicloom.judge.verify_routes import RoutesVerdict, verify_routes
from topicloom.kernels.trees.standby import openings
from topicloom.kernels.trees.trees import tree_diameters
from topicloom.model import labels as label_columns
from topicloom.model.arrays import Int32Array, Int64Array, frozen
from topicloom.model.interest import Interest
from topicloom.routing.ownership import owners

Bools = npt.NDArray[np.bool_]


class Failover(NamedTuple):
    """What to do when a node fails: positions of the standby rows to open, and topics that stay cut, by label."""

    rows: Int64Array
    cut: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Routes:
    """One tree per topic over the links of an overlay, as `topicloom.routes` returns them.

    A *row* is one link used by one topic. The active rows of a topic are a spanning tree of its subscribers, so a
    message that every broker passes on over its rows reaches each subscriber once. Rows are sorted by topic, src, dst;
    the arrays are read-only and have one cell per row.

    Attributes
    ----------
    interest : Interest
        Who wants what.
    links : (m, 2) int32 array
        The links of the overlay, those without a row included.
    topic, src, dst : int32 arrays
        Ids; src < dst.
    owner : int32 array
        The end that dials; the same in every row of a link.
    parent : int32 array
        The end that is nearer to the middle of the tree; -1 in standby rows.
    forest : int32 array
        Number of the forest that the topic's tree belongs to; -1 where no forests were asked for, and in standby rows.
    active : bool array
        False in standby rows, which are ready and shut.
    order : int32 array, one cell per node
        Node ids in the order in which brokers start. The later end of a link dials.
    exact : bool array, one cell per topic
        Whether the diameter of the tree is known to be the least.
    """

    interest: Interest
    links: Int32Array
    topic: Int32Array
    src: Int32Array
    dst: Int32Array
    owner: Int32Array
    parent: Int32Array
    forest: Int32Array
    active: Bools
    order: Int32Array
    exact: Bools

    @property
    def n_rows(self) -> int:
        """Number of active rows."""
        return int(self.active.sum())

    @property
    def n_forests(self) -> int:
        """Number of forests, 0 where none were asked for."""
        return int(self.forest.max(initial=-1)) + 1

    @cached_property
    def link_owners(self) -> Int32Array:
        """The end of each link of `links` that dials."""
        return frozen(owners(self.links, self.order))

    @cached_property
    def diameters(self) -> Int64Array:
        """Find the longest path of each topic's tree in links. It is -1 where the rows do not connect the topic."""
        place = np.full(self.interest.n_nodes, -1, np.int32)
        return frozen(
            tree_diameters(
                self.interest.topic_indptr,
                self.interest.topic_nodes,
                self.topic[self.active],
                self.src[self.active],
                self.dst[self.active],
                place,
            )
        )

    def diameter(self, topic: str | int) -> int:
        """Longest path of a topic's tree in links.

        Parameters
        ----------
        topic : str or int
            Its label, or its id.

        Examples
        --------
        >>> import topicloom as tl
        >>> interest = tl.Interest.from_pairs(list("abcde"), ["news"] * 5)
        >>> ring = tl.Overlay(interest, [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)])
        >>> tl.routes(ring).diameter("news")
        4
        """
        return int(self.diameters[self._topic_id(topic)])

    def table(self) -> pa.Table:
        """All rows by label, as an Arrow table: topic, src, dst, owner, parent, forest, active.

        ``parent`` and ``forest`` are null where they do not apply.
        """
        nodes = names(self.interest.node_labels, self.interest.n_nodes)
        topics = names(self.interest.topic_labels, self.interest.n_topics)
        return pa.table(
            {
                "topic": topics.take(pa.array(self.topic)),
                "src": nodes.take(pa.array(self.src)),
                "dst": nodes.take(pa.array(self.dst)),
                "owner": nodes.take(pa.array(self.owner)),
                "parent": nodes.take(pa.array(self.parent, mask=self.parent < 0)),
                "forest": pa.array(self.forest, mask=self.forest < 0),
                "active": pa.array(self.active),
            }
        )

    def verify(self) -> RoutesVerdict:
        """Ask the judge, who shares no code with what made the rows.

        Returns
        -------
        RoutesVerdict
            ``ok``, and in ``broken`` every topic, link or forest that breaks a promise, by name.

        Examples
        --------
        >>> import topicloom as tl
        >>> interest = tl.Interest.from_pairs(list("abc"), ["news"] * 3)
        >>> tl.routes(tl.Overlay(interest, [(0, 1), (1, 2), (0, 2)])).verify().ok
        True
        """
        return verify_routes(
            self.interest,
            self.links,
            topic=self.topic,
            src=self.src,
            dst=self.dst,
            owner=self.owner,
            parent=self.parent,
            forest=self.forest,
            active=self.active,
        )

    def failover(self, node: str | int) -> "Failover":
        """Find the standby rows to open when a node fails.

        Parameters
        ----------
        node : str or int
            Its label, or its id.

        Returns
        -------
        Failover
            Positions of the rows to open, and the topics that stay cut because no standby row joins their parts.

        Examples
        --------
        >>> import topicloom as tl
        >>> interest = tl.Interest.from_pairs(list("abcd"), ["news"] * 4)
        >>> ring = tl.Overlay(interest, [(0, 1), (1, 2), (2, 3), (0, 3)])
        >>> routes = tl.routes(ring, standby=1)
        >>> [len(routes.failover(name).rows) for name in "abcd"], routes.failover("a").cut
        ([1, 0, 0, 1], ())
        """
        dead = self._node_id(node)
        part = np.arange(self.interest.n_nodes, dtype=np.int32)
        starts = np.searchsorted(self.topic, np.arange(self.interest.n_topics + 1))
        topics = self.interest.topics[self.interest.indptr[dead] : self.interest.indptr[dead + 1]]
        rows, cut = openings(dead, topics, starts, self.src, self.dst, self.active, part)
        return Failover(frozen(rows), tuple(self.interest.topic_label(int(t)) for t in cut))

    def _node_id(self, node: str | int) -> int:
        labels = self.interest.node_labels
        if isinstance(node, str) and labels is not None:
            found = np.flatnonzero(labels == node)
            if len(found):
                return int(found[0])
        elif str(node).isdecimal() and int(node) < self.interest.n_nodes:
            return int(node)
        raise InvalidOptionError(f"there is no node {node!r} among the {self.interest.n_nodes:,} nodes")

    def _topic_id(self, topic: str | int) -> int:
        labels = self.interest.topic_labels
        if isinstance(topic, str) and labels is not None:
            found = np.flatnonzero(labels == topic)
            if len(found):
                return int(found[0])
        elif str(topic).isdecimal() and int(topic) < self.interest.n_topics:
            return int(topic)
        raise InvalidOptionError(f"there is no topic {topic!r} among the {self.interest.n_topics:,} topics")

    def __repr__(self) -> str:
        standby = int((~self.active).sum())
        ready = f", {standby:,} standby" if standby else ""
        forests = f", {self.n_forests:,} forests" if self.n_forests else ""
        return f"Routes({self.interest.n_topics:,} topics, {self.n_rows:,} rows{ready}{forests})"


def rows_of(routes: Routes) -> dict[tuple[str, str, str], bool]:
    """(topic, src, dst) of every row by label, and whether it is active."""
    table = routes.table()
    columns = (table[name].to_pylist() for name in ("topic", "src", "dst", "active"))
    return {(topic, src, dst): active for topic, src, dst, active in zip(*columns)}


def names(labels: npt.ArrayLike | None, count: int) -> pa.Array:
    """Return labels as Arrow text, or ids as text where there are no labels."""
    return label_columns.to_arrow(labels) if labels is not None else pa.array(np.arange(count)).cast(pa.large_string())


def assembled(
    interest: Interest,
    links: Int32Array,
    order: Int32Array,
    exact: Bools,
    *,
    topic: npt.ArrayLike,
    ends: tuple[npt.ArrayLike, npt.ArrayLike],
    parent: npt.ArrayLike,
    forest: npt.ArrayLike,
    active: npt.ArrayLike,
) -> Routes:
    """Routes from rows in any order and direction. The owners follow from the start order."""
    topics = np.asarray(topic, np.int32)
    both = np.sort(np.column_stack([np.asarray(end, np.int32) for end in ends]).reshape(-1, 2), axis=1)
    place = np.lexsort((both[:, 1], both[:, 0], topics))
    both = both[place]
    return Routes(
        interest,
        links,
        topic=frozen(topics[place]),
        src=frozen(np.ascontiguousarray(both[:, 0])),
        dst=frozen(np.ascontiguousarray(both[:, 1])),
        owner=frozen(owners(both, order)),
        parent=frozen(np.asarray(parent, np.int32)[place]),
        forest=frozen(np.asarray(forest, np.int32)[place]),
        active=frozen(np.asarray(active, bool)[place]),
        order=frozen(order),
        exact=frozen(exact),
    )
