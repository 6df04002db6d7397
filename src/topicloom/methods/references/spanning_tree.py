"""Spanning tree: one tree carries all topics. A reference to compare with."""

from topicloom.kernels.covers.co_subscribers import heaviest_forest
from topicloom.kernels.tie_order import places_on_circle
from topicloom.methods.registry import method
from topicloom.model import Interest, Overlay
from topicloom.model.checks import checked_seed
from topicloom.model.interest import both_ways


@method(
    "spanning-tree",
    problem="reference: one tree carries all topics, as acyclic broker networks do; the tree with most shared topics",
    guarantee="connects all co-subscribers by the fewest links; not topic-connected; every inner node can break it",
    cost="O(Σ_t subscribers(t)²) time, O(nodes) memory",
    paper="no paper: what acyclic broker networks (Siena, PADRES) do, here at its best by shared topics",
    memory=lambda size, options: 64 * size.nodes,
    max_k=0,
    reference=True,
)
def spanning_tree(interest: Interest, *, seed: int = 0) -> Overlay:
    """Overlay of one tree per group of nodes that topics hold together, with the most shared topics over its links.

    Acyclic broker networks route every topic along one tree. This is the kindest such tree: a maximum spanning forest
    of the co-subscribers, weighted by the topics that the two ends share (Prim's algorithm). It is not topic-connected,
    in general: messages pass through nodes that do not want them.

    Takes O(Σ_t subscribers(t)²) time and O(nodes) memory.

    Parameters
    ----------
    interest : Interest
        What each node wants.
    seed : int
        Decides between equally good links.

    Returns
    -------
    Overlay

    See Also
    --------
    full_mesh, hub, random_regular : other overlays to compare with.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("aabbccdd"), list("xyxyxzxz"))
    >>> tl.spanning_tree(interest).n_links
    3
    >>> factory = tl.datasets.example()
    >>> overlay = tl.spanning_tree(factory)
    >>> overlay.n_links, overlay.verify().broken_topics
    (5, 2)
    """
    seed = checked_seed(seed)
    links = heaviest_forest(*both_ways(interest), places_on_circle(interest.n_nodes, seed))
    return Overlay(interest, links, "spanning-tree", seed=seed)
