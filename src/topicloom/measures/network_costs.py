"""What an overlay costs on its network: prices by pair of sites, brokers at their limit, relays, changes."""

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from topicloom.errors import InvalidOptionError
from topicloom.model.arrays import degrees
from topicloom.model.overlay import Overlay


class SiteCost(NamedTuple):
    """Links between two sites, or inside one: how many there are, and what they cost."""

    src: str
    dst: str
    links: int
    price: float


class RelayCost(NamedTuple):
    """A node that relays: how many topics it carries without wanting them, and what they cost."""

    node: str
    topics: int
    price: float


@dataclass(frozen=True)
class NetworkCosts:
    """What `measure_network` answers.

    Attributes
    ----------
    price_of_links, price_of_relays : float
    wan_links : int
        Links between two sites.
    wan_price : float
        What these cost.
    by_sites : tuple of SiteCost
        The dearest first.
    relays : tuple of RelayCost
        The one with the most topics first.
    at_limit : tuple of str
        Nodes that have as many links as they may.
    kept, added, removed : int or None
        Links that stood and stay, that are new, and that stood and go. None where the network names no standing links.
    """

    price_of_links: float
    price_of_relays: float
    wan_links: int
    wan_price: float
    by_sites: tuple[SiteCost, ...]
    relays: tuple[RelayCost, ...]
    at_limit: tuple[str, ...]
    kept: int | None = None
    added: int | None = None
    removed: int | None = None

    @property
    def price(self) -> float:
        """What links and relays cost together."""
        return self.price_of_links + self.price_of_relays

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready dictionary."""
        by_sites, relays = [cost._asdict() for cost in self.by_sites], [relay._asdict() for relay in self.relays]
        return {"price": self.price, **asdict(self), "by_sites": by_sites, "relays": relays}


def measure_network(overlay: Overlay) -> NetworkCosts:
    """Say what an overlay costs on the network that it was designed for.

    A link costs what its own row, or else the row of its sites, says; a relay costs its price for each topic that it
    carries. Links that stand cost their full price here.

    Parameters
    ----------
    overlay : Overlay
        One with a network.

    Returns
    -------
    NetworkCosts

    Raises
    ------
    InvalidOptionError
        The overlay has no network.

    See Also
    --------
    topicloom.measure : degrees, diameters and hops.

    Notes
    -----
    Takes O(links + relays) time.

    Examples
    --------
    >>> import topicloom as tl
    >>> from topicloom.measures import measure_network
    >>> network = tl.Network.from_tables(
    ...     nodes={"node": ["a", "b", "c"], "site": ["north", "north", "south"]},
    ...     site_pairs={"from": ["north"], "to": ["south"], "price": [30]},
    ... )
    >>> interest = tl.Interest.from_pairs(list("abc"), ["news"] * 3)
    >>> costs = measure_network(tl.Overlay(interest, [(0, 1), (1, 2)], network=network))
    >>> costs.price, costs.wan_links
    (31.0, 1)
    """
    network, interest = overlay.network, overlay.interest
    if network is None:
        raise InvalidOptionError("the overlay was designed without a network, so that nothing has a price")
    names = [interest.node_label(v) for v in range(interest.n_nodes)]
    nodes = {node.node: node for node in network.nodes}
    ends = [(names[u], names[v]) for u, v in overlay.links.tolist()]
    links: Counter[tuple[str, str]] = Counter()
    prices: dict[tuple[str, str], float] = {}
    for u, v in ends:
        low, high = sorted((network.site_of(u), network.site_of(v)))
        links[low, high] += 1
        prices[low, high] = prices.get((low, high), 0.0) + network.price(u, v)
    carried = Counter(names[v] for v, _ in overlay.relays.tolist())
    degree = degrees(overlay.links, interest.n_nodes).tolist()
    by_sites = [SiteCost(*pair, links[pair], prices[pair]) for pair in links]
    relays = [RelayCost(name, count, count * nodes[name].price_of_relaying) for name, count in carried.items()]
    wan = [cost for cost in by_sites if cost.src != cost.dst]
    standing = {pair.key for pair in network.pairs if pair.standing}
    there = {(u, v) if u < v else (v, u) for u, v in ends}
    changes = (len(there & standing), len(there - standing), len(standing - there)) if standing else (None,) * 3
    return NetworkCosts(
        sum((cost.price for cost in by_sites), 0.0),
        sum((relay.price for relay in relays), 0.0),
        sum(cost.links for cost in wan),
        sum((cost.price for cost in wan), 0.0),
        tuple(sorted(by_sites, key=lambda cost: (-cost.price, cost))),
        tuple(sorted(relays, key=lambda relay: (-relay.topics, relay))),
        tuple(name for name, count in zip(names, degree) if count == nodes[name].max_links),
        *changes,
    )
