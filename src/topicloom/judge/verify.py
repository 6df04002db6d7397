"""Does an overlay keep its promise? Answered from the definition, by other code than the one that designs."""

from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.judge.connected import split_topics
from topicloom.judge.k_connected import weak_topics
from topicloom.judge.sub_overlays import topic_batches
from topicloom.model.arrays import Int32Array
from topicloom.model.checks import checked_whole
from topicloom.model.given_links import link_ids
from topicloom.model.interest import Interest, checked_interest
from topicloom.model.results import BrokenTopic, Verdict


def verify(interest: Interest, links: Any, k: int = 1) -> Verdict:
    """Whether every topic's sub-overlay is k-connected, or a clique where it has at most k nodes.

    Exact, by real vertex connectivity: k = 1 asks that every topic is in one piece, k = 2 that it stays so
    when any one node fails, and so on. Nodes without topics and topics with fewer than two subscribers hold
    trivially.

    Parameters
    ----------
    interest : Interest
    links : Overlay, pairs, table or graph
        By label or by id, as `Overlay.from_links` takes them. In any order and direction; repeats count once.
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

    See Also
    --------
    measure : degrees, diameters and hops.
    weak_nodes : the nodes whose failure cuts a topic.

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
    (BrokenTopic(topic='news', components=2, witness=('a', 'c')),)
    >>> tl.verify(interest, [(0, 1), (1, 2), (2, 3), (3, 4)], k=2).broken  # b separates a from the rest
    (BrokenTopic(topic='news', components=1, witness=('b',)),)
    >>> tl.verify(interest, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)], k=2).ok
    True
    >>> factory = tl.datasets.example()
    >>> tl.verify(factory, tl.design(factory)).ok, tl.verify(factory, tl.design(factory), k=2).broken_topics
    (True, 3)
    """
    checked_interest(interest, "verify")
    k = checked_k(k)
    normalized = link_ids(interest, links)
    broken, used = split_topics(interest, normalized) if k == 1 else _weak(interest, normalized, k)
    named = tuple(
        BrokenTopic(
            interest.topic_name(int(one.topic)), one.components, tuple(interest.node_name(int(v)) for v in one.witness)
        )
        for one in broken
    )
    return Verdict(not broken, k, named, interest.n_topics, int((~used).sum()))


def _weak(interest: Interest, links: Int32Array, k: int) -> tuple[list[BrokenTopic], npt.NDArray[np.bool_]]:
    """Topics that are not k-connected, and which links lie in a topic."""
    broken: list[BrokenTopic] = []
    used = np.zeros(len(links), bool)
    for batch in topic_batches(interest, links):
        used[batch.link] = True
        broken += weak_topics(interest, batch, k)
    return broken, used


def checked_k(k: Any) -> int:
    """``k`` as an int, or an error."""
    return checked_whole("k", k, 1)
