"""Subscription patterns, expanded against the topics that are known, by the rules of MQTT or NATS."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from topicloom.errors import InvalidOptionError


@dataclass(frozen=True)
class Grammar:
    """How patterns are written, and which names they match: the one place for both.

    Attributes
    ----------
    between
        What parts levels.
    one
        The level that stands for any level.
    rest
        The last level that stands for all that follow.
    least
        How many levels ``rest`` stands for at least.
    hidden
        A first level that begins so is matched by no wildcard; None where there is no such sign.
    alone
        Whether a wildcard within a longer level is a mistake. Otherwise it is a sign like others.
    """

    between: str
    one: str
    rest: str
    least: int
    hidden: str | None = None
    alone: bool = False

    def has_wildcard(self, pattern: str) -> bool:
        """Whether a level is a wildcard."""
        if self.one not in pattern and self.rest not in pattern:
            return False
        levels = pattern.split(self.between)
        return self.one in levels or self.rest in levels

    def hides(self, level: str) -> bool:
        """Whether wildcards do not match this level where it is the first."""
        return self.hidden is not None and level.startswith(self.hidden)

    def matches(self, pattern: str, name: str) -> bool:
        """Say whether a pattern matches a name.

        Examples
        --------
        >>> [MQTT.matches(*pair) for pair in (("a/#", "a"), ("+/b", "a/b"), ("#", "$SYS/x"), ("a/+", "a/b/c"))]
        [True, True, False, False]
        >>> NATS.matches("a.*", "a.b"), NATS.matches("a.>", "a"), NATS.matches(">", "a.b")
        (True, False, True)
        """
        if pattern == name:
            return True
        if self.one not in pattern and self.rest not in pattern:
            return False
        levels, given = pattern.split(self.between), name.split(self.between)
        if levels[0] in (self.one, self.rest) and self.hides(given[0]):
            return False
        for place, level in enumerate(levels):
            if level == self.rest:
                return len(given) >= place + self.least
            if place >= len(given) or level not in (self.one, given[place]):
                return False
        return len(levels) == len(given)

    def misplaced(self, levels: Sequence[str]) -> str | None:
        """Say which rule for the places of wildcards a pattern breaks, or None."""
        if self.rest in levels[:-1]:
            return f"{self.rest} stands at the end only"
        within = self.alone and any(len(level) > 1 and (self.one in level or self.rest in level) for level in levels)
        return f"{self.one} and {self.rest} stand alone between two {self.between}" if within else None


MQTT = Grammar("/", "+", "#", least=0, hidden="$", alone=True)
NATS = Grammar(".", "*", ">", least=1)
GRAMMARS = {"mqtt": MQTT, "nats": NATS}
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
        if broker not in GRAMMARS:
            raise InvalidOptionError(f"there are no rules for {broker!r}; those of {' and '.join(GRAMMARS)} are known")
        self._grammar = GRAMMARS[broker]
        self._mqtt = self._grammar is MQTT
        self._tree: dict[Any, Any] = {}
        for topic in topics:
            if not self.is_pattern(topic):
                place = self._tree
                for level in topic.split(self._grammar.between):
                    place = place.setdefault(level, {})
                place[_HERE] = topic

    def is_pattern(self, topic: str) -> bool:
        """Whether a label is a pattern, valid or not."""
        if self._mqtt:
            return "+" in topic or "#" in topic or topic.split("/", 1)[0] == "$share"
        return self._grammar.has_wildcard(topic)

    def problem(self, pattern: str) -> str | None:
        """Why a pattern is not valid, or None."""
        levels = self._levels(pattern)
        if not levels:
            return f"{pattern!r} is not a valid pattern: $share needs a group and a filter"
        wrong = self._grammar.misplaced(levels)
        return None if wrong is None else f"{pattern!r} is not a valid pattern: {wrong}"

    def matches(self, pattern: str) -> list[str]:
        """The known topics that a valid pattern means, sorted."""
        return sorted(self._matched(self._tree, self._levels(pattern), first=True))

    def _levels(self, pattern: str) -> list[str]:
        levels = pattern.split(self._grammar.between)
        if self._mqtt and levels[0] == "$share":
            return levels[2:] if len(levels) > 2 and levels[1] else []
        return levels

    def _matched(self, place: dict[Any, Any], levels: list[str], *, first: bool = False) -> Iterator[str]:
        if not levels:
            if _HERE in place:
                yield place[_HERE]
            return
        level, rest = levels[0], levels[1:]
        if level == self._grammar.rest and not rest:
            if not self._grammar.least and not first and _HERE in place:
                yield place[_HERE]
            for name, below in place.items():
                if name is not _HERE and not self._reserved(name, first):
                    yield from _all(below)
        elif level == self._grammar.one:
            for name, below in place.items():
                if name is not _HERE and not self._reserved(name, first):
                    yield from self._matched(below, rest)
        elif level in place:
            yield from self._matched(place[level], rest)

    def _reserved(self, name: str, first: bool) -> bool:
        return first and self._grammar.hides(name)


def _all(place: dict[Any, Any]) -> Iterator[str]:
    waiting = [place]
    while waiting:
        for name, below in waiting.pop().items():
            if name is _HERE:
                yield below
            else:
                waiting.append(below)
