"""Read NATS configurations: separators, comments, blocks, variables of the block or the environment, includes.

JSON is read as well, as the server does.
"""

import os
import re
from collections import ChainMap
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from topicloom.brokers.auditing.audit_effort import Effort, is_text, lines_of
from topicloom.brokers.auditing.audit_findings import Place
from topicloom.errors import UnreadableInputError

_DEEPEST, _DEEPEST_FILE = 60, 30
_SPACE = re.compile(r"(?:\s|#[^\n]*|//[^\n]*)*")
_GAP = re.compile(r"(?:[\s,;]|#[^\n]*|//[^\n]*)*")
_KEY = re.compile(r"[^\s:={}\[\]\"',;#]+")
_BARE = re.compile(r"[^\s,;{}\[\]\"'#]+")
_SET = re.compile(r'(\w+)="(.*)"')
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", '"': '"', "\\": "\\"}
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|.|$)", re.DOTALL)
_QUOTED = {'"': re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL), "'": re.compile(r"'([^']*+)'")}
MOST_VALUES = 1_500_000


class Node(NamedTuple):
    """A value with its place. Unknown variables are None.

    ``literal`` is false for what comes from the environment, ``quoted`` true in quotation marks; ``uses`` gets the
    names by which variables take it.
    """

    value: "str | list[Node] | dict[str, Node] | None"
    place: Place
    literal: bool = True
    quoted: bool = False
    uses: "set[str] | None" = None

    @property
    def used(self) -> bool:
        """Whether a variable takes this value."""
        return bool(self.uses)

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


Scope = ChainMap[str, Node]


def read_nats_file(path: Path, shown: str, effort: Effort | None = None) -> Node:
    """Read a configuration with what it includes. Variables may come from a start script of topicloom beside it.

    Raises
    ------
    InputNotFoundError, UnreadableInputError
        With file and line.
    """
    effort = effort or Effort()
    return _Reader(path, shown, 0, effort).whole(ChainMap(_started_with(path.with_suffix(".start"), effort)))


def _started_with(script: Path, effort: Effort) -> dict[str, Node]:
    """Find the variables that a start script sets to texts in quotation marks. References in them stay as they are."""
    if not script.exists():
        return {}
    met = [(number, _SET.fullmatch(line)) for number, line in enumerate(lines_of(effort.text_of(script)), 1)]
    return {one[1]: Node(one[2], Place(script.name, number), literal=False) for number, one in met if one is not None}


