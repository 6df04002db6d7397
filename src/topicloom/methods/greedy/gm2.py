"""GM2: Greedy Merge for overlays that survive the failure of any one node."""

from collections.abc import Mapping
from typing import Any

from topicloom.kernels.greedy.engine import GREEDY_MERGE
from topicloom.methods.greedy.grown import greedy_memory, run_greedy
from topicloom.methods.registry import Size, method
from topicloom.model import Interest, Overlay


def _memory(size: Size, options: Mapping[str, Any]) -> int:
    """Bytes of the engine, with the forests of blocks instead of components."""
    return greedy_memory(size) + 64 * size.subscriptions


@method(
    "gm2",
    problem="fewest links such that every topic stays connected when any one node is down (MinAvg-2TCO)",
    guarantee="2-topic-connected; at most O(U · log(nodes · topics)) times the fewest links possible, where U is the "
    "largest number of subscribers of a topic",
    cost="a few times the time of gm, and memory as gm's with a forest of blocks per topic",
    paper="Chen, Jacobsen, Vitenberg: kTCO (GM2, HararyPT), §V",
    memory=_memory,
    max_k=2,
)
def gm2(interest: Interest, *, seed: int = 0, forbid: Any = None) -> Overlay:
    """Overlay with few links in which every topic survives the failure of any one node (GM2).

    Each link added is, at that moment, one whose ends lie in no common block (biconnected component) in the most of the
    topics that both want. Every topic ends as one block; a topic with two subscribers is one with its single link. The
    number of links is within a factor O(U · ln(|V||T|)) of the fewest possible, U being the most subscribers that a
    topic has (the paper's better factor has no valid proof: docs/errata.md, K-3). Equal links are taken all around a
    seeded circle of the nodes, as by `greedy_merge`.

    The paper's O(|V|⁴|T|) is avoided: a forest of blocks per topic is kept as links are added. It takes a few times as
    long as `greedy_merge`, and its memory and O(subscriptions) for the forests.

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
    greedy_merge : no node may fail.
    stacked_greedy_merge : any k.

    References
    ----------
    [ktco] §V, Algorithm 1; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcde"), ["news"] * 5)
    >>> overlay = tl.gm2(interest)
    >>> overlay.n_links, tl.verify(interest, overlay.links, k=2).ok
    (5, True)
    >>> factory = tl.datasets.example()
    >>> overlay = tl.gm2(factory)
    >>> overlay.n_links, overlay.verify(k=2).ok
    (9, True)
    """
    return run_greedy(interest, "gm2", rho=GREEDY_MERGE, blocks=True, options={}, forbid=forbid, seed=seed)
