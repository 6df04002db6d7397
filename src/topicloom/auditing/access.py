"""Access rules of Mosquitto (``acl_file``): what a bridge may send to and fetch from the broker that accepts it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from topicloom.auditing.audit_findings import Place
from topicloom.auditing.filters import matches
from topicloom.auditing.mosquitto_file import text_of
from topicloom.errors import InputNotFoundError

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

    def may_read(self, user: str | None, client: str, topic: str) -> bool:
        """Whether a message may be delivered to a client."""
        return self._may(user, client, topic, writing=False)

    def may_write(self, user: str | None, client: str, topic: str) -> bool:
        """Whether a client may publish."""
        return self._may(user, client, topic, writing=True)

    def _may(self, user: str | None, client: str, topic: str, *, writing: bool) -> bool:
        named = [
            rule._replace(pattern=rule.pattern.replace("%c", client).replace("%u", user or ""))
            for rule in self.patterns
            if user is not None or "%u" not in rule.pattern
        ]
        for rules in (self.users.get(user, ()), named):
            said = _said(rules, topic, writing=writing)
            if said is not None:
                return said
        return False


def _said(rules: Sequence[AccessRule], topic: str, *, writing: bool) -> bool | None:
    """What rules say: a denial goes before a permission."""
    met = [rule for rule in rules if matches(rule.pattern, topic)]
    if any(rule.denies for rule in met):
        return False
    return True if any(rule.writes if writing else rule.reads for rule in met) else None


def read_access(config: Path, given: str, place: Place) -> Access:
    """Read the rules that a configuration names, looking beside it first.

    Raises
    ------
    InputNotFoundError, UnreadableInputError
        The file is not there or cannot be read.
    """
    candidates = [config.parent / given.lstrip("/"), config.parent / Path(given).name, Path(given)]
    found = next((one for one in candidates if given and one.is_file()), None)
    if found is None:
        raise InputNotFoundError(f"{place}: acl_file {given!a} is not there, nor beside the file")
    access, user = Access(), None
    for line in text_of(found).splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "user":
            user = rest.strip()
        elif word in ("topic", "pattern"):
            rules = access.patterns if word == "pattern" else access.users.setdefault(user, [])
            rules.append(_rule(rest.strip()))
    return access


def _rule(text: str) -> AccessRule:
    kind, _, pattern = text.partition(" ")
    if kind not in _KINDS or not pattern:
        return AccessRule(text, True, True, False)
    return AccessRule(pattern.strip(), *_KINDS[kind], kind == "deny")
