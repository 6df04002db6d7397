"""What single lines and links of Mosquitto reveal: peers, clashes, both sides, sessions, secrets, lines in vain."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from topicloom.auditing.audit_findings import Finding, Place
from topicloom.auditing.mosquitto_broker import MosquittoBroker

if TYPE_CHECKING:
    from topicloom.auditing.mosquitto_mesh import Link


def oddities_of(brokers: Mapping[str, MosquittoBroker], links: Sequence["Link"]) -> Iterator[Finding]:
    """All of them, one kind after the other."""
    yield from both_sides([(link.owner, link.acceptor, link.bridge.place) for link in links])
    yield from _clashes(links)
    yield from _unknown(links)
    yield from _in_vain(links)
    yield from _sessions(brokers)
    yield from secrets_of({name: broker.secrets for name, broker in brokers.items()})


def both_sides(dials: Sequence[tuple[str, str | None, Place]]) -> Iterator[Finding]:
    """Links that both ends configure, or one end twice."""
    found: dict[frozenset[str], list[tuple[str, Place]]] = {}
    for owner, acceptor, place in dials:
        if acceptor is not None:
            found.setdefault(frozenset((owner, acceptor)), []).append((owner, place))
    for ends, places in found.items():
        one, other = min(ends), max(ends)
        lines = tuple(place for _, place in places)
        if one == other:
            yield Finding("both-sides", f"broker {one!a} dials itself ({lines[0]})", lines)
        elif len({owner for owner, _ in places}) == 2:
            yield Finding(
                "both-sides", f"link {one!a} – {other!a} is configured on both sides ({_listed(lines)})", lines
            )


def _clashes(links: Sequence["Link"]) -> Iterator[Finding]:
    remote: dict[tuple[str, str], list[Place]] = {}
    local: dict[tuple[str, str], list[Place]] = {}
    for link in links:
        if link.acceptor is not None:
            remote.setdefault((link.acceptor, link.client), []).append(link.bridge.place)
        own = link.bridge.value("local_clientid") or f"local.{link.client}"
        local.setdefault((link.owner, own), []).append(link.bridge.place)
    for (broker, client), places in (*remote.items(), *local.items()):
        if len(places) > 1:
            text = f"{len(places)} bridges have the client id {client!a} at {broker!a} and throw each other out"
            yield Finding("client-id-clash", f"{text} ({_listed(places)})", tuple(places))


def _unknown(links: Sequence["Link"]) -> Iterator[Finding]:
    for link in links:
        if link.acceptor is None:
            host, port = link.bridge.addresses[0]
            text = f"bridge {link.bridge.name!a} of {link.owner!a} dials {host!a} port {port}, none of these brokers"
            yield Finding("unknown-peer", f"{text} ({link.bridge.place})", (link.bridge.place,))


def _in_vain(links: Sequence["Link"]) -> Iterator[Finding]:
    for link in links:
        for rule in link.bridge.rules:
            if rule.receives and rule.remote not in link.bridge.fetched:
                text = f"the line for {rule.remote!a} fetches nothing: a later out line takes the same filter back"
                yield Finding("in-vain", f"{text} ({rule.place})", (rule.place,), rule.remote)


def _sessions(brokers: Mapping[str, MosquittoBroker]) -> Iterator[Finding]:
    for name, broker in brokers.items():
        kept = [bridge for bridge in broker.bridges if bridge.value("cleansession", "false") != "true"]
        if kept:
            lines = tuple(
                one.settings["cleansession"].place if "cleansession" in one.settings else one.place for one in kept
            )
            text = f"{len(kept)} bridge(s) of {name!a} have cleansession false (the default)"
            yield Finding("kept-session", f"{text}: a topic that is removed keeps flowing ({_listed(lines)})", lines)


def secrets_of(places: Mapping[str, Sequence[Place]]) -> Iterator[Finding]:
    """Secrets in clear text: where, never what."""
    for name, lines in places.items():
        if lines:
            yield Finding(
                "secret", f"the configuration of {name!a} holds a secret in clear text ({_listed(lines)})", tuple(lines)
            )


def _listed(places: Sequence[Place], most: int = 4) -> str:
    shown = ", ".join(map(str, places[:most]))
    return shown if len(places) <= most else f"{shown} and {len(places) - most:,} more"
