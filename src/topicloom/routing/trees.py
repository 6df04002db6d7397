"""``topicloom.routes``: one tree per topic over the links of an overlay."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from topicloom.errors import InvalidOptionError, NotTopicConnectedError
from topicloom.kernels.paths.trees import spanning_trees
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.routing.ownership import Broker, check_dialling, start_order
from topicloom.routing.table import Routes, assembled

EXACT_UP_TO = 2_000
SEARCHES = 64

Rates = Mapping[str, float] | npt.ArrayLike


def routes(
    overlay: Overlay,
    *,
    rates: Rates | None = None,
    inventory: Mapping[str, Broker] | None = None,
) -> Routes:
    """Choose for every topic a spanning tree of least diameter over the links of an overlay.

    A topic-connected overlay may have cycles inside a topic. Brokers that pass messages on over all of its links would
    deliver copies, or send them round for ever. Over a tree every subscriber gets a message exactly once.

    Parameters
    ----------
    overlay : Overlay
        A topic-connected one.
    rates : mapping from topic label to a number, or one number per topic id; optional
        Messages per second. Among trees of equal diameter those over nodes with less traffic are preferred; without
        rates every topic counts 1.
    inventory : mapping from node label to a broker with ``dials`` and ``accepts``; optional
        Who may open connections and who may be connected to.

    Returns
    -------
    Routes

    Raises
    ------
    NotTopicConnectedError
        A topic cannot have a tree.
    InvalidLinksError
        The inventory lacks a node, or neither end of a link may dial.

    Notes
    -----
    The tree is a shortest-path tree of the absolute centre of the topic's sub-overlay (Hassin and Tamir, 1995), so its
    diameter is the least of all spanning trees. Topics with more than 2,000 subscribers get at most 64 searches for the
    centre; where these do not prove it, ``exact`` is false. Takes O(links + rows) memory, and O(sub-overlay) time per
    search. The same overlay always gives the same rows.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcd"), ["news"] * 4)
    >>> routes = tl.routes(tl.Overlay(interest, [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)]))
    >>> routes, routes.diameter("news"), routes.verify().ok
    (Routes(1 topics, 3 rows), 2, True)

    See Also
    --------
    topicloom.design : where overlays come from.
    """
    interest, links = overlay.interest, overlay.links
    if inventory is not None:
        check_dialling(interest, links, inventory)
    load = static_load(interest, rates)
    parent, exact = spanning_trees(
        interest.indptr,
        interest.topic_indptr,
        interest.topic_nodes,
        links,
        load,
        np.arange(interest.n_topics, dtype=np.int64),
        EXACT_UP_TO,
        SEARCHES,
    )
    _refuse_unconnected(interest, parent)
    rows = np.flatnonzero(parent >= 0)
    topic_of = np.repeat(np.arange(interest.n_topics, dtype=np.int32), np.diff(interest.topic_indptr))
    return assembled(
        interest,
        links,
        start_order(interest, links, inventory),
        exact,
        topic=topic_of[rows],
        ends=(interest.topic_nodes[rows], parent[rows]),
        parent=parent[rows],
        forest=np.full(len(rows), -1),
        active=np.ones(len(rows), bool),
    )


def static_load(interest: Interest, rates: Rates | None) -> npt.NDArray[np.float64]:
    """Traffic that each node takes in anyway: the rates of its topics, 1 each where none are given."""
    weights = topic_rates(interest, rates)[interest.topics]
    return np.bincount(interest.nodes, weights, interest.n_nodes).astype(np.float64)


def topic_rates(interest: Interest, rates: Rates | None) -> npt.NDArray[np.float64]:
    """Rate of every topic; topics that a mapping does not name have rate 0.

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


def _refuse_unconnected(interest: Interest, parent: npt.NDArray[np.int32]) -> None:
    at = np.flatnonzero(parent == -2)
    if len(at):
        topic = int(np.searchsorted(interest.topic_indptr, at[0], side="right")) - 1
        raise NotTopicConnectedError(
            f"topic {interest.topic_label(topic)!r} is not connected by the overlay's links, so it has no tree; "
            "topicloom verify names all such topics"
        )
