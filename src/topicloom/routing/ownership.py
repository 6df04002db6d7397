"""Who dials whom: the order in which brokers start, the later end of a link as the one that dials, and the levels."""

from collections.abc import Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from topicloom.errors import InvalidInventoryError, InvalidLinksError
from topicloom.model.arrays import Int32Array, Int64Array, degrees
from topicloom.model.forbidden import ForbiddenLinks
from topicloom.model.interest import Interest
from topicloom.model.site_network import Network

_ACCEPTS_ONLY, _BOTH, _DIALS_ONLY = 0, 1, 2
_SHOWN = 5


class BrokerRole(Protocol):
    """What ownership asks of a broker of an inventory."""

    @property
    def dials(self) -> bool:
        """Whether it may open connections."""

    @property
    def accepts(self) -> bool:
        """Whether it may be connected to."""


class HasBrokers(Protocol):
    """What ownership asks of an inventory: brokers by node label."""

    @property
    def brokers(self) -> Mapping[str, Any]:
        """Brokers by node label."""


Brokers = HasBrokers | Mapping[str, BrokerRole]


def brokers_of(inventory: Brokers | None) -> Mapping[str, BrokerRole] | None:
    """The brokers by node label, from an inventory or from such a mapping itself."""
    return inventory if inventory is None or isinstance(inventory, Mapping) else inventory.brokers


def start_order(
    interest: Interest,
    links: Int32Array,
    brokers: Mapping[str, BrokerRole] | None = None,
    before: npt.NDArray[np.integer[Any]] | None = None,
) -> Int32Array:
    """Put the brokers in the order in which they start. Returns node ids.

    Those that only accept come first, those that only dial last, the others between them by falling degree.
    When the later end of every link dials, a broker only dials brokers that are up, and no cycle of dialling exists.
    ``before`` gives for every node its rank in an older order, or -1: these nodes keep their order, and come first.
    """
    degree = degrees(links, interest.n_nodes)
    classes = _classes(interest, brokers)
    known = np.full(interest.n_nodes, -1, np.int64) if before is None else before.astype(np.int64)
    old_rank = np.where(known < 0, interest.n_nodes, known)
    newly = np.where(known < 0, -degree, 0)
    return np.lexsort((np.arange(interest.n_nodes), newly, old_rank, classes)).astype(np.int32)


def start_levels(n_nodes: int, dials: Int32Array) -> list[list[int]]:
    """Put the brokers in levels: each dials only brokers of earlier levels. Returns node ids, rising in each level.

    ``dials`` has (owner, acceptor) of every link. Brokers that dial in a circle, and those that dial these, are one
    last level: they start together.
    """
    owner, acceptor = dials[:, 0], dials[:, 1]
    waiting = np.ones(n_nodes, bool)
    levels = []
    while waiting.any():
        held = np.zeros(n_nodes, bool)
        held[owner[waiting[acceptor]]] = True
        level = waiting & ~held if (waiting & ~held).any() else waiting.copy()
        levels.append(np.flatnonzero(level).tolist())
        waiting &= ~level
    return levels


def owners(links: Int32Array, order: Int32Array) -> Int32Array:
    """The end of each link that starts later and therefore dials."""
    rank = ranks(order)
    return np.where(rank[links[:, 0]] > rank[links[:, 1]], links[:, 0], links[:, 1]).astype(np.int32)


def order_by_network(interest: Interest, links: Int32Array, order: Int32Array, network: Network) -> Int32Array:
    """Change an order of start as little as is needed for every link to be dialled by an end that may.

    Returns the order itself where its later ends may dial. Takes O(links × log nodes) time.

    Raises
    ------
    InvalidLinksError
        Neither end of a link may dial, or there is no such order.
    """
    names, rank = [interest.node_label(v) for v in range(interest.n_nodes)], ranks(order)
    after: dict[int, list[int]] = {}  # nodes that start later than a node, because they alone may dial
    waits, wrong = np.zeros(interest.n_nodes, np.int64), False
    for u, v in links.tolist():
        ways = [(a, b) for a, b in ((u, v), (v, u)) if network.may_dial(names[b], names[a])]
        if not ways:
            raise InvalidLinksError(f"link {names[u]!r} – {names[v]!r}: neither end may dial the other by the network")
        wrong |= all(rank[first] > rank[later] for first, later in ways)
        if len(ways) == 1:
            after.setdefault(ways[0][0], []).append(ways[0][1])
            waits[ways[0][1]] += 1
    if not wrong:
        return order
    ready = [(int(rank[v]), v) for v in np.flatnonzero(waits == 0).tolist()]
    heapify(ready)
    found = []
    while ready:
        v = heappop(ready)[1]
        found.append(v)
        for later in after.get(v, ()):
            waits[later] -= 1
            if not waits[later]:
                heappush(ready, (int(rank[later]), later))
    if len(found) < interest.n_nodes:
        circle = ", ".join(repr(names[v]) for v in np.flatnonzero(waits)[:_SHOWN].tolist())
        raise InvalidLinksError(
            f"brokers such as {circle} may only dial each other in a circle, so none can start first"
        )
    return np.array(found, np.int32)


