"""Tiny networks with every mix of rules, the cheapest design of each by brute force, and a judge; no code of ours."""

import sys
from itertools import combinations
from typing import Any, NamedTuple

import numba
import numpy as np

import topicloom as tl
from topicloom.methods.network.design_network import design_network
from topicloom.methods.network.open_network import open_network

MOST_PAIRS = 13


class Tiny(NamedTuple):
    """An interest of at most seven nodes, its network, and the pairs that may be linked, with prices."""

    interest: Any
    network: Any
    pairs: list
    prices: list
    wants: list  # per topic, as bits
    relays: list  # per topic, nodes that may carry it, as bits


def tiny_network(rng, *, units=False, caps=False, relays=True):
    """Draw one, or None where brute force would have too much to do."""
    n, topics = int(rng.integers(4, 8)), int(rng.integers(1, 5))
    sites = int(rng.integers(2, 5 if units else 4))
    site = np.sort(np.concatenate([np.arange(min(sites, n)), rng.integers(0, sites, max(n - sites, 0))])).astype(
        np.int32
    )
    may_dial = rng.random((sites, sites)) < rng.uniform(0.3, 0.9)
    np.fill_diagonal(may_dial, rng.random(sites) < 0.85)
    price = rng.choice([2.0, 3.0, 5.0, 10.0, 20.0], (sites, sites))
    price = np.maximum(price, price.T)
    np.fill_diagonal(price, 1.0)
    may_relay = np.zeros(n, bool)
    if relays:
        may_relay[rng.choice(n, int(rng.integers(0, 4)), replace=False)] = True
    wanted = rng.random((n, topics)) < rng.uniform(0.3, 0.7)
    wanted[may_relay & (rng.random(n) < 0.6)] = False
    allowed = rng.random((topics, sites)) < 0.9 if rng.random() < 0.3 else None
    if allowed is not None:
        allowed |= np.array([[wanted[site == s, t].any() for s in range(sites)] for t in range(topics)])
    pairs = list(combinations(range(n), 2))
    own = {pair: float(rng.choice([0.5, 4.0, np.inf])) for pair in pairs if rng.random() < 0.1}
    rules = {
        "site": site,
        "price": price,
        "may_dial": may_dial,
        "dials": rng.random(n) < 0.9,
        "accepts": rng.random(n) < 0.8,
        "relay": may_relay,
        "row_price": rng.choice([0.0, 0.3, 1.0, 3.0], n),
        "allowed_sites": allowed,
        "pair_codes": [u << 32 | v for u, v in sorted(own)],
        "pair_price": [own[pair] for pair in sorted(own)],
        "cap": rng.integers(1, 4, n) if caps else np.full(n, -1),
        "survive": site if units else None,
    }
    prices = {pair: _price(rules, own, *pair) for pair in pairs}
    pairs = [pair for pair in pairs if np.isfinite(prices[pair])]
    if len(pairs) > MOST_PAIRS or not wanted.any():
        return None
    nodes, topic = np.nonzero(wanted)
    interest = tl.Interest.from_ids(nodes, topic, n_nodes=n, n_topics=topics)
    carry = [
        sum(1 << r for r in range(n) if may_relay[r] and not wanted[r, t] and (allowed is None or allowed[t, site[r]]))
        for t in range(topics)
    ]
    return Tiny(
        interest,
        open_network(n, topics, **rules),
        pairs,
        [prices[pair] for pair in pairs],
        [sum(1 << int(u) for u in np.flatnonzero(wanted[:, t])) for t in range(topics)],
        carry,
    )


def _price(rules, own, u, v):
    a, b = rules["site"][u], rules["site"][v]
    one_way = rules["may_dial"][a, b] and rules["dials"][u] and rules["accepts"][v]
    other_way = rules["may_dial"][b, a] and rules["dials"][v] and rules["accepts"][u]
    return own.get((u, v), rules["price"][a, b]) if one_way or other_way else np.inf


@numba.njit(cache=True)
def connected(adjacent, members, wanted):
    """Whether the nodes of ``wanted`` hang together inside ``members``; all sets are bits."""
    if wanted == 0:
        return True
    seen = wanted & -wanted
    while True:
        new = seen
        for v in range(len(adjacent)):
            if seen >> v & 1:
                new |= adjacent[v] & members
        if new == seen:
            return wanted & ~seen == 0
        seen = new


