"""Measures of each topic's sub-overlay."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from topicloom.kernels.trees.disjoint_paths import shared_topic_counts
from topicloom.kernels.trees.topic_shape import topic_shapes
from topicloom.model.arrays import Int32Array, Int64Array, frozen
from topicloom.model.given_links import link_ids
from topicloom.model.interest import Interest

# Pipelines give a topic of more subscribers a lower bound of its diameter from a few searches, unless those settle it:
# exact diameters of some graphs take time that grows with the square of their nodes.
EXACT_UP_TO = 20_000
EXACT_UP_TO_OF_MANY = 1_000
MANY_SUBSCRIPTIONS = 1_000_000


@dataclass(frozen=True, eq=False)
class TopicMeasures:
    """Measures of every topic's sub-overlay, one cell per topic id. The arrays are read-only.

    Attributes
    ----------
    subscribers, links, components : int64 arrays
        Of the sub-overlay: its nodes, the links among them, and the pieces it falls into (0 without
        subscribers).
    diameter : int64 array
        Largest distance of two subscribers inside the sub-overlay; 0 with fewer than two subscribers, -1 when
        the sub-overlay is not connected (an infinite diameter).
    sampled : bool array
        Where the diameter is a lower bound.
    idle_links : int
        Links of the overlay that lie in no sub-overlay.
    """

    subscribers: Int64Array
    links: Int64Array
    components: Int64Array
    diameter: Int64Array
    sampled: npt.NDArray[np.bool_]
    idle_links: int

    @property
    def fragile(self) -> npt.NDArray[np.bool_]:
        """Which topics need no judge to be called so: in pieces, or without a cycle and of over two subscribers.

        Others may be cut by one failure, too.
        """
        tree = (self.subscribers > 2) & (self.links < self.subscribers)
        found: npt.NDArray[np.bool_] = (self.components > 1) | tree
        return found

    def columns(self) -> dict[str, pa.Array]:
        """Columns for the ``topics/`` table of an overlay directory. An infinite diameter is null."""
        return {
            "subscribers": pa.array(self.subscribers),
            "links": pa.array(self.links),
            "components": pa.array(self.components),
            "diameter": pa.array(self.diameter, mask=self.diameter < 0),
            "diameter_sampled": pa.array(self.sampled),
        }


def exact_limit(n_subscriptions: int, exact: bool = False) -> int | None:
    """Subscribers above which a topic's diameter may be a lower bound. Returns None where all are ``exact``.

    20,000, and 1,000 in an interest of over a million subscriptions.
    """
    return None if exact else EXACT_UP_TO if n_subscriptions <= MANY_SUBSCRIPTIONS else EXACT_UP_TO_OF_MANY


def shared_counts(indptr: Int64Array, topics: Int32Array, links: Int32Array) -> Int64Array:
    """Count, for every link, the topics that both ends want. The interest is a CSR by node, ascending in each row."""
    counts: Int64Array = shared_topic_counts(indptr, topics, links)
    return counts


def measure_topics(interest: Interest, links: Any, *, exact_up_to: int | None = None) -> TopicMeasures:
    """Measure the sub-overlay of every topic: its links, its components and its diameter.

    The sub-overlay of a topic is made of its subscribers and the links among them. Distances are those inside it, as in
    the kTCO paper, §VIII.

    Parameters
    ----------
    interest : Interest
    links : Overlay, pairs, table or graph
        By label or by id, as `Overlay.from_links` takes them.
    exact_up_to : int, optional
        A topic with more subscribers gets 16 searches; unless they settle it, its diameter is a lower bound. All
        diameters are exact where it is not given.

    Returns
    -------
    TopicMeasures
        One value per topic id.

    Raises
    ------
    InvalidLinksError
        A link joins a node with itself or with one that does not exist.

    See Also
    --------
    topicloom.measure : the overlay as a whole.
    overlay_diameters : distances through nodes that do not want the topic.

    Notes
    -----
    O(Σ over links of the topics of its ends) time, and a few searches per topic; a topic of 30,000 subscribers takes
    seconds at worst.

    References
    ----------
    [ktco] §VIII; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> from topicloom.measures import measure_topics
    >>> interest = tl.Interest.from_pairs(list("abcdeab"), ["news"] * 5 + ["sport"] * 2)
    >>> measure_topics(interest, [(0, 1), (1, 2), (2, 3), (3, 4)]).diameter.tolist()
    [4, 1]
    >>> measure_topics(interest, [(1, 2), (2, 3), (3, 4)]).components.tolist()
    [2, 2]
    >>> overlay = tl.design(tl.datasets.example())
    >>> measure_topics(overlay.interest, overlay).diameter.tolist()
    [4, 1, 1, 1, 2, 1, 2]
    """
    normalized = link_ids(interest, links)
    limit = interest.n_nodes if exact_up_to is None else exact_up_to
    n_links, components, diameters, sampled, idle = topic_shapes(
        interest.indptr, interest.topic_indptr, interest.topic_nodes, normalized, limit
    )
    sizes = frozen(np.diff(interest.topic_indptr))
    return TopicMeasures(sizes, frozen(n_links), frozen(components), frozen(diameters), frozen(sampled), int(idle))
