"""The state of an overlay under churn: who wants what, links, backups and primaries, in slots that are reused."""

import hashlib
import heapq
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from topicloom.churn.integrity import Rows
from topicloom.kernels.repair.backups import Scratch, rebuild_backups
from topicloom.kernels.repair.ragged import empty_ragged, gather, push_all, put, remove_all, with_room
from topicloom.model import Interest
from topicloom.model.arrays import Int32Array, Int64Array, frozen


class Lists:
    """Lists by number, over a pool that is enlarged when it is full. ``ragged`` is what kernels take."""

    def __init__(self, n_lists: int = 16) -> None:
        self.ragged = empty_ragged(n_lists, 64)

    def make_lists(self, n_lists: int) -> None:
        """Make room for at least that many lists."""
        if n_lists > len(self.ragged.start):
            self.ragged = with_room(self.ragged, 2 * n_lists, len(self.ragged.pool))

    def of(self, number: int) -> Int32Array:
        """Return a copy of the values of a list."""
        start = self.ragged.start[number]
        values: Int32Array = self.ragged.pool[start : start + self.ragged.length[number]].copy()
        return values

    def length(self, number: int) -> int:
        """Number of values in a list."""
        return int(self.ragged.length[number])

    def gather(self, numbers: Int64Array) -> Int32Array:
        """Concatenate the values of several lists."""
        values: Int32Array = gather(self.ragged, numbers)
        return values

    def put(self, number: int, values: Int32Array) -> None:
        """Replace the values of a list."""
        while not put(self.ragged, number, values):
            self.enlarge(len(values))

    def push(self, numbers: Int32Array, values: Int32Array) -> None:
        """Append values[k] to list numbers[k], for all k."""
        done = push_all(self.ragged, numbers, values, 0)
        while done < len(numbers):
            self.enlarge(2 * int(self.ragged.length[numbers[done]]) + 4)
            done = push_all(self.ragged, numbers, values, done)

    def remove(self, numbers: Int32Array, values: Int32Array) -> None:
        """Remove values[k] from list numbers[k], for all k."""
        remove_all(self.ragged, numbers, values)

    def clear(self, number: int) -> None:
        """Empty a list."""
        self.ragged.length[number] = 0

    def enlarge(self, wanted: int) -> None:
        """Enlarge the pool by that many values, and by as many as it holds."""
        kept = np.minimum(self.ragged.room, 2 * self.ragged.length + 4)  # what `with_room` leaves to each list
        live = int(kept.sum(dtype=np.int64))
        self.ragged = with_room(self.ragged, len(self.ragged.start), 2 * live + wanted + 1024)


Link = tuple[int, int]
MAX_LINKS = 2**31 - 1


class Slots:
    """Numbers for labels: the smallest free one for each that comes, free again when it goes."""

    def __init__(self) -> None:
        self.labels: list[str | None] = []
        self.number: dict[str, int] = {}
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self.number)

    def take(self, label: str) -> int:
        """Assign a number to a new label and return it."""
        if self._free:
            number = heapq.heappop(self._free)
            self.labels[number] = label
        else:
            number = len(self.labels)
            self.labels.append(label)
        self.number[label] = number
        return number

    def release(self, number: int) -> None:
        """Forget a label and free its number."""
        label = self.labels[number]
        assert label is not None
        del self.number[label]
        self.labels[number] = None
        heapq.heappush(self._free, number)

    def restore(self, numbered: Iterable[tuple[int, str]]) -> None:
        """Set all labels and numbers of an empty table."""
        self.number = {label: number for number, label in numbered}
        self.labels = [None] * (1 + max(self.number.values(), default=-1))
        for label, number in self.number.items():
            self.labels[number] = label
        self._free = [number for number, label in enumerate(self.labels) if label is None]

    def label(self, number: int) -> str:
        """Label of a number in use."""
        label = self.labels[number]
        assert label is not None
        return label


