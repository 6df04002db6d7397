"""Subscription patterns, expanded against the topics that are known, by the rules of MQTT or NATS."""

from collections.abc import Iterable, Iterator
from typing import Any

from topicloom.errors import InvalidOptionError

BROKERS = ("mqtt", "nats")
_HERE = object()  # marks the end of a topic in the tree


class Patterns:
    """Which known topics a pattern means.

    Parameters
    ----------
    broker : str
        "mqtt": levels between ``/``, ``+`` for one of them, a last ``#`` for the level above and all below; neither
        matches a first level that begins with ``$``; ``$share/group/filter`` means its filter. "nats": tokens between
        ``.``, ``*`` for one of them, a last ``>`` for one or more.
    topics : iterable of str
        Labels of the subscriptions. Those that are patterns themselves are not known topics.

    Examples
    --------
    >>> patterns = Patterns("mqtt", ["a", "a/b", "a/c/d", "+/b"])
    >>> patterns.matches("a/#"), patterns.matches("+/b"), patterns.matches("z/+")
    (['a', 'a/b', 'a/c/d'], ['a/b'], [])
    """

    def __init__(self, broker: str, topics: Iterable[str]) -> None:
        if broker not in BROKERS:
            raise InvalidOptionError(f"there are no rules for {broker!r}; those of {' and '.join(BROKERS)} are known")
        self._mqtt = broker == "mqtt"
        self._between, self._one, self._rest = ("/", "+", "#") if self._mqtt else (".", "*", ">")
        self._tree: dict[Any, Any] = {}
        for topic in topics:
            if not self.is_pattern(topic):
                place = self._tree
                for level in topic.split(self._between):
                    place = place.setdefault(level, {})
                place[_HERE] = topic

    def is_pattern(self, topic: str) -> bool:
        """Whether a label is a pattern, valid or not."""
        levels = topic.split(self._between)
        if self._mqtt:
            return "+" in topic or "#" in topic or levels[0] == "$share"
        return self._one in levels or self._rest in levels

    def problem(self, pattern: str) -> str | None:
        """Why a pattern is not valid, or None."""
        levels = self._levels(pattern)
        if not levels:
            return f"{pattern!r} is not a valid pattern: $share needs a group and a filter"
        if self._rest in levels[:-1]:
            return f"{pattern!r} is not a valid pattern: {self._rest} stands at the end only"
        if self._mqtt and any(len(level) > 1 and ("+" in level or "#" in level) for level in levels):
            return f"{pattern!r} is not a valid pattern: + and # stand alone between two /"
        return None

    def matches(self, pattern: str) -> list[str]:
        """The known topics that a valid pattern means, sorted."""
        return sorted(self._matched(self._tree, self._levels(pattern), first=True))

    def _levels(self, pattern: str) -> list[str]:
        levels = pattern.split(self._between)
        if self._mqtt and levels[0] == "$share":
            return levels[2:] if len(levels) > 2 and levels[1] else []
        return levels

    def _matched(self, place: dict[Any, Any], levels: list[str], *, first: bool = False) -> Iterator[str]:
        if not levels:
            if _HERE in place:
                yield place[_HERE]
            return
        level, rest = levels[0], levels[1:]
        if level == self._rest and not rest:
            if self._mqtt and not first and _HERE in place:
                yield place[_HERE]
            for name, below in place.items():
                if name is not _HERE and not self._reserved(name, first):
                    yield from _all(below)
        elif level == self._one:
            for name, below in place.items():
                if name is not _HERE and not self._reserved(name, first):
                    yield from self._matched(below, rest)
        elif level in place:
            yield from self._matched(place[level], rest)

    def _reserved(self, name: str, first: bool) -> bool:
        return self._mqtt and first and name.startswith("$")


def _all(place: dict[Any, Any]) -> Iterator[str]:
    waiting = [place]
    while waiting:
        for name, below in waiting.pop().items():
            if name is _HERE:
                yield below
            else:
                waiting.append(below)
