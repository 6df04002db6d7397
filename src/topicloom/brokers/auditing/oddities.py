"""What single lines and links of Mosquitto reveal: peers, clashes, both sides, sessions, secrets, lines in vain."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from topicloom.brokers.auditing.audit_findings import Finding, Place
from topicloom.brokers.mosquitto.mosquitto_broker import MosquittoBroker
from topicloom.files.read.patterns import MQTT

if TYPE_CHECKING:
    from topicloom.brokers.mosquitto.mosquitto_mesh import Link, MosquittoMesh


def oddities_of(mesh: "MosquittoMesh") -> Iterator[Finding]:
    """All of them, one kind after the other."""
    brokers, links = mesh.brokers, mesh.links
    yield from both_sides([(link.owner, link.acceptor, link.bridge.place) for link in links])
    yield from _clashes(links)
    yield from _unknown(links)
    yield from _in_vain(links)
    yield from _sessions(brokers)
    yield from _qualities(links, mesh.planned_qos)
    yield from unfollowed_of({name: broker.unfollowed for name, broker in brokers.items()})
    if mesh.overlaps_skipped:
        text = "too many wildcards: names that two filters have in common are not followed, only one for each filter"
        yield Finding("not-followed", text)
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
            yield Finding("both-sides", f"broker {one!r} dials itself ({lines[0]})", lines)
        elif len({owner for owner, _ in places}) == 2:
            yield Finding(
                "both-sides", f"link {one!r} – {other!r} is configured on both sides ({_listed(lines)})", lines
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
            text = f"{len(places)} bridges have the client id {client!r} at {broker!r} and throw each other out"
            yield Finding("client-id-clash", f"{text} ({_listed(places)})", tuple(places))


def _unknown(links: Sequence["Link"]) -> Iterator[Finding]:
    for link in links:
        if link.acceptor is None:
            host, port = link.bridge.addresses[0]
            text = f"bridge {link.bridge.name!r} of {link.owner!r} dials {host!r} port {port}, none of these brokers"
            yield Finding("unknown-peer", f"{text} ({link.bridge.place})", (link.bridge.place,))


def _in_vain(links: Sequence["Link"]) -> Iterator[Finding]:
    for link in links:
        fetched = link.bridge.fetched
        for rule in link.bridge.rules:
            if rule.receives and rule.remote not in fetched:
                text = f"the line for {rule.remote!r} fetches nothing: a later out line takes the same filter back"
                yield Finding("in-vain", f"{text} ({rule.place})", (rule.place,), rule.remote)


def _sessions(brokers: Mapping[str, MosquittoBroker]) -> Iterator[Finding]:
    for name, broker in brokers.items():
        kept = [bridge for bridge in broker.bridges if not bridge.says("cleansession", default=False)]
        if kept:
            lines = tuple(
                one.settings["cleansession"].place if "cleansession" in one.settings else one.place for one in kept
            )
            text = f"{len(kept)} bridge(s) of {name!r} have cleansession false (the default)"
            yield Finding("kept-session", f"{text}: a topic that is removed keeps flowing ({_listed(lines)})", lines)


def _qualities(links: Sequence["Link"], planned: int | None) -> Iterator[Finding]:
    """Topics that lines carry with different QoS, or with another than was planned."""
    seen: dict[str, dict[int, Place]] = {}
    for link in links:
        for rule in link.bridge.rules:
            if link.acceptor is not None:
                seen.setdefault(rule.local, {}).setdefault(rule.qos, rule.place)
    for name, places in sorted(seen.items()):
        lines = tuple(places[qos] for qos in sorted(places))
        levels = " and ".join(map(str, sorted(places)))
        what = "lines with" if MQTT.has_wildcard(name) else "links with"
        if len(places) > 1:
            text = f"{name!r} crosses {what} QoS {levels} ({_listed(lines)}): the lowest on its way is what a copy has"
            yield Finding("qos", text, lines, name)
        elif planned is not None and planned not in places:
            text = f"{name!r} crosses links with QoS {levels}, planned was {planned} ({_listed(lines)})"
            yield Finding("qos", text, lines, name)


def unfollowed_of(lines: Mapping[str, Sequence[tuple[str, Place]]]) -> Iterator[Finding]:
    """Lines that the broker knows and the audit does not follow, one finding for each reason and broker."""
    for name, met in lines.items():
        places: dict[str, list[Place]] = {}
        for text, place in met:
            places.setdefault(text, []).append(place)
        for text, given in places.items():
            yield Finding("not-followed", f"{name!r}: {text} ({_listed(given)})", tuple(given))


def secrets_of(places: Mapping[str, Sequence[Place]]) -> Iterator[Finding]:
    """Secrets in clear text: where, never what."""
    for name, lines in places.items():
        if lines:
            yield Finding(
                "secret", f"the configuration of {name!r} holds a secret in clear text ({_listed(lines)})", tuple(lines)
            )


def _listed(places: Sequence[Place], most: int = 4) -> str:
    shown = ", ".join(map(str, places[:most]))
    return shown if len(places) <= most else f"{shown} and {len(places) - most:,} more"
