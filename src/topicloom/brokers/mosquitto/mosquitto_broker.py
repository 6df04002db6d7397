"""One Mosquitto broker as its configuration describes it: listeners, bridges, rules, access rules, secrets."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from topicloom.brokers.auditing.access import Access, read_access
from topicloom.brokers.auditing.audit_effort import Effort
from topicloom.brokers.auditing.audit_findings import Place
from topicloom.brokers.auditing.filters import FilterTree, is_filter
from topicloom.brokers.mosquitto.mosquitto_file import Setting, included_files, settings_of
from topicloom.brokers.mosquitto.mosquitto_words import NEWER, OF_BRIDGES, Grammar, refused
from topicloom.errors import UnreadableInputError

_DIRECTIONS = {"out": (True, False), "in": (False, True), "both": (True, True)}
_PORT, _MOST_LINES = 1883, 300_000
_SECRETS = ("remote_password", "local_password", "bridge_psk")
_SECRET_OPTION = re.compile("pass|secret|token|key", re.IGNORECASE)
_HOST = re.compile(r"[0-9A-Za-z_-]{1,63}(\.[0-9A-Za-z_-]{1,63})*\.?|[0-9A-Fa-f:.]+(%\w+)?")
_UNFOLLOWED = {
    "auth_plugin": "rules of a plugin",
    "mount_point": "mount_point, which puts a prefix before all names of a listener",
    "per_listener_settings": "per_listener_settings: an acl_file counts for the whole broker here",
    "start_type": "a bridge that is not started automatically, as if it were up",
}


class Rule(NamedTuple):
    """A ``topic`` line: filters at both ends, prefixes, and which way it carries."""

    local: str
    remote: str
    local_prefix: str
    remote_prefix: str
    sends: bool
    receives: bool
    place: Place
    qos: int = 0

    @property
    def renames(self) -> bool:
        """Whether it has a prefix, which makes it decide the new name."""
        return self.local_prefix != "" or self.remote_prefix != ""


@dataclass
class Bridge:
    """A ``connection`` with what belongs to it."""

    name: str
    place: Place
    addresses: tuple[tuple[str, int], ...] = ()
    rules: list[Rule] = field(default_factory=list)
    settings: dict[str, Setting] = field(default_factory=dict)

    def value(self, word: str, default: str = "") -> str:
        """The text of a setting."""
        return self.settings[word].rest.strip(" ") if word in self.settings else default

    def says(self, word: str, *, default: bool) -> bool:
        """The truth of a setting, which may also be a digit."""
        return self.settings[word].values[0] in ("true", "1") if word in self.settings else default

    @cached_property
    def newest(self) -> bool:
        """Whether it speaks MQTT 5, where filters that overlap give one copy each."""
        return self.value("bridge_protocol_version") == "mqttv50"

    @cached_property
    def echoes(self) -> bool:
        """Whether the other end sends back what it gets: no MQTT 5, and told not to say that it is a bridge."""
        return not self.newest and not self.says("try_private", default=True)

    @property
    def unsubscribes(self) -> bool:
        """Whether an ``out`` line takes back the same filter of an earlier ``in`` line."""
        return self.says("bridge_attempt_unsubscribe", default=True)

    @cached_property
    def sent(self) -> dict[str, Place]:
        """Filters that the bridge subscribes to at its own broker."""
        return {rule.local: rule.place for rule in reversed(self.rules) if rule.sends}

    @cached_property
    def fetched(self) -> dict[str, Place]:
        """Filters that the bridge subscribes to at the other end."""
        found: dict[str, Place] = {}
        for rule in self.rules:
            if rule.receives:
                found[rule.remote] = rule.place
            elif self.unsubscribes:
                found.pop(rule.remote, None)
        return found

    @cached_property
    def _renames(self) -> bool:
        return any(rule.renames for rule in self.rules)

    @cached_property
    def _renaming(self) -> tuple["FilterTree", "FilterTree"]:
        """Rules with a prefix, by the filter at the own end and by that at the other one."""
        out, into = FilterTree(), FilterTree()
        for number, rule in enumerate(self.rules):
            if rule.renames and rule.sends:
                out.add(rule.local, number)
            if rule.renames and rule.receives:
                into.add(rule.remote, number)
        return out, into

    def outward(self, name: str) -> str:
        """The name under which a message leaves: the first matching rule with a prefix decides."""
        if not self._renames:
            return name
        met = self._renaming[0].met(name)
        if not met:
            return name
        rule = self.rules[min(met)]
        return rule.remote_prefix + name.removeprefix(rule.local_prefix)

    def inward(self, name: str) -> str:
        """The name under which a message arrives."""
        if not self._renames:
            return name
        met = self._renaming[1].met(name)
        if not met:
            return name
        rule = self.rules[min(met)]
        return rule.local_prefix + name.removeprefix(rule.remote_prefix)


@dataclass
class MosquittoBroker:
    """One broker, as configured."""

    name: str
    file: str
    listeners: list[tuple[str, int]] = field(default_factory=list)
    bridges: list[Bridge] = field(default_factory=list)
    secrets: list[Place] = field(default_factory=list)
    access: Access | None = None
    unfollowed: list[tuple[str, Place]] = field(default_factory=list)


def read_mosquitto(path: Path, name: str, shown: str, effort: Effort | None = None) -> MosquittoBroker:
    """Read the configuration of one broker.

    Raises
    ------
    InputNotFoundError, UnreadableInputError
        With file and line: a file that is missing, or a line with which Mosquitto would not start.
    """
    reading = _Reading(MosquittoBroker(name, shown), path, effort or Effort())
    reading.read(path, shown, main=True)
    broker = reading.broker
    _check(broker.bridges)
    broker.listeners = broker.listeners or [("localhost", _PORT)]
    return broker


@dataclass
class _Reading:
    """Reads a broker's files: an included file begins outside of every connection."""

    broker: MosquittoBroker
    path: Path
    effort: Effort
    _grammar: Grammar = field(default_factory=Grammar)
    _names: dict[str, Bridge] = field(default_factory=dict)
    _bound: dict[int, list[str]] = field(default_factory=dict)
    _lines: int = 0

    def read(self, path: Path, shown: str, *, main: bool) -> None:
        bridge: Bridge | None = None
        for setting in settings_of(path, shown, self.effort):
            self._lines += 1
            if self._lines > _MOST_LINES:
                raise UnreadableInputError(f"{setting.place}: a broker with over {_MOST_LINES:,} lines is not read")
            word = self._grammar.check(setting, bridge)
            if word == "include_dir":
                self._include(setting, main=main)
            elif word == "connection":
                bridge = self._opened(setting)
            elif bridge is not None and word in OF_BRIDGES:
                _bridge_line(bridge, word, setting)
            else:
                self._general(word, setting)
            self._note(word, setting)

    def _include(self, setting: Setting, *, main: bool) -> None:
        if not main:
            text = "include_dir in an included file is ignored by Mosquitto 2.0 and refused by 2.1"
            self.broker.unfollowed.append((text, setting.place))
            return
        for one, shown in included_files(self.path, setting):
            self.read(one, shown, main=False)

    def _opened(self, setting: Setting) -> Bridge:
        bridge = Bridge(setting.values[0], setting.place)
        twin = self._names.setdefault(bridge.name, bridge)
        if twin is not bridge:
            raise refused(setting, f"connection {bridge.name!r} is there already ({twin.place})")
        self.broker.bridges.append(bridge)
        return bridge

    def _general(self, word: str, setting: Setting) -> None:
        broker = self.broker
        if word in ("listener", "port"):
            broker.listeners.append(self._listener(setting))
        elif word == "bind_address" and broker.listeners:
            broker.listeners[0] = (setting.rest.strip(), broker.listeners[0][1])
        elif word == "acl_file":
            broker.access = read_access(self.path, setting.rest.strip(), setting.place, self.effort)

    def _listener(self, setting: Setting) -> tuple[str, int]:
        host = setting.values[1] if len(setting.values) > 1 and setting.word == "listener" else ""
        host = "" if host.startswith("#") else host
        port = port_of(setting.values[0], setting.place)
        if port == 0 and not host:
            raise refused(setting, "a listener with port 0 needs the path of a socket")
        if port and host and not _HOST.fullmatch(host):
            raise refused(setting, f"{host[:40]!r} is no host")
        others = self._bound.setdefault(port, [])
        if port and any(host == other or not host or not other for other in others):
            raise refused(setting, f"port {port} is taken by another listener of this broker")
        others.append(host)
        return host, port

    def _note(self, word: str, setting: Setting) -> None:
        """Note secrets, and lines that the audit knows and does not follow."""
        if _holds_secret(word, setting):
            self.broker.secrets.append(setting.place)
        if word in NEWER:
            text = f"{setting.word} is a directive of Mosquitto 2.1, with which 2.0 does not start"
            self.broker.unfollowed.append((text, setting.place))
        elif word in _UNFOLLOWED and setting.values[:1] not in (("false",), ("0",), ("automatic",)):
            self.broker.unfollowed.append((_UNFOLLOWED[word], setting.place))
        elif word == "address" and sum(not value.startswith("#") for value in setting.values) > 1:
            self.broker.unfollowed.append(("addresses for fail-over: only the first that is known is", setting.place))


