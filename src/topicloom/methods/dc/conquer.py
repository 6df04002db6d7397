"""What is done to a partition, and to a group of partitions: the pieces of `dc` that run in memory and on Spark alike.

A partition is conquered and represented by its star nodes; groups of partitions are merged over these and represented
by some of them in turn, until one group is left. Each piece sees its own nodes, the core, and a few numbers per topic.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from topicloom.kernels.greedy.engine import GREEDY_MERGE
from topicloom.methods.dc.star_merge import (
    BoolArray,
    Part,
    candidates_elsewhere,
    joining_links,
    stacked,
    star_set,
    wanted_elsewhere,
)
from topicloom.model.arrays import Int32Array, Int64Array, degrees

INNER_METHODS = ("gm", "low-oda", "weighted-gm")


class Stars(NamedTuple):
    """Star nodes with their open topics, the unit that each represents, and how many neighbours each has considered."""

    part: Part
    unit: Int32Array
    candidates: Int64Array


class Piece(NamedTuple):
    """What a piece of the work yields: links, who represents it, and the most neighbours that a node considered."""

    links: Int32Array
    stars: Stars
    candidates: int


class Core(NamedTuple):
    """Nodes that all partitions see, the links of their own overlay, and which topics they want."""

    part: Part
    links: Int32Array
    wanted: BoolArray

    def left_over(self, subscribers: Int64Array) -> Int64Array:
        """The topics' numbers of subscribers, 0 for those that the core connects."""
        return np.where(self.wanted, 0, subscribers)


class Settings(NamedTuple):
    """What pieces have in common.

    ``rho`` is that of the greedy engine: 0 conquers by Greedy Merge, else by Low-ODA. ``weighted`` lets topics count by
    how many of a piece's nodes want them.
    """

    n_topics: int
    rho: float = GREEDY_MERGE
    seed: int = 0
    weighted: bool = False


def build_core(part: Part, settings: Settings) -> Core:
    """The core's own overlay, by the inner method."""
    links = joining_links(
        part, None, settings.n_topics, rho=settings.rho, weighted=settings.weighted, seed=settings.seed
    )
    wanted = np.zeros(settings.n_topics, np.bool_)
    wanted[part.topics] = True
    return Core(part, links, wanted)


def conquer(part: Part, number: int, core: Core, subscribers: Int64Array, settings: Settings) -> Piece:
    """Connect a partition within itself and to the core; its star set covers its open topics.

    Afterwards the nodes of partition and core that want a topic are connected, for every topic. A topic is open if it
    has ``subscribers`` in other partitions as well, and none in the core; see `Core.left_over`.
    """
    nodes = stacked([core.part, part])
    n_core = len(core.part.nodes)
    one_core = np.maximum(np.arange(len(nodes.nodes)) - n_core + 1, 0)
    degree = (
        degrees(np.searchsorted(core.part.nodes, core.links).astype(np.int32), len(nodes.nodes)) if n_core else None
    )
    links = joining_links(
        nodes,
        one_core if n_core else None,
        settings.n_topics,
        rho=settings.rho,
        weighted=settings.weighted,
        degree=degree,
        seed=settings.seed,
    )
    open_topics = wanted_elsewhere(part, subscribers)
    stars = star_set(part, open_topics, seed=settings.seed)
    others = max(len(nodes.nodes) - 1, 0)
    unit = np.full(len(stars), number, np.int32)
    return Piece(links, Stars(part.take(stars, open_topics), unit, np.full(len(stars), others, np.int64)), others)


def merge_group(stars: Stars, number: int, subscribers: Int64Array, settings: Settings) -> Piece:
    """Connect the units of a group over their star nodes; its star set is for the next level.

    Always by Greedy Merge's rule. ``subscribers`` are counted among the star nodes of all groups.
    """
    links = joining_links(stars.part, stars.unit, settings.n_topics, seed=settings.seed)
    candidates = stars.candidates + candidates_elsewhere(stars.unit)
    still_open = wanted_elsewhere(stars.part, subscribers)
    chosen = star_set(stars.part, still_open, seed=settings.seed)
    unit = np.full(len(chosen), number, np.int32)
    representatives = Stars(stars.part.take(chosen, still_open), unit, candidates[chosen])
    return Piece(links, representatives, int(candidates.max(initial=0)))


def together(stars: Sequence[Stars]) -> Stars:
    """The star nodes of several units."""
    return Stars(
        stacked([s.part for s in stars]),
        np.concatenate([s.unit for s in stars]),
        np.concatenate([s.candidates for s in stars]),
    )


def group_units(sizes: Int64Array, limit: int) -> Int64Array:
    """Group of each unit, never falling: neighbours, two at least, while they have at most ``limit`` star nodes.

    >>> group_units(np.array([3, 3, 3, 9, 9, 1]), 9).tolist()
    [0, 0, 0, 1, 1, 2]
    """
    groups = np.empty(len(sizes), np.int64)
    group, members, total = 0, 0, 0
    for unit, size in enumerate(sizes):
        if members >= 2 and total + size > limit:
            group, members, total = group + 1, 0, 0
        groups[unit] = group
        members, total = members + 1, total + int(size)
    return groups
