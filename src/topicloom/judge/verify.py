"""Does an overlay keep its promise? Answered from the definition, by other code than the one that designs."""

from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.errors import InvalidOptionError
from topicloom.judge.connected import disconnected_topics
from topicloom.judge.sub_overlays import topic_batches
from topicloom.model.arrays import normalized_links
from topicloom.model.checks import checked_whole
from topicloom.model.interest import Interest
from topicloom.model.results import BrokenTopic, Verdict


def verify(interest: Interest, links: npt.ArrayLike, k: int = 1) -> Verdict:
    """Whether every topic's sub-overlay is connected.

    Exact. Nodes without topics and topics with fewer than two subscribers hold trivially.

    Parameters
    ----------
    interest : Interest
    links : (m, 2) array-like of node ids
        In any order and direction; repeats count once.
    k : int

    Returns
    -------
    Verdict
        Truthy when it holds; otherwise ``broken`` names every topic that fails, with a witness.

    Raises
    ------
    InvalidOptionError
        ``k`` is not a whole number of at least 1.
    InvalidLinksError
        A link joins a node with itself or with one that does not exist.

    Notes
    -----
    Takes O(Σ over links of the topics of both ends) time and O(subscriptions + links) memory.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcde"), ["news"] * 5)
    >>> bool(tl.verify(interest, [(0, 1), (1, 2), (2, 3), (3, 4)]))
    True
    >>> tl.verify(interest, [(0, 1), (2, 3), (3, 4)]).broken
    (BrokenTopic(topic=0, components=2, witness=(0, 2)),)
    """
    k = checked_k(k)
    if k > 1:
        raise InvalidOptionError(f"k is {k}; only k = 1 can be verified so far")
    normalized = normalized_links(links, interest.n_nodes)
    broken: list[BrokenTopic] = []
    used = np.zeros(len(normalized), bool)
    for batch in topic_batches(interest, normalized):
        used[batch.link] = True
        broken += disconnected_topics(interest, batch)
    return Verdict(not broken, k, tuple(broken), interest.n_topics, int((~used).sum()))


def checked_k(k: Any) -> int:
    """``k`` as an int, or an error."""
    return checked_whole("k", k, 1)
