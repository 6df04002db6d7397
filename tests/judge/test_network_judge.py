"""The judge of networks against brute force: every rule read by hand, every failure unit deleted."""

import itertools
from collections import Counter

import numpy as np
import pytest

import topicloom as tl
from topicloom.errors import InvalidInterestError, InvalidOptionError, NoTruthValueError
from topicloom.judge import verify_network

CASES, SITE_CASES = 1_000, 1_000


def pieces(members, wants, links):
    """Pieces of a topic that hold a subscriber, by search."""
    left, found = set(members), 0
    while left:
        stack, piece = [left.pop()], set()
        while stack:
            v = stack.pop()
            piece.add(v)
            reached = {w for u, w in links if u == v} | {u for u, w in links if w == v}
            stack += reached & left
            left -= reached
        found += bool(piece & wants)
    return found


def broken_by_deletion(wants, carries, links, units):
    """Topics that break, with the unit that is down: None is nobody."""
    found = set()
    for topic, subscribers in wants.items():
        for unit, down in (None, set()), *units.items():
            up = (subscribers | carries.get(topic, set())) - down
            inside = [(u, v) for u, v in links if u in up and v in up]
            if pieces(up, subscribers - down, inside) > 1:
                found.add((topic, unit))
    return found


def draw_case(rng):
    """A tiny network with every mix of rules, and links that keep most of them."""
    n, n_sites = int(rng.integers(3, 8)), int(rng.integers(1, 4))
    names, sites = [f"v{v}" for v in range(n)], [f"s{s}" for s in range(n_sites)]
    nodes = [
        {
            "node": name,
            "site": str(rng.choice(sites)),
            "rack": f"r{rng.integers(3)}",
            "max_links": int(rng.integers(1, n + 1)) if rng.random() < 0.3 else None,
            "relay": bool(rng.random() < 0.4),
            "dials": bool(rng.random() < 0.7),
            "accepts": bool(rng.random() < 0.7),
        }
        for name in names
    ]
    used = sorted({node["site"] for node in nodes})
    between = list(itertools.product(used, used))
    rng.shuffle(between)
    site_pairs = [
        {"from": a, "to": b, "may_dial": bool(rng.random() < 0.7)} for a, b in between[: int(rng.integers(0, 6))]
    ]
    if rng.random() < 0.3:
        site_pairs.append({"from": "*", "to": "*", "may_dial": bool(rng.random() < 0.5)})
    everywhere = list(itertools.combinations(range(n), 2))
    pairs = [
        {"src": names[v], "dst": names[u], "forbidden": bool(rng.random() < 0.6)}
        for u, v in everywhere
        if rng.random() < 0.15
    ]
    bound = [{"topic": "t0", "allowed_sites": ";".join(used[: int(rng.integers(1, 4))])}] if rng.random() < 0.3 else []
    tables = {"site_pairs": site_pairs, "pairs": pairs, "topics": bound}
    wants = {f"t{t}": {int(v) for v in rng.choice(n, int(rng.integers(1, n + 1)), replace=False)} for t in range(3)}
    carries = {topic: {v for v in range(n) if rng.random() < 0.15} for topic in wants}
    links = [pair for pair in everywhere if rng.random() < 0.5]
    return names, nodes, {name: rows for name, rows in tables.items() if rows}, wants, carries, links


def may_dial(rows, a, b):
    """What the rows of sites say, by the words of the guide."""
    for row in rows:
        if (row["from"], row["to"]) == (a, b):
            return row["may_dial"]
    for row in rows:
        if (row["from"], row["to"]) == (b, a):
            return row["may_dial"]
    if a == b:
        return True
    for row in rows:
        if row["from"] == "*":
            return row["may_dial"]
    return not any(row["from"] != row["to"] for row in rows)


def faults_by_hand(names, nodes, tables, wants, carries, links, column):
    rows, found = tables.get("site_pairs", []), Counter()
    forbidden = {frozenset((row["src"], row["dst"])) for row in tables.get("pairs", []) if row["forbidden"]}
    for u, v in links:
        ways = [(nodes[u], nodes[v]), (nodes[v], nodes[u])]
        if frozenset((names[u], names[v])) in forbidden:
            found["forbidden-link"] += 1
        elif not any(x["dials"] and y["accepts"] and may_dial(rows, x["site"], y["site"]) for x, y in ways):
            found["undialled-link"] += 1
    for v, node in enumerate(nodes):
        degree = sum(v in link for link in links)
        found["over-limit"] += node["max_links"] is not None and degree > node["max_links"]
    for topic, relays in carries.items():
        for v in relays:
            found["needless-relay"] += v in wants[topic]
            found["relay-not-permitted"] += v not in wants[topic] and not nodes[v]["relay"]
        for row in tables.get("topics", []):
            if row["topic"] == topic:
                for v in relays | wants[topic]:
                    found["topic-off-site"] += nodes[v]["site"] not in row["allowed_sites"].split(";")
    units = {}
    for v, node in enumerate(nodes):
        units.setdefault(node[column], set()).add(v)
    return +found, broken_by_deletion(wants, carries, links, units)


def as_arguments(names, wants, carries, links):
    pairs = [(names[v], topic) for topic, members in wants.items() for v in members]
    ends = [(names[u], names[v]) for u, v in links]
    return pairs, ends, [(names[v], topic) for topic, members in carries.items() for v in members]


