"""Checks of a network: what is unknown, named twice, out of range, or contradicts another row."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from topicloom.errors import InvalidNetworkError
from topicloom.model.labels import label_of
from topicloom.model.network_rows import EVERY_SITE, fail, listed

if TYPE_CHECKING:
    from topicloom.model.site_network import Network


def check_network(network: "Network") -> None:
    """Refuse what is unknown, named twice, out of range, or contradicts another row."""
    if not network.nodes:
        raise InvalidNetworkError("a network needs its nodes; the table nodes has no row")
    for what, rows in (("node", network.nodes), ("site", network.sites), ("topic", network.topics)):
        _check_once(((getattr(row, what),), row.where) for row in rows)
        for row in rows:
            wrong = label_of(getattr(row, what), what)[1]
            if wrong is not None:
                fail(row.where, wrong)
    _check_nodes(network)
    known = set(network.site_names)
    for site in network.sites:
        _check_price(site.where, site.price)
    _check_site_pairs(network, known)
    for topic in network.topics:
        _check_price(topic.where, topic.rate, "rate", zero=True)
        for name in topic.allowed_sites or ():
            if name not in known:
                fail(topic.where, f"topic {topic.topic!r} names the site {name!r}, and no node is there")
        if topic.allowed_sites is not None and not topic.allowed_sites:
            fail(topic.where, f"topic {topic.topic!r} may be carried at no site; leave the cell empty for all")
    _check_pairs(network)


def _check_once(rows: Iterable[tuple[tuple[str, ...], str]]) -> None:
    first: dict[tuple[str, ...], str] = {}
    for key, where in rows:
        if key in first:
            fail(where, f"{' – '.join(map(repr, key))} stands twice" + (f", first at {first[key]}" if where else ""))
        first[key] = where


def _check_price(where: str, price: float | None, what: str = "price", *, zero: bool = False) -> None:
    if price is not None and not ((price >= 0 if zero else price > 0) and math.isfinite(price)):
        fail(where, f"{what} is {price:g}; a number {'from 0 up' if zero else 'above 0'} is accepted")


def _check_nodes(network: "Network") -> None:
    named = {site.site for site in network.sites}
    placed = any(node.site for node in network.nodes) or bool(named)
    for node in network.nodes:
        if placed and not node.site:
            fail(node.where, f"node {node.node!r} has no site, and others have one")
        if node.site == EVERY_SITE:
            fail(node.where, f"a site cannot be called {EVERY_SITE!r}, which stands for every site")
        if named and node.site not in named:
            fail(node.where, f"node {node.node!r} is at {node.site!r}, which is not in sites")
        if node.max_links is not None and node.max_links < 0:
            fail(node.where, f"max_links is {node.max_links}; a whole number from 0 up is accepted")
        _check_price(node.where, node.price_of_relaying, "price_of_relaying", zero=True)


def _check_site_pairs(network: "Network", known: set[str]) -> None:
    inside = {site.site: site for site in network.sites if site.price is not None}
    rows = {(rule.src, rule.dst): rule for rule in network.site_pairs}
    _check_once(((rule.src, rule.dst), rule.where) for rule in network.site_pairs)
    for (src, dst), rule in rows.items():
        _check_price(rule.where, rule.price)
        if (src == EVERY_SITE) != (dst == EVERY_SITE):
            fail(rule.where, f"{EVERY_SITE!r} stands for every site in both columns or in none")
        for name in (src, dst):
            if name not in known and name != EVERY_SITE:
                fail(rule.where, f"there is no site {name!r}; the sites are {listed(network.site_names)}")
        back = rows.get((dst, src))
        if back is not None and None not in (back.price, rule.price) and back.price != rule.price:
            fail(
                rule.where,
                f"a link between {src!r} and {dst!r} costs {rule.price:g}, and the other way {back.price:g} "
                f"({back.where}); a link has one price",
            )
        if src == dst and src in inside and rule.price is not None and rule.price != inside[src].price:
            fail(
                rule.where,
                f"a link inside {src!r} costs {rule.price:g}, and {inside[src].price:g} ({inside[src].where})",
            )


def _check_pairs(network: "Network") -> None:
    _check_once((pair.key, pair.where) for pair in network.pairs)
    nodes = {node.node: node for node in network.nodes}
    required: dict[str, list[str]] = {}
    for pair in network.pairs:
        ends = f"{pair.src!r} – {pair.dst!r}"
        for name in pair.key:
            if name not in nodes:
                fail(pair.where, f"there is no node {name!r} in nodes")
        if pair.src == pair.dst:
            fail(pair.where, f"node {pair.src!r} stands beside itself")
        _check_price(pair.where, pair.price)
        if pair.required and pair.forbidden:
            fail(pair.where, f"the link {ends} is required and forbidden")
        if pair.required and not network.linkable(pair.src, pair.dst):
            fail(pair.where, f"the link {ends} is required, and neither end may dial the other")
        if pair.required:
            for name in pair.key:
                required.setdefault(name, []).append(pair.where)
    for name, rows in required.items():
        node = nodes[name]
        if node.max_links is not None and len(rows) > node.max_links:
            fail(
                node.where,
                f"node {name!r} may have {node.max_links} links, and {len(rows)} are required ({rows[0]}"
                f"{'' if len(rows) < 2 else f' to {rows[-1]}'})",
            )
