"""What a node of a decentralised divide-and-conquer computes from what it has been told (star-merge §VI-C).

Each function depends on its arguments alone, so that nodes with the same knowledge come to the same links. Answers are
remembered: the simulation computes once what many nodes would.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from topicloom.methods.dc.partitioning import partition_of_rank, random_ranks
from topicloom.methods.dc.star_merge import Part, joining_links, star_set

Topics = tuple[int, ...]
StarTopics = tuple[tuple[int, Topics], ...]


def partitions_of(n_nodes: int, partitions: int, seed: int) -> list[list[int]]:
    """Members of each partition in the order of their ranks: who knows these three numbers knows every partition."""
    ranks = random_ranks(np.arange(n_nodes), n_nodes, seed=seed)
    by_rank = np.argsort(ranks)
    numbers = partition_of_rank(np.arange(n_nodes, dtype=np.int64), n_nodes, partitions)
    members: list[list[int]] = [[] for _ in range(partitions)]
    for node, number in zip(by_rank.tolist(), numbers.tolist()):
        members[number].append(node)
    return members


class Planning:
    """Inner links, star sets and outer links, by the rules of `divide_and_conquer` with ``division="random"``."""

    def __init__(self, seed: int, n_nodes: int) -> None:
        self.seed = seed
        self.n_nodes = n_nodes
        self._inner: dict[tuple[int, ...], dict[int, set[int]]] = {}
        self._stars: dict[tuple[tuple[int, ...], frozenset[int]], StarTopics] = {}
        self._outer: dict[tuple[StarTopics, ...], dict[int, set[int]]] = {}

    def inner(self, nodes: tuple[int, ...], interests: Mapping[int, Topics]) -> dict[int, set[int]]:
        """Partners of each node in the overlay of its partition. ``nodes`` ascending."""
        if nodes not in self._inner:
            part, n_topics, _ = _part([(node, interests[node]) for node in nodes])
            self._inner[nodes] = _partners(joining_links(part, None, n_topics, seed=self.seed).tolist())
        return self._inner[nodes]

    def stars(self, nodes: tuple[int, ...], interests: Mapping[int, Topics], shared: frozenset[int]) -> StarTopics:
        """Star nodes of a partition with their shared topics. ``nodes`` ascending."""
        key = nodes, shared
        if key not in self._stars:
            part, _, names = _part([(node, interests[node]) for node in nodes])
            needed = np.isin(names, list(shared))
            chosen = part.nodes[star_set(part, needed, seed=self.seed)].tolist()
            self._stars[key] = tuple((node, tuple(t for t in interests[node] if t in shared)) for node in chosen)
        return self._stars[key]

    def outer(self, star_sets: tuple[StarTopics, ...]) -> dict[int, set[int]]:
        """Partners of each star node in other partitions, from one star set per partition."""
        if star_sets not in self._outer:
            rows = [star for stars in star_sets for star in stars]
            unit = np.repeat(np.arange(len(star_sets), dtype=np.int32), list(map(len, star_sets)))
            if (
                len(star_sets) == self.n_nodes
            ):  # a partition each: as in the centre, all nodes count when ties are broken
                known = dict(rows)
                rows = [(node, known.get(node, ())) for node in range(self.n_nodes)]
                unit = np.arange(self.n_nodes, dtype=np.int32)
            part, n_topics, _ = _part(rows)
            self._outer[star_sets] = _partners(joining_links(part, unit, n_topics, seed=self.seed).tolist())
        return self._outer[star_sets]


def _part(rows: Sequence[tuple[int, Topics]]) -> tuple[Part, int, np.ndarray]:
    """Nodes and topics as a part with dense topic numbers, how many those are, and the topic of each."""
    indptr = np.cumsum([0, *(len(topics) for _, topics in rows)])
    flat = np.array([topic for _, topics in rows for topic in topics], np.int64)
    names, dense = np.unique(flat, return_inverse=True)
    nodes = np.array([node for node, _ in rows], np.int32)
    return Part(nodes, indptr.astype(np.int64), dense.astype(np.int32)), len(names), names


def _partners(links: Iterable[Sequence[int]]) -> dict[int, set[int]]:
    partners: dict[int, set[int]] = {}
    for u, v in links:
        partners.setdefault(u, set()).add(v)
        partners.setdefault(v, set()).add(u)
    return partners
