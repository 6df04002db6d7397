"""Do shares of prices prove that no design of a network costs less? Answered by other code than the search for them.

A certificate is a list of *blocks*: a topic, a failure unit (-1 for none) and whole numbers, parts of `SCALE` of a
price that the topic pays while that unit is down, for each pair of its members, and for each relay's row. The members
are found here again, from the interest and the rules. Rules that are not used here only make designs dearer.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.judge.compiled import compiled
from topicloom.model import Interest
from topicloom.model.network_arrays import NetworkArrays

SCALE = 1 << 20
MOST_RELAYS = 10
_ROUNDING = 1e-9  # share by which sums of prices in floating point may be too high
Numbers = npt.NDArray[Any]


class PriceBlock(NamedTuple):
    """What a topic pays while a unit is down.

    Attributes
    ----------
    topic, unit : int
    pairs : int32
        For its members by rising node, pairs as (first, second), (first, third) …
    rows : int32, one per member
        For relays; 0 for subscribers.
    """

    topic: int
    unit: int
    pairs: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int32]


def proved_price(interest: Interest, rules: NetworkArrays, blocks: Sequence[PriceBlock]) -> float:
    """Lowest price of a design that blocks of shares prove.

    Links that stand cost their price times ``1 - keep``; required links cost nothing here, and have to be added.

    Parameters
    ----------
    interest : Interest
    rules : NetworkArrays
    blocks : sequence of PriceBlock

    Returns
    -------
    float
        0 if the shares of a pair or row add up to more than its price, or a block does not fit the interest; inf if a
        topic cannot be connected by links that are allowed.
    """
    price = _price_table(interest.n_nodes, rules)
    paid: dict[int, int] = {}
    paid_rows: dict[tuple[int, int], int] = {}
    seen = set()
    total = 0.0
    for block in blocks:
        members, wants = _members(interest, rules, block)
        size = len(members)
        fits = len(block.pairs) == size * (size - 1) // 2 and len(block.rows) == size
        if (
            not fits
            or (block.topic, block.unit) in seen
            or min(block.pairs.min(initial=0), block.rows.min(initial=0)) < 0
        ):
            return 0.0
        seen.add((block.topic, block.unit))
        first, second = np.triu_indices(size, 1)
        codes = members[first] * interest.n_nodes + members[second]
        for code, share in zip(codes.tolist(), block.pairs.tolist()):
            paid[code] = paid.get(code, 0) + share
        for v, share in zip(members[~wants].tolist(), block.rows[~wants].tolist()):
            paid_rows[v, block.topic] = paid_rows.get((v, block.topic), 0) + share
        if int((~wants).sum()) > MOST_RELAYS:
            continue
        costs = np.zeros((size, size))
        costs[first, second] = price[members[first], members[second]]
        inside = np.isfinite(costs)
        costs[first, second] *= np.where(inside[first, second], block.pairs / SCALE, 1.0)
        costs += costs.T
        row_costs = np.where(wants, 0.0, rules.row_price[members] * (block.rows / SCALE))
        total += float(_cheapest(costs, wants, row_costs))
    if max(paid.values(), default=0) > SCALE or max(paid_rows.values(), default=0) > SCALE:
        return 0.0
    return total * (1.0 - _ROUNDING)


def _members(interest: Interest, rules: NetworkArrays, block: PriceBlock) -> tuple[Numbers, Numbers]:
    """Subscribers of a topic, and relays that may carry it, outside the unit, by rising node."""
    if not 0 <= block.topic < interest.n_topics:
        return np.empty(0, np.int64), np.empty(0, bool)
    wanting = np.zeros(interest.n_nodes, bool)
    wanting[interest.topic_nodes[interest.topic_indptr[block.topic] : interest.topic_indptr[block.topic + 1]]] = True
    able = rules.relay.astype(bool)
    if rules.allowed_sites is not None:
        able = able & rules.allowed_sites[block.topic][rules.site]
    member = wanting | able
    if block.unit >= 0:
        if rules.survive is None:
            return np.empty(0, np.int64), np.empty(0, bool)
        member &= rules.survive != block.unit
    nodes = np.flatnonzero(member)
    return nodes, wanting[nodes]


def _price_table(n: int, rules: NetworkArrays) -> Numbers:
    """Price of every pair of nodes, inf where no link may be."""
    site = rules.site
    one_way = rules.may_dial[np.ix_(site, site)] & rules.dials[:, None] & rules.accepts[None, :]
    by_site = np.where(one_way, rules.price[np.ix_(site, site)], np.inf)
    table: Numbers = np.minimum(by_site, by_site.T)
    u, v = rules.pair_codes >> 32, rules.pair_codes & 0xFFFFFFFF
    own = np.where(np.isfinite(table[u, v]), rules.pair_price, np.inf)
    table[u, v] = table[v, u] = own
    for ends, share in ((rules.standing, 1.0 - rules.keep), (rules.required, 0.0)):
        a, b = ends[:, 0], ends[:, 1]
        table[a, b] = table[b, a] = table[a, b] * share
    return table


@compiled
def _cheapest(costs: Numbers, wants: Numbers, row_costs: Numbers) -> Any:
    """Cost of the cheapest tree over all subscribers and any set of relays, the shares of whose rows are added."""
    size = len(wants)
    relays = np.flatnonzero(~wants)
    best = np.inf
    if size - len(relays) < 2:
        return 0.0
    for chosen in range(1 << len(relays)):
        inside = wants.copy()
        cost = 0.0
        for q in range(len(relays)):
            if chosen >> q & 1:
                inside[relays[q]] = True
                cost += row_costs[relays[q]]
        nodes = np.flatnonzero(inside)
        reach = np.full(size, np.inf)
        reach[nodes[0]] = 0.0
        for _ in range(len(nodes)):
            if cost >= best:
                break
            nearest = nodes[0]
            least = np.inf
            for v in nodes:
                if inside[v] and reach[v] < least:
                    nearest, least = v, reach[v]
            cost += least
            inside[nearest] = False
            for v in nodes:
                reach[v] = min(reach[v], costs[nearest, v])
        best = min(best, cost)
    return best
