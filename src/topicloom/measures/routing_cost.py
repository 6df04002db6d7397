"""What routing costs in an overlay that need not be topic-connected: distances and unwanted relays."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.kernels.trees import routing, steiner
from topicloom.kernels.trees.diameter import adjacency
from topicloom.measures.topic_measures import measure_topics
from topicloom.model.arrays import Int32Array, Int64Array, frozen
from topicloom.model.given_links import link_ids
from topicloom.model.interest import Interest, both_ways


def overlay_diameters(interest: Interest, links: Any) -> Int64Array:
    """Find the diameters of topics with distances through the whole overlay, other topics' nodes included.

    That is the topic diameter of Chockler et al.: the largest distance of two subscribers of the topic in the overlay.
    It is never above the diameter of a connected sub-overlay.

    Parameters
    ----------
    interest : Interest
    links : Overlay, pairs, table or graph
        By label or by id, as `Overlay.from_links` takes them.

    Returns
    -------
    int64 array, one per topic
        0 with fewer than two subscribers, -1 where it is infinite. Exact.

    Raises
    ------
    InvalidLinksError
        A link joins a node with itself or with one that does not exist.

    See Also
    --------
    measure_topics : distances inside the sub-overlays.

    Notes
    -----
    A search from every node: O(nodes × links + Σ over topics of subscribers²) time.

    References
    ----------
    [gm-min-tco] §9; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> from topicloom.measures import overlay_diameters
    >>> interest = tl.Interest.from_pairs(list("abcde"), list("xyxyy"))
    >>> overlay_diameters(interest, [(0, 1), (1, 2), (2, 3)]).tolist()
    [2, -1]
    >>> overlay = tl.design(tl.datasets.example())
    >>> overlay_diameters(overlay.interest, overlay).tolist()
    [4, 1, 1, 1, 2, 1, 2]
    """
    link_indptr, neighbours = _rows(interest, links)
    return frozen(routing.overlay_diameters(link_indptr, neighbours, *both_ways(interest)))


def filtering_costs(interest: Interest, links: Any) -> Int64Array:
    """Count, per topic, the nodes that relay it without wanting it: the filtering cost of Chockler et al.

    They are counted in a tree of the overlay that joins all subscribers: an approximate Steiner tree (Mehlhorn, 1988)
    with fewer than twice the fewest links.

    Parameters
    ----------
    interest : Interest
    links : Overlay, pairs, table or graph
        By label or by id, as `Overlay.from_links` takes them.

    Returns
    -------
    int64 array, one per topic
        0 exactly when the sub-overlay is connected, so for every topic of a topic-connected overlay. -1 where the
        overlay does not join the subscribers at all. Where r relays are needed at least, at most 2r + subscribers - 1.

    Raises
    ------
    InvalidLinksError
        A link joins a node with itself or with one that does not exist.

    See Also
    --------
    topicloom.measure : their sum, as ``unwanted_relays``.

    Notes
    -----
    O(nodes + links) time for each topic that is not connected, and the cost of `measure_topics`.

    References
    ----------
    [gm-min-tco] §9; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> from topicloom.measures import filtering_costs
    >>> interest = tl.Interest.from_pairs(list("abcde"), list("xyxyy"))
    >>> filtering_costs(interest, [(0, 1), (1, 2), (2, 3), (3, 4)]).tolist()
    [1, 1]
    >>> overlay = tl.design(tl.datasets.example())
    >>> filtering_costs(overlay.interest, overlay).tolist()
    [0, 0, 0, 0, 0, 0, 0]
    """
    return relayed_ways(interest, links).costs


@dataclass(frozen=True, eq=False)
class RelayedWays:
    """What it takes to join the topics whose sub-overlay is not connected. The arrays are read-only.

    Attributes
    ----------
    costs : int64 array, one cell per topic
        As `filtering_costs` returns them: above 0 for relayed topics, -1 for broken ones.
    hops, longest : int64 arrays, one cell per topic
        Sum of the distances over all ordered pairs of subscribers in the tree that joins a relayed topic, and the
        largest; 0 for all other topics.
    nodes : int32 array
        The nodes that relay some topic.
    """

    costs: Int64Array
    hops: Int64Array
    longest: Int64Array
    nodes: Int32Array

    @property
    def broken(self) -> int:
        """Topics whose subscribers cannot reach each other over any links."""
        return int((self.costs < 0).sum())

    @property
    def relayed(self) -> int:
        """Topics that are joined by nodes which do not want them."""
        return int((self.costs > 0).sum())


def relayed_ways(interest: Interest, links: Any) -> RelayedWays:
    """Find the nodes that relay topics which they do not want, and the ways of these topics.

    Parameters
    ----------
    interest : Interest
    links : Overlay, pairs, table or graph
        By label or by id, as `Overlay.from_links` takes them.

    Returns
    -------
    RelayedWays

    See Also
    --------
    filtering_costs : says which tree is meant, and its cost.

    Examples
    --------
    >>> import topicloom as tl
    >>> from topicloom.measures.routing_cost import relayed_ways
    >>> star = tl.Interest.from_pairs(["a", "b", "c", "hub"], ["news", "news", "news", "sport"])
    >>> ways = relayed_ways(star, [("a", "hub"), ("b", "hub"), ("c", "hub")])
    >>> ways.relayed, ways.broken, ways.nodes.tolist(), ways.hops.tolist(), ways.longest.tolist()
    (1, 0, [3], [12, 0], [2, 0])
    """
    link_indptr, neighbours = _rows(interest, links)
    components = measure_topics(interest, links).components
    costs, hops, longest = (np.zeros(interest.n_topics, np.int64) for _ in range(3))
    relaying = np.zeros(interest.n_nodes, bool)
    for topic in np.flatnonzero(components > 1).tolist():
        joined, nodes, *ways = steiner.relays(link_indptr, neighbours, interest.subscribers(topic))
        costs[topic] = len(nodes) if joined else -1
        if joined:
            relaying[nodes] = True
            hops[topic], longest[topic] = ways
    return RelayedWays(frozen(costs), frozen(hops), frozen(longest), frozen(np.flatnonzero(relaying).astype(np.int32)))


def _rows(interest: Interest, links: Any) -> tuple[Int64Array, npt.NDArray[np.int32]]:
    """The overlay as a CSR with every link in the rows of both ends."""
    normalized = link_ids(interest, links)
    indptr, neighbours = adjacency(interest.n_nodes, normalized[:, 0], normalized[:, 1])
    return indptr, neighbours
