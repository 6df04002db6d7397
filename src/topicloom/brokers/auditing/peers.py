"""Find out which audited broker an address belongs to."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

_COMMON_PORTS = (1883, 8883, 4222, 7422)
_ANY = ("", "0.0.0.0", "::", "[::]", "*")


class Door(NamedTuple):
    """Where a broker listens. The host is empty where it listens everywhere."""

    broker: str
    file: str
    host: str
    port: int

    @property
    def alias(self) -> str:
        """What the broker's configuration file is called."""
        return self.file.rsplit("/", 1)[-1].removesuffix(".conf")


class Peers:
    """Brokers by address.

    An address is looked up in the inventory first. Then come the hosts that brokers are bound to, brokers that are
    named like the host, a port that only one other broker has, and last a link named ``OWNER--PEER``.
    """

    def __init__(self, doors: Sequence[Door], known: Mapping[tuple[str, int], str]) -> None:
        self._known = {(_plain(host), port): broker for (host, port), broker in known.items()}
        self._aliases = {door.alias: door.broker for door in doors}
        self._by_port: dict[int, list[Door]] = {}
        for door in doors:
            self._by_port.setdefault(door.port, []).append(door)

    def at(self, owner: str, host: str, port: int, link: str = "") -> str | None:
        """Find the broker that an owner reaches at an address. Returns None if none is certain."""
        doors = self._by_port.get(port, [])
        same = {door.broker for door in doors if door.host == host}
        host = _plain(host)
        if (host, port) in self._known:
            return self._known[host, port]
        bound = {door.broker for door in doors if _plain(door.host) == host and host not in _ANY}
        named = {door.broker for door in doors if host in (door.alias, door.broker)}
        others = {door.broker for door in doors if door.broker != owner and _may_be(door.host, host)}
        for found in (same, bound, named, others if port not in _COMMON_PORTS else set()):
            if len(found) == 1:
                return found.pop()
        one, dashes, other = link.partition("--")
        return self._aliases.get(other) if dashes and self._aliases.get(one) == owner else None


def _plain(host: str) -> str:
    bare = host.lower().strip("[]")
    return "localhost" if bare.startswith("127.") or bare == "::1" else bare


def _may_be(bound: str, asked: str) -> bool:
    """Whether a listener can be what is asked for: one that listens everywhere can, or the same host."""
    return bound in _ANY or _plain(bound) == asked
