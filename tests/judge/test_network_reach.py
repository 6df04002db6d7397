"""Topics that no links can connect: the groups that cannot meet, and the relays that would mend it."""

import itertools

import numpy as np

from topicloom.judge.network_reach import menders, reach_sentence, separated
from topicloom.model import Network


def drawn(rng):
    """A network of up to six nodes at three sites, some of which may relay."""
    n = int(rng.integers(3, 7))
    names = [f"v{v}" for v in range(n)]
    nodes = [
        {"node": name, "site": f"s{v % 3}", "relay": bool(rng.random() < 0.3), "dials": bool(rng.random() < 0.6)}
        for v, name in enumerate(names)
    ]
    rows = [
        {"from": f"s{a}", "to": f"s{b}", "may_dial": bool(rng.random() < 0.4)}
        for a, b in itertools.combinations_with_replacement(range(3), 2)
    ]
    pairs = [{"src": u, "dst": v, "forbidden": True} for u, v in itertools.combinations(names, 2) if rng.random() < 0.3]
    return names, nodes, rows, pairs


def connected(network, subscribers, carriers):
    """Whether all links that may be join the subscribers inside the carriers, by spreading from the first."""
    reached = {subscribers[0]}
    for _ in carriers:
        reached |= {v for u in reached for v in carriers if u != v and network.price(u, v) < np.inf}
    return set(subscribers) <= reached


def test_groups_and_menders_are_those_of_brute_force():
    rng = np.random.default_rng(3)
    apart = mended = 0
    for _ in range(400):
        names, nodes, rows, pairs = drawn(rng)
        network = Network.from_tables(nodes, site_pairs=rows, **({"pairs": pairs} if pairs else {}))
        subscribers = sorted(rng.choice(names, int(rng.integers(2, len(names))), replace=False).tolist())
        relays = [node["node"] for node in nodes if node["relay"]]
        carriers = sorted({*subscribers, *relays})
        groups = separated(network, subscribers, "t")
        assert sorted(itertools.chain(*groups)) == subscribers
        assert (len(groups) == 1) == connected(network, subscribers, carriers)
        if len(groups) > 1:
            apart += 1
            for name in menders(network, groups, "t"):
                mended += 1
                assert connected(network, subscribers, sorted({*carriers, name}))
    assert min(apart, mended) > 20


def test_a_site_that_is_down_and_sites_that_a_topic_may_not_be_at_are_left_out():
    nodes = [
        {"node": "a", "site": "x"},
        {"node": "b", "site": "y"},
        {"node": "hub", "site": "z", "relay": True},
        {"node": "gate", "site": "z"},
    ]
    rows = [{"from": "x", "to": "z"}, {"from": "z", "to": "y"}]
    network = Network.from_tables(nodes, site_pairs=rows)
    assert reach_sentence(network, "t", ["a", "b"]) is None
    assert reach_sentence(network, "t", ["a", "b"], ["hub"], "rack 1") == (
        "topic 't' cannot be connected: every link between {'a'} and {'b'} is forbidden (without 'rack 1'); "
        "it could be if 'gate' might relay"
    )
    bound = Network.from_tables(nodes, site_pairs=rows, topics=[{"topic": "t", "allowed_sites": "x;y"}])
    assert reach_sentence(bound, "t", ["a", "b"]).endswith("is forbidden")
