"""Is there an overlay that is as cheap as that? The decision problems of the first paper (Def. 4.2 and §9)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topicloom.errors import NoTruthValueError
from topicloom.methods.exact.exact import solved
from topicloom.methods.references.beside import co_subscribers, few_pairs
from topicloom.methods.registry import design
from topicloom.model import Interest, Overlay
from topicloom.model.arrays import Int64Array
from topicloom.model.checks import checked_seed, checked_whole
from topicloom.model.given_links import link_ids
from topicloom.model.interest import checked_interest

if TYPE_CHECKING:
    from topicloom.methods.bounds import LowerBound

YES, NO, UNKNOWN = "yes", "no", "unknown"
_TRIED = ("weighted-gm", "minmax-oda", "ring-pt", "random-regular", "spanning-tree", "hub", "cd-oda", "full-mesh")


@dataclass(frozen=True)
class Existence:
    """An answer with its evidence.

    Attributes
    ----------
    answer : str
        ``yes``, ``no`` or ``unknown``.
    overlay : Overlay or None
        The best overlay found: the evidence of a yes.
    found : float
        Its links, or its degree if that was asked for; infinite if there is none.
    at_least : float
        No overlay has fewer links, or a lower degree: the evidence of a no.
    bound : LowerBound or None
        Certificate for ``at_least``, if it rests on prices. Branching can prove more than ``bound.links``, up to the
        tolerances of HiGHS.
    """

    answer: str
    overlay: Overlay | None
    found: float
    at_least: float
    bound: "LowerBound | None"

    def __bool__(self) -> bool:
        raise NoTruthValueError("an Existence is neither true nor false; use .answer, which may be unknown")


def tco_exists(
    interest: Interest, *, links: int, effort: float = 100, seconds: float = 60, seed: int = 0, standing: Any = ()
) -> Existence:
    """Answer whether an interest has a topic-connected overlay with at most a number of links.

    *Yes* comes with an overlay, *no* with a bound, *unknown* with both numbers. The question is TCO of
    [gm-min-tco], Def. 4.2, and NP-complete. With ``standing`` links it is about overlays that contain them all:
    Avg-TCO-Join of [star-merge], Def. 3, where these are the links of the overlays to be joined.

    Parameters
    ----------
    interest : Interest
    links : int
        At least 0. Standing links are counted.
    effort : float
        Of the refinements; see `refine`.
    seconds : float
        Time limit of the branching, on interests of at most 2,000 nodes; see `exact`.
    seed : int
    standing : Overlay, pairs, table or graph
        Links that stand already and are kept, by label or by id, as `Overlay.from_links` takes them.

    Returns
    -------
    Existence

    Raises
    ------
    InvalidOptionError
        ``links`` is not a whole number from 0 up.
    InvalidLinksError
        A standing link joins a node with itself or with one that does not exist.

    See Also
    --------
    exact : the fewest links.
    soc_exists : the same question about degrees and routing costs.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.datasets.example()
    >>> [tl.tco_exists(interest, links=links).answer for links in (6, 7)]
    ['no', 'yes']
    >>> ring = tl.ring_per_topic(interest)
    >>> [tl.tco_exists(interest, links=links, standing=ring).answer for links in (7, 12)]
    ['no', 'yes']
    """
    checked_interest(interest, "tco_exists")
    most = checked_whole("links", links, 0)
    found = solved(
        interest,
        effort,
        seconds,
        checked_seed(seed),
        lambda links, at_least: links <= most or at_least > most,
        link_ids(interest, standing),
    )
    answer = YES if found.overlay.n_links <= most else NO if found.at_least > most else UNKNOWN
    return Existence(answer, found.overlay, found.overlay.n_links, found.at_least, found.bound)


def soc_exists(
    interest: Interest,
    *,
    degree: str = "average",
    cost: str = "diameter",
    d: float,
    C: float,
    effort: float = 30,
    seed: int = 0,
) -> Existence:
    """Answer whether some overlay has degree at most d and routing cost at most C: SOC of [gm-min-tco], §9.

    The overlay need not be topic-connected. Several constructions are tried and measured by `soc`. Four facts bound the
    degree. An overlay of finite cost connects all that share topics, directly or over others. No filtering means
    topic-connected (`lower_bound`). Diameter 1 means that all who share a topic are linked. Within C hops of a node
    there are not more nodes than degrees allow. For the average degree and the diameter the answer is never *unknown*.

    Parameters
    ----------
    interest : Interest
    degree, cost, d, C
        As for `soc`. Filtering is counted from above, so that only C below 1 can be answered with *no* for it beyond
        what connecting takes.
    effort : float
        Of the refinements; see `refine`.
    seed : int

    Returns
    -------
    Existence
        ``found`` and ``at_least`` are degrees, of overlays that keep to C.

    See Also
    --------
    soc : whether given links are such an overlay.
    tco_exists : by the number of links alone.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcde"), ["news"] * 5)
    >>> [tl.soc_exists(interest, d=d, C=2).answer for d in (1.5, 1.6)]
    ['no', 'yes']
    >>> [tl.soc_exists(interest, degree="maximum", d=d, C=2).answer for d in (1, 2)]
    ['no', 'yes']
    >>> factory = tl.datasets.example()
    >>> tl.soc_exists(factory, d=1.5, C=2).answer
    'no'
    """
    from topicloom.measures.soc import check_soc, soc  # here and below, because scipy takes long to load

    checked_interest(interest, "soc_exists")
    seed = checked_seed(seed)
    check_soc(degree, cost, d, C)
    at_least, bound = _least_degree(interest, degree, cost, C)
    best, found = None, math.inf
    for overlay in _attempts(interest, degree, effort, seed) if at_least <= d else ():
        got = soc(interest, overlay, degree=degree, cost=cost, d=d, C=C)
        if got.cost is not None and got.cost <= C and got.degree < found:
            best, found = overlay, got.degree
        if found <= d:
            break
    answer = YES if found <= d else NO if at_least > d else UNKNOWN
    return Existence(answer, best, found, at_least, bound)


def _attempts(interest: Interest, degree: str, effort: float, seed: int) -> Iterator[Overlay]:
    """Overlays of different kinds, a refined one last."""
    from topicloom.methods.refinement import refine

    yield from _stars_and_rings(interest)
    for name in _TRIED if few_pairs(interest) else _TRIED[:-1]:
        yield design(interest, name, seed=seed)
    start, objective = ("minmax-oda", "degree") if degree == "maximum" else ("weighted-gm", "links")
    yield refine(design(interest, start, seed=seed), effort=effort, objective=objective, seed=seed)


def _stars_and_rings(interest: Interest) -> Iterator[Overlay]:
    """A star, then a ring, for each group of nodes that topics hold together.

    Stars have the fewest links of a finite cost and two hops at most, rings a maximum degree of two.
    """
    group = _groups(interest)
    _, first, size = np.unique(group, return_index=True, return_counts=True)
    by_group = np.argsort(group, kind="stable")
    ends = np.cumsum(size)
    following = np.roll(by_group, -1)
    following[ends - 1] = by_group[ends - size]
    for one, other in ((first[group], np.arange(interest.n_nodes)), (by_group, following)):
        links = np.unique(np.sort(np.column_stack((one, other)), axis=1), axis=0)
        yield Overlay(interest, links[links[:, 0] != links[:, 1]].astype(np.int32), "hub")


def _groups(interest: Interest) -> Int64Array:
    """Group of every node: nodes that share topics, directly or over others, are in the same one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = interest.n_nodes
    ends = interest.nodes, interest.topics.astype(np.int64) + n
    wants = coo_array((np.ones(interest.n_subscriptions, np.int8), ends), shape=(n + interest.n_topics,) * 2)
    return np.unique(connected_components(wants, directed=False)[1][:n], return_inverse=True)[1]


