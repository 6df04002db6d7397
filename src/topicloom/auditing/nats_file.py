"""Read NATS configurations: separators, comments, blocks, variables of the block or the environment, includes.

JSON is read as well, as the server does.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from topicloom.auditing.audit_findings import Place
from topicloom.auditing.mosquitto_file import text_of
from topicloom.errors import UnreadableInputError

_DEEPEST = 60
_SPACE = re.compile(r"(?:\s|#[^\n]*|//[^\n]*)*")
_GAP = re.compile(r"(?:[\s,;]|#[^\n]*|//[^\n]*)*")
_KEY = re.compile(r"[^\s:={}\[\]\"',;#]+")
_BARE = re.compile(r"[^\s,;{}\[\]\"'#]+")
_SET = re.compile(r'(\w+)="(.*)"')
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", '"': '"', "\\": "\\"}


class Node(NamedTuple):
    """A value with its place. ``literal`` is false for what comes from the environment. Unknown variables are None."""

    value: "str | list[Node] | dict[str, Node] | None"
    place: Place
    literal: bool = True

    @property
    def text(self) -> str:
        """The value if it is a text, else the empty text."""
        return self.value if isinstance(self.value, str) else ""

    @property
    def items(self) -> list["Node"]:
        """The values of a list. A single value is a list of one, as the server takes it."""
        return self.value if isinstance(self.value, list) else [self]

    @property
    def fields(self) -> dict[str, "Node"]:
        """The values of a map by lower-case key, else none."""
        return self.value if isinstance(self.value, dict) else {}


def read_nats_file(path: Path, shown: str) -> Node:
    """Read a configuration with what it includes. Variables may come from a start script of topicloom beside it.

    Raises
    ------
    InputNotFoundError, UnreadableInputError
        With file and line.
    """
    return _Reader(path, shown, 0).whole(_started_with(path.with_suffix(".start")))


def _started_with(script: Path) -> dict[str, Node]:
    """Find the variables that a start script sets to texts in quotation marks. References in them stay as they are."""
    if not script.is_file():
        return {}
    lines = enumerate(text_of(script).splitlines(), 1)
    met = [(number, _SET.fullmatch(line)) for number, line in lines]
    return {one[1]: Node(one[2], Place(script.name, number), literal=False) for number, one in met if one is not None}


@dataclass
class _Reader:
    path: Path
    shown: str
    depth: int

    def __post_init__(self) -> None:
        self._text = text_of(self.path)
        self._at = 0
        if self.depth > _DEEPEST:
            raise UnreadableInputError(f"{self.shown}: files include each other")

    def whole(self, outer: Mapping[str, Node]) -> Node:
        self._skip(_GAP)
        place = self._place()
        braced = self._take("{")
        found = self._fields(outer, "}" if braced else "", 0)
        self._skip(_GAP)
        if self._at < len(self._text):
            raise self._wrong(f"{self._text[self._at]!a} stands after the end")
        return Node(found, place)

    def _place(self) -> Place:
        return Place(self.shown, self._text.count("\n", 0, self._at) + 1)

    def _wrong(self, what: str) -> UnreadableInputError:
        return UnreadableInputError(f"{self._place()}: {what}, so nats-server does not start")

    def _skip(self, pattern: re.Pattern[str]) -> None:
        met = pattern.match(self._text, self._at)
        self._at = met.end() if met else self._at

    def _take(self, char: str) -> bool:
        found = self._text.startswith(char, self._at)
        self._at += found
        return found

    def _fields(self, outer: Mapping[str, Node], end: str, depth: int) -> dict[str, Node]:
        found: dict[str, Node] = {}
        scope = dict(outer)
        while True:
            self._skip(_GAP)
            if (end and self._take(end)) or (not end and self._at >= len(self._text)):
                return found
            key = self._key(end)
            if key == "include":
                found.update(self._included(scope))
                scope.update(found)
                continue
            self._skip(_SPACE)
            _ = self._take(":") or self._take("=")
            found[key.lower()] = scope[key] = self._value(scope, depth + 1)

    def _key(self, end: str) -> str:
        if self._text[self._at : self._at + 1] in ('"', "'"):
            return self._quoted()
        met = _KEY.match(self._text, self._at)
        if met is None:
            raise self._wrong(f"a key or {end or 'the end'} is expected")
        self._at = met.end()
        return met.group()

    def _included(self, scope: Mapping[str, Node]) -> dict[str, Node]:
        place = self._place()
        name = self._value(scope, 1).text
        target = self.path.parent / name
        if not name or not target.is_file():
            raise UnreadableInputError(f"{place}: the included file {name!a} is not there")
        return _Reader(target, name, self.depth + 1).whole(scope).fields

    def _value(self, scope: Mapping[str, Node], depth: int) -> Node:
        if depth > _DEEPEST:
            raise self._wrong(f"values are nested more than {_DEEPEST} deep")
        self._skip(_SPACE)
        place, first = self._place(), self._text[self._at : self._at + 1]
        if self._take("{"):
            return Node(self._fields(scope, "}", depth), place)
        if self._take("["):
            return Node(self._list(scope, depth), place)
        if first in ('"', "'"):
            return Node(self._quoted(), place)
        if self._take("("):
            return Node(self._block(), place)
        met = _BARE.match(self._text, self._at)
        if met is None:
            raise self._wrong("a value is expected")
        self._at = met.end()
        word = met.group()
        return (
            _variable(word[1:], scope, place)
            if word.startswith("$") and not word.startswith("$2")
            else Node(word, place)
        )

    def _list(self, scope: Mapping[str, Node], depth: int) -> list[Node]:
        found: list[Node] = []
        while True:
            self._skip(_GAP)
            if self._take("]"):
                return found
            if self._at >= len(self._text):
                raise self._wrong("a list has no end")
            found.append(self._value(scope, depth + 1))

    def _quoted(self) -> str:
        mark, start = self._text[self._at], self._at
        self._at += 1
        found = []
        while self._at < len(self._text) and self._text[self._at] != mark:
            char = self._text[self._at]
            if char == "\\" and mark == '"':
                self._at += 1
                escape = self._text[self._at : self._at + 1]
                char = _ESCAPES.get(escape, "\\" + escape)
            found.append(char)
            self._at += 1
        if self._at >= len(self._text):
            self._at = start
            raise self._wrong("a quoted text has no end")
        self._at += 1
        return "".join(found)

    def _block(self) -> str:
        end = self._text.find("\n)", self._at)
        if end < 0:
            raise self._wrong("a block has no end")
        text, self._at = self._text[self._at : end], end + 2
        return text.strip()


def _variable(name: str, scope: Mapping[str, Node], place: Place) -> Node:
    if name in scope:
        return scope[name]
    return Node(os.environ.get(name), place, literal=False)