def _holds_secret(word: str, setting: Setting) -> bool:
    text = setting.rest.strip()
    if word == "address":
        return any(
            ":" in one.rpartition("@")[0].removeprefix("mqtt://").removeprefix("mqtts://") for one in setting.values
        )
    secret = word in _SECRETS or (word.startswith(("auth_opt_", "plugin_opt_")) and _SECRET_OPTION.search(word))
    return bool(secret and text and not (text.startswith("@") and text.endswith("@")))


def _bridge_line(bridge: Bridge, word: str, setting: Setting) -> None:
    if word == "topic":
        bridge.rules.append(_rule(setting))
    elif word == "address":
        if bridge.addresses:
            raise refused(setting, f"connection {bridge.name!r} has an address already")
        given = list(takewhile(lambda one: not one.startswith("#"), setting.values))
        if not given:
            raise refused(setting, "address needs a value")
        bridge.addresses = tuple(_address(one, setting.place, _PORT) for one in given)
    else:
        bridge.settings[word] = setting


def port_of(text: str, place: Place, least: int = 0) -> int:
    """A port. What is none is shown only if it holds digits, since it may be part of a password."""
    if text.isascii() and text.isdigit() and len(text) < 6 and least <= int(text) < 65536:
        return int(text)
    shown = f"{text!r} is" if text.isascii() and text.isdigit() and len(text) < 6 else "that is"
    raise UnreadableInputError(f"{place}: {shown} no port; a number from {least} to 65535 is")


