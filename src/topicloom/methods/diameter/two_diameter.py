"""2D-ODA: every message takes at most two hops, by a star for one topic after the other."""

from topicloom.kernels.covers.topic_stars import topic_stars
from topicloom.kernels.tie_order import places_on_circle, topic_places
from topicloom.methods.registry import method
from topicloom.model import Interest, Overlay
from topicloom.model.checks import checked_seed
from topicloom.model.interest import both_ways


@method(
    "2d-oda",
    problem="two hops at most for every message, with few links; one centre per topic",
    guarantee="topic-connected, every topic with diameter at most 2; at most a link per subscription",
    cost="O(Σ_u topics(u)² + subscriptions log nodes) time, O(subscriptions + links) memory",
    paper="Onus, Richa: Parameterized Maximum and Average Degree Approximation in Topic-Based Publish-Subscribe, §6.3",
    memory=lambda size, options: 96 * size.subscriptions + 64 * (size.nodes + size.topics),
)
def two_diameter_oda(interest: Interest, *, seed: int = 0) -> Overlay:
    """Overlay of topic diameter 2 by 2D-ODA: the densest star of a topic comes first.

    The density of a star of topic t around u is the number of other subscribers of u's topics that have no star
    yet, counted once per topic, divided by the links that the star still lacks. The densest is added, t has its star,
    and so on. A star that lacks no link is infinitely dense and costs nothing. Densities are compared exactly, as
    fractions; ties go to the node that comes first on the seeded circle, then to its topic that comes first on a seeded
    circle of topics.

    Every topic has diameter at most 2, and there is at most a link per subscription. Takes O(Σ_u topics(u)² +
    subscriptions log nodes) time at worst and O(subscriptions + links) memory.

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
    cd_oda, cd_oda_1, cd_oda_2 : stars around nodes, the same guarantee.

    References
    ----------
    [low-oda] §6.3, Algorithm 2; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("aabbccdd"), list("xyxzyzzw"))
    >>> tl.measure(interest, tl.two_diameter_oda(interest).links).max_topic_diameter
    2
    >>> factory = tl.datasets.example()
    >>> overlay = tl.two_diameter_oda(factory)
    >>> overlay.n_links, overlay.measure().max_topic_diameter
    (8, 2)
    """
    seed = checked_seed(seed)
    places = places_on_circle(interest.n_nodes, seed), topic_places(interest.n_topics, seed)
    links = topic_stars(*both_ways(interest), *places)
    return Overlay(interest, links, "2d-oda", seed=seed)
