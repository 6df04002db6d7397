"""Access rules of Mosquitto (``acl_file``): what a bridge may send to and fetch from the broker that accepts it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from topicloom.brokers.auditing.audit_effort import Effort, is_text, lines_of
from topicloom.brokers.auditing.audit_findings import Place
from topicloom.brokers.auditing.filters import FilterTree, is_filter
from topicloom.errors import InputNotFoundError, UnreadableInputError
from topicloom.files.read.patterns import MQTT

_KINDS = {"read": (True, False), "write": (False, True), "readwrite": (True, True), "deny": (False, False)}


class AccessRule(NamedTuple):
    """A line: its filter, what it allows, and whether it denies."""

    pattern: str
    reads: bool
    writes: bool
    denies: bool


@dataclass
class Access:
    """Rules by user (None for clients without a name), and those for all users."""

    users: dict[str | None, list[AccessRule]] = field(default_factory=dict)
    patterns: list[AccessRule] = field(default_factory=list)
    _by_user: dict[str | None, FilterTree] = field(default_factory=dict)

    def may_read(self, user: str | None, client: str, topic: str) -> bool:
        """Whether a message may be delivered to a client."""
        return self._may(user, client, topic, writing=False)

    def may_write(self, user: str | None, client: str, topic: str) -> bool:
        """Whether a client may publish."""
        return self._may(user, client, topic, writing=True)

    def _may(self, user: str | None, client: str, topic: str, *, writing: bool) -> bool:
        if user not in self._by_user:
            self._by_user[user] = _tree(self.users.get(user, ()))
        rules = self.users.get(user, ())
        said = _said([rules[number] for number in self._by_user[user].met(topic)], writing=writing)
        if said is None:
            said = _said([self.patterns[number] for number in self._for_all.met(topic)], writing=writing)
            named = _said(self._named(user, client, topic), writing=writing)
            said = named if said is None or named is False else said
        return bool(said)

    def _named(self, user: str | None, client: str, topic: str) -> list[AccessRule]:
        """Rules with the client or the user in them."""
        return [
            rule
            for rule in self._with_marks
            if (user is not None or "%u" not in rule.pattern)
            and MQTT.matches(rule.pattern.replace("%c", client).replace("%u", user or ""), topic)
        ]

    @cached_property
    def _with_marks(self) -> list[AccessRule]:
        return [rule for rule in self.patterns if "%c" in rule.pattern or "%u" in rule.pattern]

    @cached_property
    def _for_all(self) -> FilterTree:
        return _tree(self.patterns, without=("%c", "%u"))


def _tree(rules: Sequence[AccessRule], without: Sequence[str] = ()) -> FilterTree:
    tree = FilterTree()
    for number, rule in enumerate(rules):
        if not any(mark in rule.pattern for mark in without):
            tree.add(rule.pattern, number)
    return tree


def _said(met: Sequence[AccessRule], *, writing: bool) -> bool | None:
    """What rules that match say: a denial goes before a permission."""
    if any(rule.denies for rule in met):
        return False
    return True if any(rule.writes if writing else rule.reads for rule in met) else None


def read_access(config: Path, given: str, place: Place, effort: Effort) -> Access:
    """Read the rules that a configuration names, looking beside it first.

    Raises
    ------
    InputNotFoundError, UnreadableInputError
        The file is not there, cannot be read, or holds a line with which Mosquitto does not start.
    """
    candidates = [config.parent / given.lstrip("/"), config.parent / Path(given).name, Path(given)]
    found = next((one for one in candidates if given and _is_there(one)), None)
    if found is None:
        raise InputNotFoundError(f"{place}: acl_file {given!r} is not there, nor beside the file")
    access, user = Access(), None
    home = f"{place.file.rpartition('/')[0]}/" if "/" in place.file else ""
    for number, line in enumerate(lines_of(effort.text_of(found)), 1):
        if line.startswith("#") or not line.strip(" \t\r\v\f"):
            continue
        here = Place(f"{home}{found.name}", number)
        if not is_text(line) or "\0" in line:
            raise UnreadableInputError(f"{here}: the line is not UTF-8")
        word, _, rest = line.strip(" \r\n\v\f\t").partition(" ")
        if word == "user" and rest.strip():
            user = rest.strip()
        elif word in ("topic", "pattern") and rest.strip():
            rules = access.patterns if word == "pattern" else access.users.setdefault(user, [])
            rules.append(_rule(rest.strip(), here))
        else:
            raise UnreadableInputError(f"{here}: no rule of an acl_file; Mosquitto does not start")
    return access


def _is_there(path: Path) -> bool:
    try:
        return path.exists() and not path.is_dir()
    except (OSError, ValueError):
        return False


def _rule(text: str, place: Place) -> AccessRule:
    kind, _, pattern = text.partition(" ")
    pattern = pattern.strip()
    rule = AccessRule(pattern, *_KINDS[kind], kind == "deny") if pattern and kind in _KINDS else None
    if (pattern and rule is None) or not is_filter(pattern or text):
        raise UnreadableInputError(f"{place}: no rule of an acl_file; Mosquitto does not start")
    return rule or AccessRule(text, True, True, False)
