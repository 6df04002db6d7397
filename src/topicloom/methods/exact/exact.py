"""The fewest links, proved, for small interests (ours)."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topicloom.errors import InvalidOptionError
from topicloom.kernels.greedy.engine import GREEDY_MERGE, NO_LINKS, greedy_links
from topicloom.kernels.greedy.topic_weights import topic_weights
from topicloom.methods.greedy.greedy_merge import greedy_merge
from topicloom.methods.greedy.weighted_greedy_merge import weighted_greedy_merge
from topicloom.methods.registry import Size, method
from topicloom.model import Interest, Overlay
from topicloom.model.arrays import Int32Array
from topicloom.model.checks import checked_above_zero, checked_seed
from topicloom.model.given_links import link_ids

if TYPE_CHECKING:
    from topicloom.methods.bounds import LowerBound

MOST_NODES = 2_000
_SHARES = (0.1, 1, 3, 3, 3, 3)  # of the effort, one refinement each, until there is nothing left to gain


def _memory(size: Size, options: Mapping[str, Any]) -> int:
    """Bytes of a table of pairs, of prices of pairs and of what HiGHS keeps for them."""
    return 200 * min(size.nodes, MOST_NODES) ** 2 + 16 * size.nodes * size.subscriptions + 4096


def _check(options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        checked_above_zero(name, value)


@method(
    "exact",
    problem="the fewest links possible (Min-TCO), small interests",
    guarantee="topic-connected; says whether the number of links is proved to be the fewest possible, or the gap",
    cost="exponential in the worst case; at most 2,000 nodes; about the given seconds beyond refinement and prices",
    paper="ours; the problem is that of Chockler et al., PODC 2007",
    memory=_memory,
    check=_check,
)
def exact(
    interest: Interest, *, effort: float = 100, seconds: float = 60, seed: int = 0, standing: Any = ()
) -> Overlay:
    """Find an overlay with the fewest links possible, and prove it where that can be done (ours).

    Refinement finds an overlay with few links, prices prove a lower bound. Where the two differ, links that no better
    overlay can contain are ruled out by their reduced costs, and HiGHS branches on the others.

    Topic-connected. ``report["exact"]`` has ``optimal``, the ``bound``, a ``sentence``, and the ``proof``: ``prices``,
    which is exact, ``branching``, which rests on the floating-point tolerances of HiGHS, or ``none``.

    With ``standing`` links the overlay contains them all and is the best of those that do: MinAvg-TCO-Join of
    [star-merge], Def. 2, where these are the links of the overlays to be joined.

    Parameters
    ----------
    interest : Interest
        Of at most 2,000 nodes.
    effort : float
        Work to spend on each refinement, as in `refine`; above 0.
    seconds : float
        Time limit of the branching, above 0. The only place where a clock decides: with the same seed another run can
        end with another overlay only if that was reached.
    seed : int
    standing : Overlay, pairs, table or graph
        Links that stand already and are kept, by label or by id, as `Overlay.from_links` takes them.

    Returns
    -------
    Overlay
        Standing links come first; ``report["exact"]["standing"]`` is their number, and the ``bound`` counts them.

    Raises
    ------
    InvalidOptionError
        More than 2,000 nodes, or ``effort`` or ``seconds`` is not a number above 0.
    InvalidLinksError
        A standing link joins a node with itself or with one that does not exist.

    See Also
    --------
    lower_bound : the proof for larger interests.
    tco_exists : whether there is an overlay with a given number of links.
    join : the fast way to join overlays, whose links then stand.

    References
    ----------
    Ours; the problem is Min-TCO of [gm-min-tco], NP-complete; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> overlay = tl.exact(tl.datasets.example())
    >>> overlay.n_links, overlay.report["exact"]["sentence"]
    (7, 'optimal, proved by prices')
    >>> interest = tl.Interest.from_pairs(list("abcabcabc"), list("xxxyyyzzz"))
    >>> tl.exact(interest, standing=[("a", "b"), ("a", "c"), ("b", "c")]).n_links, tl.exact(interest).n_links
    (3, 2)
    """
    _check({"effort": effort, "seconds": seconds})
    if interest.n_nodes > MOST_NODES:
        raise InvalidOptionError(f"exact is for at most {MOST_NODES:,} nodes, and there are {interest.n_nodes:,}")
    seed = checked_seed(seed)
    links = link_ids(interest, standing)
    found = solved(interest, effort, seconds, seed, lambda links, at_least: links <= at_least, links)
    optimal = found.at_least == found.overlay.n_links
    facts = {"optimal": optimal, "bound": found.at_least, "proof": found.proof, "sentence": _sentence(found)}
    if len(links):
        facts["standing"] = len(links)
    options = {"effort": effort, "seconds": seconds}
    return Overlay(interest, found.overlay.links, "exact", options, seed, {"exact": facts})


class Solved(NamedTuple):
    """The best overlay, the certified bound, and the fewest links possible as far as they were proved, and how."""

    overlay: Overlay
    bound: "LowerBound"
    at_least: int
    proof: str


def _sentence(found: Solved) -> str:
    links, at_least = found.overlay.n_links, found.at_least
    if links == at_least:
        return f"optimal, proved by {found.proof}"
    return f"not proved optimal: {links:,} links found, at least {at_least:,} needed, a gap of {links - at_least:,}"


def solved(
    interest: Interest,
    effort: float,
    seconds: float,
    seed: int,
    done: Callable[[int, int], bool],
    standing: Int32Array = NO_LINKS,
) -> Solved:
    """Search from above and below until ``done(links found, links proved)``, or nothing is left to try.

    Only overlays are looked for that contain the standing links, and all are counted.
    """
    from topicloom.methods.bounds import lower_bound  # here and below, because scipy takes long to load

    bound = lower_bound(interest, standing=standing)
    best = start = _start(interest, standing, seed)
    for at, share in enumerate(_SHARES):
        if done(best.n_links, bound.links):
            return Solved(best, bound, bound.links, "prices")
        best = min(best, _refined(start, len(standing), effort * share, seed + at), key=_links)
    if done(best.n_links, bound.links) or interest.n_nodes > MOST_NODES:
        return Solved(best, bound, bound.links, "prices" if best.n_links == bound.links else "none")
    best, at_least = _branched(best, bound, seconds)
    return Solved(best, bound, at_least, "branching" if best.n_links == at_least else "none")


def _start(interest: Interest, standing: Int32Array, seed: int) -> Overlay:
    """The best that greedy rules add to standing links."""
    if not len(standing):
        return min(greedy_merge(interest, seed=seed), weighted_greedy_merge(interest, seed=seed), key=_links)
    csr = interest.indptr, interest.topics, interest.n_topics
    weights = None, topic_weights(np.diff(interest.topic_indptr))
    added = [greedy_links(*csr, rho=GREEDY_MERGE, start_links=standing, weights=one, seed=seed) for one in weights]
    return Overlay(interest, np.concatenate([standing, min(added, key=len)]), "exact", {}, seed)


def _refined(start: Overlay, n_standing: int, effort: float, seed: int) -> Overlay:
    from topicloom.methods.refinement.refine import refine, refine_beside

    return (
        refine_beside(start, n_standing, effort=effort, seed=seed)
        if n_standing
        else refine(start, effort=effort, seed=seed)
    )


def _links(overlay: Overlay) -> int:
    return overlay.n_links


def _branched(overlay: Overlay, bound: "LowerBound", seconds: float) -> tuple[Overlay, int]:
    """The best overlay, and the fewest links possible, after branching on what prices do not rule out."""
    from topicloom.judge.prices import proved_by_pairs
    from topicloom.methods.bounds.search import found_pair_prices, found_potentials
    from topicloom.methods.exact.branching import branch, candidate_links

    interest, prices, standing = overlay.interest, bound.certificate, bound.standing
    if bound.kind != "pair prices":
        prices = found_pair_prices(interest, found_potentials(interest, 1.0, standing)[0], 1.0, standing)
        if proved_by_pairs(interest, prices, standing) == 0:
            return overlay, bound.links
    most = overlay.n_links - 1
    further = candidate_links(interest, prices, most - len(standing))
    stands = np.isin(further @ [interest.n_nodes, 1], standing @ [interest.n_nodes, 1])
    pairs = np.concatenate([standing, further[~stands]])
    found = branch(interest, pairs, bound.links, most, seconds, len(standing))
    if found.links is None:
        return overlay, found.at_least
    better = Overlay(interest, found.links, "exact")
    if not better.verify().ok:
        raise AssertionError("branching ended with links that are not topic-connected; please report this")
    return better, found.at_least
