"""Dividing the nodes of an interest into partitions, and choosing the core that all of them see.

``random`` is the paper's: equal-sized, seeded. ``similar`` sorts the nodes by the rarest topic of each, so that the
subscribers of a rare topic meet in one partition: such a topic then costs links nowhere else, and nodes that share one
share others more often. Either way a node's place follows from what it wants and a few numbers per topic: nobody has
to see the other nodes.

A core is a small set of nodes that every partition sees beside its own: nodes with many topics, which in real interests
are the best neighbours for many others, whatever partition those are in.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.errors import InvalidOptionError
from topicloom.kernels.draw.ranks import leading_keys, shuffled_ranks
from topicloom.methods.dc.conquer import Core, Settings
from topicloom.methods.dc.star_merge import Part, star_set, wanted_elsewhere
from topicloom.model import Interest
from topicloom.model.arrays import Int32Array, Int64Array
from topicloom.model.checks import checked_whole

DIVISIONS = ("random", "similar")
AIMS = ("time", "parallel-time", "candidates")
LEAST_OF_PARTITION = 0.05
POOL_PER_CORE_NODE = 16
FEW_SUBSCRIBERS = 4
SAMPLED_PARTITIONS = 8
LEAST_TRIED, MOST_TRIED = 4, 50_000
_LOW32 = (1 << 32) - 1


class Order(NamedTuple):
    """An order of all nodes, cut into partitions, as keys that ascend with the partition. See `order_of`.

    ``topic_rank`` (int64 per topic, None if random) says which of its topics leads a node, and thus its key.
    """

    n_nodes: int
    partitions: int
    seed: int
    topic_rank: Int64Array | None

    def keys(self, nodes: npt.NDArray[np.integer], indptr: Int64Array, topics: Int32Array) -> Int64Array:
        """Find the key of each given node. Their topics are in a CSR."""
        if self.topic_rank is None:
            return random_ranks(nodes, self.n_nodes, seed=self.seed)
        keys: Int64Array = leading_keys(nodes, indptr, topics, self.topic_rank, self.seed)
        return keys

    def leads(self, keys: Int64Array) -> Int64Array:
        """Histogram of keys by leading rank, nodes without topics last. Those of disjoint sets of nodes add up."""
        n_ranks = 0 if self.topic_rank is None else len(self.topic_rank)
        return np.bincount(keys >> 32 if n_ranks else keys[:0], minlength=n_ranks + 1)

    def partition(self, keys: Int64Array, leads: Int64Array) -> Int32Array:
        """Partition of each key, given the leads of all nodes: the place of a rank's nodes among them is random."""
        if self.topic_rank is not None:
            rank, random = keys >> 32, keys & _LOW32
            keys = (np.cumsum(leads) - leads)[rank] + (random * leads[rank] >> 32)
        return partition_of_rank(keys, self.n_nodes, self.partitions)


def order_of(division: str, subscribers: Int64Array, n_nodes: int, partitions: int, *, seed: int) -> Order:
    """Make the order that a division cuts. ``subscribers`` has the number of each topic's subscribers.

    A node is led by the rarest of its topics, but topics of a single node or of less than a twentieth of a partition
    come last, the smallest at the end: groups so small would end up in partitions at random.
    """
    if division == "random":
        return Order(n_nodes, partitions, seed, None)
    fills = subscribers >= max(2, LEAST_OF_PARTITION * n_nodes / partitions)
    by_rank = np.lexsort((np.where(fills, subscribers, -subscribers), ~fills))
    rank = np.empty(len(subscribers), np.int64)
    rank[by_rank] = np.arange(len(subscribers))
    return Order(n_nodes, partitions, seed, rank)


def divide(interest: Interest, partitions: int, division: str, *, seed: int) -> Int32Array:
    """Divide nodes into ``partitions`` whose sizes differ by one at most. Takes O(subscriptions) time.

    With ``similar`` sizes are only about equal, and a partition may be empty.

    Examples
    --------
    >>> import numpy as np, topicloom as tl
    >>> interest = tl.generate(nodes=25, topics=5, subscriptions=2)
    >>> np.bincount(divide(interest, 4, "random", seed=0)).tolist()
    [7, 6, 6, 6]
    """
    order = order_of(division, np.diff(interest.topic_indptr), interest.n_nodes, partitions, seed=seed)
    keys = order.keys(np.arange(interest.n_nodes), interest.indptr, interest.topics)
    return order.partition(keys, order.leads(keys))


def random_ranks(nodes: npt.NDArray[np.integer], n_nodes: int, *, seed: int) -> Int64Array:
    """Find the place of each given node in a seeded order of all nodes, without the others."""
    ranks: Int64Array = shuffled_ranks(nodes.astype(np.int64), n_nodes, seed)
    return ranks


