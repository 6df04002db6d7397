"""Methods side by side on one interest, and links that there are already: what every one of them gives."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa

from topicloom.datasets import generate
from topicloom.errors import TopicloomError
from topicloom.files.read.link_findings import LinkFindings
from topicloom.judge import verify
from topicloom.measures import mean_hops, measure, measure_network
from topicloom.methods.registry import Size, design, spec_of
from topicloom.methods.selection import MethodChoice
from topicloom.model import Interest, Network, Overlay
from topicloom.model.arrays import Int32Array
from topicloom.runs.encoded_rows import encoded_in, links_in
from topicloom.runs.request import FOR_NETWORKS
from topicloom.runs.stages import Stages

METRICS = {
    "links": "bigint",
    "average_degree": "double",
    "max_degree": "bigint",
    "mean_topic_diameter": "double",
    "max_topic_diameter": "bigint",
    "mean_hops": "double",
    "hops_standard_error": "double",
    "unwanted_relays": "bigint",
    "broken_topics": "bigint",
    "relayed_topics": "bigint",
    "relaying_nodes": "bigint",
    "hops_with_relays": "double",
    "mean_diameter_with_relays": "double",
    "max_diameter_with_relays": "bigint",
    "idle_links": "bigint",
    "survives_one_failure": "boolean",
    "seconds": "double",
    "refused": "string",
}
ON_NETWORK = ("price", "wan_links", "links_that_may_not_be")  # what is known where a network is given
ARROW = {"bigint": pa.int64(), "double": pa.float64(), "boolean": pa.bool_(), "string": pa.string()}
# What a method is judged by, smaller is better. Average degree says what links say, diameters what hops say, and
# seconds are no property of the overlay: with every column counted, hardly any method would ever be beaten.
_CRITERIA = ("links", "max_degree", "mean_hops", "unwanted_relays", "dies_of_one_failure")


Price = Callable[[Int32Array], dict[str, Any]]


@dataclass(frozen=True)
class HeldLinks:
    """Links that there are already, to be compared with what methods give.

    Attributes
    ----------
    links : (m, 2) int32 array
        By id; ids beyond those of the interest are nodes without subscriptions.
    n_nodes : int
        Number of all nodes.
    text : str
        What the row of a comparison is called.
    """

    links: Int32Array
    n_nodes: int
    text: str = "what you have"


@dataclass(frozen=True)
class ForNetwork:
    """A design for the network that there is, to be compared with what methods give.

    Attributes
    ----------
    network : Network
    text : str
        What the row of a comparison is called.
    """

    network: Network
    text: str = FOR_NETWORKS


Row = MethodChoice | HeldLinks | ForNetwork


@dataclass(frozen=True)
class Compared:
    """What a method gives on an interest, or what links are that there are already.

    Attributes
    ----------
    name : str
        The method with its options, as it was asked for.
    reference : bool
        Kept to compare with, not to recommend.
    mean_topic_diameter, max_topic_diameter, mean_hops : float or None
        None is infinite: some topic is not connected.
    hops_standard_error : float or None
        0.0 where the mean is over all pairs.
    unwanted_relays : int or None
        Nodes that pass on what they do not want, summed over topics (filtering cost of an approximate Steiner tree);
        None is infinite.
    broken_topics : int
        Topics of which some subscribers cannot reach each other over any links.
    relayed_topics, relaying_nodes : int
        Topics that are joined only by nodes which do not want them, and the number of these nodes.
    hops_with_relays, mean_diameter_with_relays, max_diameter_with_relays : float, float and int, or None
        As without relays, with the ways of relayed topics over their relays. None: some topic is broken.
    idle_links : int
        Links that serve no topic.
    survives_one_failure : bool
        Every topic is 2-connected.
    seconds : float
        Of the design alone, one thread, compiled; None of links that were there.
    refused : str or None
        Why the method was not run; the values are then None.
    price, wan_links, links_that_may_not_be : float, int and int, or None
        On the network that was given: what the links cost together with the topics that nodes relay, how many lead
        from site to site, and how many may not be. There is no price where some may not be.
    pareto_best : bool
        Every topic is connected, and no other such method is as good by links, maximum degree, hops, unwanted relays
        and survival, and better by one.
    """

    name: str
    reference: bool
    links: int | None
    average_degree: float | None
    max_degree: int | None
    mean_topic_diameter: float | None
    max_topic_diameter: int | None
    mean_hops: float | None
    hops_standard_error: float | None
    unwanted_relays: int | None
    broken_topics: int | None
    idle_links: int | None
    survives_one_failure: bool | None
    seconds: float | None
    refused: str | None
    pareto_best: bool = False
    relayed_topics: int | None = None
    relaying_nodes: int | None = None
    hops_with_relays: float | None = None
    mean_diameter_with_relays: float | None = None
    max_diameter_with_relays: int | None = None
    price: float | None = None
    wan_links: int | None = None
    links_that_may_not_be: int | None = None

    @property
    def connects_every_topic(self) -> bool:
        """Whether every topic is connected among its subscribers."""
        return self.refused is None and not self.broken_topics and not self.relayed_topics

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready dictionary. Infinite values are null."""
        priced = self.links_that_may_not_be is not None
        return {name: value for name, value in asdict(self).items() if priced or name not in ON_NETWORK}


