"""Trimming (ours): drop the links that no topic needs for its k-connectivity."""

from typing import Any

import numpy as np

from topicloom.kernels.trees.disjoint_paths import redundant_links, shared_topic_counts
from topicloom.model import Interest
from topicloom.model.arrays import Int32Array
from topicloom.model.checks import checked_whole
from topicloom.model.given_links import link_ids


def drop_redundant_links(interest: Interest, links: Any, k: int = 1) -> Int32Array:
    """The links without those that no topic needs to be k-connected.

    Links are tried one by one, those that serve the fewest topics first and, among these, the latest added first; a
    link goes when in each topic that both its ends want, k disjoint paths still join them. What remains is minimal: no
    further link can go. Every topic that was k-connected (or a clique of at most k nodes) still is; one that was not
    gets no new separating set of fewer than k nodes.

    Parameters
    ----------
    interest : Interest
    links : Overlay, pairs, table or graph
        By label or by id, as `Overlay.from_links` takes them.
        Such as ``overlay.links``.
    k : int
        At least 1: the topic-connectivity to keep.

    Returns
    -------
    (m, 2) int32 array
        Those that remain, in the given order.

    Raises
    ------
    InvalidOptionError
        ``k`` is not a whole number of at least 1.
    InvalidLinksError
        A link joins a node with itself or with one that does not exist.

    See Also
    --------
    refine : replaces links as well.

    Notes
    -----
    Takes at most k breadth-first searches of a sub-overlay for every link and topic that it serves, O(k · Σ over links
    and their topics of the topic's links) time; most links are told by the degree of their ends. O(Σ over links of the
    topics served) memory.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcd"), ["news"] * 4)
    >>> clique = tl.harary_per_topic(interest, k=3)
    >>> [len(tl.drop_redundant_links(interest, clique.links, k)) for k in (1, 2, 3)]
    [3, 4, 6]
    >>> factory = tl.datasets.example()
    >>> rings = tl.ring_per_topic(factory)
    >>> rings.n_links, len(tl.drop_redundant_links(factory, rings))
    (12, 7)
    """
    k = checked_whole("k", k, 1)
    given = link_ids(interest, links)
    serves = shared_topic_counts(interest.indptr, interest.topics, given)
    fewest_first = np.lexsort((-np.arange(len(given)), serves))
    kept: Int32Array = given[~redundant_links(interest.indptr, interest.topics, given, fewest_first, k)]
    return kept