def _address(text: str, place: Place, default: int) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        return _host(text), default
    return _host(host), port_of(port, place, 1)


def _host(text: str) -> str:
    """The host of an address, without a user and a password that somebody put before it."""
    return text.rpartition("@")[2].rpartition("//")[2]


def _rule(setting: Setting) -> Rule:
    words = list(setting.values[:5])
    words += [""] * (5 - len(words))
    for place in range(2, 5):
        if words[place].startswith("#"):
            words[place:] = [""] * (5 - place)
            break
    pattern, direction, qos, local, remote = ("" if word == '""' else word for word in words)
    if direction and direction.lower() not in _DIRECTIONS:
        raise UnreadableInputError(f"{setting.place}: {direction[:40]!r} is no direction; in, out and both are")
    if qos not in ("", "0", "1", "2"):
        raise UnreadableInputError(f"{setting.place}: {qos[:40]!r} is no QoS; 0, 1 and 2 are")
    if not pattern and not (local and remote):
        raise UnreadableInputError(f'{setting.place}: the pattern "" needs both prefixes')
    for prefix in (local, remote):
        if not prefix:
            continue
        if "+" in prefix or "#" in prefix:
            raise UnreadableInputError(f"{setting.place}: the prefix {prefix[:40]!r} holds a wildcard")
        if not is_filter(prefix + pattern):
            raise refused(setting, f"{(prefix + pattern)[:40]!r} is no filter")
    sends, receives = _DIRECTIONS[direction.lower() or "out"]
    return Rule(local + pattern, remote + pattern, local, remote, sends, receives, setting.place, int(qos or 0))


def _check(bridges: Iterable[Bridge]) -> None:
    for bridge in bridges:
        missing = "address" if not bridge.addresses else "topic" if not bridge.rules else None
        keyed = {"bridge_psk", "bridge_identity"} - set(bridge.settings)
        missing = keyed.pop() if missing is None and len(keyed) == 1 else missing
        if missing:
            raise UnreadableInputError(
                f"{bridge.place}: connection {bridge.name!r} has no {missing} line; Mosquitto does not start"
            )