@dataclass
class _Reader:
    path: Path
    shown: str
    depth: int
    effort: Effort

    def __post_init__(self) -> None:
        self._at, self._line, self._counted = 0, 1, 0
        if self.depth > _DEEPEST_FILE:
            raise UnreadableInputError(f"{self.shown}: files include each other")
        self._text = self.effort.text_of(self.path)
        if "\0" in self._text:
            raise UnreadableInputError(f"{self.shown} holds a NUL byte, so it is no configuration")

    def whole(self, outer: Scope) -> Node:
        self._skip(_GAP)
        place = self._place()
        braced = self._take("{")
        found = self._fields(outer, "}" if braced else "", 0)
        self._skip(_GAP)
        if self._at < len(self._text):
            raise self._wrong(f"{self._text[self._at]!r} stands after the end")
        return Node(found, place)

    def _place(self) -> Place:
        if self._at < self._counted:
            return Place(self.shown, self._text.count("\n", 0, self._at) + 1)
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return Place(self.shown, self._line)

    def _wrong(self, what: str) -> UnreadableInputError:
        return UnreadableInputError(f"{self._place()}: {what}, so nats-server does not start")

    def _skip(self, pattern: re.Pattern[str]) -> None:
        met = pattern.match(self._text, self._at)
        self._at = met.end() if met else self._at

    def _take(self, char: str) -> bool:
        found = self._text.startswith(char, self._at)
        self._at += found
        return found

    def _fields(self, outer: Scope, end: str, depth: int) -> dict[str, Node]:
        found: dict[str, Node] = {}
        scope = outer.new_child()
        apart = True
        while True:
            apart = self._gap(",;", first=not found) or apart
            if (end and self._take(end)) or (not end and self._at >= len(self._text)):
                return found
            if not apart:
                raise self._wrong("a comma or a new line is expected")
            key = self._key(end)
            if key == "include":
                included = self._included(scope, depth)
                found.update(included)
                scope.update(included)
                continue
            self._skip(_SPACE)
            _ = self._take(":") or self._take("=")
            found[key.lower()] = scope[key] = self._value(scope, depth + 1)
            apart = False

    def _gap(self, marks: str, *, first: bool) -> bool:
        """Skip what stands between two values. Returns whether it sets them apart: one mark or a new line does."""
        start = self._at
        self._skip(_SPACE)
        broken = "\n" in self._text[start : self._at]
        if self._text[self._at : self._at + 1] not in (",", ";"):
            return broken
        if first or broken or self._text[self._at] not in marks:
            raise self._wrong(f"{self._text[self._at]!r} stands where a value is expected")
        self._at += 1
        self._skip(_SPACE)
        return True

    def _key(self, end: str) -> str:
        if self._text[self._at : self._at + 1] in ('"', "'"):
            return self._quoted()
        met = _KEY.match(self._text, self._at)
        if met is None:
            raise self._wrong(f"a key or {end or 'the end'} is expected")
        self._at = met.end()
        return self._clean(met.group())

    def _included(self, scope: Scope, depth: int) -> dict[str, Node]:
        place = self._place()
        self._skip(_SPACE)
        if self._text[self._at : self._at + 1] in ("{", "[", "("):
            raise self._wrong("the name of a file is expected")
        name = self._value(scope, -self.depth).text
        target = self.path.parent / name
        if not name or "\0" in name or not is_text(name) or not target.exists() or target.is_dir():
            raise UnreadableInputError(f"{place}: the included file {name!r} is not there")
        home = f"{self.shown.rpartition('/')[0]}/" if "/" in self.shown else ""
        return _Reader(target, home + name, self.depth + depth + 1, self.effort).whole(scope).fields

    def _value(self, scope: Scope, depth: int) -> Node:
        if depth + self.depth > _DEEPEST:
            raise self._wrong(f"values are nested more than {_DEEPEST} deep")
        self.effort.values += 1
        if self.effort.values > MOST_VALUES:
            raise UnreadableInputError(
                f"{self._place()}: over {MOST_VALUES:,} values are read in all; give fewer files"
            )
        self._skip(_SPACE)
        place, first = self._place(), self._text[self._at : self._at + 1]
        if self._take("{"):
            return Node(self._fields(scope, "}", depth), place, uses=set())
        if self._take("["):
            return Node(self._list(scope, depth), place, uses=set())
        if first in ('"', "'"):
            return Node(self._quoted(), place, quoted=True, uses=set())
        if self._take("("):
            return Node(self._block(), place, quoted=True, uses=set())
        met = _BARE.match(self._text, self._at)
        if met is None:
            raise self._wrong("a value is expected")
        self._at = met.end()
        word = met.group()
        return (
            _variable(word[1:], scope, place)
            if word.startswith("$") and not word.startswith("$2")
            else Node(self._clean(word), place, uses=set())
        )

    def _list(self, scope: Scope, depth: int) -> list[Node]:
        found: list[Node] = []
        apart = True
        while True:
            apart = self._gap(",", first=not found) or apart
            if self._take("]"):
                return found
            if self._at >= len(self._text):
                raise self._wrong("a list has no end")
            if not apart:
                raise self._wrong("a comma or a new line is expected")
            found.append(self._value(scope, depth + 1))
            apart = False

    def _quoted(self) -> str:
        mark = self._text[self._at]
        met = _QUOTED[mark].match(self._text, self._at)
        if met is None:
            raise self._wrong("a quoted text has no end")
        text = self._clean(met[1])
        if mark == '"' and "\\" in text:
            text = _ESCAPE.sub(self._unescaped, text)
        self._at = met.end()
        return text

    def _unescaped(self, met: re.Match[str]) -> str:
        if len(met[1]) == 3:
            return chr(int(met[1][1:], 16))
        if met[1] not in _ESCAPES:
            raise self._wrong(f"the escape {met[1][:1]!r} is not known")
        return _ESCAPES[met[1]]

    def _clean(self, text: str) -> str:
        if not is_text(text):
            raise self._wrong("a value is not UTF-8")
        return text

    def _block(self) -> str:
        end = self._text.find("\n)", self._at)
        if end < 0:
            raise self._wrong("a block has no end")
        text, self._at = self._text[self._at : end], end + 2
        return self._clean(text.strip())


def _variable(name: str, scope: Scope, place: Place) -> Node:
    if name in scope:
        found = scope[name]
        if found.uses is not None:
            found.uses.add(name)
        return found
    return Node(os.environ.get(name), place, literal=False)
