"""What is done to a partition, and to a group of partitions: the pieces of `dc` that run in memory and on Spark alike.

A partition is conquered and represented by its star nodes; groups of partitions are merged over these and represented
by some of them in turn, until one group is left. Each piece sees its own nodes, the core, and a few numbers per topic.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from topicloom.kernels.greedy.engine import GREEDY_MERGE
from topicloom.kernels.rounds.standing import standing
from topicloom.methods.dc.star_merge import (
    Part,
    candidates_elsewhere,
    joining_links,
    stacked,
    star_set,
    subscribers_in,
    wanted_elsewhere,
)
from topicloom.methods.refinement import refine
from topicloom.methods.rounds.round_steps import RoundOptions, round_weights
from topicloom.methods.rounds.rounds_gm import played_rounds
from topicloom.model import Interest, Overlay
from topicloom.model.arrays import Int32Array, Int64Array, degrees

INNER_METHODS = ("gm", "low-oda", "weighted-gm", "rounds-gm", "gm2")


class Stars(NamedTuple):
    """Star nodes with their open topics, the unit of each, the neighbours it has considered, and its links so far."""

    part: Part
    unit: Int32Array
    candidates: Int64Array
    degree: Int64Array


class Piece(NamedTuple):
    """What a piece of the work yields: links, who represents it, and the most neighbours that a node considered."""

    links: Int32Array
    stars: Stars
    candidates: int


class Core(NamedTuple):
    """Nodes that all partitions see, and the links of their own overlay."""

    part: Part
    links: Int32Array

    def left_over(self, subscribers: Int64Array, k: int = 1) -> Int64Array:
        """The topics' numbers of subscribers outside the core, 0 for topics that the core connects.

        The core connects a topic across all partitions if k of its nodes want it.
        """
        inside = subscribers_in(self.part, len(subscribers))
        left: Int64Array = np.where(inside >= k, 0, subscribers - inside)
        return left


class Settings(NamedTuple):
    """What pieces have in common.

    ``rho`` is that of the greedy engine: 0 conquers and merges by Greedy Merge, else by Low-ODA, and star sets then
    have two nodes for each open topic and spare nodes that have many links. ``weighted`` lets topics count by
    how many of a piece's nodes want them. ``k`` is the topic-connectivity that pieces reach and merges keep: 1, or 2
    with GM2's rule and two star nodes for each open topic. ``numbered`` says that nodes are numbered in the order of
    the tie rule already; otherwise their places follow from the seed. ``rounds`` conquers in the rounds of `rounds-gm`.
    ``effort`` is what `refine` spends on the links of each partition, without a core; 0 leaves them as they are.
    """

    n_topics: int
    rho: float = GREEDY_MERGE
    seed: int = 0
    weighted: bool = False
    k: int = 1
    numbered: bool = False
    rounds: bool = False
    effort: float = 0

    def places(self, nodes: Int32Array) -> Int32Array | None:
        """Places of nodes on the circle of the tie rule. Returns None if they follow from the seed."""
        return np.argsort(np.argsort(nodes)).astype(np.int32) if self.numbered else None

    @property
    def coverage(self) -> int:
        """How many star nodes are to want each open topic: k, but 2 where there should be a choice for low degrees."""
        return self.k if self.rho == GREEDY_MERGE else 2

    def load(self, degree: Int64Array) -> Int64Array | None:
        """What makes a node dear as a star node: its links, if degrees are to stay low."""
        return None if self.rho == GREEDY_MERGE else degree

    def rule(self) -> dict[str, Any]:
        """The rule of the inner method, as keywords of `joining_links`."""
        return {"rho": self.rho, "weighted": self.weighted, "blocks": self.k == 2}


def build_core(part: Part, settings: Settings) -> Core:
    """The core's own overlay, by the inner method."""
    return Core(part, inner_links(part, None, settings))


def inner_links(
    part: Part, unit: Int64Array | None, settings: Settings, degree: Int64Array | None = None
) -> Int32Array:
    """Links by the inner method that connect every topic of a part. The parameters are those of `joining_links`."""
    if settings.effort:
        return _refined(part, inner_links(part, unit, settings._replace(effort=0), degree), settings)
    if not settings.rounds:
        return joining_links(part, unit, settings.n_topics, degree=degree, seed=settings.seed, **settings.rule())
    options = RoundOptions(rho=settings.rho or None).at(len(part.nodes))
    weights = round_weights(subscribers_in(part, settings.n_topics), options.weighted)
    label = None if unit is None else _first_entries(part, unit, settings.n_topics)
    played = played_rounds(standing(part.indptr, part.topics, weights, label), options, settings.seed, degree)
    links = np.concatenate([np.empty((0, 2), np.int32), *(links for links, _ in played)])
    return np.sort(part.nodes[links], axis=1)


def _refined(part: Part, links: Int32Array, settings: Settings) -> Int32Array:
    """Fewer links with the same promise for a part, if `refine` finds them."""
    by_node = np.argsort(part.nodes)
    local = by_node[np.searchsorted(part.nodes, links, sorter=by_node)].astype(np.int32)
    interest = Interest.from_csr(part.indptr, part.topics, settings.n_topics)
    overlay = Overlay.from_links(interest, local.reshape(-1, 2))
    refined = refine(overlay, effort=settings.effort, k=settings.k, seed=settings.seed)
    return np.sort(part.nodes[refined.links], axis=1)


