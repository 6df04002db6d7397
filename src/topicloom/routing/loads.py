"""Messages a second over links and through nodes, by the rates of topics and the trees of routes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from topicloom.routing.route_table import Routes
from topicloom.routing.topic_trees import topic_rates


class LinkLoad(NamedTuple):
    """A link, the topics that pass over it, and their messages a second."""

    src: str
    dst: str
    topics: int
    rate: float


class NodeLoad(NamedTuple):
    """A node, and the messages a second that it takes in or sends to other nodes: the rates of its rows."""

    node: str
    rows: int
    rate: float


def loads(routes: Routes, rates: Mapping[str, float]) -> tuple[list[LinkLoad], list[NodeLoad]]:
    """Messages a second over every link that is used and at every node, the busiest first.

    A message on a topic passes once over every active row of the topic.

    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abc"), ["news"] * 3)
    >>> links, nodes = loads(tl.routes(tl.Overlay(interest, [(0, 1), (1, 2)])), {"news": 5.0})
    >>> links[0], nodes[0]
    (LinkLoad(src='a', dst='b', topics=1, rate=5.0), NodeLoad(node='b', rows=2, rate=10.0))
    """
    interest, active = routes.interest, routes.active
    topic, src, dst = routes.topic[active], routes.src[active], routes.dst[active]
    rate = topic_rates(interest, rates)[topic]
    pairs, of_row = np.unique(np.column_stack((src, dst)), axis=0, return_inverse=True)
    of_row = of_row.ravel()
    topics, over = np.bincount(of_row, minlength=len(pairs)), np.bincount(of_row, rate, len(pairs))
    names = [interest.node_label(v) for v in range(interest.n_nodes)]
    links = [
        LinkLoad(names[u], names[v], *load) for (u, v), *load in zip(pairs.tolist(), topics.tolist(), over.tolist())
    ]
    ends = np.concatenate((src, dst))
    rows, through = np.bincount(ends, minlength=len(names)), np.bincount(ends, np.tile(rate, 2), len(names))
    nodes = [NodeLoad(*load) for load in zip(names, rows.tolist(), through.tolist()) if load[1]]
    return sorted(links, key=_busiest), sorted(nodes, key=_busiest)


def _busiest(load: Any) -> tuple[Any, ...]:
    return (-load.rate, load)