@dataclass(frozen=True)
class Comparison:
    """What a comparison found.

    Attributes
    ----------
    compared : tuple of Compared
    counts : mapping
        Of the rows, as in ``run.json``.
    fingerprint : str
        Of the subscriptions.
    findings : LinkFindings or None
        What is odd about links that there are already.
    """

    compared: tuple[Compared, ...]
    counts: Mapping[str, int]
    fingerprint: str
    findings: LinkFindings | None = None


def compare_rows(
    tables: Sequence[pa.Table],
    stages: Stages,
    *,
    choices: Sequence[MethodChoice],
    seed: int,
    held: bool,
    expand: str | None = None,
    check: Callable[[Size], object] | None = None,
    network: Network | None = None,
) -> Comparison:
    """Run methods one after the other on rows of subscriptions.

    Parameters
    ----------
    tables : sequence of Arrow tables
        Rows of subscriptions and, where there are links already, rows of these.
    held : bool
        Whether the links get a row of their own, the first.
    check : callable, optional
        Refuses a size that would not fit.
    network : Network, optional
        Adds a row for a design for it, and says what all rows cost on it.

    Raises
    ------
    InputNotFoundError, NotEnoughMemoryError
    """
    rows, *links = tables
    found = encoded_in(stages, rows, expand)
    if check is not None:
        check(found.size)
    fitted = links_in(stages, links[0], found.interest) if links else None
    asked: list[Row] = [*choices]
    if fitted is not None and held:
        asked.insert(0, HeldLinks(fitted.links, found.interest.n_nodes + len(fitted.strangers)))
    price: Price | None = None
    if network is not None:
        asked.append(ForNetwork(network))
        names = [found.interest.node_label(v) for v in range(found.interest.n_nodes)]
        price = partial(_priced, network, [*names, *([] if fitted is None else fitted.strangers)])
    with stages("compare", f"running {len(choices)} methods"):
        compared = [compared_as(row, metrics_for(row, found.interest, seed, price)) for row in asked]
    return Comparison(tuple(compared), found.counts, found.fingerprint, None if fitted is None else fitted.findings)


def compared_as(row: Row, values: Mapping[str, Any]) -> Compared:
    """The values of a row under its name."""
    reference = isinstance(row, MethodChoice) and spec_of(row.method).reference
    known: dict[str, Any] = {name: values.get(name) for name in (*METRICS, *ON_NETWORK)}
    return Compared(name=row.text, reference=reference, **known)


def metrics_for(row: Row, interest: Interest, seed: int, price: Price | None = None) -> dict[str, Any]:
    """Measure the design of a method, or given links. Returns the reason where the method refuses."""
    if isinstance(row, MethodChoice):
        return evaluate(interest, row, seed, price)
    if isinstance(row, ForNetwork):
        return _for_network(row.network, interest, seed)
    ids = interest.nodes, interest.topics
    held = Overlay(Interest.from_ids(*ids, n_nodes=row.n_nodes, n_topics=interest.n_topics), row.links)
    return {**metrics_of(held), **({} if price is None else price(row.links))}


