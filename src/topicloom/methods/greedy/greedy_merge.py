"""Greedy Merge (GM): always add the link that joins components of the most topics."""

from typing import Any

from topicloom.kernels.greedy.engine import GREEDY_MERGE
from topicloom.methods.greedy.grown import greedy_memory, run_greedy
from topicloom.methods.registry import method
from topicloom.model import Interest, Overlay


@method(
    "gm",
    problem="fewest links, that is lowest average degree (Min-TCO)",
    guarantee="topic-connected; at most 1 + ln(subscriptions) times the fewest links possible; maximum degree "
    "unbounded",
    cost="O(nodes² · topics) time at worst, about a thousandth of that in practice; at most 1 GiB "
    "for a byte per pair of nodes or two, else O(subscriptions)",
    paper="Chockler et al., Constructing Scalable Overlays for Pub-Sub with Many Topics, PODC 2007, §6",
    memory=greedy_memory,
)
def greedy_merge(interest: Interest, *, seed: int = 0, forbid: Any = None) -> Overlay:
    """Overlay with few links by Greedy Merge: each link added joins components of the most topics at that moment.

    Topic-connected, with at most 1 + ln(Σ|T(v)|) times the fewest links that any topic-connected overlay has, and at
    most 1 + ln(s) times where no two nodes share more than s topics. Equal links
    are taken all around a seeded circle of the nodes, so that no hubs arise.

    Takes O(|V|²|T|) time at worst, typically a thousandth of it. Memory is a byte per pair of nodes on the dense path
    (two where many topics are rare), never above 1 GiB, and O(subscriptions) on the sparse one, which larger interests
    take.

    Pairs of node labels or ids in ``forbid`` are never linked; `design` says more.

    Parameters
    ----------
    interest : Interest
        What each node wants.
    seed : int
        Decides between equally good links.
    forbid : pairs of node labels or ids, optional
        Links that may not be used, as in `design`.

    Returns
    -------
    Overlay

    See Also
    --------
    weighted_greedy_merge : as a rule fewer links.
    low_oda, minmax_oda : lower maximum degrees.
    gm2 : survives the failure of any one node.

    References
    ----------
    [gm-min-tco] §6, Algorithms 1-3, Lemma 6.5; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("aabbccdd"), list("xyxyxzxz"))
    >>> tl.greedy_merge(interest).n_links
    3
    >>> factory = tl.datasets.example()
    >>> tl.greedy_merge(factory).n_links
    7
    """
    return run_greedy(interest, "gm", rho=GREEDY_MERGE, options={}, forbid=forbid, seed=seed)