def partition_of_rank(ranks: Int64Array, n_nodes: int, partitions: int) -> Int32Array:
    """Partition of the nodes at the given places of an order of all nodes."""
    return (ranks * partitions // max(n_nodes, 1)).astype(np.int32)


def core_size(core: int | None, division: str, n_nodes: int, partitions: int) -> int:
    """How many nodes the core has: as asked for, else none with ``random`` and a partition's worth otherwise."""
    if core is None:
        return n_nodes // partitions if division == "similar" else 0
    return min(checked_whole("core", core, 0), n_nodes)


def pool_size(core: int) -> int:
    """From how many of the nodes, those with the most topics, the core is chosen."""
    return POOL_PER_CORE_NODE * core


def choose_core(pool: Part, subscribers: Int64Array, partitions: int, size: int, *, seed: int) -> Part:
    """At most ``size`` nodes of a pool that together want all needed topics, then again all from the others, and so on.

    Needed are topics with more than a few subscribers: others are as well linked directly, in one partition or two.
    """
    needed = subscribers > min(partitions, FEW_SUBSCRIBERS)
    rest, chosen = np.arange(len(pool.nodes)), np.empty(0, np.int64)
    while len(chosen) < size and len(rest):
        stars = rest[star_set(pool.take(rest), needed, seed=seed, limit=size - len(chosen))]
        if not len(stars):
            break
        chosen = np.concatenate((chosen, stars))
        rest = np.setdiff1d(rest, stars, assume_unique=True)
    return pool.take(np.sort(chosen))


def largest_nodes(interest: Interest, count: int) -> Int64Array:
    """The nodes with the most topics, of equal ones those with the lowest ids."""
    return np.argsort(-np.diff(interest.indptr), kind="stable")[:count]


def trial_counts(n_nodes: int) -> list[int]:
    """Numbers of partitions to try: 2, 3, 4, 6, 8, 12, …, such that partitions have from 4 to 50,000 nodes.

    >>> trial_counts(50)
    [2, 3, 4, 6, 8, 12]
    """
    counts = sorted({base << power for base in (2, 3) for power in range(32)})
    return [count for count in counts if n_nodes / MOST_TRIED <= count <= n_nodes / LEAST_TRIED]


def trial_star_set(part: Part, subscribers: Int64Array, *, seed: int, coverage: int = 1) -> int:
    """Size of a partition's star set, which covers the topics that have subscribers elsewhere."""
    return len(star_set(part, wanted_elsewhere(part, subscribers), seed=seed, coverage=coverage))


class Trial(NamedTuple):
    """What a number of partitions came to: mean size of a star set, and nodes of the core."""

    star_set: float
    core: int = 0


def best_count(n_nodes: int, trials: Mapping[int, Trial], aim: str) -> int:
    """The number of partitions with the least cost by the paper's §VII, given mean star set sizes k̃ (k nodes each).

    ``time`` is 1/p + (k̃/k)², ``parallel-time`` 1/p² + (k̃/k)², ``candidates`` k + (p - 1) k̃. A core of c nodes counts
    with each partition: k + c nodes are conquered, and 1/p becomes p · ((k + c) / n)².
    """

    def cost(count: int) -> float:
        stars, core = trials[count]
        seen = (n_nodes - core) / count + core
        if aim == "candidates":
            return seen + (count - 1) * stars
        return (count if aim == "time" else 1) * (seen / n_nodes) ** 2 + (count * stars / n_nodes) ** 2

    return min(sorted(trials), key=cost, default=1)


def choose_count(interest: Interest, aim: str, settings: Settings, *, division: str, core: int | None) -> int:
    """Number of partitions by trial: nodes are divided as they will be, cores and star sets are computed, no links.

    At most eight partitions of each trial are looked at. O(subscriptions) a trial without a core.
    """
    n_nodes, seed = interest.n_nodes, settings.seed
    subscribers = np.diff(interest.topic_indptr)
    trials = {}
    for count in trial_counts(n_nodes):
        size = core_size(core, division, n_nodes, count)
        pool = Part.of(interest, largest_nodes(interest, pool_size(size)))
        chosen = Core(choose_core(pool, subscribers, count, size, seed=seed), np.empty((0, 2), np.int32))
        left = chosen.left_over(subscribers, settings.k)
        partition = divide(interest, count, division, seed=seed)
        partition[chosen.part.nodes] = -1
        parts = [Part.of(interest, np.flatnonzero(partition == d)) for d in range(min(count, SAMPLED_PARTITIONS))]
        stars = [trial_star_set(part, left, seed=seed, coverage=settings.coverage) for part in parts]
        trials[count] = Trial(float(np.mean(stars)), len(chosen.part.nodes))
    return best_count(n_nodes, trials, aim)


def checked_division(division: Any) -> str:
    """The division, or an error that lists those there are."""
    if division not in DIVISIONS:
        raise InvalidOptionError(f"there is no division {division!r}; the divisions are {', '.join(DIVISIONS)}")
    return str(division)


def checked_partitions(partitions: Any, aim: Any) -> int | str:
    """The number of partitions, or "auto"."""
    if aim not in AIMS:
        raise InvalidOptionError(f"there is no aim {aim!r}; the aims are {', '.join(AIMS)}")
    if partitions == "auto":
        return "auto"
    if isinstance(partitions, str):
        raise InvalidOptionError(f'partitions is {partitions!r}; a whole number from 1 up or "auto" is accepted')
    return checked_whole("partitions", partitions, 1)
