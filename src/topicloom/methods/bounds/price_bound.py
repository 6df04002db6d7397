"""A certified lower bound on what a design of a network costs."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.errors import NoTruthValueError
from topicloom.judge.split_price_check import SCALE, PriceBlock, proved_price
from topicloom.kernels.network.expanded import Expanded, expand, lay_out, prices_of
from topicloom.kernels.network.split_prices import (
    MOST_RELAYS,
    cheapest_trees,
    first_shares,
    pair_starts,
    raise_shares,
    write_shares,
)
from topicloom.model import Interest
from topicloom.model.checks import checked_above_zero
from topicloom.model.interest import checked_interest
from topicloom.model.network_arrays import NetworkArrays

Numbers = npt.NDArray[Any]
_STEPS, _STEP, _LEAST_STEP, _SMALLER = 600, 0.3, 0.004, 0.6
_PATIENCE, _PROGRESS = 20, 1.0002


@dataclass(frozen=True)
class PriceBound:
    """A price below which no design of a network is, and the proof.

    Attributes
    ----------
    price : float
        No design that keeps the rules costs less; links that stand count with what is left of their price.
    blocks : tuple of PriceBlock
        The shares that prove it.
    """

    price: float
    blocks: tuple[PriceBlock, ...] = field(repr=False)

    def check(self, interest: Interest, network: NetworkArrays) -> bool:
        """Whether the shares prove the price, by other code than the search."""
        return self.price <= proved_price(interest, network, self.blocks) + _price_of_required(interest, network)

    def __bool__(self) -> bool:
        raise NoTruthValueError("a PriceBound is neither true nor false; use .price or .check(interest, network)")


def price_bound(interest: Interest, network: NetworkArrays, *, effort: float = 1.0) -> PriceBound:
    """Find a price that every design of a network has at least, with a proof.

    The topics of a pair share the price of its link, and the failure units under which a relay carries a topic share
    the price of its row. No design then costs less than the cheapest trees of all topics and units together. Caps are
    left out of it: the bound holds with and without them.

    Parameters
    ----------
    interest : Interest
    network : NetworkArrays
    effort : float
        Above 0: multiplies the steps of the search.

    Returns
    -------
    PriceBound
        inf if a topic cannot be connected.

    See Also
    --------
    topicloom.methods.network.design_network.design_network : designs of a low price.

    Notes
    -----
    Takes O(pairs of members · 2^relays of a topic) for each step, and twice eight bytes for each pair of members of
    each topic and unit. Topics that more than ten relays may carry pay nothing. The first shares are those of the sizes
    of the topics; the steps are multiplicative weights, as for the bound on links.

    Examples
    --------
    >>> import numpy as np, topicloom as tl
    >>> from topicloom.methods.network.open_network import open_network
    >>> interest = tl.Interest.from_pairs(list("abcd"), ["news"] * 4)
    >>> network = open_network(4, 1, site=[0, 0, 1, 1], price=[[1.0, 30.0], [30.0, 1.0]])
    >>> bound = price_bound(interest, network)
    >>> round(bound.price, 3), bound.check(interest, network)
    (32.0, True)
    """
    checked_interest(interest, "price_bound")
    steps = max(round(_STEPS * checked_above_zero("effort", effort)), 1)
    x = expand(interest, _with_free(network))
    relays = np.bincount(x.topic_of, ~x.wants, len(x.base))
    x = _only(x, relays <= MOST_RELAYS)
    blocks = _blocks(x, *_raised(x, steps))
    price = proved_price(interest, network, blocks) + _price_of_required(interest, network)
    return PriceBound(price, blocks)


def _with_free(network: NetworkArrays) -> NetworkArrays:
    """The network with required links free of charge, as links of their own price."""
    prices = dict(zip(network.pair_codes.tolist(), network.pair_price.tolist()))
    prices.update((min(u, v) << 32 | max(u, v), 0.0) for u, v in network.required.tolist())
    codes = sorted(prices)
    own = np.array([prices[code] for code in codes], np.float64)
    return replace(network, pair_codes=np.array(codes, np.int64), pair_price=own)


def _price_of_required(interest: Interest, network: NetworkArrays) -> float:
    links = np.unique(np.sort(network.required, axis=1), axis=0).astype(np.int32)
    return float(prices_of(expand(interest, network), links).sum()) if len(links) else 0.0


def _only(x: Expanded, keep: Numbers) -> Expanded:
    """Leave out virtual topics."""
    if keep.all():
        return x
    entries = keep[x.topic_of]
    number = np.cumsum(keep) - 1
    made: Expanded = lay_out(
        x, number[x.topic_of[entries]], x.member[entries], x.wants[entries], x.row[entries],
        x.base[keep], x.unit[keep], x.weight[keep],
    )  # fmt: skip
    return made


def _raised(x: Expanded, steps: int) -> tuple[Numbers, Numbers, Numbers]:
    """Search for good shares. Returns where pairs begin, and the shares of pairs and of rows."""
    starts = pair_starts(x.topic_ptr)
    pays = first_shares(x, starts)
    entries_of_row = np.maximum(np.diff(x.row_ptr), 1)
    row_pays = np.where(x.wants, 0.0, (x.row_price / entries_of_row)[x.row] if len(x.row_price) else 0.0)
    parent, used = np.empty(len(x.member), np.int64), np.zeros(len(x.member), bool)
    best, best_pays, best_rows = -1.0, pays.copy(), row_pays.copy()
    step, waited = _STEP, 0
    for _ in range(steps):
        total = cheapest_trees(x, starts, pays, row_pays, parent, used)
        waited = 0 if total > best * _PROGRESS else waited + 1
        if total > best:
            best, best_pays, best_rows = total, pays.copy(), row_pays.copy()
        if not np.isfinite(best):
            break
        if waited >= _PATIENCE:
            step, waited = step * _SMALLER, 0
            if step < _LEAST_STEP:
                break
            pays, row_pays = best_pays.copy(), best_rows.copy()
            cheapest_trees(x, starts, pays, row_pays, parent, used)
        raise_shares(x, starts, pays, row_pays, parent, used, float(np.exp(step)))
    return starts, best_pays, best_rows


def _blocks(x: Expanded, starts: Numbers, pays: Numbers, row_pays: Numbers) -> tuple[PriceBlock, ...]:
    pairs, rows = write_shares(x, starts, pays, row_pays, SCALE)
    sizes = np.diff(x.topic_ptr)
    ends = np.cumsum(sizes * (sizes - 1) // 2)
    return tuple(
        PriceBlock(
            int(x.base[t]),
            int(x.unit[t]),
            pairs[ends[t] - sizes[t] * (sizes[t] - 1) // 2 : ends[t]],
            rows[x.topic_ptr[t] : x.topic_ptr[t + 1]],
        )
        for t in range(len(sizes))
    )