def _first_entries(part: Part, unit: Int64Array, n_topics: int) -> Int32Array:
    """The component of each entry, named by its first one, when the nodes of a unit that want a topic are one."""
    keys = np.repeat(unit, np.diff(part.indptr)) * n_topics + part.topics
    _, firsts, which = np.unique(keys, return_index=True, return_inverse=True)
    label: Int32Array = firsts[which].astype(np.int32)
    return label


def conquer(part: Part, number: int, core: Core, subscribers: Int64Array, settings: Settings) -> Piece:
    """Connect a partition within itself and to the core. Its star set covers its open topics.

    Afterwards the nodes of partition and core that want a topic are k-connected, for every topic. A topic is open if it
    has ``subscribers`` in other partitions as well, and fewer than k in the core; see `Core.left_over`.
    """
    nodes = stacked([core.part, part])
    n_core = len(core.part.nodes)
    one_core = np.maximum(np.arange(len(nodes.nodes)) - n_core + 1, 0)
    degree = (
        degrees(np.searchsorted(core.part.nodes, core.links).astype(np.int32), len(nodes.nodes)) if n_core else None
    )
    links = inner_links(nodes, one_core if n_core else None, settings, degree)
    open_topics = wanted_elsewhere(part, subscribers)
    own = degrees_at(part, links)
    stars = star_set(part, open_topics, seed=settings.seed, coverage=settings.coverage, load=settings.load(own))
    others = max(len(nodes.nodes) - 1, 0)
    unit = np.full(len(stars), number, np.int32)
    chosen = Stars(part.take(stars, open_topics), unit, np.full(len(stars), others, np.int64), own[stars])
    return Piece(links, chosen, others)


def merge_group(stars: Stars, number: int, subscribers: Int64Array, settings: Settings) -> Piece:
    """Connect the units of a group over their star nodes. Its star set is for the next level.

    By Greedy Merge's rule, by GM2's at k = 2, or by Low-ODA's if that conquers. ``subscribers`` are counted among the
    star nodes of all groups.
    """
    places = settings.places(stars.part.nodes)
    links = joining_links(
        stars.part,
        stars.unit,
        settings.n_topics,
        rho=settings.rho,
        blocks=settings.k == 2,
        degree=settings.load(stars.degree),
        places=places,
        seed=settings.seed,
    )
    candidates = stars.candidates + candidates_elsewhere(stars.unit)
    still_open = wanted_elsewhere(stars.part, subscribers)
    degree = stars.degree + degrees_at(stars.part, links)
    chosen = star_set(
        stars.part,
        still_open,
        seed=settings.seed,
        coverage=settings.coverage,
        load=settings.load(degree),
        places=places,
    )
    unit = np.full(len(chosen), number, np.int32)
    representatives = Stars(stars.part.take(chosen, still_open), unit, candidates[chosen], degree[chosen])
    return Piece(links, representatives, int(candidates.max(initial=0)))


def pn_ratios(
    n_nodes: int, sizes: Int64Array, levels: Sequence[Int64Array], *, limit: int, most: int, n_core: int = 0
) -> dict[str, dict[str, float]]:
    """Sum up pn-ratio(v), the share of all nodes that node v considers as neighbours, over the classes of nodes.

    Parameters
    ----------
    n_nodes : int
    sizes : int64, one per partition
        Its nodes.
    levels : int64 arrays, one for each level of merges
        The star nodes of each unit; the units of the first are the partitions.
    limit : int
        Of `group_units`.
    most : int
        The most nodes that a star node considers.
    n_core : int
        Nodes that all partitions see.

    Returns
    -------
    dict
        For ``star`` and ``other`` nodes of the partitions, and the ``core``, unless there are none: how many they are,
        and the mean and the maximum of their ratios.

    Examples
    --------
    >>> pn_ratios(10, np.array([4, 6]), [np.array([1, 2])], limit=100, most=6)["star"]
    {'nodes': 3, 'mean': 0.5666666666666667, 'max': 0.6}
    """
    others = sizes + n_core - 1
    stars = levels[0] if levels else np.zeros_like(sizes)
    known = int((stars * others).sum())
    for units in levels:
        group = group_units(units, limit)
        inside = np.bincount(group, units).astype(np.int64)
        known += int((units * (inside[group] - units)).sum())
    rest = sizes - stars
    counted = {
        "star": (int(stars.sum()), known, most),
        "other": (int(rest.sum()), int((rest * others).sum()), int(others[rest > 0].max(initial=0))),
        "core": (n_core, n_core * (n_nodes - 1), n_nodes - 1),
    }
    return {
        name: {"nodes": nodes, "mean": total / nodes / n_nodes, "max": highest / n_nodes}
        for name, (nodes, total, highest) in counted.items()
        if nodes
    }


def degrees_at(part: Part, links: Int32Array) -> Int64Array:
    """How many of the links end at each node of a part, whatever the order of its nodes."""
    order = np.argsort(part.nodes)
    place = np.searchsorted(part.nodes, links.ravel(), sorter=order)
    inside = place < len(order)
    ends = order[place[inside]]
    return np.bincount(ends[part.nodes[ends] == links.ravel()[inside]], minlength=len(order))


def together(stars: Sequence[Stars]) -> Stars:
    """The star nodes of several units."""
    return Stars(
        stacked([s.part for s in stars]),
        np.concatenate([s.unit for s in stars]),
        np.concatenate([s.candidates for s in stars]),
        np.concatenate([s.degree for s in stars]),
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
