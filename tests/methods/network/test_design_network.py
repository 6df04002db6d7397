"""design_network: against brute force, by replay, and by the rules one at a time."""

from collections import defaultdict

import numpy as np
import pytest

import topicloom as tl
from support.tiny_networks import MIXES, compare
from topicloom.errors import InvalidLinksError, InvalidOptionError
from topicloom.methods.network.design_network import design_network, true_price
from topicloom.methods.network.open_network import open_network

DEAR = np.array([[1.0, 30.0], [30.0, 1.0]])


@pytest.mark.parametrize("mix", MIXES)
def test_tiny_networks_against_brute_force(mix):
    counts, ratios = compare(22, mix)
    assert counts["broken"] == counts["wrong"] == counts["false_proofs"] == 0
    assert counts["missed"] <= ("c" in mix)
    if "c" not in mix:
        assert counts["proved"] == counts["infeasible"]
    assert ratios.mean() <= 1.005


def drawn(seed, nodes=30, topics=12, **rules):
    rng = np.random.default_rng(seed)
    interest = tl.generate(nodes=nodes, topics=topics, subscriptions=4, popularity="zipf", alpha=0.8, seed=seed)
    site = np.sort(rng.integers(0, 4, nodes))
    price = rng.integers(2, 20, (site.max() + 1,) * 2).astype(float)
    price = np.maximum(price, price.T)
    np.fill_diagonal(price, 1.0)
    given = {"site": site, "price": price, **rules}
    return interest, open_network(interest.n_nodes, interest.n_topics, **given)


def virtual_topics(interest, network):
    topics = [set(interest.topic_nodes[a:b].tolist()) for a, b in zip(interest.topic_indptr, interest.topic_indptr[1:])]
    if network.survive is None:
        return topics
    units = network.survive
    lost = [{v for v in nodes if units[v] != unit} for nodes in topics for unit in sorted({units[v] for v in nodes})]
    return lost + [nodes for nodes in topics if len({units[v] for v in nodes}) <= 2]


def gains(groups, n):
    """How many joins a link of each pair of nodes makes; ``groups`` has the components of every virtual topic."""
    joins = defaultdict(int)
    for parts in groups:
        for i, part in enumerate(parts):
            for other in parts[i + 1 :]:
                for u in part:
                    for v in other:
                        joins[min(u, v), max(u, v)] += 1
    return joins


@pytest.mark.parametrize("rules", ["prices", "caps", "units", "dialling"])
def test_every_link_of_the_greedy_rule_is_the_best_admissible_one_at_its_moment(rules):
    rng = np.random.default_rng(3)
    given = {"cap": rng.integers(3, 7, 30)} if rules == "caps" else {}
    if rules == "dialling":
        given = {"dials": rng.random(30) < 0.5, "accepts": rng.random(30) < 0.7}
    interest, network = drawn(4, **given)
    if rules == "units":
        interest, network = drawn(4, survive=network.site)
    links = design_network(interest, network, effort=0).links
    assert len(links) > 10
    groups = [[{v} for v in nodes] for nodes in virtual_topics(interest, network)]
    degree = np.zeros(30, int)
    for u, v in links.tolist():
        room = (network.cap < 0) | (degree < network.cap)
        price = {pair: true_price(network, *pair) for pair in gains(groups, 30)}
        worth = {
            p: gain / price[p] for p, gain in gains(groups, 30).items() if room[list(p)].all() and price[p] < np.inf
        }
        assert worth[u, v] >= max(worth.values()) * (1 - 1e-5)
        degree[[u, v]] += 1
        for parts in groups:
            met = [part for part in parts if u in part or v in part]
            if {u, v} <= set().union(*parts, set()) and len(met) == 2:
                parts[:] = [part for part in parts if part not in met] + [met[0] | met[1]]
    room = (network.cap < 0) | (degree < network.cap)
    left = [pair for pair in gains(groups, 30) if room[list(pair)].all() and true_price(network, *pair) < np.inf]
    assert not left


def test_the_same_seed_gives_the_same_links_whatever_the_order_of_the_rows():
    interest, network = drawn(7)
    names = np.array([f"n{v:03}" for v in range(interest.n_nodes)])
    topics = np.array([f"t{t:03}" for t in range(interest.n_topics)])
    order = np.random.default_rng(1).permutation(interest.n_subscriptions)
    named = tl.Interest.from_pairs(names[interest.nodes][order], topics[interest.topics][order])
    first, again = design_network(interest, network, seed=3), design_network(named, network, seed=3)
    assert first.links.tolist() == again.links.tolist() == design_network(interest, network, seed=3).links.tolist()


def test_without_rules_it_needs_no_more_links_than_greedy_merge():
    interest = tl.generate(nodes=60, topics=20, subscriptions=5, popularity="zipf", seed=2)
    overlay = design_network(interest, open_network(60, 20))
    assert overlay.verify().ok
    assert overlay.n_links <= tl.greedy_merge(interest).n_links


