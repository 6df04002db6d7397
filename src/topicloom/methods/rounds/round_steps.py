"""What is done in a round: the pieces of `rounds-gm` that run in memory and on Spark alike.

What a round finds depends on the interest, the options, the seed and the links so far alone. Its orders are independent
of each other, and so are the blocks of an order.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from topicloom.errors import InvalidOptionError
from topicloom.kernels.greedy.topic_weights import topic_weights
from topicloom.kernels.rounds.candidates import block_candidates, chain_candidates
from topicloom.kernels.rounds.merging import candidate_values, join_links, merge_candidates
from topicloom.kernels.rounds.orders import node_order
from topicloom.kernels.rounds.sparing import merge_sparing
from topicloom.kernels.rounds.standing import Standing, merges_left, standing
from topicloom.kernels.streams import ROUND_TIE_STREAM, draw_pairs
from topicloom.model.arrays import Int32Array, Int64Array
from topicloom.model.checks import checked_rho, checked_whole

SAMPLED_BLOCKS = 8
FIRST_QUANTILE = 0.9
LAST_ROUND = 100
ORDERS, FEW_ORDERS = 5, 3
MANY_NODES = 250_000
BLOCKS_A_STRETCH = 512
# Greedy over all candidates of a round holds 20 bytes for each subscription in one task. Beyond, stretches add links.
ONE_MERGE_UP_TO = 1 << 28


@dataclass(frozen=True)
class RoundOptions:
    """The options of `rounds-gm`. Its documentation says what they mean."""

    orders: int | None = None
    block: int = 500
    best: int = 2
    floor: float = 0.9
    weighted: bool = True
    rho: float | None = None

    def __post_init__(self) -> None:
        for name, least in (("orders", 1), ("block", 2), ("best", 1)):
            if getattr(self, name) is not None or name != "orders":
                checked_whole(name, getattr(self, name), least)
        if isinstance(self.floor, bool) or not isinstance(self.floor, int | float) or not 0 <= self.floor < 1:
            raise InvalidOptionError(f"floor is {self.floor!r}; a number from 0 to below 1 is accepted")
        if not isinstance(self.weighted, bool):
            raise InvalidOptionError(f"weighted is {self.weighted!r}; True or False is accepted")
        checked_rho(self.rho, without=1.0)

    def at(self, n_nodes: int) -> "RoundOptions":
        """The same with the number of orders that suits the number of nodes, if none is given."""
        usual = FEW_ORDERS if n_nodes > MANY_NODES else ORDERS
        return replace(self, orders=usual) if self.orders is None else self

    def split(self) -> "RoundOptions":
        """The same for rounds whose stretches add links: as many orders in all, in rounds of one order each."""
        return replace(self, orders=1, floor=self.floor ** (1 / (self.orders or ORDERS)))

    def to_dict(self) -> dict[str, Any]:
        """Option name -> value."""
        return asdict(self)


class Round(NamedTuple):
    """What came of a round."""

    floor: int
    candidates: int
    links: int
    merges_left: int


def splits(n_subscriptions: int) -> bool:
    """Say whether stretches of an order add links on their own, by the size of the interest alone."""
    return n_subscriptions > ONE_MERGE_UP_TO


def round_weights(subscribers: Int64Array, weighted: bool) -> Int32Array:
    """What each topic counts for: int32, without a common divisor."""
    if not weighted:
        return np.ones(len(subscribers), np.int32)
    weights = topic_weights(subscribers)
    divisor = max(int(np.gcd.reduce(weights[subscribers > 1])), 1)
    divided: Int32Array = (weights // divisor).astype(np.int32)
    return divided


def pending(s: Standing) -> int:
    """Merges of two components that are left until every topic is connected."""
    return int(merges_left(s.topics, s.label, len(s.weight)))


def first_floor(s: Standing, options: RoundOptions, seed: int) -> float:
    """The floor of the first round: nine of ten nodes in a few blocks have no link above it."""
    order = node_order(s, options.block, seed, 0)[: SAMPLED_BLOCKS * options.block]
    values = candidate_values(s, block_candidates(s, order, options.block, 1, 1))
    return float(np.quantile(values, FIRST_QUANTILE)) if len(values) else 1.0


def round_floor(first: float, number: int, options: RoundOptions) -> int:
    """The least weighted contribution that a link of round ``number`` has. The first round is number 0."""
    return max(ceil(first * options.floor**number), 1)


def round_order(s: Standing, options: RoundOptions, seed: int, number: int, which: int) -> Int32Array:
    """Make order ``which`` of round ``number``. ``options.orders`` must be a number by then."""
    order: Int32Array = node_order(s, options.block, seed, 1 + number * (options.orders or ORDERS) + which)
    return order


def order_candidates(s: Standing, order: Int32Array, options: RoundOptions, floor: int) -> Int64Array:
    """Candidates of an order, or of a stretch of it that begins with a block: ``u * nodes + v``, with repeats."""
    found: Int64Array = block_candidates(s, order, options.block, options.best, floor)
    return found


def round_candidates(
    s: Standing, found: Sequence[Int64Array], seed: int, number: int, floor: int, stuck: bool
) -> Int32Array:
    """The candidates of a round, without repeats, in the random order in which equal ones are taken: int32 (m, 2).

    ``found`` are those of its orders. A round of the lowest floor that follows one which found nothing, and a very late
    one, have candidates beside them that suffice to connect all topics.
    """
    if floor == 1 and (stuck or number >= LAST_ROUND):
        found = [*found, chain_candidates(s)]
    n_nodes = max(len(s.indptr) - 1, 1)
    codes = np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)
    ties = draw_pairs(seed, ROUND_TIE_STREAM, np.full(len(codes), number), codes)
    codes = codes[np.argsort(ties, kind="stable")]
    return np.stack([codes // n_nodes, codes % n_nodes], axis=1).astype(np.int32)


def add_links(s: Standing, pairs: Int32Array, floor: int, rho: float | None, degree: Int32Array) -> tuple[Any, Any]:
    """Links that greedy adds, and the labels after them. Brings ``degree`` up to date."""
    if rho is not None:
        return merge_sparing(s, pairs, floor, float(rho), degree)  # type: ignore[no-any-return]
    links, label = merge_candidates(s, pairs, floor)
    degree += np.bincount(links.ravel(), minlength=len(degree)).astype(np.int32)
    return links, label


def merge_round(
    s: Standing,
    found: Sequence[Int64Array],
    options: RoundOptions,
    degree: Int32Array,
    seed: int,
    number: int,
    floor: int,
    stuck: bool,
) -> tuple[Int32Array, Standing, Round]:
    """Greedy over the candidates of a round: its links, the `Standing` after it, and its counts.

    Brings ``degree``, the links of each node so far, up to date.
    """
    pairs = round_candidates(s, found, seed, number, floor, stuck)
    links, label = add_links(s, pairs, floor, options.rho, degree)
    after = standing(s.indptr, s.topics, s.weight, label)
    return links, after, Round(floor, len(pairs), len(links), pending(after))


def stretches(length: int, options: RoundOptions) -> list[tuple[int, int]]:
    """Begin and end of the stretches of an order that tasks take: whole blocks, always cut in the same way."""
    step = BLOCKS_A_STRETCH * options.block
    return [(begin, min(begin + step, length)) for begin in range(0, length, step)]


def stretch_links(
    s: Standing,
    order: Int32Array,
    stretch: tuple[int, int],
    options: RoundOptions,
    degree: Int32Array,
    seed: int,
    number: int,
    floor: int,
) -> Int64Array:
    """Links that a stretch of an order adds by itself, in order: ``u * nodes + v``.

    A component belongs to the stretch in which the node of its first entry stands. A stretch sees its own components
    and the largest one of each topic, and merges them by the rule of `merge_round`, from the given degrees. No two
    stretches choose a link for the same pair of components. A link may join other components by the way; see
    `put_together`.
    """
    begin, end = stretch
    nodes = np.unique(order[begin:end])
    stretch_of = np.full(len(s.indptr) - 1, -1, np.int32)
    stretch_of[order] = np.arange(len(order)) // (BLOCKS_A_STRETCH * options.block)
    lengths = s.indptr[nodes + 1] - s.indptr[nodes]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    entries = np.arange(starts[-1]) + np.repeat(s.indptr[nodes] - starts[:-1], lengths)
    label, topics = s.label[entries], s.topics[entries]
    owner = stretch_of[np.searchsorted(s.indptr, label, side="right") - 1]
    seen = (owner == begin // (BLOCKS_A_STRETCH * options.block)) | (label == s.largest[topics])
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(seen)])[starts]
    _, firsts, which = np.unique(label[seen], return_index=True, return_inverse=True)
    own = standing(indptr, topics[seen], s.weight, firsts[which].astype(np.int32))
    local = np.searchsorted(nodes, order[begin:end]).astype(np.int32)
    pairs = round_candidates(own, [order_candidates(own, local, options, floor)], seed, number, floor, stuck=False)
    links, _ = add_links(own, pairs, floor, options.rho, degree[nodes])
    ends = nodes[links].astype(np.int64)
    codes: Int64Array = ends[:, 0] * (len(s.indptr) - 1) + ends[:, 1]
    return codes


def put_together(
    s: Standing, found: Sequence[Int64Array], degree: Int32Array, number: int, floor: int, stuck: bool
) -> tuple[Int32Array, Standing, Round]:
    """Put together what stretches added: the links of a round, the `Standing` after it, and its counts.

    Brings ``degree`` up to date.

    Links that join nothing are left out: those of other stretches may have joined the same by the way.
    """
    if floor == 1 and (stuck or number >= LAST_ROUND):
        found = [*found, chain_candidates(s)]
    codes = np.concatenate([np.empty(0, np.int64), *found])
    n_nodes = max(len(s.indptr) - 1, 1)
    links, label = join_links(s, np.stack([codes // n_nodes, codes % n_nodes], axis=1).astype(np.int32))
    degree += np.bincount(links.ravel(), minlength=len(degree)).astype(np.int32)
    after = standing(s.indptr, s.topics, s.weight, label)
    return links, after, Round(floor, len(codes), len(links), pending(after))
