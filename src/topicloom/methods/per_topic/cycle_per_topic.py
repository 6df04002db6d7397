"""CyclePT: a cycle per topic, each in a random order of its own."""

import numpy as np

from topicloom.kernels.streams import CYCLE_STREAM, draw_pairs
from topicloom.methods.per_topic.topic_graphs import distinct_links, successors
from topicloom.methods.registry import method
from topicloom.model import Interest, Overlay
from topicloom.model.checks import checked_seed


@method(
    "cycle-pt",
    problem="baseline: a cycle for every topic in an independent random order, as if topics did not know of each other",
    guarantee="2-topic-connected; no bound on degrees (about 2s for a node with s topics)",
    cost="O(subscriptions log subscriptions) time, O(subscriptions) memory",
    paper="Chen, Jacobsen, Vitenberg: kTCO (GM2, HararyPT), §VIII",
    memory=lambda size, options: 80 * size.subscriptions,
    max_k=2,
)
def cycle_per_topic(interest: Interest, *, seed: int = 0) -> Overlay:
    """Overlay with a cycle per topic, every topic's in a seeded random order of its own (CyclePT).

    Every topic is 2-connected. Takes O(subscriptions log subscriptions) time.

    Parameters
    ----------
    interest : Interest
        What each node wants.
    seed : int
        Draws the orders.

    Returns
    -------
    Overlay

    See Also
    --------
    ring_per_topic : one order for all topics.
    gm2 : the same guarantee with fewer links.

    References
    ----------
    [ktco] §VIII; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcde"), ["news"] * 5)
    >>> tl.cycle_per_topic(interest, seed=1).degree().tolist()
    [2, 2, 2, 2, 2]
    >>> factory = tl.datasets.example()
    >>> overlay = tl.cycle_per_topic(factory)
    >>> overlay.n_links, overlay.verify(k=2).ok
    (10, True)
    """
    seed = checked_seed(seed)
    topic_of = np.repeat(np.arange(interest.n_topics), np.diff(interest.topic_indptr))
    shuffled = interest.topic_nodes[
        np.lexsort((draw_pairs(seed, CYCLE_STREAM, topic_of, interest.topic_nodes), topic_of))
    ]
    links = distinct_links(shuffled, successors(shuffled, interest.topic_indptr))
    return Overlay(interest, links, "cycle-pt", seed=seed)
