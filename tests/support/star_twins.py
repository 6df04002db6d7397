"""The diameter-2 rules once more, slow and obvious: every count is taken from scratch before every star."""

from fractions import Fraction
from math import inf

import topicloom as tl
from topicloom.kernels.tie_order import places_on_circle, topic_places


class Stars:
    """Plain sets: who wants which topic of T, and the links so far in order."""

    def __init__(self, interest: tl.Interest) -> None:
        self.n = interest.n_nodes
        self.wanting = {t: set(interest.subscribers(t).tolist()) for t in range(interest.n_topics)}
        self.links: list[tuple[int, int]] = []

    def weighted(self, u: int) -> int:
        return sum(len(nodes - {u}) for nodes in self.wanting.values() if u in nodes)

    def neighbours(self, u: int) -> set[int]:
        return set().union(*(nodes for nodes in self.wanting.values() if u in nodes)) - {u}

    def link(self, u: int, leaves: set[int]) -> None:
        for v in sorted(leaves - {u}):
            if (min(u, v), max(u, v)) not in self.links:
                self.links.append((min(u, v), max(u, v)))

    def unlinked(self, u: int, leaves: set[int]) -> int:
        return sum((min(u, v), max(u, v)) not in self.links for v in leaves - {u})


KEYS = {
    "cd-oda": lambda stars, u: len(stars.neighbours(u)),
    "cd-oda-1": lambda stars, u: stars.weighted(u),
    "cd-oda-2": lambda stars, u: Fraction(stars.weighted(u), len(stars.neighbours(u)) or 1),
}


def around_nodes(interest, method, places):
    """Links of CD-ODA, CD-ODA-I or CD-ODA-II."""
    stars = Stars(interest)
    by_place = sorted(range(stars.n), key=lambda u: places[u])
    while any(stars.neighbours(u) for u in range(stars.n)):
        u = max(by_place, key=lambda u: KEYS[method](stars, u))  # max keeps the first of equals
        stars.link(u, stars.neighbours(u))
        stars.wanting = {t: nodes for t, nodes in stars.wanting.items() if u not in nodes}
    return stars.links


def around_topics(interest, places, places_of_topics):
    """Links of 2D-ODA, its topics taken one by one."""
    stars = Stars(interest)

    def density(u, t):
        lacking = stars.unlinked(u, stars.wanting[t])
        return Fraction(stars.weighted(u), lacking) if lacking else inf

    while stars.wanting:
        candidates = [(u, t) for t, nodes in stars.wanting.items() for u in nodes]
        if not candidates:
            break
        candidates.sort(key=lambda ut: (places[ut[0]], places_of_topics[ut[1]]))
        u, t = max(candidates, key=lambda ut: density(*ut))
        stars.link(u, stars.wanting.pop(t))
    return stars.links


def twin(interest: tl.Interest, method: str, seed: int) -> list[tuple[int, int]]:
    """What a method of the diameter-2 family must return."""
    places = places_on_circle(interest.n_nodes, seed)
    if method == "2d-oda":
        return around_topics(interest, places, topic_places(interest.n_topics, seed))
    return around_nodes(interest, method, places)