@numba.njit(cache=True)
def _cheapest(us, vs, prices, wants, relays, row_price, cap, units):
    n = len(row_price)
    best = np.inf
    adjacent = np.zeros(n, np.int64)
    for links in range(1 << len(us)):
        adjacent[:] = 0
        cost = 0.0
        for e in range(len(us)):
            if links >> e & 1:
                adjacent[us[e]] |= 1 << vs[e]
                adjacent[vs[e]] |= 1 << us[e]
                cost += prices[e]
        fits = cost < best
        for v in range(n):
            degree = 0
            for w in range(n):
                degree += adjacent[v] >> w & 1
            fits &= cap[v] < 0 or degree <= cap[v]
        for t in range(len(wants)):
            if not fits:
                break
            if wants[t] & (wants[t] - 1) == 0:
                continue
            least = np.inf
            chosen = relays[t]
            while True:
                rows = 0.0
                for v in range(n):
                    if chosen >> v & 1:
                        rows += row_price[v]
                if rows < least and connected(adjacent, wants[t] | chosen, wants[t]):
                    holds = True
                    for unit in units:
                        holds &= connected(adjacent, (wants[t] | chosen) & ~unit, wants[t] & ~unit)
                    if holds:
                        least = rows
                if chosen == 0:
                    break
                chosen = (chosen - 1) & relays[t]
            cost += least
            fits = cost < best
        if fits:
            best = cost
    return best


def cheapest(tiny):
    """Price of the cheapest design, inf if there is none."""
    network = tiny.network
    return _cheapest(
        np.array([u for u, _ in tiny.pairs], np.int64),
        np.array([v for _, v in tiny.pairs], np.int64),
        np.array(tiny.prices, np.float64),
        np.array(tiny.wants, np.int64),
        np.array(tiny.relays, np.int64),
        network.row_price,
        network.cap,
        np.array(unit_bits(network), np.int64),
    )


def unit_bits(network):
    if network.survive is None:
        return []
    return [sum(1 << int(v) for v in np.flatnonzero(network.survive == unit)) for unit in np.unique(network.survive)]


def faults(tiny, overlay):
    """What breaks the rules of a tiny network, and the topics that are not connected."""
    price = dict(zip(tiny.pairs, tiny.prices))
    n = tiny.interest.n_nodes
    found = [("forbidden", link) for link in map(tuple, overlay.links.tolist()) if link not in price]
    cap = tiny.network.cap
    found += [("cap", v) for v in range(n) if 0 <= cap[v] < overlay.degree()[v]]
    adjacent = np.zeros(n, np.int64)
    for u, v in overlay.links.tolist():
        adjacent[u] |= 1 << v
        adjacent[v] |= 1 << u
    for t, wanted in enumerate(tiny.wants):
        carried = sum(1 << r for r, topic in overlay.relays.tolist() if topic == t)
        if carried & ~tiny.relays[t]:
            found.append(("relay", t))
        for unit in [0, *unit_bits(tiny.network)]:
            if not connected(adjacent, (wanted | carried) & ~unit, wanted & ~unit):
                found.append(("topic", t))
                break
    return found


def total_price(tiny, overlay):
    price = dict(zip(tiny.pairs, tiny.prices))
    rows = sum(tiny.network.row_price[r] for r, _ in overlay.relays.tolist())
    return sum(price[tuple(link)] for link in overlay.links.tolist()) + rows


def compare(cases, mix, *, seed=5, effort=0.1):
    """Design tiny networks of a mix of rules ("c" caps, "r" relays, "u" failure units), and count what is wrong."""
    rng = np.random.default_rng(seed)
    counts = dict.fromkeys(
        ("cases", "feasible", "broken", "wrong", "missed", "false_proofs", "infeasible", "proved"), 0
    )
    ratios = []
    while counts["cases"] < cases:
        tiny = tiny_network(rng, units="u" in mix, caps="c" in mix, relays="r" in mix)
        if tiny is None:
            continue
        low = cheapest(tiny)
        overlay = design_network(tiny.interest, tiny.network, effort=effort)
        report = overlay.report["network"]
        found = faults(tiny, overlay)
        possible, claimed = low < np.inf, bool(report["blocked"] or report.get("proofs"))
        counts["cases"] += 1
        counts["feasible"] += possible
        counts["infeasible"] += not possible
        counts["broken"] += any(kind != "topic" for kind, _ in found)
        counts["broken"] += abs(total_price(tiny, overlay) - report["price_of_links"] - report["price_of_rows"]) > 1e-6
        counts["wrong"] += not possible and not found
        counts["missed"] += possible and bool(found)
        counts["false_proofs"] += possible and claimed
        counts["proved"] += not possible and claimed
        if possible and not found and low > 0:
            ratios.append(total_price(tiny, overlay) / low)
    return counts, np.array(ratios)


MIXES = ("", "r", "u", "ru", "c", "cr", "cru")

if __name__ == "__main__":
    for mix in MIXES:
        counts, ratios = compare(int(sys.argv[1]), mix)
        spread = f"mean {ratios.mean():.4f}, most {ratios.max():.2f}, optimal {(ratios < 1 + 1e-9).mean():.1%}"
        print(f"rules {mix or 'none'}: {counts}, price against the cheapest: {spread}", flush=True)
