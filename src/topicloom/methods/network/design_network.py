"""Designs for a network with prices, dialling rules, relays, caps, failure units and links that stand."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from topicloom.errors import InvalidOptionError
from topicloom.kernels.network.expanded import Expanded, carried, dialled_price, expand, price_of, prices_of
from topicloom.kernels.network.priced_growth import grow
from topicloom.kernels.network.priced_pruning import prune
from topicloom.kernels.network.priced_swaps import LINKS, PricedSwaps, new_priced_swaps, priced_sweep
from topicloom.kernels.network.ruin import ruin_and_recreate
from topicloom.kernels.streams import NETWORK_STREAM, draw
from topicloom.methods.network.blocked_topics import BlockedTopic, blocked_topics, split_blocked
from topicloom.methods.network.cap_proofs import cap_proofs, cap_to_raise
from topicloom.model import Interest, Network, Overlay
from topicloom.model.arrays import Int32Array, Int64Array
from topicloom.model.checks import checked_above_zero, checked_seed
from topicloom.model.interest import checked_interest
from topicloom.model.network_arrays import BoolArray, NetworkArrays

STAKES = (0.01, 0.25, 0.5, 1.0)
RARITIES = (0.0, 0.5, 1.0)  # topics count (median size / size) to this power
_SMALL = 12_000  # entries up to which designs are ruined and recreated, above that links are swapped
_STEPS, _STEPS_BY_ENTRIES, _SLACK = 4_000, 40_000_000, 0.02
_TRIES = 4  # searches by ruin while caps leave topics in pieces
_SWEEPS, _VISITS = 20, 10  # sweeps of two rounds, visits of each link
_HOT, _COLD, _PULL = 0.1, 0.03, 0.3
_FORBIDDEN = 1e9
_LOWERING, _LOWERING_VISITS, _LOWERING_PULL = 0.12, 3_000, 1.0
_ROUNDS_OF_LOWERING = 400
_SHOWN = 20


class Resolves(Protocol):
    """What has the rules of a network by the names of nodes and topics, such as a ``Network``."""

    def resolve(self, interest: Interest, *, survive: str | None = None, keep: float = 0.0) -> NetworkArrays: ...


class Design(NamedTuple):
    """Links, bought rows, and the joins that each virtual topic lacks."""

    links: Int32Array
    bought: BoolArray
    missing: Int64Array

    def price(self, x: Expanded) -> float:
        """What links and rows cost."""
        return float(prices_of(x, self.links).sum() + x.row_price[self.bought].sum())

    def rank(self, x: Expanded) -> tuple[int, float]:
        """Fewer joins missing come first, then a lower price."""
        return int(self.missing.sum()), self.price(x)


def design_network(
    interest: Interest,
    network: Resolves | NetworkArrays,
    *,
    survive: str | None = None,
    keep: float = 0.0,
    effort: float = 1.0,
    seed: int = 0,
) -> Overlay:
    """Choose links, and topics for relays, of a low price under the rules of a network.

    Every topic is connected inside its subscribers and the relays that carry it. With ``survive`` it is still so when
    all nodes of any one unit are down. Links that are not allowed, and more links than a node's cap, are never used.

    Parameters
    ----------
    interest : Interest
    network : Network or NetworkArrays
        Prices, dialling rules, relays, caps, required links and links that stand. Relays of a `Network` that want
        nothing become nodes of the overlay's interest.
    survive : str, optional
        ``site``, or another column of the network's nodes, whose groups may fail.
    keep : float
        From 0 to below 1: the share of its price that a link saves if it stands today.
    effort : float
        How long to search; 0 for the greedy choice alone, whose links come in the order in which they were added.
    seed : int
        Decides between equally good links, and of the random numbers of the search.

    Returns
    -------
    Overlay
        With ``relays``. Its ``report["network"]`` has the prices, the links kept, added and removed, the topics that no
        allowed link can connect with the relays that would mend it, and what is known of caps that were not kept.

    Raises
    ------
    InvalidOptionError
        An option is out of range, or rules contradict each other.

    See Also
    --------
    price_bound : how little such a design can cost.

    Notes
    -----
    Without caps a topic is in pieces only where no allowed links, with all permitted relays, can connect it. With caps
    that may also happen where an overlay exists: only ``report["network"]["proofs"]`` says that there is none. The
    greedy choice alone costs at most 1 + ln(W / w) times the least price where there are no relays and no caps, if no
    link serves topics that weigh more than W together and the lightest topic weighs w; further search never raises it.
    Memory is O(subscriptions · failure units of a topic + topics · relays).

    References
    ----------
    Ours; the greedy rule is that of [gm-min-tco] by price, and the guarantee that of [wolsey]; docs/papers.md.

    Examples
    --------
    >>> import numpy as np, topicloom as tl
    >>> from topicloom.methods.network.design_network import design_network
    >>> from topicloom.methods.network.open_network import open_network
    >>> interest = tl.Interest.from_pairs(list("abcd"), ["news"] * 4)
    >>> dear_between = np.array([[1.0, 30.0], [30.0, 1.0]])
    >>> overlay = design_network(interest, open_network(4, 1, site=[0, 0, 1, 1], price=dear_between))
    >>> overlay.n_links, overlay.report["network"]["price_of_links"]
    (3, 32.0)
    """
    checked_interest(interest, "design_network")
    if effort != 0:
        effort = checked_above_zero("effort", effort)
    seed = checked_seed(seed)
    kept = network if isinstance(network, Network) else None
    if kept is not None:
        interest = kept.widened(interest)
    rules = network if isinstance(network, NetworkArrays) else network.resolve(interest, survive=survive, keep=keep)
    if isinstance(network, NetworkArrays) and survive is not None:
        raise InvalidOptionError("survive names a column of a Network; arrays have their units in their field survive")
    x, required = expand(interest, rules), np.sort(rules.required, axis=1).astype(np.int32)
    _check(interest, rules, x, required)
    found, blocked, whole = _search(x, rules, required, float(effort), seed)
    relays = np.stack([x.row_node, x.row_topic], axis=1)[found.bought]
    report = _report(interest, rules, whole, found, blocked)
    options = {"survive": survive, "keep": float(rules.keep), "effort": float(effort)}
    return Overlay(interest, found.links, "network", options, seed, {"network": report}, relays=relays, network=kept)


def _check(interest: Interest, rules: NetworkArrays, x: Expanded, required: Int32Array) -> None:
    """Refuse rules that contradict each other."""
    name = interest.node_label
    for u, v in required.tolist():
        if not np.isfinite(price_of(x, u, v)):
            raise InvalidOptionError(f"the link {name(u)!r} – {name(v)!r} is required, and may not be")
    degree = np.bincount(required.ravel(), minlength=interest.n_nodes)
    over = np.flatnonzero((rules.cap >= 0) & (degree > rules.cap))
    if len(over):
        u = int(over[0])
        raise InvalidOptionError(f"node {name(u)!r} has {degree[u]} required links, and may have {rules.cap[u]}")
    if rules.allowed_sites is not None:
        outside = np.flatnonzero(~rules.allowed_sites[interest.topics, rules.site[interest.nodes]])
        if len(outside):
            u, t = int(interest.nodes[outside[0]]), int(interest.topics[outside[0]])
            raise InvalidOptionError(
                f"node {name(u)!r} wants topic {interest.topic_label(t)!r}, which its site may not carry"
            )


def _search(
    x: Expanded, rules: NetworkArrays, required: Int32Array, effort: float, seed: int
) -> tuple[Design, list[BlockedTopic], Expanded]:
    """Find a design. Returns it with what is impossible, and the virtual topics that the search had."""
    capped = bool((x.cap >= 0).any())
    free = x._replace(cap=np.full(len(x.cap), -1, np.int64)) if capped else x
    first = _grown(free, required, 0.5, _key(seed, 0))
    broken = np.flatnonzero(first.missing)
    blocked = blocked_topics(x, broken, rules)
    x, free = split_blocked(x, broken), split_blocked(free, broken)
    if effort == 0:
        return _grown(x, required, 0.5, _key(seed, 0)), blocked, x
    starts = list(_starts(x, rules, required, seed))
    best = min(starts, key=lambda one: one.rank(x))
    if capped and best.missing.any():
        high = _grown(free, required, STAKES[2], _key(seed, 0))  # to prune it would only take links that others need
        lowered = _lowered(x, high, required, effort, seed)
        best = min([best, *lowered], key=lambda one: one.rank(x))
    best = _swapped(x, best, required, effort, seed)
    if len(x.member) > _SMALL:
        return best, blocked, x
    steps = round(effort * min(_STEPS, _STEPS_BY_ENTRIES / max(len(x.member), 1)))
    for number in range(_TRIES):
        if not best.missing.any():
            break
        best = _ruined(_even(x), best, required, steps, _key(seed, 2_000_000 + number))
    best = _ruined(x, best, required, steps, _key(seed, 1_000_000))
    return best, blocked, x


def _key(seed: int, number: int) -> Any:
    return np.uint64(draw(np.int64(seed), NETWORK_STREAM, np.int64(number)))  # numba gives back a plain int


def _grown(x: Expanded, given: Int32Array, stake: float, key: Any, rows: BoolArray | None = None) -> Design:
    bought = np.zeros(len(x.row_price), bool) if rows is None else rows
    return Design(*grow(x, given, bought, stake, 0.0, key))


def _pruned(x: Expanded, design: Design, required: Int32Array) -> Design:
    if design.missing.any():
        return design
    keep, bought = prune(x, design.links, prices_of(x, design.links), len(required), design.bought)
    return Design(design.links[keep], bought, design.missing)


def _ruined(x: Expanded, design: Design, required: Int32Array, steps: int, key: Any) -> Design:
    rare = _weighed(x, RARITIES[1])
    return Design(*ruin_and_recreate(x, rare, *design, len(required), steps, _SLACK, key))


def _even(x: Expanded) -> Expanded:
    """Let all links that are allowed cost the same, and rows nothing: what matters is to keep the caps."""
    even: Expanded = x._replace(
        site_price=np.ones_like(x.site_price),
        pair_price=np.where(np.isfinite(x.pair_price), 1.0, np.inf),
        row_price=np.zeros_like(x.row_price),
    )
    return even


def _weighed(x: Expanded, rarity: float) -> Expanded:
    """Let topics of few entries count for more."""
    size = np.diff(x.topic_ptr)
    weighed: Expanded = x._replace(
        weight=x.weight * (np.median(size) / np.maximum(size, 1)) ** rarity if len(size) else x.weight
    )
    return weighed


def _starts(x: Expanded, rules: NetworkArrays, required: Int32Array, seed: int) -> Iterable[Design]:
    """Grow several designs: by how much relays are worth reaching, by rarity of topics, and from what stands."""
    key = _key(seed, 0)
    for rarity in RARITIES:
        for stake in STAKES if len(x.row_price) else STAKES[2:3]:
            yield _pruned(x, _grown(_weighed(x, rarity), required, stake, key), required)
    if len(x.row_price):
        gratis = x._replace(row_price=np.zeros(len(x.row_price)))
        yield _pruned(x, _grown(gratis, required, STAKES[2], key), required)
    standing = _admissible_standing(x, rules, required)
    if len(standing) > len(required) and (x.cap < 0).all():
        yield _pruned(x, _grown(x, standing, STAKES[2], key), required)


def _admissible_standing(x: Expanded, rules: NetworkArrays, required: Int32Array) -> Int32Array:
    """The required links, then the standing ones that may be."""
    links = np.sort(rules.standing, axis=1).astype(np.int32).reshape(-1, 2)
    links = links[np.isfinite(prices_of(x, links))]
    known = {(u, v) for u, v in required.tolist()}
    new = [pair for pair in links.tolist() if tuple(pair) not in known]
    together: Int32Array = np.concatenate([required.reshape(-1, 2), np.array(new, np.int32).reshape(-1, 2)])
    return together.astype(np.int32)


def _swapped(x: Expanded, design: Design, required: Int32Array, effort: float, seed: int) -> Design:
    """Swap links on price. The rows stay, but for those that are not needed any more at the end of a round."""
    if design.missing.any():
        return design
    visits = max(round(effort * _VISITS * len(design.links)), 1)
    for number in range(2):
        inside = carried(x, design.bought)
        swaps = _new_swaps(inside, design, np.full(1, _FORBIDDEN))
        for sweep in range(_SWEEPS):
            heat = _HOT * (_COLD / _HOT) ** (sweep / _SWEEPS)
            priced_sweep(inside, swaps, visits, heat, _PULL, len(required), False, _key(seed, 2 + number))
        design = min(design, _pruned(x, _taken(swaps, design), required), key=lambda one: one.rank(x))
    return design


def _new_swaps(inside: Expanded, design: Design, penalty: npt.NDArray[np.float64]) -> PricedSwaps:
    made: PricedSwaps = new_priced_swaps(inside, design.links, np.concatenate([np.zeros(4), penalty]))
    return made


def _taken(swaps: PricedSwaps, design: Design) -> Design:
    """The design that swaps have come to, the required links first as they were."""
    return design._replace(links=np.sort(swaps.ends[: swaps.counters[LINKS]], axis=1))


def _lowered(x: Expanded, design: Design, required: Int32Array, effort: float, seed: int) -> list[Design]:
    """Lower the degrees above caps step by step, by swaps whose penalty rises. No design if not all caps are kept."""
    if design.missing.any() or not len(design.links):
        return []
    scale = float(np.median(prices_of(x, design.links)))
    level = _most_over(x, design.links)
    inside = carried(x, design.bought)
    steps = np.arange(1, 61, dtype=np.float64)
    swaps = _new_swaps(inside, design, scale * 1e6 * steps**2)
    swaps.penalty[:4] = 0.06 * scale * np.arange(4) ** 2
    for number in range(round(effort * _ROUNDS_OF_LOWERING)):
        if level <= 0:
            break
        aim = np.where(x.cap >= 0, x.cap + level - 1, -1)
        aimed = inside._replace(cap=aim)
        visits = max(_LOWERING_VISITS, len(design.links))
        priced_sweep(aimed, swaps, visits, _LOWERING, _LOWERING_PULL, len(required), True, _key(seed, 10 + number))
        if ((aim < 0) | (swaps.degree <= aim)).all():
            level = _most_over(x, swaps.ends[: swaps.counters[LINKS]])
    return [_pruned(x, _taken(swaps, design), required)] if level <= 0 else []


def _most_over(x: Expanded, links: Int32Array) -> int:
    degree = np.bincount(links.ravel(), minlength=len(x.cap))
    return int(np.where(x.cap >= 0, degree - x.cap, 0).max(initial=0))


def _report(
    interest: Interest, rules: NetworkArrays, x: Expanded, design: Design, blocked: list[BlockedTopic]
) -> dict[str, Any]:
    """What the design costs, keeps and lacks, JSON-ready."""
    standing = {tuple(sorted(pair)) for pair in rules.standing.tolist()}
    chosen = {tuple(sorted(pair)) for pair in design.links.tolist()}
    facts: dict[str, Any] = {
        "price_of_links": sum(true_price(rules, u, v) for u, v in design.links.tolist()),
        "price_of_rows": float(x.row_price[design.bought].sum()),
        "rows": int(design.bought.sum()),
        "kept": len(standing & chosen),
        "added": len(chosen - standing),
        "removed": len(standing - chosen),
        "blocked_topics": len({topic.topic for topic in blocked}),
        "blocked": [topic.to_dict(interest) for topic in blocked[:_SHOWN]],
    }
    if design.missing.any():
        facts["topics_in_pieces"] = [interest.topic_label(t) for t in np.unique(x.base[design.missing > 0])[:_SHOWN]]
        facts["proofs"] = [proof.sentence(interest) for proof in cap_proofs(x)[:_SHOWN]]
        raise_first = cap_to_raise(x, design.links, design.missing)
        facts["raise_first"] = [interest.node_label(v) for v in raise_first[:_SHOWN].tolist()]
    return facts


def true_price(rules: NetworkArrays, u: int, v: int) -> float:
    """Price of a link, whether it stands or not; inf if it may not be.

    Parameters
    ----------
    rules : NetworkArrays
    u, v : int

    Returns
    -------
    float
    """
    code = min(u, v) << 32 | max(u, v)
    at = int(np.searchsorted(rules.pair_codes, code))
    if at < len(rules.pair_codes) and rules.pair_codes[at] == code:
        own = float(rules.pair_price[at])
        return own if np.isfinite(dialled_price(rules, u, v)) else float("inf")
    return float(dialled_price(rules, u, v))
