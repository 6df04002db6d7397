"""Metrics of an overlay as a whole."""

from typing import Any

import numpy as np

from topicloom.judge.verify import verify
from topicloom.measures.hops import topic_hops
from topicloom.measures.routing_cost import relayed_ways
from topicloom.measures.topic_measures import TopicMeasures, measure_topics
from topicloom.model.arrays import degrees
from topicloom.model.given_links import link_ids
from topicloom.model.interest import Interest, checked_interest
from topicloom.model.results import Metrics


def measure(interest: Interest, links: Any) -> Metrics:
    """Measure an overlay: links, degrees, topic diameters, hops, unwanted relays, and whether it survives a failure.

    The mean topic diameter is over topics with at least two subscribers (0.0 when there are none). One topic
    that is not connected makes diameters and hops infinite: None, with ``disconnected_topics`` saying
    how many there are. All is exact, except the hops of topics of many hundred subscribers: ``sampled_hops``.
    `topicloom.measures.mean_hops` gives the standard error of that estimate, too.

    Parameters
    ----------
    interest : Interest
    links : Overlay, pairs, table or graph
        By label or by id, as `Overlay.from_links` takes them. In any order and direction; repeats count
        once. They need not make a topic-connected overlay.

    Returns
    -------
    Metrics

    Raises
    ------
    InvalidLinksError
        A link joins a node with itself or with one that does not exist.

    See Also
    --------
    verify : whether every topic is connected.
    drill : what the failure of given nodes does.

    Notes
    -----
    Cost as for `topicloom.measures.measure_topics`, at most some million steps per topic for its hops, and
    O(nodes + links) time for each topic that is not connected.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcdeab"), ["news"] * 5 + ["sport"] * 2)
    >>> metrics = tl.measure(interest, [(0, 1), (1, 2), (2, 3), (3, 4)])
    >>> metrics.average_degree, metrics.max_topic_diameter, metrics.mean_topic_diameter
    (1.6, 4, 2.5)
    >>> factory = tl.datasets.example()
    >>> metrics = tl.measure(factory, tl.design(factory))
    >>> metrics.links, metrics.max_degree, metrics.max_topic_diameter, metrics.disconnected_topics
    (7, 3, 4, 0)
    """
    checked_interest(interest, "measure")
    normalized = link_ids(interest, links)
    return summarize(interest, normalized, measure_topics(interest, normalized))


def summarize(interest: Interest, links: Any, per_topic: TopicMeasures) -> Metrics:
    """Measure an overlay whose topics have been measured.

    Parameters
    ----------
    interest : Interest
    links : Overlay, pairs, table or graph
        By label or by id, as `Overlay.from_links` takes them.
    per_topic : TopicMeasures
        Of the same links, by `measure_topics`.

    Returns
    -------
    Metrics
        As `topicloom.measure` returns them.

    See Also
    --------
    topicloom.measure : measures the topics, too.

    Notes
    -----
    At most some million steps per topic for its hops, and O(nodes + links) time for each topic that is not connected.

    Examples
    --------
    >>> import topicloom as tl
    >>> from topicloom.measures import measure_topics, summarize
    >>> overlay = tl.design(tl.datasets.example())
    >>> summarize(overlay.interest, overlay, measure_topics(overlay.interest, overlay)) == overlay.measure()
    True
    """
    normalized = link_ids(interest, links)
    degree = degrees(normalized, interest.n_nodes)
    n_links, tree_links = len(normalized), int(np.maximum(per_topic.subscribers - 1, 0).sum())
    diameters = per_topic.diameter[per_topic.subscribers > 1]
    disconnected = int((diameters < 0).sum())
    values, counts = np.unique(degree, return_counts=True)
    hops = topic_hops(interest, normalized, per_topic)
    pairs = int((per_topic.subscribers * (per_topic.subscribers - 1)).sum())
    ways = relayed_ways(interest, normalized) if disconnected else None
    relayed, broken = (0, 0) if ways is None else (ways.relayed, ways.broken)
    total = int(hops.sums.sum()) + (0 if ways is None else int(ways.hops.sum()))
    longest = diameters if ways is None else np.maximum(per_topic.diameter, ways.longest)[per_topic.subscribers > 1]
    return Metrics(
        nodes=interest.n_nodes,
        topics=interest.n_topics,
        subscriptions=interest.n_subscriptions,
        links=n_links,
        average_degree=2 * n_links / interest.n_nodes if interest.n_nodes else 0.0,
        max_degree=int(degree.max(initial=0)),
        mean_topic_diameter=None if disconnected else float(diameters.mean()) if len(diameters) else 0.0,
        max_topic_diameter=None if disconnected else int(diameters.max(initial=0)),
        mean_hops=None if disconnected else int(hops.sums.sum()) / pairs if pairs else 0.0,
        unwanted_relays=None if broken else 0 if ways is None else int(ways.costs.sum()),
        survives_one_failure=not per_topic.fragile.any() and verify(interest, normalized, 2).ok,
        disconnected_topics=disconnected,
        links_per_topic_tree=n_links / tree_links if tree_links else None,
        mean_shared_topics=int(per_topic.links.sum()) / n_links if n_links else None,
        idle_links=per_topic.idle_links,
        sampled_diameters=int(per_topic.sampled.sum()),
        sampled_hops=int(hops.sampled.sum()),
        relayed_topics=relayed,
        relaying_nodes=0 if ways is None else len(ways.nodes),
        hops_with_relays=None if broken else total / pairs if pairs else 0.0,
        mean_diameter_with_relays=None if broken else float(longest.mean()) if len(longest) else 0.0,
        max_diameter_with_relays=None if broken else int(longest.max(initial=0)),
        degree_histogram=dict(zip(values.tolist(), counts.tolist())),
    )
