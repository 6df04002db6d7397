"""Paths of one topic that share no node but their ends: what multipath routing can count on."""

import numpy as np

from topicloom.errors import InvalidOptionError
from topicloom.kernels.trees.disjoint_paths import paths_between
from topicloom.model.arrays import Int32Array
from topicloom.model.checks import checked_kind, checked_whole
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay


def disjoint_paths(
    overlay: Overlay, topic: str | int, u: str | int, v: str | int, *, k: int = 2
) -> tuple[tuple[str | int, ...], ...]:
    """Find up to k paths between two subscribers of a topic that share no node but these two.

    Every node on a path wants the topic. By Menger's theorem there are k such paths, or a link and k - 1 others,
    between any two subscribers of a k-topic-connected overlay's topic with more than k of them: a message that is sent
    along all of them arrives while fewer than k nodes are down.

    Parameters
    ----------
    overlay : Overlay
        Of any method, or links of your own (`Overlay.from_links`).
    topic : str or int
        By label, or by id.
    u, v : str or int
        Two of its subscribers, by label, or by id.
    k : int
        At least 1. Fewer paths are returned where there are no more.

    Returns
    -------
    tuple of tuples
        The nodes of each path from u to v, by label where the interest has labels; shorter paths come first. Together
        they need not be the shortest k.

    Raises
    ------
    InvalidOptionError
        u or v does not want the topic, both are one node, or ``k`` is not a whole number from 1 up.
    InvalidInterestError
        No topic or node has this label, or this id.

    See Also
    --------
    verify : whether every topic has them, for all pairs.
    stacked_greedy_merge : few links for k = 2.

    Notes
    -----
    Takes O(links · log topics) time to find the topic's links, and O(k · these) for the paths.

    References
    ----------
    [ktco] §I; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcd"), ["news"] * 4)
    >>> tl.disjoint_paths(tl.design(interest, k=2), "news", "a", "c")
    (('a', 'c'), ('a', 'd', 'b', 'c'))
    """
    checked_kind("overlay", overlay, Overlay, "an Overlay")
    k = checked_whole("k", k, 1)
    interest = overlay.interest
    at = interest.topic_id(topic)
    members = interest.topic_nodes[interest.topic_indptr[at] : interest.topic_indptr[at + 1]]
    source, sink = (_place(interest, members, node, topic) for node in (u, v))
    if source == sink:
        raise InvalidOptionError(f"both ends are node {u!r}; two subscribers of topic {topic!r} are accepted")
    inside = np.isin(overlay.links, members).all(axis=1)
    links = np.searchsorted(members, overlay.links[inside]).astype(np.int32)
    paths = paths_between(len(members), links, source, sink, min(k, len(members)))
    return tuple(sorted((tuple(interest.node_name(members[at]) for at in path) for path in paths), key=len))


def _place(interest: Interest, members: Int32Array, node: str | int, topic: str | int) -> int:
    """Place of a node among the subscribers of a topic."""
    number = interest.node_id(node)
    place = int(np.searchsorted(members, number))
    if place == len(members) or members[place] != number:
        raise InvalidOptionError(f"node {node!r} does not want topic {topic!r}; its subscribers are accepted")
    return place
