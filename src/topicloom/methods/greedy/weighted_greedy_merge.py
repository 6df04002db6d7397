"""Weighted Greedy Merge (ours): Greedy Merge in which a topic that few want counts for more."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from topicloom.kernels.greedy.engine import GREEDY_MERGE
from topicloom.kernels.greedy.topic_weights import topic_weights
from topicloom.methods.greedy.grown import greedy_memory, run_greedy
from topicloom.methods.registry import Size, method
from topicloom.model import Interest, Overlay
from topicloom.model.checks import checked_rho


def _memory(size: Size, options: Mapping[str, Any]) -> int:
    """Bytes of the engine, whose table may need two bytes for a pair where one does without weights."""
    return greedy_memory(size) + min(greedy_memory(size), size.nodes**2)


@method(
    "weighted-gm",
    problem="fewest links, fewer than gm where some topics have far more subscribers than others (Min-TCO)",
    guarantee="topic-connected; at most 1 + ln(W / w) times the fewest links possible, and one more, where two nodes "
    "share topics of weight W at most and the lightest topic weighs w; maximum degree unbounded",
    cost="up to 2.5 times the time of gm; at most 1 GiB for one to four bytes per pair of nodes, else O(subscriptions)",
    paper="ours; from Greedy Merge of Chockler et al., PODC 2007",
    memory=_memory,
    check=lambda options: checked_rho(options.get("rho"), without=GREEDY_MERGE),
)
def weighted_greedy_merge(
    interest: Interest, *, rho: float | None = None, seed: int = 0, forbid: Any = None
) -> Overlay:
    """Overlay with fewer links than Greedy Merge's where topics differ much in their subscribers (ours).

    The *weight* of a topic is a small whole number, about the square root of how much rarer it is than the common
    topics. The *weighted contribution* of a link is the sum of the weights of the topics in which it joins two
    components. Each step adds the link with the highest weighted contribution. Links of common topics then come last,
    when most of them are connected by links that rare topics needed anyway. Where all topics are about equally wanted,
    all weights are equal and the links are those of `greedy_merge`.

    Topic-connected. The number of links is at most 1 + ln(W / w) times the fewest possible, and one more, where no two
    nodes share topics that weigh more than W together, and no topic weighs less than w.

    Pairs of node labels or ids in ``forbid`` are never linked; `design` says more.

    Parameters
    ----------
    interest : Interest
    rho : float, optional
        At least 1: choose by the rule of `low_oda` with this ``rho``, in weighted contributions. None takes the best.
    seed : int
        Decides between equally good links.
    forbid : pairs of node labels or ids, optional
        Links that may not be used, as in `design`.

    Returns
    -------
    Overlay

    Raises
    ------
    InvalidOptionError
        ``rho`` is not a number from 1 up.

    See Also
    --------
    greedy_merge : the rule as printed, in which every topic counts 1.
    low_oda : the rule that spares the maximum degree.

    Notes
    -----
    Takes up to 2.5 times as long as `greedy_merge`: contributions have more levels. Memory is one, two or four bytes
    per pair of nodes on the dense path, never above 1 GiB, and O(subscriptions) on the sparse one.

    References
    ----------
    Ours, of [gm-min-tco]; docs/methods/degree.md derives the guarantee, which is that of [wolsey]; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.generate(nodes=500, topics=100, subscriptions=20, popularity="zipf", seed=1)
    >>> overlay = tl.weighted_greedy_merge(interest)
    >>> tl.verify(interest, overlay.links).ok, overlay.n_links < 0.9 * tl.greedy_merge(interest).n_links
    (True, True)
    >>> factory = tl.datasets.example()
    >>> tl.weighted_greedy_merge(factory).n_links
    7
    """
    return run_greedy(
        interest,
        "weighted-gm",
        rho=checked_rho(rho, without=GREEDY_MERGE),
        weights=topic_weights(np.diff(interest.topic_indptr)),
        forbid=forbid,
        options={} if rho is None else {"rho": float(rho)},
        seed=seed,
    )
