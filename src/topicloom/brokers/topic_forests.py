"""Forests: topics whose trees together have no cycle, so that they can share an account or an exchange."""

from collections import deque
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from topicloom.errors import InvalidPlanError

if TYPE_CHECKING:
    from topicloom.brokers.planned_network import Row


def forests(rows: "Iterable[Row]") -> dict[str, int]:
    """Forest of every topic of these rows: the plan's where it has them, else first fit, largest trees first.

    Raises
    ------
    InvalidPlanError
        The plan gives a topic two forests.
    """
    given: dict[str, int] = {}
    trees = by_topic(rows)
    for row in (row for tree in trees.values() for row in tree):
        if row.forest is not None and given.setdefault(row.topic, row.forest) != row.forest:
            raise InvalidPlanError(f"topic {row.topic!r} is in forests {given[row.topic]} and {row.forest}")
    return given if len(given) == len(trees) else packed(trees)


def packed(trees: "Mapping[str, list[Row]]") -> dict[str, int]:
    """Forest of every tree by first fit, largest trees first."""
    found: dict[str, int] = {}
    bins: list[_Forest] = []
    for topic in sorted(trees, key=lambda topic: (-len(trees[topic]), topic)):
        place = next((place for place, one in enumerate(bins) if one.take(trees[topic])), len(bins))
        if place == len(bins):
            bins.append(_Forest())
            bins[-1].take(trees[topic])
        found[topic] = place
    return {topic: found[topic] for topic in trees}


def by_topic(rows: "Iterable[Row]") -> "dict[str, list[Row]]":
    """Topic to its rows, in the order given."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.topic, []).append(row)
    return found


class _Forest:
    """Links without a cycle, to which a tree is added if there is still none."""

    def __init__(self) -> None:
        self._links: set[tuple[str, str]] = set()
        self._parent: dict[str, str] = {}

    def take(self, rows: "Iterable[Row]") -> bool:
        parent = dict(self._parent)
        for row in rows:
            if row.dial in self._links:
                continue
            one, other = root(parent, row.src), root(parent, row.dst)
            if one == other:
                return False
            parent[one] = other
        self._parent = parent
        self._links.update(row.dial for row in rows)
        return True


def root(parent: dict[str, str], node: str) -> str:
    """The node that stands for the set of a node, which is new if it is met for the first time."""
    while parent.setdefault(node, node) != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


def rooted(forest: int, links: set[tuple[str, str]]) -> dict[tuple[str, str], bool]:
    """(owner, acceptor) to whether the owner is the parent, each tree rooted at its server of most links."""
    near: dict[str, list[str]] = {}
    for one, other in sorted(links):
        near.setdefault(one, []).append(other)
        near.setdefault(other, []).append(one)
    parent: dict[str, str | None] = {}
    for start in sorted(near, key=lambda node: (-len(near[node]), node)):
        if start in parent:
            continue
        parent[start] = None
        queue = deque([start])
        while queue:
            node = queue.popleft()
            for other in near[node]:
                if other not in parent:
                    parent[other] = node
                    queue.append(other)
                elif parent[node] != other and parent[other] != node:
                    raise InvalidPlanError(f"the trees of forest {forest} make a cycle at {node!r} – {other!r}")
    return {(owner, acceptor): parent[acceptor] == owner for owner, acceptor in sorted(links)}
