"""Joining topic-connected overlays that have no node in common: two sites that merge, a healed network partition."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.errors import InvalidInterestError, InvalidLinksError, InvalidOptionError
from topicloom.methods.dc.conquer import pn_ratios
from topicloom.methods.dc.star_merge import (
    Part,
    candidates_elsewhere,
    joining_links,
    label_places,
    star_set,
    wanted_elsewhere,
)
from topicloom.model import Interest, Overlay
from topicloom.model import labels as label_columns
from topicloom.model.arrays import Int32Array, Int64Array, frozen
from topicloom.model.checks import checked_seed
from topicloom.model.given_links import link_ids
from topicloom.model.interest import checked_interest
from topicloom.model.labels import Labels

JOIN_METHODS = ("star-merge", "naive-merge")
TIES = ("ids", "labels")
Joined = Overlay | tuple[Interest, Overlay | npt.ArrayLike]


def join(overlays: Sequence[Joined], *, method: str = "star-merge", ties: str = "ids", seed: int = 0) -> Overlay:
    """Join topic-connected overlays that have no node in common into one. No link of theirs is touched.

    The result is topic-connected. With ``naive-merge`` every pair of nodes from different overlays is a candidate,
    and the links added are at most O(log Σ|T_d|) times the fewest that could be. With ``star-merge`` only star nodes
    are: a few nodes of each overlay that together want all topics which other overlays have as well. It is faster by
    two orders of magnitude, needs to know of the star nodes only, and adds about as few links.

    Parameters
    ----------
    overlays : sequence of Overlay, or of (Interest, Overlay or links)
        Two or more. Nodes and topics are identified by their labels. Interests without labels have topic ids in
        common; their nodes are taken to be different, and are numbered one overlay after the other.
    method : str
        One of `topicloom.JOIN_METHODS`.
    ties : "ids" or "labels"
        What decides, with the seed, between equally good stars and links: the node ids in the joined interest, or the
        node labels. With "labels" the links are those of `join_stars`, which sees the star nodes alone.
    seed : int

    Returns
    -------
    Overlay
        Over the nodes of all; the links of the given overlays come first, one overlay after the other. ``report`` says
        what was added: inner and outer links, star sets, and ``pn_ratio``, the highest share of the nodes that a node
        had to consider as neighbours; ``pn_ratios`` has the number of nodes, the mean and the maximum of these shares
        for star nodes and for the others.

    Raises
    ------
    InvalidOptionError
        Fewer than two overlays, or no such method.
    InvalidInterestError
        Two overlays share a node, an overlay was built for another interest, or only some have labels.
    InvalidLinksError
        An overlay is not topic-connected.

    See Also
    --------
    join_stars : without showing each other the interests.

    Notes
    -----
    O(|T| Σ|V_i||V_j|) time at worst over the candidates of different overlays, and a greedy cover for each overlay.

    References
    ----------
    [star-merge] §V, Algorithms 3-6; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> here = tl.Interest.from_pairs(["a", "b", "b"], ["x", "x", "y"])
    >>> there = tl.Interest.from_pairs(["c", "c", "d"], ["x", "y", "y"])
    >>> joined = tl.join([(here, tl.greedy_merge(here)), (there, tl.greedy_merge(there))])
    >>> joined, joined.report["outer_links"], tl.verify(joined.interest, joined.links).ok
    (Overlay(4 nodes, 2 topics, 3 links, method star-merge), 1, True)
    >>> factory = tl.datasets.example()
    >>> sites = [factory.restrict(range(3)), factory.restrict(range(3, 6))]
    >>> joined = tl.join([tl.greedy_merge(site) for site in sites])
    >>> joined.n_links, joined.verify().ok
    (7, True)
    """
    if method not in JOIN_METHODS:
        raise InvalidOptionError(f"there is no join method {method!r}; the join methods are {', '.join(JOIN_METHODS)}")
    if ties not in TIES:
        raise InvalidOptionError(f"ties is {ties!r}; {' or '.join(TIES)} is accepted")
    checked_seed(seed)
    if len(overlays) < 2:
        raise InvalidOptionError(f"{len(overlays)} overlays to join; two or more are needed")
    pairs = [(given.interest, given) if isinstance(given, Overlay) else given for given in overlays]
    given = [_checked(number, *pair) for number, pair in enumerate(pairs)]
    interest, node_ids = _united([interest for interest, _ in given])
    inner = np.concatenate([ids[links] for ids, (_, links) in zip(node_ids, given)])
    unit = np.empty(interest.n_nodes, np.int32)
    for number, ids in enumerate(node_ids):
        unit[ids] = number
    places = _label_places(interest, seed) if ties == "labels" else None
    chosen: list[Int32Array] = [ids.astype(np.int32) for ids in node_ids]
    if method == "star-merge":
        parts = [Part.of(interest, ids) for ids in node_ids]
        subscribers = np.diff(interest.topic_indptr)
        chosen = [
            part.nodes[
                star_set(part, wanted_elsewhere(part, subscribers), seed=seed, places=_among(places, part.nodes))
            ]
            for part in parts
        ]
    stars = Part.of(interest, np.concatenate(chosen))
    outer = joining_links(stars, unit[stars.nodes], interest.n_topics, places=_among(places, stars.nodes), seed=seed)
    links = np.concatenate((inner, outer)).astype(np.int32)
    report = _report(given, chosen, unit[stars.nodes], interest.n_nodes, len(outer))
    return Overlay(interest, links, method, {}, seed, report)


def _label_places(interest: Interest, seed: int) -> Int32Array:
    if interest.node_labels is None:
        raise InvalidInterestError("ties are decided by labels, and the nodes have none; ties='ids' is accepted")
    return label_places(interest.node_labels.tolist(), seed)


def _among(places: Int32Array | None, nodes: Int32Array) -> Int32Array | None:
    """Places of some nodes when only these sit on the circle."""
    if places is None:
        return None
    among = np.empty(len(nodes), np.int32)
    among[np.argsort(places[nodes])] = np.arange(len(nodes), dtype=np.int32)
    return among


def _report(
    given: Sequence[tuple[Interest, Int32Array]],
    chosen: Sequence[Int32Array],
    unit: Int32Array,
    n_nodes: int,
    n_outer: int,
) -> dict[str, Any]:
    sizes, stars = np.array([interest.n_nodes for interest, _ in given]), np.array([len(one) for one in chosen])
    by_stars = int((sizes[unit] - 1 + candidates_elsewhere(unit)).max(initial=0))
    return {
        "overlays": [
            {"nodes": interest.n_nodes, "links": len(links), "stars": len(stars)}
            for (interest, links), stars in zip(given, chosen)
        ],
        "inner_links": sum(len(links) for _, links in given),
        "outer_links": n_outer,
        "star_nodes": sum(map(len, chosen)),
        "pn_ratio": max(int(sizes.max()) - 1, by_stars, 0) / max(n_nodes, 1),
        "pn_ratios": pn_ratios(n_nodes, sizes, [stars], limit=n_nodes, most=by_stars),
    }


def _checked(number: int, interest: Interest, overlay: Overlay | npt.ArrayLike) -> tuple[Interest, Int32Array]:
    """Interest and links of an overlay that may be joined."""
    checked_interest(interest, "join")
    if isinstance(overlay, Overlay):
        overlay.refuse_change("join")
        overlay.forbidden.refuse("join")
        if overlay.interest is not interest and not _equal(overlay.interest, interest):
            raise InvalidInterestError(f"overlay {number} was built for another interest than the one given with it")
        links = overlay.links
    else:
        links = link_ids(interest, overlay)
    from topicloom.judge import verify  # here, because it loads scipy and designing does not need it

    verdict = verify(interest, links)
    if not verdict.ok:
        first = verdict.broken[0]
        raise InvalidLinksError(
            f"overlay {number} is not topic-connected: {len(verdict.broken):,} of its topics are broken, "
            f"such as {first.topic!r} in {first.components:,} pieces; "
            "only topic-connected overlays can be joined"
        )
    return interest, links


def _equal(a: Interest, b: Interest) -> bool:
    return (
        a.n_topics == b.n_topics
        and np.array_equal(a.indptr, b.indptr)
        and np.array_equal(a.topics, b.topics)
        and _equal_labels(a.node_labels, b.node_labels)
        and _equal_labels(a.topic_labels, b.topic_labels)
    )


def _equal_labels(a: Labels | None, b: Labels | None) -> bool:
    return b is None if a is None else b is not None and np.array_equal(a, b)


def _united(interests: Sequence[Interest]) -> tuple[Interest, list[Int64Array]]:
    """The interest of all nodes, and for each of the interests the ids of its nodes in it."""
    node_ids, node_labels, n_nodes = _united_ids([interest.node_labels for interest in interests], "node")
    topic_ids, topic_labels, n_topics = _united_ids([interest.topic_labels for interest in interests], "topic")
    if node_ids is None:
        starts = np.cumsum([0, *(interest.n_nodes for interest in interests)])
        node_ids = [start + np.arange(interest.n_nodes) for start, interest in zip(starts, interests)]
        n_nodes = int(starts[-1])
    if topic_ids is None:
        n_topics = max(interest.n_topics for interest in interests)
        topic_ids = [np.arange(n_topics)] * len(interests)
    if sum(map(len, node_ids)) > n_nodes:
        raise InvalidInterestError(_shared_node(interests))
    united = Interest.from_ids(
        np.concatenate([ids[interest.nodes] for ids, interest in zip(node_ids, interests)]),
        np.concatenate([ids[interest.topics] for ids, interest in zip(topic_ids, interests)]),
        n_nodes=n_nodes,
        n_topics=n_topics,
        node_labels=node_labels,
        topic_labels=topic_labels,
    )
    return united, node_ids


def _united_ids(columns: Sequence[Labels | None], what: str) -> tuple[list[Int64Array] | None, Labels | None, int]:
    """Number all labels in their order. Returns an array of ids per column, the labels and their number, or nothing."""
    labelled = [labels for labels in columns if labels is not None]
    if not labelled:
        return None, None, 0
    if len(labelled) < len(columns):
        raise InvalidInterestError(f"some of the overlays have {what} labels and some have none: give them to all")
    ids, labels = label_columns.encode(np.concatenate(labelled), what)
    ends = np.cumsum([len(column) for column in labelled])[:-1]
    return [part.astype(np.int64) for part in np.split(ids, ends)], frozen(labels), len(labels)


def _shared_node(interests: Sequence[Interest]) -> str:
    """Which node is in two overlays, and whether these agree on what it wants."""
    home: dict[str, tuple[int, int]] = {}
    for number, interest in enumerate(interests):
        for node in range(interest.n_nodes):
            label = interest.node_label(node)
            if label in home:
                other, other_node = home[label]
                wants = {interest.topic_label(topic) for topic in interest.topics_of(node)}
                wanted = {interests[other].topic_label(topic) for topic in interests[other].topics_of(other_node)}
                differ = "" if wants == wanted else ", and they disagree on its subscriptions"
                return (
                    f"node {label!r} is in overlay {other} and in overlay {number}{differ}; "
                    "only overlays without common nodes can be joined"
                )
            home[label] = number, node
    raise AssertionError("no node is shared")
