"""What routing costs in an overlay that need not be topic-connected: distances and unwanted relays."""

from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.kernels.paths import routing, steiner
from topicloom.kernels.paths.diameter import adjacency
from topicloom.measures.topic_measures import measure_topics
from topicloom.model.arrays import Int64Array, frozen
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
    link_indptr, neighbours = _rows(interest, links)
    components = measure_topics(interest, links).components
    costs = np.zeros(interest.n_topics, np.int64)
    for topic in np.flatnonzero(components > 1).tolist():
        costs[topic] = steiner.relays(link_indptr, neighbours, interest.subscribers(topic))
    return frozen(costs)


def _rows(interest: Interest, links: Any) -> tuple[Int64Array, npt.NDArray[np.int32]]:
    """The overlay as a CSR with every link in the rows of both ends."""
    normalized = link_ids(interest, links)
    indptr, neighbours = adjacency(interest.n_nodes, normalized[:, 0], normalized[:, 1])
    return indptr, neighbours
