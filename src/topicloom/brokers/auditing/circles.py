"""Circles in directed graphs: strongly connected parts, and the blocks of links that hang together in them."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple


class Arc(NamedTuple):
    """A step from one node to another over a link, and the number of its hop."""

    src: int
    dst: int
    link: Hashable
    hop: int


def strong_parts(n_nodes: int, ahead: Callable[[int], Sequence[int]]) -> list[list[int]]:
    """Strongly connected parts, those that others lead to first (Tarjan). O(nodes + arcs) time.

    >>> strong_parts(3, [[1], [0, 2], []].__getitem__)
    [[2], [1, 0]]
    """
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    kept: list[int] = []
    parts: list[list[int]] = []
    placed: set[int] = set()
    for root in range(n_nodes):
        if root in order:
            continue
        way: list[tuple[int, Iterator[int]]] = [(root, iter(ahead(root)))]
        order[root] = low[root] = len(order)
        kept.append(root)
        while way:
            node, rest = way[-1]
            for other in rest:
                if other not in order:
                    order[other] = low[other] = len(order)
                    kept.append(other)
                    way.append((other, iter(ahead(other))))
                    break
                if other not in placed:
                    low[node] = min(low[node], order[other])
            else:
                way.pop()
                if way:
                    low[way[-1][0]] = min(low[way[-1][0]], low[node])
                if low[node] == order[node]:
                    parts.append(_popped(kept, node))
                    placed.update(parts[-1])
    return parts


def _popped(kept: list[int], last: int) -> list[int]:
    part = []
    while True:
        part.append(kept.pop())
        if part[-1] == last:
            return part


def blocks(links: Mapping[Hashable, tuple[Hashable, Hashable]]) -> list[list[Hashable]]:
    """Links of an undirected multigraph, grouped so that two are together if some circle holds both.

    >>> sorted(sorted(one) for one in blocks({1: ("a", "b"), 2: ("b", "a"), 3: ("b", "c")}))
    [[1, 2], [3]]
    """
    beside: dict[Hashable, list[tuple[Hashable, Hashable]]] = {}
    for link, (one, other) in links.items():
        if one != other:
            beside.setdefault(one, []).append((link, other))
            beside.setdefault(other, []).append((link, one))
    found: list[list[Hashable]] = [[link] for link, (one, other) in links.items() if one == other]
    order: dict[Hashable, int] = {}
    low: dict[Hashable, int] = {}
    for root in beside:
        if root not in order:
            _blocks_from(root, beside, order, low, found)
    return found


def _blocks_from(
    root: Hashable,
    beside: Mapping[Hashable, Sequence[tuple[Hashable, Hashable]]],
    order: dict[Hashable, int],
    low: dict[Hashable, int],
    found: list[list[Hashable]],
) -> None:
    order[root] = low[root] = len(order)
    kept: list[Hashable] = []
    way: list[tuple[Hashable, Hashable, int, Iterator[tuple[Hashable, Hashable]]]] = [
        (root, None, 0, iter(beside[root]))
    ]
    while way:
        node, came, start, rest = way[-1]
        for link, other in rest:
            if link == came:
                continue
            if other not in order:
                order[other] = low[other] = len(order)
                way.append((other, link, len(kept), iter(beside[other])))
                kept.append(link)
                break
            if order[other] < order[node]:
                low[node] = min(low[node], order[other])
                kept.append(link)
        else:
            way.pop()
            if way:
                above = way[-1][0]
                low[above] = min(low[above], low[node])
                if low[node] >= order[above]:
                    found.append(kept[start:])
                    del kept[start:]


def circle_in(arcs: Iterable[Arc]) -> list[Arc] | None:
    """A short circle that never goes back over the link that it came by, or None.

    It leads through the first arc that has one.
    """
    ahead: dict[int, list[Arc]] = {}
    listed = list(arcs)
    for arc in listed:
        ahead.setdefault(arc.src, []).append(arc)
    for arc in listed:
        way = _way(arc.dst, arc.src, arc.link, ahead)
        if way is not None:
            return [arc, *way]
    return None


def _way(start: int, end: int, without: Hashable, ahead: Mapping[int, Sequence[Arc]]) -> list[Arc] | None:
    """The shortest way that does not use a link."""
    if start == end:
        return []
    came: dict[int, Arc] = {}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for arc in ahead.get(node, ()):
            if arc.link == without or arc.dst in came or arc.dst == start:
                continue
            came[arc.dst] = arc
            if arc.dst == end:
                way = [arc]
                while way[-1].src != start:
                    way.append(came[way[-1].src])
                return way[::-1]
            waiting.append(arc.dst)
    return None