class OverlayState:
    """Nodes, topics, subscriptions, links, backups and primaries, and what has changed since `settle`.

    Nodes and topics go by slot numbers. Topics that nobody wants are forgotten. ``links`` maps (u, v), u < v, to a
    number that rises with the order in which they were added. ``cap`` is how many links a node should have at most.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.nodes, self.topics = Slots(), Slots()
        self.rows, self.members = Lists(), Lists()  # topics of a node, ascending; nodes of a topic
        self.neighbours, self.backups, self.primaries = Lists(), Lists(), Lists()
        self.links: dict[Link, int] = {}
        self.next_link = 0
        self.cap = MAX_LINKS
        self.keys = np.zeros(16, np.uint64)  # place of each node on the circle of the tie rule
        self.scratch = _scratch(16)
        self.changed_nodes: set[int] = set()
        self.changed_topics: set[int] = set()
        self.changed_links: dict[Link, int | None] = {}  # with the number that each had before, None for a new one
        self.added: dict[tuple[str, str], None] = {}  # by label: a slot may have changed hands in between
        self.removed: dict[tuple[str, str], None] = {}

    def settle(self) -> None:
        """Forget what has changed."""
        self.changed_nodes, self.changed_topics, self.changed_links = set(), set(), {}
        self.added, self.removed = {}, {}

    def add_node(self, label: str) -> int:
        """Add a node without topics and links. Returns its slot."""
        node = self.nodes.take(label)
        self.make_nodes(node + 1)
        self.keys[node] = node_key(label, self._seed)
        self.changed_nodes.add(node)
        return node

    def make_nodes(self, n_slots: int) -> None:
        """Reserve memory for that many node slots."""
        if n_slots > len(self.keys):
            keys = np.zeros(2 * n_slots, np.uint64)
            keys[: len(self.keys)] = self.keys
            self.keys, self.scratch = keys, _scratch(2 * n_slots)
        for lists in (self.rows, self.neighbours, self.backups, self.primaries):
            lists.make_lists(n_slots)

    def make_topics(self, n_slots: int) -> None:
        """Reserve memory for that many topic slots."""
        self.members.make_lists(n_slots)

    def restore(self, rows: Rows, next_link: int) -> None:
        """Fill an empty state with rows that were checked."""
        self.topics.restore(rows.topics)
        self.make_topics(len(self.topics.labels))
        self.nodes.restore(rows.nodes)
        self.make_nodes(len(self.nodes.labels))
        slots = np.array([slot for slot, _ in rows.nodes], np.int32)
        for at, (node, label) in enumerate(rows.nodes):
            self.keys[node] = node_key(label, self._seed)
            self.rows.put(node, rows.wanted[rows.topic_ptr[at] : rows.topic_ptr[at + 1]])
            self.backups.put(node, rows.backups[rows.backup_ptr[at] : rows.backup_ptr[at + 1]])
        self.members.push(rows.wanted, np.repeat(slots, np.diff(rows.topic_ptr)))
        self.primaries.push(rows.backups, np.repeat(slots, np.diff(rows.backup_ptr)))
        u, v = rows.links[:, 0].astype(np.int32), rows.links[:, 1].astype(np.int32)
        self.neighbours.push(np.concatenate([u, v]), np.concatenate([v, u]))
        self.links = {(u, v): number for u, v, number in rows.links.tolist()}
        self.next_link = next_link

    def topic_slots(self, labels: Iterable[str]) -> Int32Array:
        """Return the slots of topics, ascending. Unknown labels get new ones."""
        slots = []
        for label in labels:
            slot = self.topics.number.get(label)
            if slot is None:
                slot = self.topics.take(label)
                self.make_topics(slot + 1)
                self.changed_topics.add(slot)
            slots.append(slot)
        return np.array(sorted(slots), np.int32)

    def subscribers(self, topics: Int32Array) -> Int32Array:
        """Return the nodes that want any of the topics, ascending."""
        nodes: Int32Array = np.unique(self.members.gather(topics.astype(np.int64)))
        return nodes

    def want(self, node: int, topics: Int32Array) -> None:
        """Subscribe a node to topics that it does not want yet."""
        self.rows.put(node, np.union1d(self.rows.of(node), topics) if self.rows.length(node) else topics)
        self.members.push(topics, np.full(len(topics), node, np.int32))
        self.changed_nodes.add(node)

    def unwant(self, node: int, topics: Int32Array) -> None:
        """Unsubscribe a node from topics. Call `forget_topics` when their labels are not needed any more."""
        left = len(topics) < self.rows.length(node)
        self.rows.put(node, np.setdiff1d(self.rows.of(node), topics, assume_unique=True) if left else topics[:0])
        self.members.remove(topics, np.full(len(topics), node, np.int32))
        self.changed_nodes.add(node)

    def forget_topics(self, topics: Int32Array) -> None:
        """Free the slots of those topics that nobody wants."""
        for topic in topics[self.members.ragged.length[topics] == 0].tolist():
            self.topics.release(topic)
            self.changed_topics.add(topic)

    def remove_node(self, node: int) -> None:
        """Free the slot of a node that has no topic, link, backup or primary left."""
        self.nodes.release(node)
        self.changed_nodes.add(node)

    def add_links(self, u: Int32Array, v: Int32Array) -> None:
        """Add links that are not there."""
        self.neighbours.push(np.concatenate([u, v]), np.concatenate([v, u]))
        for link in zip(np.minimum(u, v).tolist(), np.maximum(u, v).tolist()):
            self.changed_links.setdefault(link, None)
            self.links[link] = self.next_link
            self.next_link += 1
            self._note(link, self.added, self.removed)

    def remove_links(self, node: int, others: Int32Array) -> None:
        """Remove the links between a node and some neighbours."""
        ends = np.full(len(others), node, np.int32)
        self.neighbours.remove(np.concatenate([others, ends]), np.concatenate([ends, others]))
        for other in others.tolist():
            link = (node, other) if node < other else (other, node)
            self.changed_links.setdefault(link, self.links[link])
            del self.links[link]
            self._note(link, self.removed, self.added)

    def _note(self, link: Link, here: dict[tuple[str, str], None], against: dict[tuple[str, str], None]) -> None:
        """Note that a link came or went, unless that undoes what was noted before."""
        u, v = self.nodes.label(link[0]), self.nodes.label(link[1])
        pair = (u, v) if u < v else (v, u)
        if pair in against:
            del against[pair]
        else:
            here[pair] = None

    def set_backups(self, node: int, backups: Int32Array) -> None:
        """Replace the backups of a node, in both directions."""
        old = self.backups.of(node)
        if len(old):
            self.primaries.remove(old, np.full(len(old), node, np.int32))
        self.backups.put(node, backups)
        self.primaries.push(backups, np.full(len(backups), node, np.int32))
        self.changed_nodes.add(node)

    def rebuild_backups(self, nodes: Int32Array, builder: int, rounds: int, builds: int) -> None:
        """Build the backups of nodes again, one after the other. ``builds`` backup sets were built before."""
        done = 0
        while True:
            done, wanted = rebuild_backups(
                self.rows.ragged,
                self.members.ragged,
                self.neighbours.ragged,
                self.backups.ragged,
                self.primaries.ragged,
                nodes,
                done,
                builder,
                rounds,
                self.keys,
                self.scratch,
                self._seed,
                builds,
            )
            if done == len(nodes):
                break
            self.backups.enlarge(wanted)
            self.primaries.enlarge(wanted)
        self.changed_nodes.update(nodes.tolist())

    def add_backup(self, node: int, backup: int) -> None:
        """Give a node one more backup, if it is not one yet."""
        if backup not in self.backups.of(node):
            one, other = np.array([node], np.int32), np.array([backup], np.int32)
            self.backups.push(one, other)
            self.primaries.push(other, one)
            self.changed_nodes.add(node)

    @property
    def max_degree(self) -> int:
        """Highest number of links of a node, or `cap` where that is lower: what the link rule tries not to raise."""
        return min(int(self.neighbours.ragged.length.max(initial=0)), self.cap)

    def snapshot(self) -> tuple[Interest, Int32Array]:
        """Return the interest, nodes and topics in label order, and the links in the order in which they were added."""
        nodes, topics = sorted(self.nodes.number), sorted(self.topics.number)
        node_slots = np.array([self.nodes.number[label] for label in nodes], np.int64)
        topic_slots = np.array([self.topics.number[label] for label in topics], np.int64)
        sizes = self.rows.ragged.length[node_slots]
        topic_id = _inverse(topic_slots, len(self.topics.labels))
        interest = Interest.from_ids(
            np.repeat(np.arange(len(nodes)), sizes),
            topic_id[self.rows.gather(node_slots)],
            n_nodes=len(nodes),
            n_topics=len(topics),
            node_labels=_labels(nodes),
            topic_labels=_labels(topics),
        )
        links = np.array(list(self.links), np.int64).reshape(-1, 2)
        ids = np.sort(_inverse(node_slots, len(self.nodes.labels))[links], axis=1).astype(np.int32)
        return interest, frozen(ids)


def node_key(label: str, seed: int) -> np.uint64:
    """Return the random key of a node: it follows from its name and the seed."""
    digest = hashlib.blake2b(label.encode(), digest_size=8, key=seed.to_bytes(8, "little")).digest()
    return np.uint64(int.from_bytes(digest, "little"))


def _scratch(n_slots: int) -> Scratch:
    numbers = np.zeros(n_slots, np.int64)
    return Scratch(numbers, numbers.copy(), np.zeros(n_slots, np.int32), np.zeros(1, np.int64))


def _inverse(slots: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    ids = np.full(size, -1, np.int64)
    ids[slots] = np.arange(len(slots))
    return ids


def _labels(labels: list[str]) -> npt.NDArray[np.str_]:
    return frozen(np.array(labels, dtype=np.dtypes.StringDType()))
