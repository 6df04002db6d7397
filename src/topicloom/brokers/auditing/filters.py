"""Topic filters of MQTT: names that stand for what they match, what two have in common, and an index of many."""

from typing import Any

from topicloom.files.read.patterns import MQTT

PROBE = "any-topic"
_END = None  # where a filter ends; levels are texts


def is_filter(pattern: str) -> bool:
    """Whether a text is a filter: wildcards fill a level, ``#`` the last one, and there are at most 200 slashes.

    >>> is_filter("a/+/#"), is_filter("a#"), is_filter("#/a")
    (True, False, False)
    """
    levels = pattern.split("/")
    return MQTT.misplaced(levels) is None and len(levels) <= 201


def example_of(pattern: str) -> str:
    """A name that a filter matches.

    >>> example_of("site/+/#")
    'site/any-topic/any-topic'
    """
    return "/".join(PROBE if level in ("+", "#") else level for level in pattern.split("/"))


def common(one: str, other: str) -> str | None:
    """A filter of what two filters both match, or None.

    >>> common("a/+", "+/b"), common("a/#", "a"), common("a", "b")
    ('a/b', 'a', None)
    """
    if (one[:1] == "$") != (other[:1] == "$"):
        return None
    left, right = one.split("/"), other.split("/")
    met: list[str] = []
    for place in range(max(len(left), len(right)) + 1):
        mine, yours = left[place : place + 1], right[place : place + 1]
        if mine == ["#"] or yours == ["#"]:
            return "/".join(met + (right if mine == ["#"] else left)[place:])
        if not mine or not yours:
            return "/".join(met) if mine == yours else None
        if mine != yours and "+" not in (mine[0], yours[0]):
            return None
        met.append(yours[0] if mine[0] == "+" else mine[0])
    return "/".join(met)


class FilterTree:
    """Filters by level, so that those which match a name are found without looking at the others.

    Attributes
    ----------
    looks
        Places of the tree that were looked at: what the searches cost.

    Examples
    --------
    >>> tree = FilterTree()
    >>> for number, pattern in enumerate(["a/#", "+/b", "a/b", "b"]):
    ...     tree.add(pattern, number)
    >>> sorted(tree.met("a/b")), tree.met("c")
    ([0, 1, 2], [])
    """

    def __init__(self) -> None:
        self.looks = 0
        self._exact: dict[str, list[int]] = {}
        self._wild: dict[str | None, Any] = {}

    def add(self, pattern: str, number: int) -> None:
        """Add a filter. The number is what a search returns for it."""
        if not MQTT.has_wildcard(pattern):
            self._exact.setdefault(pattern, []).append(number)
            return
        place = self._wild
        for level in pattern.split("/"):
            place = place.setdefault(level, {})
        place.setdefault(_END, []).append(number)

    def met(self, name: str) -> list[int]:
        """Numbers of the filters that match a name, in no order."""
        self.looks += 1
        found = list(self._exact.get(name, ()))
        if not self._wild:
            return found
        levels = name.split("/")
        waiting = [(self._wild, 0)]
        while waiting:
            place, depth = waiting.pop()
            self.looks += 1
            hidden = depth == 0 and name[:1] == "$"
            if "#" in place and not hidden:
                found += place["#"].get(_END, ())
            if depth == len(levels):
                found += place.get(_END, ())
                continue
            if levels[depth] in place and levels[depth] not in ("+", "#"):
                waiting.append((place[levels[depth]], depth + 1))
            if "+" in place and not hidden:
                waiting.append((place["+"], depth + 1))
        return found
