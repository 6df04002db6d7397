"""A certified lower bound on the links of any topic-connected overlay of an interest."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.errors import InvalidLinksError, NoTruthValueError
from topicloom.judge.prices import proved_by_components, proved_by_pairs, proved_by_potentials
from topicloom.methods.bounds.search import found_pair_prices, found_potentials, pairs_fit
from topicloom.model import Interest
from topicloom.model.arrays import Int32Array
from topicloom.model.checks import checked_above_zero
from topicloom.model.given_links import link_ids
from topicloom.model.interest import checked_interest

KINDS = ("components", "potentials", "pair prices")


@dataclass(frozen=True)
class LowerBound:
    """A number of links that no topic-connected overlay can do without, and the proof.

    Where links stand, the overlays meant are those that contain them.

    Attributes
    ----------
    links : int
        No topic-connected overlay of the interest has fewer, standing links included.
    kind : str
        ``pair prices``, ``potentials`` (one number per subscription), or ``components`` (nothing beyond the interest).
    certificate : int array
        What `check` needs; empty for ``components``.
    standing : (m, 2) int32 array
        Links that stand already, u < v; none unless `lower_bound` was given some.
    """

    links: int
    kind: str
    certificate: npt.NDArray[Any] = field(repr=False)
    standing: npt.NDArray[Any] = field(default_factory=lambda: np.empty((0, 2), np.int32), repr=False)

    def check(self, interest: Interest) -> bool:
        """Whether the certificate proves the bound for an interest: exact, by other code than the search.

        Takes O(Σ over topics of subscribers² · topics of a node) time for potentials, O(Σ subscribers²) for pairs.
        """
        checked_interest(interest, "check")
        try:
            standing = link_ids(interest, self.standing)
        except InvalidLinksError:  # those of another interest
            return False
        return 0 <= self.links <= _proved(interest, self.kind, np.asarray(self.certificate), standing)

    def excess(self, links: int) -> float:
        """How much more than the bound a number of links is at most, as a fraction: 0 means optimal, proved."""
        return links / self.links - 1 if self.links else 0.0

    def sentence(self, links: int) -> str:
        """What the bound says of an overlay with that many links.

        >>> LowerBound(100, "components", np.empty(0, np.int64)).sentence(104)
        'at most 4.0 % above the fewest links possible (certified)'
        """
        if links <= self.links:
            return "the fewest links possible (certified)"
        return f"at most {100 * self.excess(links):.1f} % above the fewest links possible (certified)"

    def facts(self, links: int) -> dict[str, Any]:
        """What commands print as JSON of an overlay with that many links."""
        return {"links": self.links, "kind": self.kind, "excess": self.excess(links), "sentence": self.sentence(links)}

    def __bool__(self) -> bool:
        raise NoTruthValueError("a LowerBound is neither true nor false; use .links or .check(interest)")


def lower_bound(interest: Interest, *, effort: float = 1, standing: Any = ()) -> LowerBound:
    """Find a number of links that every topic-connected overlay of an interest has at least, with a proof.

    Every topic needs a spanning tree. If the topics of a pair of nodes together pay at most 1 for a link between the
    two, no overlay has fewer links than the cheapest spanning trees of all topics cost together. The search raises
    these *prices*; what it finds is rounded to whole numbers, and the bound is what `LowerBound.check` makes of those.

    With ``standing`` links the question is how few links an overlay has that contains them all, as a join does: its
    topics pay only for what the standing links leave unconnected.

    Parameters
    ----------
    interest : Interest
    effort : float
        Above 0; 1 takes at most some minutes. Small interests (up to some 400 million pairs of subscribers, summed over
        topics) get prices of pairs, larger ones one potential per subscription. Beyond that only the rarest topics pay.
    standing : Overlay, pairs, table or graph
        Links that stand already and are kept, by label or by id, as `Overlay.from_links` takes them.

    Returns
    -------
    LowerBound
        Its ``links`` count the standing ones.

    Raises
    ------
    InvalidOptionError
        ``effort`` is not a number above 0.
    InvalidLinksError
        A standing link joins a node with itself or with one that does not exist.

    See Also
    --------
    refine : overlays with few links.

    Notes
    -----
    The dual of the partition relaxation of the spanning-tree polytopes. Memory is O(subscriptions), and eight bytes per
    topic and pair of its subscribers where pairs have prices, or per pair of nodes up to 10,000 of them.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.datasets.example()
    >>> bound = tl.lower_bound(interest)
    >>> bound.links, tl.design(interest).n_links, bound.check(interest)
    (7, 7, True)
    >>> sites = [interest.restrict(range(3)), interest.restrict(range(3, 6))]
    >>> overlays = [tl.greedy_merge(site) for site in sites]
    >>> standing = [link for overlay in overlays for link in overlay.to_networkx().edges]
    >>> bound = tl.lower_bound(interest, standing=standing)
    >>> bound.links, tl.join(overlays).n_links, bound.check(interest)
    (7, 7, True)
    """
    checked_interest(interest, "lower_bound")
    effort = checked_above_zero("effort", effort)
    links = link_ids(interest, standing)
    found: dict[str, npt.NDArray[Any]] = {"components": np.empty(0, np.int64)}
    potentials, found["potentials"] = found_potentials(interest, effort, links)
    if pairs_fit(interest):
        found["pair prices"] = found_pair_prices(interest, potentials, effort, links)
    bounds = [LowerBound(_proved(interest, kind, proof, links), kind, proof, links) for kind, proof in found.items()]
    return max(bounds, key=lambda bound: bound.links)


def _proved(interest: Interest, kind: str, certificate: npt.NDArray[Any], standing: Int32Array) -> int:
    if kind == "potentials":
        return proved_by_potentials(interest, certificate, standing)
    if kind == "pair prices":
        return proved_by_pairs(interest, certificate, standing)
    return proved_by_components(interest, standing) if kind == "components" else -1
