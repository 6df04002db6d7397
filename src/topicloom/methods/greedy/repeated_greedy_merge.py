"""Repeated Greedy Merge: k topic-connected overlays without a common link, laid over each other."""

import numpy as np

from topicloom.kernels.greedy.engine import greedy_links
from topicloom.kernels.tie_order import places_on_circle
from topicloom.methods.greedy.grown import greedy_memory
from topicloom.methods.registry import method
from topicloom.model import Interest, Overlay
from topicloom.model.checks import checked_seed, checked_whole


@method(
    "repeated-gm",
    problem="reference: Greedy Merge k times, each run barred from the links of those before",
    guarantee="topic-connected; more often than not also while some node is down, but no k is promised",
    cost="k times that of gm",
    paper="Chockler et al., Constructing Scalable Overlays for Pub-Sub with Many Topics, PODC 2007, §6.4",
    memory=greedy_memory,
    reference=True,
)
def repeated_greedy_merge(interest: Interest, *, k: int = 2, seed: int = 0) -> Overlay:
    """Overlay of k runs of Greedy Merge, none of which may use a link of another.

    Topic-connected, and no more than that is promised: the runs share no link but may share a node whose failure
    cuts a topic, and a topic whose pairs are used up by earlier runs stays unconnected in a later one. `verify` says
    which k it reaches; `gm2` promises 2 with fewer links. Takes k times as long as `greedy_merge`.

    Parameters
    ----------
    interest : Interest
    k : int
        At least 1: the number of runs; 1 gives the very links of `greedy_merge`.
    seed : int

    Returns
    -------
    Overlay

    Raises
    ------
    InvalidOptionError
        ``k`` is not a whole number of at least 1.

    See Also
    --------
    gm2, stacked_greedy_merge : fewer links, and a guarantee.

    Notes
    -----
    k times the cost of `greedy_merge`.

    References
    ----------
    [gm-min-tco] §6.4; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcde"), ["news"] * 5)
    >>> tl.repeated_greedy_merge(interest, k=2).n_links  # two trees of four links each
    8
    >>> factory = tl.datasets.example()
    >>> tl.repeated_greedy_merge(factory).n_links
    12
    """
    k, seed = checked_whole("k", k, 1), checked_seed(seed)
    places = places_on_circle(interest.n_nodes, seed)
    links = np.empty((0, 2), np.int32)
    for _ in range(k):
        more = greedy_links(
            interest.indptr, interest.topics, interest.n_topics, barred_links=links, places=places, seed=seed
        )
        if len(more) == 0:
            break
        links = np.concatenate([links, more])
    return Overlay(interest, links, "repeated-gm", {"k": k}, seed)