def _for_network(network: Network, interest: Interest, seed: int) -> dict[str, Any]:
    """Metrics of a design for a network. A topic counts as broken where its relays do not connect it, either."""
    from topicloom.methods.network.design_network import design_network  # here: its kernels take long to load

    wide = network.widened(interest)
    start = time.perf_counter()
    try:
        made = replace(design_network(wide, network.resolve(wide), seed=seed), network=network)
    except TopicloomError as error:
        return {"refused": str(error)}
    seconds, costs = time.perf_counter() - start, measure_network(made)
    priced = {"price": costs.price, "wan_links": costs.wan_links, "links_that_may_not_be": 0}
    return {**metrics_of(made), **priced, "seconds": seconds}


def _priced(network: Network, names: Sequence[str], links: Int32Array) -> dict[str, Any]:
    """What links cost on a network, by name. Nodes that it does not know may not be linked."""
    known = {node.node for node in network.nodes}
    ends = [(names[u], names[v]) for u, v in links.tolist()]
    prices = [network.price(u, v) if {u, v} <= known else math.inf for u, v in ends]
    apart = [{u, v} <= known and network.site_of(u) != network.site_of(v) for u, v in ends]
    wrong = sum(map(math.isinf, prices))
    return {"price": None if wrong else sum(prices, 0.0), "wan_links": sum(apart), "links_that_may_not_be": wrong}


def evaluate(interest: Interest, choice: MethodChoice, seed: int, price: Price | None = None) -> dict[str, Any]:
    """Metrics of one method, or why it refused."""
    try:
        design(generate(nodes=40, topics=8, subscriptions=2), choice.method, **choice.options)  # compiles, untimed
        start = time.perf_counter()
        overlay = design(interest, choice.method, seed=seed, **choice.options)
        seconds = time.perf_counter() - start
    except TopicloomError as error:
        return {"refused": str(error)}
    return {**metrics_of(overlay), **({} if price is None else price(overlay.links)), "seconds": seconds}


def metrics_of(overlay: Overlay) -> dict[str, Any]:
    """All metrics of an overlay but the time it took."""
    interest, links = overlay.interest, overlay.links
    metrics = measure(interest, links)
    values = {name: getattr(metrics, name) for name in METRICS if hasattr(metrics, name)}
    error = mean_hops(interest, links).standard_error if metrics.sampled_hops else 0.0
    return {
        **values,
        "hops_standard_error": None if metrics.mean_hops is None else error,
        "broken_topics": len(verify(interest, links).broken) - metrics.relayed_topics,
    }


def with_pareto_best(compared: Sequence[Compared]) -> list[Compared]:
    """The same, with those marked that no other one beats. Links that leave a topic broken or relayed take no part."""
    marks = {one.name: _marks(one) for one in compared if one.connects_every_topic}
    best = {
        name
        for name, mine in marks.items()
        if not any(theirs != mine and all(t <= m for t, m in zip(theirs, mine)) for theirs in marks.values())
    }
    return [Compared(**{**asdict(one), "pareto_best": one.name in best}) for one in compared]


def _marks(one: Compared) -> tuple[float, ...]:
    values = {**asdict(one), "dies_of_one_failure": not one.survives_one_failure}
    return tuple(float("inf") if values[name] is None else float(values[name]) for name in _CRITERIA)


def results_table(compared: Sequence[Compared]) -> pa.Table:
    """The results as an Arrow table, a row a method."""
    texts = {"name": pa.string(), "reference": pa.bool_(), "pareto_best": pa.bool_()}
    kinds = {**texts, **{name: ARROW[kind] for name, kind in METRICS.items()}}
    rows = [one.to_dict() for one in compared]
    if any("price" in row for row in rows):
        kinds |= dict(zip(ON_NETWORK, (pa.float64(), pa.int64(), pa.int64())))
    return pa.table({name: pa.array([row.get(name) for row in rows], kind) for name, kind in kinds.items()})