def ranks(order: Int32Array) -> Int64Array:
    """Position of every node in the start order."""
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank


def check_dialling(interest: Interest, links: Int32Array, brokers: Mapping[str, BrokerRole]) -> None:
    """Refuse links of which no end may dial the other, and nodes that the inventory lacks.

    Raises
    ------
    InvalidLinksError
        The message names the first such links.
    """
    missing = [name for name in map(interest.node_label, range(interest.n_nodes)) if name not in brokers]
    if missing:
        shown = ", ".join(map(repr, missing[:_SHOWN]))
        raise InvalidLinksError(f"the inventory lacks {len(missing):,} of {interest.n_nodes:,} nodes, such as {shown}")
    dials, accepts = _permissions(interest, brokers)
    u, v = links[:, 0], links[:, 1]
    impossible = np.flatnonzero(~((dials[u] & accepts[v]) | (dials[v] & accepts[u])))
    if len(impossible):
        u, v = links[impossible[0]]
        raise InvalidLinksError(
            f"link {interest.node_label(u)!r} – {interest.node_label(v)!r}: neither end may dial the other "
            f"(inventory: dials and accepts); {len(impossible):,} such links. "
            "Design the overlay with the same inventory, so that such links are not used"
        )


def check_kinds(names: Iterable[str], brokers: Mapping[str, Any], target: str | None = None) -> None:
    """Refuse brokers of several kinds in one plan, and brokers of another kind than the target.

    Raises
    ------
    InvalidInventoryError
        The message names brokers of every kind.
    """
    kinds: dict[str, list[str]] = {}
    for name in names:
        kind = getattr(brokers.get(name), "kind", None)
        if kind is not None:
            kinds.setdefault(kind, []).append(name)
    if len(kinds) > 1:
        shown = "; ".join(f"{kind}: {_some(kinds[kind])}" for kind in sorted(kinds))
        raise InvalidInventoryError(
            f"the inventory has brokers of {len(kinds)} kinds ({shown}); a plan is for brokers of one kind"
        )
    for kind in kinds:
        if target not in (None, kind):
            raise InvalidInventoryError(f"broker {kinds[kind][0]!r} is a {kind} in the inventory, not a {target}")


def _some(names: list[str]) -> str:
    return ", ".join(map(repr, names[:_SHOWN])) + (f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else "")


def undialled_pairs(numbers: Mapping[str, int], brokers: Mapping[str, BrokerRole]) -> Int32Array:
    """Pairs of nodes of which neither may dial the other, as ids. ``numbers`` gives the id of every label.

    Raises
    ------
    InvalidLinksError
        The inventory lacks a node, or there are more than 20 million such pairs.
    """
    missing = [name for name in numbers if name not in brokers]
    if missing:
        shown = ", ".join(map(repr, missing[:_SHOWN]))
        raise InvalidLinksError(f"the inventory lacks {len(missing):,} of {len(numbers):,} nodes, such as {shown}")
    known = {name: broker for name, broker in brokers.items() if name in numbers}
    return ForbiddenLinks.of(brokers=known).ids(numbers)


def _classes(interest: Interest, brokers: Mapping[str, BrokerRole] | None) -> Int64Array:
    if brokers is None:
        return np.full(interest.n_nodes, _BOTH, np.int64)
    dials, accepts = _permissions(interest, brokers)
    return np.where(~dials, _ACCEPTS_ONLY, np.where(accepts, _BOTH, _DIALS_ONLY)).astype(np.int64)


def _permissions(
    interest: Interest, brokers: Mapping[str, BrokerRole]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    named = [brokers[interest.node_label(v)] for v in range(interest.n_nodes)]
    return np.array([b.dials for b in named], bool), np.array([b.accepts for b in named], bool)