def test_it_finds_what_brute_force_finds():
    rng = np.random.default_rng(7)
    faulty, clean = 0, 0
    for case in range(CASES):
        names, nodes, tables, wants, carries, links = draw_case(rng)
        pairs, ends, relays = as_arguments(names, wants, carries, links)
        network = tl.Network.from_tables(nodes, **tables)
        interest = all_nodes(names, pairs)
        column = str(rng.choice(["site", "rack"]))
        verdict = verify_network(interest, ends, network, relays=relays, survive=column)
        counted, broken = faults_by_hand(names, nodes, tables, wants, carries, links, column)
        rules = Counter(fault.kind for fault in verdict.faults if not fault.kind.startswith("broken-"))
        assert rules == counted
        found = {
            (f.names[0], None if f.kind == "broken-topic" else f.names[1]) for f in verdict.faults if "broken" in f.kind
        }
        assert found == broken
        assert verdict.ok == (not counted and not broken)
        assert verdict.broken_topics == len({topic for topic, _ in broken})
        faulty, clean = faulty + bool(counted), clean + (not broken)
        if case % 5 == 0:
            agrees_with_arrays(network, interest, verdict)
    assert min(faulty, clean) > CASES // 20  # both kinds of case were drawn


def all_nodes(names, pairs):
    """An interest that has nodes without a subscription, too."""
    topics = sorted({topic for _, topic in pairs})
    return tl.Interest.from_ids(
        np.array([names.index(node) for node, _ in pairs]),
        np.array([topics.index(topic) for _, topic in pairs]),
        n_nodes=len(names),
        n_topics=len(topics),
        node_labels=np.array(names, dtype=np.dtypes.StringDType()),
        topic_labels=np.array(topics, dtype=np.dtypes.StringDType()),
    )


def agrees_with_arrays(network, interest, verdict):
    """The prices by name forbid the links that the judge finds, which reads the rows by itself."""
    bad = {f.names for f in verdict.faults if f.kind in ("forbidden-link", "undialled-link")}
    for ends in bad:
        assert network.price(*ends) == np.inf
    every = list(itertools.combinations(interest.node_labels.tolist(), 2))
    found = verify_network(interest, every, network).faults
    assert {f.names for f in found if "link" in f.kind and f.kind != "missing-link"} == {
        ends for ends in every if network.price(*ends) == np.inf
    }


def test_site_failures_of_six_sites_of_eight_are_those_of_deletion():
    rng = np.random.default_rng(11)
    names = [f"b{v:02}" for v in range(48)]
    nodes = [{"node": name, "site": f"s{v // 8}", "relay": v % 8 == 0} for v, name in enumerate(names)]
    network = tl.Network.from_tables(nodes)
    units = {f"s{s}": set(range(8 * s, 8 * s + 8)) for s in range(6)}
    broken = held = 0
    for _ in range(SITE_CASES):
        wants = {f"t{t}": {int(v) for v in rng.choice(48, int(rng.integers(3, 9)), replace=False)} for t in range(4)}
        carries = {t: {8 * s for s in range(6) if rng.random() < 0.4} - wants[t] for t in wants}
        links = set()
        for topic, members in wants.items():
            ring = rng.permutation(sorted(members | carries[topic])).tolist()
            links |= {(min(u, v), max(u, v)) for u, v in zip(ring, ring[1:] + ring[:1]) if rng.random() < 0.95}
            links |= {(min(u, v), max(u, v)) for u, v in zip(ring, ring[2:]) if rng.random() < 0.7}
        pairs, ends, relays = as_arguments(names, wants, carries, sorted(links))
        verdict = verify_network(all_nodes(names, pairs), ends, network, relays=relays, survive="site")
        assert verdict.units == 6
        found = {(f.names[0], None if f.kind == "broken-topic" else f.names[1]) for f in verdict.faults}
        assert found == broken_by_deletion(wants, carries, sorted(links), units)
        broken, held = broken + bool(found), held + (not found)
    assert min(broken, held) > SITE_CASES // 20


def test_a_required_link_is_missed_and_a_fault_is_a_sentence():
    network = tl.Network.from_tables({"node": ["a", "b", "c"]}, pairs=[{"src": "c", "dst": "a", "required": True}])
    interest = tl.Interest.from_pairs(list("abc"), list("xxx"))
    verdict = verify_network(interest, [("a", "b"), ("b", "c")], network)
    assert [fault.sentence for fault in verdict.faults] == ["the link 'c' – 'a' is required and missing"]
    assert verify_network(interest, [("a", "b"), ("c", "a")], network).ok
    with pytest.raises(NoTruthValueError):
        bool(verdict)
    assert verdict.to_dict()["faults"] == {"missing-link": 1}


def test_nodes_that_the_network_does_not_know_are_a_fault():
    interest = tl.Interest.from_pairs(list("ab"), list("xx"))
    verdict = verify_network(interest, [("a", "b")], tl.Network.from_tables({"node": ["a"]}))
    assert [fault.names for fault in verdict.faults] == [("b",)]


def test_relays_and_units_that_are_not_there_are_refused():
    interest, network = tl.Interest.from_pairs(list("ab"), list("xx")), tl.Network.from_tables({"node": ["a", "b"]})
    with pytest.raises(InvalidInterestError, match="there is no node 'z'"):
        verify_network(interest, [("a", "b")], network, relays=[("z", "x")])
    with pytest.raises(InvalidOptionError, match="no column 'rack'"):
        verify_network(interest, [("a", "b")], network, survive="rack")
