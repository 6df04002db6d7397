"""CD-ODA, CD-ODA-I and CD-ODA-II: every message takes at most two hops, by a star around one node after the other."""

from collections.abc import Mapping
from typing import Any

from topicloom.kernels.covers.node_stars import DENSITY, NEIGHBOURS, WEIGHTED, node_stars
from topicloom.kernels.tie_order import places_on_circle
from topicloom.methods.registry import Size, method
from topicloom.model import Interest, Overlay
from topicloom.model.checks import checked_seed
from topicloom.model.interest import both_ways

_PAPER = "Onus, Richa: Parameterized Maximum and Average Degree Approximation in Topic-Based Publish-Subscribe, §6.1"
_COST = (
    "O(Σ_u topics(u) · w_u) time at worst, w_u the subscribers of u's topics, far less where bounds decide; "
    "O(subscriptions + links) memory"
)
_GUARANTEE = "topic-connected, every topic with diameter at most 2; "


def _memory(size: Size, options: Mapping[str, Any]) -> int:
    """Bytes: at most a star per topic, and the links grow by doubling."""
    return 40 * size.subscriptions + 80 * size.nodes + 16 * size.topics


@method(
    "cd-oda",
    problem="two hops at most for every message; centres by number of neighbours",
    guarantee=_GUARANTEE + "links can be nodes/2 times the fewest possible (Lemma 5)",
    cost=_COST,
    paper=_PAPER,
    memory=_memory,
)
def cd_oda(interest: Interest, *, seed: int = 0) -> Overlay:
    """Overlay of topic diameter 2 by CD-ODA: the node with most neighbours becomes a centre.

    A neighbour of u is another node that shares a topic with u that no centre has served yet. The node with most of
    them is linked to each, all its topics are served, and so on until no topic is left that two nodes want. Ties go to
    the node that comes first on the seeded circle.

    Every topic has diameter at most 2. The links can be nodes/2 times the fewest possible (Lemma 5). Takes
    O(Σ_u topics(u) · w_u) time at worst, w_u the subscribers of u's topics, and O(subscriptions + links) memory.

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
    cd_oda_2 : as a rule fewer links.
    two_diameter_oda : one star a topic.

    References
    ----------
    [low-oda] §6.1, Constant Diameter Overlay Design Algorithm; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("aabbccdd"), list("xyxzyzzw"))
    >>> tl.measure(interest, tl.cd_oda(interest).links).max_topic_diameter
    2
    >>> factory = tl.datasets.example()
    >>> overlay = tl.cd_oda(factory)
    >>> overlay.n_links, overlay.measure().max_topic_diameter
    (9, 2)
    """
    return _around_nodes(interest, "cd-oda", NEIGHBOURS, seed)


@method(
    "cd-oda-1",
    problem="two hops at most for every message; centres by weighted number of neighbours",
    guarantee=_GUARANTEE + "links can be about nodes/8 times the fewest possible (Lemma 6)",
    cost="O(subscriptions log nodes) time, O(subscriptions + links) memory",
    paper=_PAPER,
    memory=_memory,
)
def cd_oda_1(interest: Interest, *, seed: int = 0) -> Overlay:
    """Overlay of topic diameter 2 by CD-ODA-I: as `cd_oda`, neighbours counted once per topic shared.

    Every topic has diameter at most 2. The links can be about nodes/8 times the fewest possible (Lemma 6, whose
    n is half the nodes). Takes O(subscriptions log nodes) time: the counts are sums over topics.

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
    cd_oda, cd_oda_2, two_diameter_oda : other stars, the same guarantee.

    References
    ----------
    [low-oda] §6.1, Constant Diameter Overlay Design Algorithm 1; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("aabbccdd"), list("xyxzyzzw"))
    >>> tl.measure(interest, tl.cd_oda_1(interest).links).max_topic_diameter
    2
    >>> factory = tl.datasets.example()
    >>> overlay = tl.cd_oda_1(factory)
    >>> overlay.n_links, overlay.measure().max_topic_diameter
    (8, 2)
    """
    return _around_nodes(interest, "cd-oda-1", WEIGHTED, seed)


@method(
    "cd-oda-2",
    problem="two hops at most for every message; centres by topics served per link",
    guarantee=_GUARANTEE + "no bound on links is known",
    cost=_COST,
    paper=_PAPER,
    memory=_memory,
)
def cd_oda_2(interest: Interest, *, seed: int = 0) -> Overlay:
    """Overlay of topic diameter 2 by CD-ODA-II: as `cd_oda`, by connection density.

    The density of u is its neighbours counted once per topic shared, divided by its neighbours counted once: the topics
    that a link of the star serves on average. Densities are compared exactly, as fractions.

    Every topic has diameter at most 2. No bound on the links is known; on the paper's own bad case for it, Lemma 6, it
    reaches the optimum. Costs as much as `cd_oda`.

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
    cd_oda, cd_oda_1, two_diameter_oda : other stars, the same guarantee.

    References
    ----------
    [low-oda] §6.1, Constant Diameter Overlay Design Algorithm 2; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("aabbccdd"), list("xyxzyzzw"))
    >>> tl.measure(interest, tl.cd_oda_2(interest).links).max_topic_diameter
    2
    >>> factory = tl.datasets.example()
    >>> overlay = tl.cd_oda_2(factory)
    >>> overlay.n_links, overlay.measure().max_topic_diameter
    (8, 2)
    """
    return _around_nodes(interest, "cd-oda-2", DENSITY, seed)


def _around_nodes(interest: Interest, method: str, rule: int, seed: int) -> Overlay:
    seed = checked_seed(seed)
    links = node_stars(*both_ways(interest), places_on_circle(interest.n_nodes, seed), rule)
    return Overlay(interest, links, method, seed=seed)
