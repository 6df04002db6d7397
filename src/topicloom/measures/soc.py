"""The decision question of Scalable Overlay Construction, for an overlay at hand."""

import math
from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from topicloom.errors import InvalidOptionError
from topicloom.measures.routing_cost import filtering_costs, overlay_diameters
from topicloom.model.arrays import degrees
from topicloom.model.given_links import link_ids
from topicloom.model.interest import Interest, checked_interest
from topicloom.model.results import SocAnswer


def soc(
    interest: Interest,
    links: Any,
    *,
    degree: str = "average",
    cost: str = "diameter",
    d: float,
    C: float,
) -> SocAnswer:
    """Whether an overlay has degree at most d and routing cost at most C (Chockler et al., PODC 2007, §9).

    Parameters
    ----------
    interest : Interest
    links : Overlay, pairs, table or graph
        By label or by id, as `Overlay.from_links` takes them.
    degree : {"average", "maximum"}
        The degree function.
    cost : {"diameter", "mean-diameter", "filtering"}
        The routing cost: the largest or the mean topic diameter (distances in the whole overlay; the mean is
        over topics with at least two subscribers), or nodes that relay what they do not want, summed over
        topics. The last is an approximation from above (`topicloom.measures.filtering_costs`): "no" may be
        wrong there, "yes" is not.
    d, C : float
        The bounds.

    Returns
    -------
    SocAnswer
        Its ``ok`` says whether both bounds hold; it has both values. A cost of None is infinite.

    Raises
    ------
    InvalidOptionError
        An unknown degree or cost function, or a bound that is no number.

    See Also
    --------
    soc_exists : whether any overlay keeps to both.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcde"), ["news"] * 5)
    >>> star = [(0, 1), (0, 2), (0, 3), (0, 4)]
    >>> answer = tl.soc(interest, star, degree="average", cost="diameter", d=2, C=2)
    >>> answer.ok, answer.degree, answer.cost
    (True, 1.6, 2.0)
    >>> tl.soc(interest, star, degree="maximum", cost="diameter", d=2, C=2).ok
    False
    >>> factory = tl.datasets.example()
    >>> [tl.soc(factory, tl.design(factory), d=2.5, C=diameter).ok for diameter in (3, 4)]
    [False, True]
    """
    checked_interest(interest, "soc")
    check_soc(degree, cost, d, C)
    degree_value, cost_value = _DEGREES[degree](interest, links), _COSTS[cost](interest, links)
    ok = degree_value <= d and cost_value is not None and cost_value <= C
    return SocAnswer(ok, degree_value, cost_value, degree, cost, d, C)


def check_soc(degree: Any, cost: Any, d: Any, C: Any) -> None:
    """Refuse an unknown degree or cost function, or a bound that is no number."""
    for name, bound in (("d", d), ("C", C)):
        if isinstance(bound, bool) or not isinstance(bound, int | float) or math.isnan(bound):
            raise InvalidOptionError(f"{name} is {bound!r}; a number is accepted")
    if degree not in _DEGREES:
        raise InvalidOptionError(f"there is no degree function {degree!r}; accepted: {', '.join(_DEGREES)}")
    if cost not in _COSTS:
        raise InvalidOptionError(f"there is no routing cost {cost!r}; accepted: {', '.join(_COSTS)}")


def _average_degree(interest: Interest, links: Any) -> float:
    return 2 * len(link_ids(interest, links)) / max(interest.n_nodes, 1)


def _maximum_degree(interest: Interest, links: Any) -> float:
    return float(degrees(link_ids(interest, links), interest.n_nodes).max(initial=0))


def _largest_diameter(interest: Interest, links: Any) -> float | None:
    diameters = overlay_diameters(interest, links)
    return None if (diameters < 0).any() else float(diameters.max(initial=0))


def _mean_diameter(interest: Interest, links: Any) -> float | None:
    diameters = overlay_diameters(interest, links)
    # Two subscribers are at a distance of at least 1: the zeros are the topics with fewer.
    counted = diameters[diameters != 0]
    return None if (counted < 0).any() else float(counted.mean()) if len(counted) else 0.0


def _filtering(interest: Interest, links: Any) -> float | None:
    costs = filtering_costs(interest, links)
    return None if (costs < 0).any() else float(costs.sum())


_DEGREES: dict[str, Callable[[Interest, npt.ArrayLike], float]] = {
    "average": _average_degree,
    "maximum": _maximum_degree,
}
_COSTS: dict[str, Callable[[Interest, npt.ArrayLike], float | None]] = {
    "diameter": _largest_diameter,
    "mean-diameter": _mean_diameter,
    "filtering": _filtering,
}
