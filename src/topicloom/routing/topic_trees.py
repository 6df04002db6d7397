"""``topicloom.routes``: one tree per topic over the links of an overlay."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.errors import InvalidOptionError, NotTopicConnectedError
from topicloom.kernels.trees.forests import shared_forests
from topicloom.kernels.trees.stable_trees import kept_trees
from topicloom.kernels.trees.standby import standby_rows
from topicloom.model.arrays import Int32Array
from topicloom.model.checks import checked_whole
from topicloom.model.interest import Interest, with_relays
from topicloom.model.overlay import Overlay
from topicloom.routing.keeping import Kept, kept_rows
from topicloom.routing.ownership import Brokers, brokers_of, check_dialling, check_kinds, order_by_network, start_order
from topicloom.routing.plan_folder import Plan
from topicloom.routing.route_table import Bools, Routes, assembled

EXACT_UP_TO = 2_000
SEARCHES = 64

Rates = Mapping[str, float] | npt.ArrayLike


def routes(
    overlay: Overlay,
    keep: Routes | Plan | None = None,
    standby: int = 0,
    rates: Rates | None = None,
    forests: bool = False,
    *,
    inventory: Brokers | None = None,
) -> Routes:
    """Choose for every topic a spanning tree of least diameter over the links of an overlay.

    A topic-connected overlay may have cycles inside a topic. Brokers that pass messages on over all of its links would
    deliver copies, or send them round for ever. Over a tree every subscriber gets a message exactly once.

    Parameters
    ----------
    overlay : Overlay
        A topic-connected one. Where nodes relay, trees lead through the relays of the topic, which stand in the routes
        as if they wanted it; those that no tree needs are left out.
    keep : Routes or Plan, optional
        Older ones. Their trees stay where they can: rows that the overlay still allows are kept, and links are added
        inside a topic until it is connected. Nodes and topics are matched by name.
    standby : 0 or 1
        With 1, add rows that are ready and shut, so that every topic stays connected when any one node fails, where
        the links allow it; `Routes.failover` says which rows to open.
    rates : mapping from topic label to a number, or one number per topic id; optional
        Messages per second. Among trees of equal diameter those over nodes with less traffic are preferred; without
        rates every topic counts 1.
    forests : bool
        Choose trees that share few forests, for brokers that need an account or exchange per forest. The trees are
        then longer.
    inventory : Inventory, or a mapping from node label to a broker with ``dials`` and ``accepts``; optional
        Who may open connections and who may be connected to. The network of the overlay is asked in any case.

    Returns
    -------
    Routes

    Raises
    ------
    NotTopicConnectedError
        A topic cannot have a tree.
    InvalidLinksError
        The inventory lacks a node, or neither end of a link may dial.
    InvalidInventoryError
        The brokers are of several kinds.

    See Also
    --------
    topicloom.design : where overlays come from.

    Notes
    -----
    The tree is a shortest-path tree of the absolute centre of the topic's sub-overlay (Hassin and Tamir, 1995), so its
    diameter is the least of all spanning trees. Topics with more than 2,000 subscribers get at most 64 searches for the
    centre; where these do not prove it, where a tree is kept and with forests, ``exact`` is false. Takes
    O(links + rows) memory, and O(sub-overlay) time per search; with forests, O(forests × (nodes + links)) memory. The
    same overlay always gives the same rows.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcd"), ["news"] * 4)
    >>> routes = tl.routes(tl.Overlay(interest, [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)]))
    >>> routes, routes.diameter("news"), routes.verify().ok
    (Routes(1 topics, 3 rows), 2, True)
    >>> factory = tl.datasets.example()
    >>> made = tl.routes(tl.design(factory))
    >>> made, made.verify().ok
    (Routes(7 topics, 13 rows), True)
    """
    checked_whole("standby", standby, 0, 1)
    if len(overlay.relays):
        return _through_relays(overlay, keep, standby, rates, forests=forests, inventory=inventory)
    interest, links = overlay.interest, overlay.links
    brokers = brokers_of(inventory)
    if brokers is not None:
        check_kinds(map(interest.node_label, range(interest.n_nodes)), brokers)
        check_dialling(interest, links, brokers)
    old = None if keep is None else kept_rows(keep.routes if isinstance(keep, Plan) else keep, interest, links)
    trees = _trees(interest, links, old, static_load(interest, rates), forests=forests)
    refuse_unconnected(interest, trees.parent)
    ready = _standby(interest, links, trees.parent, old) if standby else np.empty((3, 0), np.int32)
    order = start_order(interest, links, brokers, None if old is None else old.rank)
    if overlay.network is not None:
        order = order_by_network(interest, links, order, overlay.network)
    return _with_rows(interest, links, order, trees, ready)


def _through_relays(overlay: Overlay, *given: Any, **more: Any) -> Routes:
    """Choose trees over subscribers and relays. A relay at the end of a tree is left out of the topic.

    In the routes a relay stands as one who wants the topic: its broker gets every message once, and passes it on.
    """
    left = overlay.relays
    while True:
        interest = with_relays(overlay.interest, left)
        carried = Overlay(interest, overlay.links, overlay.method, network=overlay.network)
        made = routes(carried, *given, **more)
        width = overlay.interest.n_topics
        rows = made.active
        ends = np.concatenate((made.src[rows], made.dst[rows])).astype(np.int64) * width + np.tile(made.topic[rows], 2)
        codes, times = np.unique(ends, return_counts=True)
        keys = left[:, 0].astype(np.int64) * width + left[:, 1]
        needed = np.isin(keys, codes[times > 1])
        if needed.all():
            return made
        left = left[needed]


class _Trees(NamedTuple):
    parent: Int32Array
    exact: Bools
    forest: Int32Array


def _trees(
    interest: Interest, links: Int32Array, old: Kept | None, load: npt.NDArray[np.float64], *, forests: bool
) -> _Trees:
    base = (interest.indptr, interest.topic_indptr, interest.topic_nodes, links)
    salts = np.arange(interest.n_topics, dtype=np.int64)
    none = np.full(interest.n_topics, -1, np.int32)
    if forests:
        order = np.argsort(-np.diff(interest.topic_indptr), kind="stable")
        rows = (np.empty(0, np.int32),) * 3 if old is None else (old.topic, old.src, old.dst)
        parent, forest = shared_forests(*base, rows, order, none if old is None else old.home, load, salts)
        return _Trees(parent, np.diff(interest.topic_indptr) <= 2, forest)
    if old is None:
        parent, exact = least_trees(interest, links, load, salts)
    else:
        kept = (old.topic, old.src, old.dst, old.parent)
        parent, exact = kept_trees(*base, kept, load, salts, EXACT_UP_TO, SEARCHES)
    return _Trees(parent, exact, none)


def least_trees(
    interest: Interest, links: Int32Array, load: npt.NDArray[np.float64], salts: npt.NDArray[np.int64]
) -> tuple[Int32Array, Bools]:
    """Find a tree of least diameter for every topic. `kept_trees` says what is given and returned."""
    base = (interest.indptr, interest.topic_indptr, interest.topic_nodes, links)
    nothing = (np.empty(0, np.int32),) * 4
    parent, exact = kept_trees(*base, nothing, load, salts, EXACT_UP_TO, SEARCHES)
    return parent, exact


def _standby(interest: Interest, links: Int32Array, parent: Int32Array, old: Kept | None) -> npt.NDArray[Any]:
    preferred = (np.empty(0, np.int32),) * 3 if old is None else old.standby
    rows: npt.NDArray[Any] = standby_rows(
        interest.indptr, interest.topic_indptr, interest.topic_nodes, links, parent, preferred
    )
    return rows


def _with_rows(
    interest: Interest, links: Int32Array, order: Int32Array, trees: _Trees, ready: npt.NDArray[Any]
) -> Routes:
    at = np.flatnonzero(trees.parent >= 0)
    topic = np.repeat(np.arange(interest.n_topics, dtype=np.int32), np.diff(interest.topic_indptr))[at]
    none = np.full(ready.shape[1], -1, np.int32)
    return assembled(
        interest,
        links,
        order,
        trees.exact,
        topic=np.concatenate((topic, ready[0])),
        ends=(np.concatenate((interest.topic_nodes[at], ready[1])), np.concatenate((trees.parent[at], ready[2]))),
        parent=np.concatenate((trees.parent[at], none)),
        forest=np.concatenate((trees.forest[topic], none)),
        active=np.arange(len(at) + len(none)) < len(at),
    )


def static_load(interest: Interest, rates: Rates | None) -> npt.NDArray[np.float64]:
    """Traffic that each node takes in anyway: the rates of its topics, 1 each where none are given."""
    weights = topic_rates(interest, rates)[interest.topics]
    return np.bincount(interest.nodes, weights, interest.n_nodes).astype(np.float64)


def topic_rates(interest: Interest, rates: Rates | None) -> npt.NDArray[np.float64]:
    """Rate of every topic. Topics that a mapping does not name have rate 0.

    Raises
    ------
    InvalidOptionError
        A rate is negative or not a finite number, or there is not one per topic.
    """
    if rates is None:
        return np.ones(interest.n_topics)
    if isinstance(rates, Mapping):
        named = [interest.topic_label(t) for t in range(interest.n_topics)]
        values = np.array([rates.get(name, 0.0) for name in named], np.float64)
    else:
        values = np.asarray(rates, np.float64)
    if values.shape != (interest.n_topics,) or not (np.isfinite(values).all() and (values >= 0).all()):
        raise InvalidOptionError(f"rates must be {interest.n_topics:,} numbers of at least 0, one per topic")
    return values


def refuse_unconnected(interest: Interest, parent: Int32Array) -> None:
    """Refuse topics that have no tree. The message names the first."""
    at = np.flatnonzero(parent == -2)
    if len(at):
        topic = int(np.searchsorted(interest.topic_indptr, at[0], side="right")) - 1
        raise NotTopicConnectedError(
            f"topic {interest.topic_label(topic)!r} is not connected by the overlay's links, so it has no tree; "
            "topicloom verify names all such topics"
        )
