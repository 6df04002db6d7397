"""Hub: one node relays for all. A reference to compare with."""

import numpy as np

from topicloom.kernels.tie_order import places_on_circle
from topicloom.methods.references.beside import sharing_nodes
from topicloom.methods.registry import method
from topicloom.model import Interest, Overlay
from topicloom.model.checks import checked_seed


@method(
    "hub",
    problem="reference: one node relays every message, as a central broker does",
    guarantee="any two nodes within two hops; not topic-connected where the hub lacks a topic; one point of failure",
    cost="O(subscriptions) time and memory",
    paper="no paper: what deployments with one central broker do",
    memory=lambda size, options: 8 * size.subscriptions + 32 * size.nodes,
    max_k=0,
    reference=True,
)
def hub(interest: Interest, *, seed: int = 0) -> Overlay:
    """Overlay in which the node with most topics is linked to all others, whether or not they share one with it.

    Topics that the hub does not want pass through it nevertheless: the overlay need not be topic-connected. Nodes that
    share no topic with anyone stay unlinked. Of nodes with equally many topics the hub is the first on the seeded
    circle. Takes O(subscriptions) time and memory.

    Parameters
    ----------
    interest : Interest
        What each node wants.
    seed : int
        Decides between nodes with equally many topics.

    Returns
    -------
    Overlay

    See Also
    --------
    full_mesh, random_regular, spanning_tree : other overlays to compare with.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("aaabbcd"), list("wxyxzzz"))
    >>> overlay = tl.hub(interest)
    >>> overlay.n_links, tl.verify(interest, overlay.links).ok
    (3, False)
    >>> factory = tl.datasets.example()
    >>> overlay = tl.hub(factory)
    >>> overlay.n_links, overlay.verify().broken_topics
    (5, 3)
    """
    seed = checked_seed(seed)
    nodes = sharing_nodes(interest)
    if not len(nodes):
        return Overlay(interest, np.empty((0, 2), np.int32), "hub", seed=seed)
    places = places_on_circle(interest.n_nodes, seed)
    topic_counts = np.diff(interest.indptr)[nodes]
    centre = nodes[np.lexsort((places[nodes], -topic_counts))[0]]
    others = nodes[nodes != centre]
    links = np.sort(np.column_stack((np.full(len(others), centre, np.int32), others)), axis=1)
    return Overlay(interest, links, "hub", seed=seed)
