"""The bench of networks in sites: its page, its generator and its judge."""

import json

import numpy as np
from benchmarks.network import PAGE, STORED, document
from benchmarks.networks_in_sites import faults, hubs_meshed, hubs_of, network_in_sites, price_of_overlay, rules_of

import topicloom as tl
from topicloom.methods.network.design_network import design_network


def test_the_committed_page_is_that_of_the_committed_rows():
    assert PAGE.read_text(encoding="utf-8") == document(json.loads(STORED.read_text(encoding="utf-8")))


def test_a_network_in_sites_is_drawn_by_its_seed():
    interest, site, price = network_in_sites("6 × 8", 1)
    again, _, _ = network_in_sites("6 × 8", 1)
    other, _, _ = network_in_sites("6 × 8", 2)
    assert again == interest != other
    assert (interest.n_nodes, len(hubs_of(interest, site)), np.diag(price).tolist()) == (48, 6, [1.0] * 6)


def test_the_judge_of_the_bench_finds_what_is_broken_and_only_that():
    interest, site, price = network_in_sites("6 × 8", 1)
    rules = rules_of(interest, site, price, relays=hubs_of(interest, site), row_price=0.3, survive=True)
    overlay = design_network(interest, rules, effort=0.02)
    assert not faults(interest, rules, overlay)
    assert price_of_overlay(site, price, 0.3, overlay) < hubs_meshed(interest, site, price, 0.3)
    fewer = tl.Overlay(interest, overlay.links[:-1], relays=overlay.relays)
    assert any(kind == "topic in pieces" for kind, *_ in faults(interest, rules, fewer))
    bare = tl.Overlay(interest, overlay.links)
    assert any(kind == "topic in pieces" for kind, *_ in faults(interest, rules, bare))
    nobody = rules_of(interest, site, price, survive=True)
    assert faults(interest, nobody, overlay)[0][0] == "may not relay"
