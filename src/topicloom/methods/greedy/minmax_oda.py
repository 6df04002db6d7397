"""MinMax-ODA: keep the maximum degree low, whatever it costs in links."""

from typing import Any

from topicloom.kernels.greedy.engine import MINMAX_ODA
from topicloom.methods.greedy.grown import greedy_memory, run_greedy
from topicloom.methods.registry import method
from topicloom.model import Interest, Overlay


@method(
    "minmax-oda",
    problem="lowest maximum degree (MinMax-TCO)",
    guarantee="topic-connected; maximum degree O(log(nodes · topics)) times the lowest possible; links unbounded",
    cost="about three times the time of gm at most, up to 15 % more memory",
    paper="Onus, Richa: Minimum Maximum-Degree Publish-Subscribe Overlay Network Design; low-oda paper §1.1, §2.1",
    memory=greedy_memory,
)
def minmax_oda(interest: Interest, *, seed: int = 0, forbid: Any = None) -> Overlay:
    """Overlay with a low maximum degree: a link that raises it is added only when no other one contributes.

    Of the links with a positive contribution, those that do not raise the current maximum degree come first, and among
    them the one with the highest contribution. Topic-connected, with a maximum degree of O(log(|V||T|)) times the
    lowest possible; the number of links can be far from the fewest (Lemma 1 of the Low-ODA paper). Takes up to about
    three times as long as `greedy_merge`, and little more memory.

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
    low_oda : a choice between few links and low degrees.

    References
    ----------
    [low-oda] §1.1, §2.1 and Table 1, after [minmax-oda]; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcde"), ["news"] * 5)
    >>> int(tl.minmax_oda(interest).degree().max())
    2
    >>> factory = tl.datasets.example()
    >>> overlay = tl.minmax_oda(factory)
    >>> overlay.n_links, int(overlay.degree().max())
    (8, 3)
    """
    return run_greedy(interest, "minmax-oda", rho=MINMAX_ODA, options={}, forbid=forbid, seed=seed)
