"""One Mosquitto broker as its configuration describes it: listeners, bridges, rules, access rules, secrets."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from topicloom.auditing.access import Access, read_access
from topicloom.auditing.audit_findings import Place
from topicloom.auditing.filters import matches
from topicloom.auditing.mosquitto_file import Setting, settings_of
from topicloom.errors import UnreadableInputError

_ALIASES = {"clientid": "remote_clientid", "username": "remote_username", "password": "remote_password"}
_DIRECTIONS = {"out": (True, False), "in": (False, True), "both": (True, True)}
_PORT = 1883


@dataclass(frozen=True)
class Rule:
    """A ``topic`` line: filters at both ends, prefixes, and which way it carries."""

    local: str
    remote: str
    local_prefix: str
    remote_prefix: str
    sends: bool
    receives: bool
    place: Place

    @property
    def renames(self) -> bool:
        """Whether it has a prefix, which makes it decide the new name."""
        return bool(self.local_prefix or self.remote_prefix)


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

    @property
    def newest(self) -> bool:
        """Whether it speaks MQTT 5, where filters that overlap give one copy each."""
        return self.value("bridge_protocol_version") == "mqttv50"

    @property
    def echoes(self) -> bool:
        """Whether the other end sends back what it gets: no MQTT 5, and told not to say that it is a bridge."""
        return not self.newest and self.value("try_private", "true") == "false"

    @property
    def unsubscribes(self) -> bool:
        """Whether an ``out`` line takes back the same filter of an earlier ``in`` line."""
        return self.value("bridge_attempt_unsubscribe", "true") != "false"

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

    def outward(self, name: str) -> str:
        """The name under which a message leaves: the first matching rule with a prefix decides."""
        for rule in self.rules:
            if rule.sends and rule.renames and matches(rule.local, name):
                return rule.remote_prefix + name.removeprefix(rule.local_prefix)
        return name

    def inward(self, name: str) -> str:
        """The name under which a message arrives."""
        for rule in self.rules:
            if rule.receives and rule.renames and matches(rule.remote, name):
                return rule.local_prefix + name.removeprefix(rule.remote_prefix)
        return name


@dataclass
class MosquittoBroker:
    """One broker, as configured."""

    name: str
    file: str
    listeners: list[tuple[str, int]] = field(default_factory=list)
    bridges: list[Bridge] = field(default_factory=list)
    secrets: list[Place] = field(default_factory=list)
    access: Access | None = None


def read_mosquitto(path: Path, name: str, shown: str) -> MosquittoBroker:
    """Read the configuration of one broker.

    Raises
    ------
    InputNotFoundError, UnreadableInputError
        With file and line: a file that is missing, or a line with which Mosquitto would not start.
    """
    broker = MosquittoBroker(name, shown)
    bridge: Bridge | None = None
    for setting in settings_of(path, shown):
        if setting is None:
            bridge = None
        elif setting.word == "connection":
            bridge = _opened(broker, setting)
        elif setting.word in ("listener", "port"):
            broker.listeners.append(_listener(setting))
        elif setting.word == "bind_address" and broker.listeners:
            broker.listeners[0] = (setting.rest, broker.listeners[0][1])
        elif setting.word == "acl_file":
            broker.access = read_access(path, setting.rest.strip(" "), setting.place)
        elif setting.word in ("topic", "address", "addresses"):
            _bridge_line(bridge, setting)
        else:
            _other(broker, bridge, setting)
    _check(broker.bridges)
    broker.listeners = broker.listeners or [("localhost", _PORT)]
    return broker


def _opened(broker: MosquittoBroker, setting: Setting) -> Bridge:
    if not setting.rest:
        raise UnreadableInputError(f"{setting.place}: connection has no name")
    bridge = Bridge(setting.rest.strip(" "), setting.place)
    twin = next((one for one in broker.bridges if one.name == bridge.name), None)
    if twin is not None:
        raise UnreadableInputError(
            f"{setting.place}: connection {bridge.name!a} is there already ({twin.place}); Mosquitto does not start"
        )
    broker.bridges.append(bridge)
    return bridge


def _bridge_line(bridge: Bridge | None, setting: Setting) -> None:
    if bridge is None:
        raise UnreadableInputError(f"{setting.place}: {setting.word} stands outside a connection")
    if setting.word == "topic":
        bridge.rules.append(_rule(setting))
    else:
        bridge.addresses += tuple(_address(one, setting.place, _PORT) for one in setting.values)


def _other(broker: MosquittoBroker, bridge: Bridge | None, setting: Setting) -> None:
    word = _ALIASES.get(setting.word, setting.word)
    if bridge is not None:
        bridge.settings[word] = setting
    marked = setting.rest.startswith("@") and setting.rest.endswith("@")
    if word in ("remote_password", "bridge_psk") and setting.rest and not marked:
        broker.secrets.append(setting.place)


def _listener(setting: Setting) -> tuple[str, int]:
    if not setting.values:
        raise UnreadableInputError(f"{setting.place}: {setting.word} needs a port")
    host = setting.values[1] if len(setting.values) > 1 and setting.word == "listener" else ""
    return host, _number(setting.values[0], setting.place)


def _number(text: str, place: Place) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6 and int(text) < 65536):
        raise UnreadableInputError(f"{place}: {text[:40]!a} is no port; a number from 0 to 65535 is")
    return int(text)


def _address(text: str, place: Place, default: int) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        return text, default
    return host, _number(port, place)


def _rule(setting: Setting) -> Rule:
    words = [*setting.values[:5], *[""] * (5 - len(setting.values[:5]))]
    pattern, direction, qos, local, remote = ("" if word == '""' else word for word in words)
    if not setting.values:
        raise UnreadableInputError(f"{setting.place}: topic has no pattern")
    if direction and direction.lower() not in _DIRECTIONS:
        raise UnreadableInputError(f"{setting.place}: {direction[:40]!a} is no direction; in, out and both are")
    if qos and qos[0] != "#" and qos not in ("0", "1", "2"):
        raise UnreadableInputError(f"{setting.place}: {qos[:40]!a} is no QoS; 0, 1 and 2 are")
    if not pattern and not (local and remote):
        raise UnreadableInputError(f'{setting.place}: the pattern "" needs both prefixes')
    for prefix in (local, remote):
        if "+" in prefix or "#" in prefix:
            raise UnreadableInputError(f"{setting.place}: the prefix {prefix[:40]!a} holds a wildcard")
    sends, receives = _DIRECTIONS[direction.lower() or "out"]
    return Rule(local + pattern, remote + pattern, local, remote, sends, receives, setting.place)


def _check(bridges: Iterable[Bridge]) -> None:
    for bridge in bridges:
        missing = "address" if not bridge.addresses else "topic" if not bridge.rules else None
        if missing:
            raise UnreadableInputError(
                f"{bridge.place}: connection {bridge.name!a} has no {missing} line; Mosquitto does not start"
            )
