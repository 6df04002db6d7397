"""price_bound: below every design, checked by other code, and close to the best on small networks."""

from dataclasses import replace

import numpy as np
import pytest

import topicloom as tl
from support.tiny_networks import MIXES, cheapest, tiny_network
from topicloom.judge.split_price_check import proved_price
from topicloom.methods.bounds.price_bound import price_bound
from topicloom.methods.network.design_network import design_network
from topicloom.methods.network.open_network import open_network


@pytest.mark.parametrize("mix", MIXES)
def test_no_design_of_a_tiny_network_costs_less_than_the_bound(mix):
    rng = np.random.default_rng(11)
    seen, near = 0, 0
    while seen < 10:
        tiny = tiny_network(rng, units="u" in mix, caps="c" in mix, relays="r" in mix)
        if tiny is None:
            continue
        seen += 1
        bound, least = price_bound(tiny.interest, tiny.network, effort=0.3), cheapest(tiny)
        assert bound.price <= least * (1 + 1e-9)
        assert bound.check(tiny.interest, tiny.network)
        near += bound.price >= 0.9 * least if np.isfinite(least) else np.isinf(bound.price) or "c" in mix
    assert near >= 5


def sites(keep=0.0, standing=(), required=()):
    interest = tl.generate(nodes=24, topics=20, subscriptions=6, seed=1)
    price = np.full((3, 3), 20.0)
    np.fill_diagonal(price, 1.0)
    ends = {"standing": np.reshape(standing, (-1, 2)), "required": np.reshape(required, (-1, 2))}
    return interest, open_network(24, 20, site=np.arange(24) // 8, price=price, keep=keep, **ends)


def test_a_design_in_sites_is_close_to_its_bound():
    interest, network = sites()
    bound = price_bound(interest, network)
    price = design_network(interest, network).report["network"]["price_of_links"]
    assert bound.price <= price <= 1.1 * bound.price


def test_required_links_are_paid_for_and_standing_ones_with_what_is_left():
    interest, network = sites()
    links = design_network(interest, network, effort=0).links
    dear = next(pair for pair in links.tolist() if pair[0] // 8 != pair[1] // 8)
    _, asked = sites(required=[dear])
    bound = price_bound(interest, asked)
    assert bound.check(interest, asked)
    assert bound.price >= 20
    assert bound.price <= design_network(interest, asked).report["network"]["price_of_links"]
    _, kept = sites(keep=0.5, standing=links)
    assert price_bound(interest, kept).price < price_bound(interest, network).price


def test_a_bound_whose_shares_exceed_a_price_proves_nothing():
    interest, network = sites()
    bound = price_bound(interest, network, effort=0.05)
    assert bound.check(interest, network)
    first = bound.blocks[0]
    grown = [first._replace(pairs=first.pairs + 1 + (1 << 20)), *bound.blocks[1:]]
    assert proved_price(interest, network, grown) == 0
    assert proved_price(interest, network, [first, *bound.blocks]) == 0
    assert proved_price(interest, network, [first._replace(pairs=first.pairs[1:])]) == 0
    assert not replace(bound, price=bound.price * 1.01).check(interest, network)
