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
    """Topic diameters with distances through the whole overlay, other topics' nodes included.

    Per topic the largest distance of two subscribers in the overlay, 0 with fewer than two, -1 when it is
    infinite: the topic diameter of Chockler et al., PODC 2007, §9. Never above the diameter of a connected
    sub-overlay. Exact; a search from every node: O(nodes × links + Σ over topics of subscribers²) time.

    Examples
    --------
    >>> import topicloom as tl
    >>> from topicloom.measures import overlay_diameters
    >>> interest = tl.Interest.from_pairs(list("abcde"), list("xyxyy"))
    >>> overlay_diameters(interest, [(0, 1), (1, 2), (2, 3)]).tolist()
    [2, -1]
    """
    link_indptr, neighbours = _rows(interest, links)
    return frozen(routing.overlay_diameters(link_indptr, neighbours, *both_ways(interest)))


def filtering_costs(interest: Interest, links: Any) -> Int64Array:
    """Per topic, nodes that do not want it in a tree of the overlay that joins all who do; -1 when none does.

    That is the filtering cost of Chockler et al., PODC 2007, §9, of an approximate Steiner tree (Mehlhorn,
    1988) with fewer than twice the fewest links: with r unwanted relays needed at least, the answer is at
    most 2r + subscribers - 1. It is 0 exactly when the sub-overlay is connected, so for every topic of a
    topic-connected overlay. O(nodes + links) time for each topic that is not connected.

    Examples
    --------
    >>> import topicloom as tl
    >>> from topicloom.measures import filtering_costs
    >>> interest = tl.Interest.from_pairs(list("abcde"), list("xyxyy"))
    >>> filtering_costs(interest, [(0, 1), (1, 2), (2, 3), (3, 4)]).tolist()
    [1, 1]
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
