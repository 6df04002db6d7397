"""Choosing a method by the size of an interest."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from topicloom.methods.registry import Size, method, spec_of
from topicloom.model import Interest, Overlay

ALL_PAIRS_UP_TO = 10_000
FEW_PAIRS = 5 * 10**7


class Choice(NamedTuple):
    """A method, and why it was chosen."""

    method: str
    why: str


def choose_method(size: Size, barred: bool = False) -> Choice:
    """The method with the fewest links in reasonable time for an interest of that size.

    With ``barred``, it is one that can keep off forbidden links.

    >>> choose_method(Size(nodes=500, topics=100, subscriptions=10_000)).method
    'weighted-gm'
    >>> choose_method(Size(nodes=500_000, topics=100, subscriptions=10_000_000)).why
    '500,000 nodes are more than 10,000: candidate links in rounds, not all pairs'
    >>> choose_method(Size(nodes=70_000, topics=80_000, subscriptions=1_700_000)).why
    'few nodes share a topic, about 36 million pairs: all of them are looked at'
    """
    if size.nodes <= ALL_PAIRS_UP_TO:
        return Choice("weighted-gm", f"{size.nodes:,} nodes are at most {ALL_PAIRS_UP_TO:,}: all pairs are looked at")
    if barred:
        return Choice("weighted-gm", "of the methods for many nodes none keeps off forbidden links")
    pairs = size.subscriptions**2 // max(size.topics, 1)  # those that share a topic, if all topics were of one size
    if pairs <= FEW_PAIRS:
        why = f"few nodes share a topic, about {pairs / 10**6:.0f} million pairs: all of them are looked at"
        return Choice("weighted-gm", why)
    return Choice(
        "rounds-gm",
        f"{size.nodes:,} nodes are more than {ALL_PAIRS_UP_TO:,}: candidate links in rounds, not all pairs",
    )


def _memory(size: Size, options: Mapping[str, Any]) -> int:
    return spec_of(choose_method(size).method).bytes_needed(size, options)


@method(
    "auto",
    problem="few links in reasonable time for any number of nodes: chooses a method by size",
    guarantee="that of the method chosen: topic-connected",
    cost="that of the method chosen: weighted-gm up to 10,000 nodes or 50 million pairs with a topic, rounds-gm above",
    paper="no paper: it chooses among the others",
    memory=_memory,
    chooses=choose_method,
)
def automatic(interest: Interest, *, seed: int = 0, forbid: Any = None) -> Overlay:
    """Overlay by the method that suits the size of the interest.

    Up to 10,000 nodes that is `weighted_greedy_merge`, which looks at all pairs of nodes. It is the same method where
    few nodes share a topic: (subscriptions)² / topics is at most 50 million, and where links are forbidden. Otherwise
    it is `rounds_greedy_merge`.

    Parameters
    ----------
    interest : Interest
    seed : int
    forbid : pairs of node labels or ids, optional
        Never linked; `design` says more.

    Returns
    -------
    Overlay
        As the chosen method gives it: ``method`` names that one.

    See Also
    --------
    design : any method by name.

    Notes
    -----
    Cost and guarantee are those of the method chosen.

    Examples
    --------
    >>> import topicloom as tl
    >>> tl.design(tl.generate(nodes=50, topics=10, subscriptions=3), "auto").method
    'weighted-gm'
    >>> factory = tl.datasets.example()
    >>> tl.automatic(factory).method
    'weighted-gm'
    """
    size = Size(interest.n_nodes, interest.n_topics, interest.n_subscriptions)
    if forbid is None:
        return spec_of(choose_method(size).method).function(interest, seed=seed)
    return spec_of(choose_method(size, True).method).function(interest, seed=seed, forbid=forbid)
