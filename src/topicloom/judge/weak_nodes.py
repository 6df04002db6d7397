"""Single points of failure: the nodes whose failure alone cuts topics, worst first."""

from typing import Any

import numpy as np

from topicloom.judge.articulation import pairs_lost
from topicloom.judge.k_connected import symmetric
from topicloom.judge.sub_overlays import topic_batches
from topicloom.model.checks import checked_whole
from topicloom.model.given_links import link_ids
from topicloom.model.interest import Interest, checked_interest
from topicloom.model.results import WeakNode


def weak_nodes(interest: Interest, links: Any, *, top: int | None = 10) -> tuple[WeakNode, ...]:
    """Nodes that are articulation points of topics, by topics cut, then pairs of subscribers lost.

    Exact, by one linear search over all sub-overlays (Hopcroft and Tarjan, 1973). A 2-topic-connected overlay
    has none.

    Parameters
    ----------
    interest : Interest
    links : Overlay, pairs, table or graph
        By label or by id, as `Overlay.from_links` takes them.
    top : int or None
        How many to return at most; None for all.

    Returns
    -------
    tuple of WeakNode
        The weakest first.

    Raises
    ------
    InvalidOptionError
        ``top`` is negative or no whole number.
    InvalidLinksError
        A link joins a node with itself or with one that does not exist.

    See Also
    --------
    drill : what the failure of given nodes does.
    gm2 : overlays without weak nodes.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcdeabc"), ["news"] * 5 + ["sport"] * 3)
    >>> tl.weak_nodes(interest, [(0, 1), (1, 2), (2, 3), (3, 4)], top=2)
    (WeakNode(node='b', topics_cut=2, lost_pairs=4), WeakNode(node='c', topics_cut=1, lost_pairs=4))
    >>> factory = tl.datasets.example()
    >>> tl.weak_nodes(factory, tl.design(factory), top=1)
    (WeakNode(node='press', topics_cut=2, lost_pairs=7),)
    """
    checked_interest(interest, "weak_nodes")
    top = None if top is None else checked_whole("top", top, 0)
    topics_cut = np.zeros(interest.n_nodes, np.int64)
    lost_pairs = np.zeros(interest.n_nodes, np.int64)
    for batch in topic_batches(interest, link_ids(interest, links)):
        rows = symmetric(batch)
        lost = pairs_lost(rows.indptr.astype(np.int64), rows.indices.astype(np.int32))
        nodes = interest.topic_nodes[batch.first : batch.first + batch.size]
        np.add.at(topics_cut, nodes[lost > 0], 1)
        np.add.at(lost_pairs, nodes, lost)
    weak = np.flatnonzero(topics_cut)
    ranked = weak[np.lexsort((weak, -lost_pairs[weak], -topics_cut[weak]))][:top]
    return tuple(WeakNode(interest.node_name(v), int(topics_cut[v]), int(lost_pairs[v])) for v in ranked.tolist())
