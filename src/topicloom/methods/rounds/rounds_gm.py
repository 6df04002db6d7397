"""Greedy Merge in rounds (ours): greedy over a few good candidate links per node, and new candidates every round."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from topicloom.kernels.rounds.standing import Standing, standing
from topicloom.methods.registry import Size, method
from topicloom.methods.rounds.round_steps import (
    Round,
    RoundOptions,
    first_floor,
    merge_round,
    order_candidates,
    pending,
    put_together,
    round_floor,
    round_order,
    round_weights,
    splits,
    stretch_links,
    stretches,
)
from topicloom.model import Interest, Overlay
from topicloom.model.arrays import Int32Array, Int64Array
from topicloom.model.checks import checked_seed


def rounds_memory(size: Size, options: Mapping[str, Any]) -> int:
    """Bytes of the labels before and after a round with their rings, and of orders, candidates and links."""
    plan = RoundOptions(**options).at(size.nodes)
    candidates = size.nodes * (plan.orders or 0) * plan.best
    return 20 * size.subscriptions + 64 * size.nodes + 40 * candidates + 100 * size.topics


@method(
    "rounds-gm",
    problem="fewer links than gm for very many nodes, and faster (Min-TCO in rounds over candidate links)",
    guarantee="topic-connected; no bound on the links is proven; in practice 0.86 to 1.04 times gm's; maximum degree "
    "unbounded",
    cost="about linear in subscriptions: per round and order a count within blocks of nodes; O(subscriptions) memory",
    paper="ours; from Greedy Merge of Chockler et al., PODC 2007",
    memory=rounds_memory,
    check=lambda options: RoundOptions(**options),
    parallel=True,
)
def rounds_greedy_merge(
    interest: Interest,
    *,
    orders: int | None = RoundOptions.orders,
    block: int = RoundOptions.block,
    best: int = RoundOptions.best,
    floor: float = RoundOptions.floor,
    weighted: bool = RoundOptions.weighted,
    rho: float | None = RoundOptions.rho,
    seed: int = 0,
) -> Overlay:
    """Overlay with few links for very many nodes: greedy in rounds, over a few candidate links per node (ours).

    In a *round* every node gets a few candidate partners: those with which a link would contribute most now, among
    nodes that are likely to be like it. The candidate with the highest weighted contribution is added, again and again,
    as in `weighted_greedy_merge`, but only while that is at least the *floor* of the round. The next round looks at
    other neighbourhoods, and its floor is lower.

    Nodes that are likely to be alike stand together in a random *order*, led by topics that few want and that are not
    connected yet. The order is cut into blocks, and all pairs within a block are looked at.

    Topic-connected. There is no proven bound on the number of links.

    Parameters
    ----------
    interest : Interest
    orders : int, optional
        Orders of the nodes in each round: 5, or 3 above 250,000 nodes. More orders and more rounds make fewer links,
        and take longer.
    block : int
        Nodes in a block: all pairs within one are looked at.
    best : int
        Candidate partners of each node in each order.
    floor : float
        Share of the last round's floor that is the next one's, from 0 to below 1. Nearer to 1 means more rounds.
    weighted : bool
        Whether rare topics count for more, by the weights of `weighted_greedy_merge`, or all topics count 1.
    rho : float, optional
        At least 1: choose among the candidates of a round by the rule of `low_oda` with this ``rho``, for a lower
        maximum degree. None takes the best.
    seed : int

    Returns
    -------
    Overlay
        Links round by round. ``report`` has for each round its floor, candidates, links and the merges left.

    Raises
    ------
    InvalidOptionError
        An option is out of range.

    See Also
    --------
    weighted_greedy_merge : what the rounds approximate, over all pairs of nodes.
    divide_and_conquer : the papers' method for very many nodes.

    Notes
    -----
    A round takes O(subscriptions) for each order, a sort of the nodes, and for each topic of a block the square of its
    members there. Memory is O(subscriptions + nodes · orders · best). ``topicloom design`` runs the same on Spark and
    gives the same links.

    References
    ----------
    Ours, of [gm-min-tco]; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.generate(nodes=500, topics=100, subscriptions=20, popularity="zipf", seed=1)
    >>> overlay = tl.rounds_greedy_merge(interest)
    >>> tl.verify(interest, overlay.links).ok, overlay.n_links < 0.9 * tl.greedy_merge(interest).n_links
    (True, True)
    >>> factory = tl.datasets.example()
    >>> tl.rounds_greedy_merge(factory).n_links
    7
    """
    options = RoundOptions(orders, block, best, floor, weighted, rho).at(interest.n_nodes)
    checked_seed(seed)
    weights = round_weights(np.diff(interest.topic_indptr), weighted)
    found = list(played_rounds(standing(interest.indptr, interest.topics, weights), options, seed))
    links = np.concatenate([np.empty((0, 2), np.int32), *(links for links, _ in found)])
    report = {"rounds": [made._asdict() for _, made in found]}
    return Overlay(interest, links, "rounds-gm", options.to_dict(), seed, report)


def played_rounds(
    s: Standing, options: RoundOptions, seed: int, degree: Int64Array | None = None
) -> Iterator[tuple[Int32Array, Round]]:
    """Links and counts of each round, until every topic is connected. ``degree`` is that of the nodes beforehand."""
    left = pending(s)
    first = first_floor(s, options, seed) if left else 0.0
    split = splits(len(s.topics))
    options = options.split() if split else options
    number, stuck = 0, False
    so_far = np.zeros(len(s.indptr) - 1, np.int32) if degree is None else degree.astype(np.int32)
    while left:
        floor = round_floor(first, number, options)
        if split:
            order = round_order(s, options, seed, number, 0)
            found = [
                stretch_links(s, order, stretch, options, so_far, seed, number, floor)
                for stretch in stretches(len(order), options)
            ]
            links, s, made = put_together(s, found, so_far, number, floor, stuck)
        else:
            found = _side_by_side(s, options, seed, number, floor)
            links, s, made = merge_round(s, found, options, so_far, seed, number, floor, stuck)
        yield links, made
        number, stuck, left = number + 1, made.links == 0, made.merges_left


def _side_by_side(s: Standing, options: RoundOptions, seed: int, number: int, floor: int) -> list[Int64Array]:
    """Candidates of the orders of a round. Two threads look for them: kernels do not hold the lock of Python."""

    def found(which: int) -> Int64Array:
        return order_candidates(s, round_order(s, options, seed, number, which), options, floor)

    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(found, range(options.orders or 0)))
