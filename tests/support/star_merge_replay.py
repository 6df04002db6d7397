"""Star sets, star merges and pn-ratios once more, from the definitions of the star-merge paper, with plain sets.

Units are the overlays that are joined, or the partitions of `dc`. Everything is computed from who wants what and who is
in which unit; only the seeded order of equal nodes comes from the package.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

import topicloom as tl
from topicloom.kernels.draw.ranks import places_among

Pair = tuple[int, int]


def wants_of(interest: tl.Interest) -> list[set[int]]:
    return [set(interest.topics_of(v).tolist()) for v in range(interest.n_nodes)]


def star_sets(interest: tl.Interest, units: Sequence[Iterable[int]], seed: int, needs: int = 1) -> list[set[int]]:
    """Algorithm 6 for each unit: nodes that want the most topics which other units have too and that lack cover.

    ``needs`` is how many star nodes shall want such a topic.
    """
    wants, places = wants_of(interest), places_among(np.arange(interest.n_nodes), seed)
    members = [set(unit) for unit in units]
    topics = [set().union(*(wants[v] for v in unit)) for unit in members]
    found = []
    for number, unit in enumerate(members):
        elsewhere = set().union(*(other for at, other in enumerate(topics) if at != number))
        lack = dict.fromkeys(topics[number] & elsewhere, needs)
        stars: set[int] = set()
        while True:
            gain = {v: sum(lack.get(t, 0) > 0 for t in wants[v]) for v in unit - stars}
            best = max(gain, key=lambda v: (gain[v], -places[v]), default=None)
            if best is None or gain[best] == 0:
                break
            stars.add(best)
            for t in wants[best] & lack.keys():
                lack[t] -= 1
        found.append(stars)
    return found


def sparing_star_sets(
    interest: tl.Interest, units: Sequence[Iterable[int]], degree: Sequence[int], seed: int
) -> list[set[int]]:
    """Algorithm 6 with prices, twice for each topic: the most uncovered shared topics per 1 + degree come next."""
    wants, places = wants_of(interest), places_among(np.arange(interest.n_nodes), seed)
    members = [set(unit) for unit in units]
    topics = [set().union(*(wants[v] for v in unit)) for unit in members]
    found = []
    for number, unit in enumerate(members):
        shared = topics[number] & set().union(*(other for at, other in enumerate(topics) if at != number))
        lack = {t: min(2, sum(t in wants[v] for v in unit)) for t in shared}
        stars: set[int] = set()
        while any(lack.values()):
            gain = {v: sum(lack.get(t, 0) > 0 for t in wants[v]) for v in unit - stars}
            best = max(gain, key=lambda v: (Fraction(gain[v], 1 + int(degree[v])), -places[v]))
            stars.add(best)
            for t in wants[best] & lack.keys():
                lack[t] -= lack[t] > 0
        found.append(stars)
    return found


class Merging:
    """Components of each topic when the nodes of a unit that want it count as one (Algorithm 4, lines 1 to 7)."""

    def __init__(self, interest: tl.Interest, unit_of: Mapping[int, int]) -> None:
        self.wants = wants_of(interest)
        self.component = {(t, v): unit for v, unit in unit_of.items() for t in self.wants[v]}

    def contribution(self, u: int, v: int) -> int:
        return sum(self.component[t, u] != self.component[t, v] for t in self.wants[u] & self.wants[v])

    def add(self, u: int, v: int) -> None:
        for t in self.wants[u] & self.wants[v]:
            old, new = self.component[t, u], self.component[t, v]
            for key, at in self.component.items():
                if key[0] == t and at == old:
                    self.component[key] = new


def is_greedy_merge(interest: tl.Interest, units: Sequence[Iterable[int]], links: Iterable[Pair]) -> bool:
    """Whether each link has, at its moment, the highest contribution of all pairs of nodes from different units.

    At the end no such pair may contribute. With a unit for each node this is the rule of Greedy Merge.
    """
    unit_of = {v: number for number, unit in enumerate(units) for v in unit}
    pairs = [(u, v) for u, v in combinations(sorted(unit_of), 2) if unit_of[u] != unit_of[v]]
    state = Merging(interest, unit_of)
    for u, v in links:
        if (u, v) not in pairs:
            return False
        worth = state.contribution(u, v)
        if worth == 0 or worth < max(state.contribution(*pair) for pair in pairs):
            return False
        state.add(u, v)
    return all(state.contribution(*pair) == 0 for pair in pairs)


def pn_ratios(units: Sequence[Iterable[int]], stars: Sequence[set[int]]) -> dict[int, Fraction]:
    """§VII: the share of all nodes that each node may be linked to; star nodes see the other units' star nodes."""
    members = [set(unit) for unit in units]
    n, all_stars = sum(map(len, members)), sum(map(len, stars))
    return {
        v: Fraction(len(unit) - 1 + (all_stars - len(own) if v in own else 0), n)
        for unit, own in zip(members, stars, strict=True)
        for v in unit
    }
