"""Does an overlay keep its promise? Answered from the definition, by other code than the one that designs."""

from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.judge.connected import disconnected_topics
from topicloom.judge.k_connected import weak_topics
from topicloom.judge.sub_overlays import topic_batches
from topicloom.model.arrays import normalized_links
from topicloom.model.checks import checked_whole
from topicloom.model.interest import Interest, checked_interest
from topicloom.model.results import BrokenTopic, Verdict


def verify(interest: Interest, links: npt.ArrayLike, k: int = 1) -> Verdict:
    """Whether every topic's sub-overlay is k-connected, or a clique where it has at most k nodes.

    Exact, by real vertex connectivity: k = 1 asks that every topic is in one piece, k = 2 that it stays so
    when any one node fails, and so on. Nodes without topics and topics with fewer than two subscribers hold
    trivially.

    Parameters
    ----------
    interest : Interest
    links : (m, 2) array-like of node ids
        In any order and direction; repeats count once.
    k : int
        At least 1. The sub-overlay has to survive the failure of any k - 1 nodes.

    Returns
    -------
    Verdict
        Its ``ok`` says whether it holds; if not, ``broken`` names every topic that fails, with a witness.

    Raises
    ------
    InvalidOptionError
        ``k`` is not a whole number of at least 1.
    InvalidLinksError
        A link joins a node with itself or with one that does not exist.

    Notes
    -----
    Takes O(Σ over links of the topics of both ends) time for k = 1 (connected components) and k = 2
    (articulation points), and O(subscriptions + links) memory. From k = 3 on, a topic of n subscribers takes
    at most n + k² searches for k disjoint paths on at most kn edges (Even's test on a sparse certificate of
    Nagamochi and Ibaraki). k-topic-connectivity is that of Chen, Jacobsen and Vitenberg (the kTCO paper).

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcde"), ["news"] * 5)
    >>> tl.verify(interest, [(0, 1), (1, 2), (2, 3), (3, 4)]).ok
    True
    >>> tl.verify(interest, [(0, 1), (2, 3), (3, 4)]).broken
    (BrokenTopic(topic=0, components=2, witness=(0, 2)),)
    >>> tl.verify(interest, [(0, 1), (1, 2), (2, 3), (3, 4)], k=2).broken  # node 1 separates 0 from the rest
    (BrokenTopic(topic=0, components=1, witness=(1,)),)
    >>> tl.verify(interest, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)], k=2).ok
    True
    """
    checked_interest(interest, "verify")
    k = checked_k(k)
    normalized = normalized_links(links, interest.n_nodes)
    broken: list[BrokenTopic] = []
    used = np.zeros(len(normalized), bool)
    for batch in topic_batches(interest, normalized):
        used[batch.link] = True
        broken += disconnected_topics(interest, batch) if k == 1 else weak_topics(interest, batch, k)
    return Verdict(not broken, k, tuple(broken), interest.n_topics, int((~used).sum()))


def checked_k(k: Any) -> int:
    """``k`` as an int, or an error."""
    return checked_whole("k", k, 1)
