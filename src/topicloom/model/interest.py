"""Interest: who subscribes to what, the instance I(V, T, Int) of the papers."""

import numbers
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.errors import InvalidInterestError
from topicloom.model import labels as label_columns
from topicloom.model.arrays import Int32Array, Int64Array, frozen
from topicloom.model.checks import checked_kind
from topicloom.model.labels import Labels

MAX_IDS = 2**31 - 1
ROLES = ("publish", "subscribe", "both")  # role 1, 2 and 3: two rows of one subscription are both by a bitwise or


@dataclass(frozen=True, eq=False, repr=False)
class Interest:
    """All subscriptions, as a sparse matrix nodes × topics in both orientations.

    Build it with `from_pairs` or `from_csr`; the arrays are read-only.

    Attributes
    ----------
    indptr, topics : int64 and int32 arrays
        CSR: node v wants ``topics[indptr[v]:indptr[v + 1]]``, ascending, without repeats.
    n_topics : int
        Number of topics; with ids given by the user some may have no subscriber.
    node_labels, topic_labels : StringDType arrays or None
        Original names; None when built from ids.
    roles : int8 array or None
        For each entry of ``topics`` what the node does: 1 publish, 2 subscribe, 3 both, 0 unknown; None if no role is
        known. All count as interested.
    """

    indptr: Int64Array
    topics: Int32Array
    n_topics: int
    node_labels: Labels | None = None
    topic_labels: Labels | None = None
    roles: npt.NDArray[np.int8] | None = None

    @classmethod
    def from_pairs(cls, nodes: object, topics: object, roles: object = None) -> Self:
        """Interest from two columns of labels of equal length, one row per subscription.

        Strings, integers, numpy arrays, pandas Series and Arrow columns are accepted; repeated rows count once.
        Ids follow the UTF-8 byte order of the labels. Takes O(subscriptions) memory and a sort. A third column may say
        "publish", "subscribe", "both" or null of each row; two different roles of a subscription become both.

        Raises
        ------
        InvalidInterestError
            The columns differ in length, a label is null or blank, or is neither text nor an integer, or a role is
            none of the three.

        Examples
        --------
        >>> import topicloom as tl
        >>> interest = tl.Interest.from_pairs(["b", "a", "b"], ["news", "news", "sport"])
        >>> interest
        Interest(2 nodes, 2 topics, 3 subscriptions)
        >>> interest.node_labels.tolist(), interest.topics.tolist()
        (['a', 'b'], [0, 0, 1])
        """
        node_ids, node_labels = label_columns.encode(nodes, "node")
        topic_ids, topic_labels = label_columns.encode(topics, "topic")
        if len(node_ids) != len(topic_ids):
            raise InvalidInterestError(
                f"{len(node_ids):,} nodes but {len(topic_ids):,} topics: one of each per subscription"
            )
        return cls.from_ids(
            node_ids,
            topic_ids,
            n_nodes=len(node_labels),
            n_topics=len(topic_labels),
            node_labels=node_labels,
            topic_labels=topic_labels,
            roles=role_numbers(roles, len(node_ids)),
        )

    @classmethod
    def from_csr(
        cls,
        indptr: npt.ArrayLike,
        topics: npt.ArrayLike,
        n_topics: int,
        *,
        node_labels: npt.ArrayLike | None = None,
        topic_labels: npt.ArrayLike | None = None,
    ) -> Self:
        """Make an interest of integer ids: node v wants ``topics[indptr[v]:indptr[v + 1]]``, in any order.

        The ids are kept as given; repeats are merged.

        Parameters
        ----------
        indptr : integers, one more than nodes
            Where the topics of each node start; it rises from 0 to ``len(topics)``.
        topics : integers from 0 to ``n_topics - 1``
        n_topics : int
        node_labels, topic_labels : texts, one per id, optional

        Returns
        -------
        Interest

        Raises
        ------
        InvalidInterestError
            ``indptr`` does not rise from 0 to ``len(topics)``, a topic id is outside ``range(n_topics)``, or labels
            are null, blank, repeated or not one per id.

        Notes
        -----
        O(subscriptions log subscriptions) time, or O(subscriptions) where topics ascend in each row.

        Examples
        --------
        >>> import topicloom as tl
        >>> tl.Interest.from_csr([0, 2, 5], [1, 0, 2, 1, 1], 3).topics.tolist()
        [0, 1, 1, 2]
        """
        starts = _integers(indptr, "indptr")
        wanted = _integers(topics, "topics")
        if not isinstance(n_topics, int | np.integer) or not 0 <= n_topics <= MAX_IDS:
            raise InvalidInterestError(f"n_topics is {n_topics!r}; a whole number from 0 to {MAX_IDS:,} is accepted")
        if len(starts) == 0 or starts[0] != 0 or starts[-1] != len(wanted) or (np.diff(starts) < 0).any():
            raise InvalidInterestError(
                f"indptr must rise from 0 to the {len(wanted):,} entries of topics, one step per node"
            )
        outside = (wanted < 0) | (wanted >= n_topics)
        if outside.any():
            first = int(np.flatnonzero(outside)[0])
            raise InvalidInterestError(f"topic id {wanted[first]} at entry {first} is outside range({n_topics})")
        node_ids = np.repeat(np.arange(len(starts) - 1, dtype=np.int64), np.diff(starts))
        return cls.from_ids(
            node_ids,
            wanted,
            n_nodes=len(starts) - 1,
            n_topics=int(n_topics),
            node_labels=_given_labels(node_labels, len(starts) - 1, "node"),
            topic_labels=_given_labels(topic_labels, int(n_topics), "topic"),
        )

    @classmethod
    def from_ids(
        cls,
        nodes: npt.NDArray[Any],
        topics: npt.NDArray[Any],
        *,
        n_nodes: int,
        n_topics: int,
        node_labels: Labels | None = None,
        topic_labels: Labels | None = None,
        roles: npt.NDArray[np.int8] | None = None,
    ) -> Self:
        """Make an interest of two integer arrays, one entry per subscription, in any order. Repeats are merged.

        For callers whose ids are known to lie in ``range(n_nodes)`` and ``range(n_topics)``: they are not checked.

        Parameters
        ----------
        nodes, topics : integers
            The node and the topic of each subscription.
        n_nodes, n_topics : int
        node_labels, topic_labels : array of text, one per id, optional
        roles : int8, one per subscription, optional
            1 publishes, 2 subscribes, 3 both, 0 unknown.

        Returns
        -------
        Interest

        Raises
        ------
        InvalidInterestError
            There are too many nodes for int32.
        """
        if n_nodes > MAX_IDS:
            raise InvalidInterestError(f"{n_nodes:,} nodes; at most {MAX_IDS:,} are accepted")
        width = max(n_topics, 1)
        keys = nodes.astype(np.int64) * width + topics
        if (np.diff(keys) <= 0).any():
            if roles is not None:
                order = np.argsort(keys, kind="stable")
                first = np.flatnonzero(np.diff(keys[order], prepend=-1))
                roles = np.bitwise_or.reduceat(roles[order], first)
            keys = np.unique(keys)
        indptr = np.zeros(n_nodes + 1, np.int64)
        np.cumsum(np.bincount(keys // width, minlength=n_nodes), out=indptr[1:])
        wanted, known = frozen((keys % width).astype(np.int32)), None if roles is None else frozen(roles)
        return cls(frozen(indptr), wanted, n_topics, node_labels, topic_labels, known)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, those without a subscription included."""
        return len(self.indptr) - 1

    @property
    def n_subscriptions(self) -> int:
        """Number of distinct (node, topic) pairs."""
        return len(self.topics)

    @cached_property
    def nodes(self) -> Int32Array:
        """Node id of each entry of `topics`."""
        return frozen(np.repeat(np.arange(self.n_nodes, dtype=np.int32), np.diff(self.indptr)))

    @cached_property
    def topic_indptr(self) -> Int64Array:
        """CSR by topic: topic t is wanted by ``topic_nodes[topic_indptr[t]:topic_indptr[t + 1]]``, ascending."""
        indptr = np.zeros(self.n_topics + 1, np.int64)
        np.cumsum(np.bincount(self.topics, minlength=self.n_topics), out=indptr[1:])
        return frozen(indptr)

    @cached_property
    def topic_nodes(self) -> Int32Array:
        """Subscribers by topic. See `topic_indptr`."""
        return frozen(self.nodes[np.argsort(self.topics, kind="stable")])

    @overload
    def topics_of(self, node: int) -> Int32Array: ...

    @overload
    def topics_of(self, node: str) -> list[str]: ...

    def topics_of(self, node: int | str) -> Int32Array | list[str]:
        """List the topics that a node wants: labels for a label, ids for an id.

        Parameters
        ----------
        node : int or str

        Returns
        -------
        int32 array, or list of str
            Ascending.

        Raises
        ------
        InvalidInterestError
            No node has that label.

        Examples
        --------
        >>> import topicloom as tl
        >>> factory = tl.datasets.example()
        >>> factory.topics_of("gate"), factory.subscribers("badges")
        (['alarms', 'badges', 'deliveries'], ['gate', 'office'])
        """
        at = _position(self.node_labels, node, "node") if isinstance(node, str) else node
        ids = self.topics[self.indptr[at] : self.indptr[at + 1]]
        return [self.topic_label(topic) for topic in ids.tolist()] if isinstance(node, str) else ids

    @overload
    def subscribers(self, topic: int) -> Int32Array: ...

    @overload
    def subscribers(self, topic: str) -> list[str]: ...

    def subscribers(self, topic: int | str) -> Int32Array | list[str]:
        """List the nodes that want a topic: labels for a label, ids for an id. See `topics_of`.

        Parameters
        ----------
        topic : int or str

        Returns
        -------
        int32 array, or list of str
            Ascending.

        Raises
        ------
        InvalidInterestError
            No topic has that label.
        """
        at = _position(self.topic_labels, topic, "topic") if isinstance(topic, str) else topic
        ids = self.topic_nodes[self.topic_indptr[at] : self.topic_indptr[at + 1]]
        return [self.node_label(node) for node in ids.tolist()] if isinstance(topic, str) else ids

    def topic_id(self, topic: int | str) -> int:
        """Id of a topic that is named by its label or its id."""
        return _known(
            _position(self.topic_labels, topic, "topic") if isinstance(topic, str) else topic, self.n_topics, "topic"
        )

    def node_id(self, node: int | str) -> int:
        """Id of a node that is named by its label or its id."""
        return _known(
            _position(self.node_labels, node, "node") if isinstance(node, str) else node, self.n_nodes, "node"
        )

    def node_name(self, node: int) -> str | int:
        """What answers call a node: its label, or its id if there are no labels."""
        return int(node) if self.node_labels is None else str(self.node_labels[node])

    def topic_name(self, topic: int) -> str | int:
        """What answers call a topic: its label, or its id if there are no labels."""
        return int(topic) if self.topic_labels is None else str(self.topic_labels[topic])

    def node_label(self, node: int) -> str:
        """Name of a node: its label, or its id as text."""
        return str(self.node_labels[node]) if self.node_labels is not None else str(int(node))

    def topic_label(self, topic: int) -> str:
        """Name of a topic: its label, or its id as text."""
        return str(self.topic_labels[topic]) if self.topic_labels is not None else str(int(topic))

    def restrict(self, nodes: npt.ArrayLike) -> Self:
        """Restrict the interest to some of its nodes: node i of the result is the i-th smallest of ``nodes``.

        Topics keep their ids, so that restrictions of one interest can be compared and joined.

        Parameters
        ----------
        nodes : integers
            Node ids, in any order; repeats count once.

        Returns
        -------
        Interest

        Raises
        ------
        InvalidInterestError
            There is no such node.

        Examples
        --------
        >>> import topicloom as tl
        >>> tl.datasets.example().restrict([2, 0]).node_labels.tolist()
        ['crane', 'lathe']
        """
        chosen = np.unique(_integers(nodes, "nodes"))
        if len(chosen) and (chosen[0] < 0 or chosen[-1] >= self.n_nodes):
            raise InvalidInterestError(
                f"nodes to keep must lie in range({self.n_nodes}); got {chosen[0]} … {chosen[-1]}"
            )
        sizes = np.diff(self.indptr)[chosen]
        indptr = np.zeros(len(chosen) + 1, np.int64)
        np.cumsum(sizes, out=indptr[1:])
        entries = np.repeat(self.indptr[chosen] - indptr[:-1], sizes) + np.arange(indptr[-1])
        kept_labels = None if self.node_labels is None else frozen(self.node_labels[chosen])
        roles = None if self.roles is None else frozen(self.roles[entries])
        kept = frozen(self.topics[entries])
        return type(self)(frozen(indptr), kept, self.n_topics, kept_labels, self.topic_labels, roles)

    def __eq__(self, other: object) -> bool:
        """Whether the other one has the same nodes, topics and subscriptions, by id and by label."""
        if not isinstance(other, Interest):
            return NotImplemented
        return self is other or (
            self.n_topics == other.n_topics
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.topics, other.topics)
            and _same_labels(self.node_labels, other.node_labels)
            and _same_labels(self.topic_labels, other.topic_labels)
        )

    def __hash__(self) -> int:
        return hash((self.n_nodes, self.n_topics, self.n_subscriptions))

    def __reduce__(self) -> tuple[Any, ...]:
        labels = (self.node_labels, self.topic_labels)
        return _restored, (type(self), self.indptr, self.topics, self.n_topics, *labels, self.roles)

    def __repr__(self) -> str:
        return f"Interest({self.n_nodes:,} nodes, {self.n_topics:,} topics, {self.n_subscriptions:,} subscriptions)"


def _integers(values: npt.ArrayLike, what: str) -> Int64Array:
    array = np.asarray(values)
    if array.ndim != 1:
        raise InvalidInterestError(f"{what} must have one dimension, has {array.ndim}")
    if len(array) and array.dtype.kind not in "iu":
        raise InvalidInterestError(f"{what} must hold integers, holds {array.dtype}")
    return array.astype(np.int64)


def both_ways(interest: "Interest") -> tuple[Int64Array, Int32Array, Int64Array, Int32Array]:
    """Arrays of an interest as most kernels take them: by node (row starts, topics), then by topic (starts, nodes)."""
    return interest.indptr, interest.topics, interest.topic_indptr, interest.topic_nodes


def with_relays(interest: "Interest", relays: Int32Array) -> "Interest":
    """Add topics that nodes carry without wanting them, (r, 2) ids, as if they wanted them."""
    if not len(relays):
        return interest
    roles = interest.roles
    return Interest.from_ids(
        np.concatenate((interest.nodes, relays[:, 0])),
        np.concatenate((interest.topics, relays[:, 1])),
        n_nodes=interest.n_nodes,
        n_topics=interest.n_topics,
        node_labels=interest.node_labels,
        topic_labels=interest.topic_labels,
        roles=None if roles is None else np.concatenate((roles, np.zeros(len(relays), np.int8))),
    )


def checked_interest(interest: Any, function: str) -> "Interest":
    """The first argument of a public function, or an error that says how an interest is made."""
    accepted = "an Interest, as Interest.from_pairs makes it,"
    checked: Interest = checked_kind(f"the interest given to {function}", interest, Interest, accepted)
    return checked


def _position(labels: Labels | None, label: str, what: str) -> int:
    found = [] if labels is None else np.flatnonzero(labels == label).tolist()
    if not found:
        raise InvalidInterestError(
            f"there is no {what} {label!r}" + (": there are no labels" if labels is None else "")
        )
    return int(found[0])


def _known(number: Any, count: int, what: str) -> int:
    whole = isinstance(number, numbers.Integral) and not isinstance(number, bool)
    if not whole or not 0 <= number < count:
        raise InvalidInterestError(
            f"there is no {what} {number!r}; ids from 0 to {count - 1:,} and labels are accepted"
        )
    return int(number)


def role_numbers(column: Any, expected: int | None = None) -> npt.NDArray[np.int8] | None:
    """Convert roles to numbers. Returns None if none is given."""
    if column is None:
        return None
    texts = pa.array(column, pa.string()) if not isinstance(column, pa.Array | pa.ChunkedArray) else column
    if expected is not None and len(texts) != expected:
        raise InvalidInterestError(f"{len(texts):,} roles for {expected:,} subscriptions: one of each")
    numbers = pc.index_in(texts, pa.array(ROLES, texts.type))
    if numbers.null_count > texts.null_count:
        odd = texts.filter(pc.and_(pc.is_null(numbers), pc.is_valid(texts)))[0].as_py()
        raise InvalidInterestError(f"a role is {odd!r}; {', '.join(ROLES)} are accepted")
    if numbers.null_count == len(texts):
        return None
    return np.asarray(pc.fill_null(pc.add(numbers, 1), 0).to_numpy(zero_copy_only=False)).astype(np.int8)


def _given_labels(given: npt.ArrayLike | None, expected: int, what: str) -> Labels | None:
    if given is None:
        return None
    labels = label_columns.from_arrow(label_columns.as_text(given, what))
    if len(labels) != expected:
        raise InvalidInterestError(f"{len(labels):,} {what} labels for {expected:,} {what}s")
    if len(np.unique(labels)) < expected:
        names, counts = np.unique(labels, return_counts=True)
        raise InvalidInterestError(f"{counts.max()} {what}s have the label {str(names[counts.argmax()])!r}")
    return labels


def _same_labels(one: Labels | None, other: Labels | None) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))


def _restored(kind: type[Interest], *fields: Any) -> Interest:
    """An interest from its fields, copied or read from a pickle, with arrays that are read-only again."""
    kept: list[Any] = [frozen(value) if isinstance(value, np.ndarray) else value for value in fields]
    return kind(*kept)
