"""The pieces of joining: some nodes with what they want, their star set, and the links between groups of them.

Everything here works on a `Part` and needs to know nothing of the other nodes, so that the same functions run in
memory and, part by part, on Spark's executors.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from topicloom.kernels.covers.cover import greedy_cover
from topicloom.kernels.draw.ranks import places_among
from topicloom.kernels.greedy.engine import GREEDY_MERGE, greedy_links
from topicloom.kernels.greedy.topic_weights import topic_weights
from topicloom.model import Interest
from topicloom.model.arrays import Int32Array, Int64Array

BoolArray = npt.NDArray[np.bool_]


class Part(NamedTuple):
    """Some nodes of an interest, by their ids in it, and their topics as CSR."""

    nodes: Int32Array
    indptr: Int64Array
    topics: Int32Array

    @classmethod
    def of(cls, interest: Interest, nodes: npt.NDArray[np.integer]) -> Self:
        """The part of an interest that the given nodes are."""
        ids = np.sort(nodes).astype(np.int32)
        cut = interest.restrict(ids)
        return cls(ids, cut.indptr, cut.topics)

    @classmethod
    def of_pairs(cls, nodes: npt.NDArray[np.integer], topics: npt.NDArray[np.integer]) -> Self:
        """The part that subscriptions in any order make up."""
        order = np.lexsort((topics, nodes))
        ids, counts = np.unique(nodes, return_counts=True)
        return cls(ids.astype(np.int32), np.concatenate(([0], np.cumsum(counts))), topics[order].astype(np.int32))

    def take(self, positions: npt.NDArray[np.integer], wanted: BoolArray | None = None) -> "Part":
        """Take the nodes at the given positions, in that order, with ``wanted`` topics only if that is given."""
        sizes = np.diff(self.indptr)[positions]
        indptr = np.concatenate(([0], np.cumsum(sizes)))
        entries = np.repeat(self.indptr[positions] - indptr[:-1], sizes) + np.arange(indptr[-1])
        topics = self.topics[entries]
        if wanted is not None:
            kept = wanted[topics]
            indptr = np.concatenate(([0], np.cumsum(kept)))[indptr]
            topics = topics[kept]
        return Part(self.nodes[positions], indptr, topics)


def stacked(parts: Sequence[Part]) -> Part:
    """Put parts that have no node in common into one, with the nodes in the order given."""
    indptr = np.concatenate(([0], np.cumsum(np.concatenate([[0], *(np.diff(part.indptr) for part in parts)]))))[1:]
    return Part(
        np.concatenate([np.empty(0, np.int32), *(part.nodes for part in parts)]),
        indptr,
        np.concatenate([np.empty(0, np.int32), *(part.topics for part in parts)]),
    )


def subscribers_in(part: Part, n_topics: int) -> Int64Array:
    """How many nodes of the part want each topic."""
    return np.bincount(part.topics, minlength=n_topics)


def wanted_elsewhere(part: Part, subscribers: Int64Array) -> BoolArray:
    """Which topics others want as well: those with fewer subscribers in the part than in all parts together."""
    return subscribers_in(part, len(subscribers)) < subscribers


def label_places(labels: Iterable[str], seed: int) -> Int32Array:
    """Place labels on the circle of the tie rule where labels decide ties: a site that knows a label knows its key.

    The key of a label is a hash of the seed and its text. Any set of labels is placed in the order of their keys.
    """
    keys = [sha256(b"%d " % seed + label.encode()).digest() for label in labels]
    places = np.empty(len(keys), np.int32)
    places[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys), dtype=np.int32)
    return places


def star_set(
    part: Part,
    needed: BoolArray,
    *,
    seed: int,
    limit: int | None = None,
    coverage: int = 1,
    load: Int64Array | None = None,
    places: Int32Array | None = None,
) -> Int64Array:
    """Positions, ascending, of few nodes that together want every needed topic of the part (Algorithm 6).

    ``coverage`` of them want each topic, or all that do in the part. At most 1 + ln(coverage · needed topics) times as
    many as the fewest possible. With a ``load`` per node, 1 + load is the price of a node, and the bound holds for the
    total price: nodes that have many links are spared. Of equal nodes the one with the lowest of ``places`` is taken;
    by default these follow from the node ids and the seed.
    """
    weight = np.ones(len(part.nodes), np.int64) if load is None else 1 + load
    places = places_among(part.nodes, seed) if places is None else places
    need = coverage * needed.astype(np.int32)
    limit = len(part.nodes) if limit is None else limit
    return np.sort(greedy_cover(part.indptr, part.topics, need, weight, places, limit)).astype(np.int64)


def joining_links(
    part: Part,
    unit: npt.NDArray[np.integer] | None,
    n_topics: int,
    *,
    rho: float = GREEDY_MERGE,
    weighted: bool = False,
    blocks: bool = False,
    degree: Int64Array | None = None,
    places: Int32Array | None = None,
    seed: int,
) -> Int32Array:
    """Links that connect every topic, when the nodes of each unit that want a topic are connected already (Alg. 4).

    Parameters
    ----------
    part : Part
    unit : int array, one per node, or None
        Nodes with equal numbers belong to one overlay; each link joins two of them. None: each node is a unit.
    n_topics : int
    rho, blocks, degree
        The rule, and the links that nodes have beforehand; see `greedy_links`. With ``blocks`` the nodes of a unit that
        want a topic are one block of it, and every topic becomes one block (GM2's rule).
    weighted : bool
        Topics count by `topic_weights` of their subscribers in the part, instead of 1 each.
    places : int32 array, one per node, optional
        Places on the circle of the tie rule; by default they follow from the node ids and the seed.

    Returns
    -------
    (m, 2) int32 array
        Node ids with u < v, in the order added.
    """
    extra: dict[str, Any] = {} if degree is None else {"degree": degree, "max_degree": int(degree.max(initial=0))}
    links = greedy_links(
        part.indptr,
        part.topics,
        n_topics,
        rho=rho,
        blocks=blocks,
        weights=topic_weights(subscribers_in(part, n_topics)) if weighted else None,
        components=None if unit is None else np.repeat(unit, np.diff(part.indptr)).astype(np.int32),
        places=places_among(part.nodes, seed) if places is None else places,
        seed=seed,
        **extra,
    )
    return np.sort(part.nodes[links], axis=1)


def candidates_elsewhere(unit: npt.NDArray[np.integer]) -> Int64Array:
    """For each node, how many of the others belong to another unit."""
    _, inverse, sizes = np.unique(unit, return_inverse=True, return_counts=True)
    elsewhere: Int64Array = len(unit) - sizes[inverse].astype(np.int64)
    return elsewhere
