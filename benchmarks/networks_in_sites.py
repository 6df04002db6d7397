"""Seeded networks in sites, what people do by hand there, and a judge of designs in plain Python."""

from itertools import combinations

import numpy as np

import topicloom as tl
from topicloom.methods.network.open_network import open_network

_REGIONS = np.array([[0, 0], [70, 0], [35, 60], [90, 70], [-40, 80]])
SIZES = {
    "6 × 8": {"sites": 6, "brokers": 8, "regions": 3, "local": 27, "regional": 10, "world": 10},
    "20 × 50": {"sites": 20, "brokers": 50, "regions": 5, "local": 50, "regional": 30, "world": 60},
}


def network_in_sites(size, seed):
    """Draw brokers in sites of several regions.

    A link costs 1 inside a site, 10 to 30 in a region and up to 100 between regions. A broker wants 12 topics of its
    site, 4 of its region and 4 of the world, the popular ones more often.

    Returns
    -------
    Interest, site of each node, prices of pairs of sites
    """
    shape = SIZES[size]
    rng = np.random.default_rng(seed)
    sites, regions = shape["sites"], shape["regions"]
    region = np.arange(sites) % regions
    spot = rng.uniform(0, 20, (sites, 2)) + _REGIONS[region]
    apart = np.hypot(*(spot[:, None] - spot[None]).transpose(2, 0, 1))
    price = np.clip(10 + apart * rng.uniform(0.8, 1.2, apart.shape), 10, 100)
    price = np.round((price + price.T) / 2, 1)
    np.fill_diagonal(price, 1.0)
    site = np.repeat(np.arange(sites), shape["brokers"]).astype(np.int32)
    counts = [shape["local"]] * sites + [shape["regional"]] * regions + [shape["world"]]
    ends = np.cumsum(counts)
    pools = [np.arange(end - count, end) for end, count in zip(ends, counts)]
    nodes, topics = [], []
    for node, home in enumerate(site.tolist()):
        for pool, count in ((pools[home], 12), (pools[sites + region[home]], 4), (pools[-1], 4)):
            weight = (1.0 + np.arange(len(pool))) ** -0.7
            topics.extend(rng.choice(pool, count, replace=False, p=weight / weight.sum()).tolist())
            nodes.extend([node] * count)
    interest = tl.Interest.from_ids(np.array(nodes), np.array(topics), n_nodes=len(site), n_topics=int(ends[-1]))
    return interest, site, price


def hubs_of(interest, site):
    """The broker of each site that wants most."""
    wanted = np.diff(interest.indptr)
    return [int(np.flatnonzero(site == s)[np.argmax(wanted[site == s])]) for s in np.unique(site)]


def rules_of(interest, site, price, *, relays=(), row_price=0.0, survive=False, **rules):
    """The rules of a network in sites."""
    n = interest.n_nodes
    return open_network(
        n, interest.n_topics, site=site, price=price, relay=np.isin(np.arange(n), relays),
        row_price=np.full(n, float(row_price)), survive=site if survive else None, **rules,
    )  # fmt: skip


def hubs_meshed(interest, site, price, row_price):
    """Price of a hub per site, brokers linked to it and hubs to each other, with the rows that hubs relay."""
    hubs = hubs_of(interest, site)
    links = sum(1.0 for v in range(interest.n_nodes) if v != hubs[site[v]])
    links += sum(price[a, b] for a, b in combinations(range(len(hubs)), 2))
    rows = 0
    for t in range(interest.n_topics):
        wanting = interest.topic_nodes[interest.topic_indptr[t] : interest.topic_indptr[t + 1]]
        if len(wanting) > 1:
            rows += sum(hubs[s] not in wanting for s in np.unique(site[wanting]))
    return links + rows * row_price


def faults(interest, rules, overlay):
    """Find what an overlay breaks of the rules and of its promise, by deletion of every failure unit."""
    found = []
    adjacent = [set() for _ in range(interest.n_nodes)]
    for u, v in overlay.links.tolist():
        adjacent[u].add(v)
        adjacent[v].add(u)
        if not ((rules.dials[u] and rules.accepts[v]) or (rules.dials[v] and rules.accepts[u])):
            found.append(("nobody may dial", u, v))
    found += [("cap", v) for v, ends in enumerate(adjacent) if 0 <= rules.cap[v] < len(ends)]
    found += [("may not relay", v, t) for v, t in overlay.relays.tolist() if not rules.relay[v]]
    carriers = [set() for _ in range(interest.n_topics)]
    for v, t in overlay.relays.tolist():
        carriers[t].add(v)
    for t in range(interest.n_topics):
        wanting = set(interest.topic_nodes[interest.topic_indptr[t] : interest.topic_indptr[t + 1]].tolist())
        inside = wanting | carriers[t]
        units = {-1} if rules.survive is None else {-1} | {int(rules.survive[v]) for v in inside}
        for unit in units:
            up = {v for v in inside if unit < 0 or rules.survive[v] != unit}
            left = wanting & up
            reached = {min(left)} if left else set()
            frontier = list(reached)
            while frontier:
                new = (adjacent[frontier.pop()] & up) - reached
                reached |= new
                frontier += new
            if not left <= reached:
                found.append(("topic in pieces", t, unit))
    return found


def price_of_overlay(site, price, row_price, overlay):
    """What the links of an overlay and its rows cost."""
    u, v = overlay.links[:, 0], overlay.links[:, 1]
    return float(price[site[u], site[v]].sum() + row_price * len(overlay.relays))