def test_a_topic_that_cannot_be_connected_is_named_with_its_groups_and_the_relay_that_would_mend_it():
    """Two plants that dial nobody but the cloud; the topic is wanted in both plants only."""
    interest = tl.Interest.from_pairs(["a1", "a2", "b1", "b2", "cloud"], ["heat", "heat", "heat", "heat", "cost"])
    may_dial = np.eye(3, dtype=bool)
    may_dial[:, 2] = True
    rules = {"site": [0, 0, 1, 1, 2], "may_dial": may_dial, "price": np.ones((3, 3))}
    overlay = design_network(interest, open_network(5, 2, **rules))
    (blocked,) = overlay.report["network"]["blocked"]
    assert blocked == {"topic": "heat", "unit": None, "groups": [["a1", "a2"], ["b1", "b2"]], "relays": ["cloud"]}
    assert overlay.n_links == 2  # each group is connected all the same
    mended = design_network(interest, open_network(5, 2, relay=[0, 0, 0, 0, 1], row_price=np.full(5, 0.5), **rules))
    assert mended.relays.tolist() == [[4, interest.topic_labels.tolist().index("heat")]]
    assert not mended.report["network"]["blocked"]
    assert (mended.n_links, mended.report["network"]["price_of_rows"]) == (4, 0.5)


def test_caps_that_a_topic_or_a_node_cannot_keep_are_proved():
    star = tl.Interest.from_pairs(["hub", "a", "hub", "b", "hub", "c"], ["x", "x", "y", "y", "z", "z"])
    hub = star.node_labels.tolist().index("hub")
    overlay = design_network(star, open_network(4, 3, cap=np.where(np.arange(4) == hub, 2, -1)))
    facts = overlay.report["network"]
    assert facts["proofs"] == ["node 'hub' may have 2 links, and its topics need at least 3 neighbours"]
    assert (facts["raise_first"], len(facts["topics_in_pieces"]), overlay.n_links) == (["hub"], 1, 2)
    line = tl.Interest.from_pairs(list("abc"), ["x"] * 3)
    facts = design_network(line, open_network(3, 1, cap=[1, 1, 1])).report["network"]
    assert facts["proofs"] == [
        "topic 'x' cannot be connected: its subscribers may have 3 ends of links together, and need 4"
    ]
    assert design_network(line, open_network(3, 1, cap=[1, 2, 1])).verify().ok


def test_caps_below_the_degree_of_greedy_are_kept_where_they_can_be():
    interest = tl.generate(nodes=150, topics=40, subscriptions=8, popularity="zipf", seed=1)
    assert tl.minmax_oda(interest).degree().max() == 6
    overlay = design_network(interest, open_network(150, 40, cap=np.full(150, 4)), effort=0.3)
    assert overlay.verify().ok
    assert overlay.degree().max() == 4


def test_required_links_are_there_and_standing_ones_are_worth_their_share():
    interest, network = drawn(9)
    required = [[0, 29], [3, 4]]
    with_required = design_network(interest, drawn(9, required=required)[1], effort=0.2)
    assert {(0, 29), (3, 4)} <= set(map(tuple, with_required.links.tolist()))
    standing = design_network(interest, network, seed=5, effort=0).links
    kept = [
        design_network(interest, drawn(9, standing=standing, keep=keep)[1], effort=0.2).report["network"]
        for keep in (0.0, 0.9)
    ]
    assert kept[1]["kept"] > kept[0]["kept"]
    assert kept[1]["removed"] == len(standing) - kept[1]["kept"]
    assert kept[0]["price_of_links"] <= kept[1]["price_of_links"] + 1e-9


def test_rules_that_contradict_each_other_are_refused():
    interest = tl.Interest.from_pairs(list("abc"), ["x"] * 3)
    with pytest.raises(InvalidOptionError, match="'a' – 'b' is required, and may not be"):
        design_network(interest, open_network(3, 1, required=[[0, 1]], pair_codes=[1], pair_price=[np.inf]))
    with pytest.raises(InvalidOptionError, match="'a' has 2 required links, and may have 1"):
        design_network(interest, open_network(3, 1, required=[[0, 1], [0, 2]], cap=[1, -1, -1]))
    allowed = np.array([[True, False]])
    with pytest.raises(InvalidOptionError, match="'c' wants topic 'x', which its site may not carry"):
        design_network(interest, open_network(3, 1, site=[0, 0, 1], price=DEAR, allowed_sites=allowed))
    with pytest.raises(InvalidOptionError, match="effort"):
        design_network(interest, open_network(3, 1), effort=-1)


def test_relays_of_an_overlay_are_checked_sorted_and_compared():
    interest = tl.Interest.from_pairs(list("abc"), ["x", "x", "y"])
    overlay = tl.Overlay(interest, [[0, 1]], relays=[[2, 0], [0, 1], [2, 0]])
    assert overlay.relays.tolist() == [[0, 1], [2, 0]]
    assert overlay != tl.Overlay(interest, [[0, 1]])
    with pytest.raises(InvalidLinksError, match="relays name nodes or topics"):
        tl.Overlay(interest, [[0, 1]], relays=[[0, 2]])