def _least_degree(interest: Interest, degree: str, cost: str, C: float) -> "tuple[float, LowerBound | None]":
    """A degree that overlays of routing cost at most C have at least, and the certificate behind it, if any."""
    from topicloom.methods.bounds import lower_bound

    others, size = _others(interest), np.bincount(_groups(interest))
    if C < 0 or (C < 1 and cost != "filtering" and others.any()):
        return math.inf, None
    bound = lower_bound(interest) if cost == "filtering" and C < 1 else None
    links = interest.n_nodes - len(size) if bound is None else bound.links
    if cost == "diameter" and C < 2:
        links = -(-int(others.sum()) // 2)
    if degree == "average":
        return 2 * links / max(interest.n_nodes, 1), bound
    sharing, largest = max(int(np.count_nonzero(others)), 1), int(size.max(initial=1))
    least = max(math.ceil(2 * links / sharing), math.ceil(2 * (largest - 1) / largest))
    while cost == "diameter" and _within(least, C, int(others.max(initial=0))) < others.max(initial=0):
        least += 1
    return float(least), bound


def _others(interest: Interest) -> Int64Array:
    """Count for every node the others that share a topic with it: exactly for few pairs, else at least."""
    if few_pairs(interest):
        return co_subscribers(interest)
    others = np.zeros(interest.n_nodes, np.int64)
    np.maximum.at(others, interest.nodes, np.diff(interest.topic_indptr)[interest.topics] - 1)
    return others


def _within(degree: int, hops: float, enough: int) -> int:
    """Bound the nodes within some hops of a node by the highest degree (Moore), counted up to ``enough``."""
    within, farthest, passed = 0, degree, 0
    while passed < hops and farthest and within < enough:
        within, farthest, passed = within + farthest, farthest * (degree - 1), passed + 1
    return within
