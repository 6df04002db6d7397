"""RingPT: a ring per topic in node order, what systems without interest-aware planning do."""

from topicloom.methods.per_topic.topic_graphs import distinct_links, successors
from topicloom.methods.registry import method
from topicloom.model import Interest, Overlay
from topicloom.model.checks import checked_seed


@method(
    "ring-pt",
    problem="baseline: a ring for every topic, rings merged where they share links",
    guarantee="2-topic-connected; no bound on degrees (a node with s topics has degree up to 2s)",
    cost="O(subscriptions log subscriptions) time, O(subscriptions) memory",
    paper="Chockler et al., Constructing Scalable Overlays for Pub-Sub with Many Topics, PODC 2007, §8.3",
    memory=lambda size, options: 64 * size.subscriptions,
    max_k=2,
)
def ring_per_topic(interest: Interest, *, seed: int = 0) -> Overlay:
    """Overlay with a ring per topic through its subscribers in node-id order (RingPT).

    Every topic is 2-connected: any single node may fail. Links that rings share are counted once; a topic with two
    subscribers gets one link. Takes O(subscriptions log subscriptions) time. The seed changes nothing.

    Parameters
    ----------
    interest : Interest
        What each node wants.
    seed : int
        Changes nothing: there are no ties.

    Returns
    -------
    Overlay

    See Also
    --------
    gm2 : the same guarantee with fewer links.
    harary_per_topic : any number of failures.

    References
    ----------
    [gm-min-tco] §8.3; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcde"), ["news"] * 5)
    >>> tl.ring_per_topic(interest).links.tolist()
    [[0, 1], [1, 2], [2, 3], [3, 4], [0, 4]]
    >>> factory = tl.datasets.example()
    >>> overlay = tl.ring_per_topic(factory)
    >>> overlay.n_links, overlay.verify(k=2).ok
    (12, True)
    """
    links = distinct_links(interest.topic_nodes, successors(interest.topic_nodes, interest.topic_indptr))
    return Overlay(interest, links, "ring-pt", seed=checked_seed(seed))
