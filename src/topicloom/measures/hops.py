"""The hops that a message really takes: mean distance of two subscribers inside their sub-overlay."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from topicloom.kernels.streams import draw_pairs
from topicloom.kernels.trees.diameter import adjacency
from topicloom.kernels.trees.routing import distance_sums
from topicloom.kernels.trees.topic_shape import edge_finder, topic_edges
from topicloom.measures.topic_measures import MANY_SUBSCRIPTIONS, TopicMeasures, measure_topics
from topicloom.model.arrays import Int64Array, frozen
from topicloom.model.checks import checked_seed, checked_whole
from topicloom.model.given_links import link_ids
from topicloom.model.interest import Interest
from topicloom.model.results import Hops

_HOP_STREAM = 701  # of kernels.random: a number that no other use has
_STEPS_A_TOPIC, _FEWEST_SEARCHES = 1 << 20, 32
_STEPS_OF_MANY, _FEWEST_OF_MANY = 1 << 17, 8


@dataclass(frozen=True, eq=False)
class TopicHops:
    """Distances inside every topic's sub-overlay, one cell per topic id. The arrays are read-only.

    Attributes
    ----------
    sums : int64 array
        Sum of the distances over all ordered pairs of subscribers, rounded where it is an estimate; 0 where the
        sub-overlay is not connected.
    variances : float64 array
        Of the sums; 0 where they are exact.
    sampled : bool array
        Where the sum is an estimate.
    """

    sums: Int64Array
    variances: npt.NDArray[np.float64]
    sampled: npt.NDArray[np.bool_]

    def columns(self) -> dict[str, pa.Array]:
        """Columns that can be summed over topics."""
        return {"hop_sum": pa.array(self.sums), "hops_sampled": pa.array(self.sampled)}


def topic_hops(
    interest: Interest,
    links: Any,
    shapes: TopicMeasures,
    *,
    steps: int | None = None,
    n_subscriptions: int | None = None,
    seed: int = 0,
) -> TopicHops:
    """Sum the distances between the subscribers of each topic whose sub-overlay is connected.

    Parameters
    ----------
    interest : Interest
    links : Overlay, pairs, table or graph
        By label or by id, as `Overlay.from_links` takes them.
    shapes : TopicMeasures
        Of the same links, by `measure_topics`.
    steps : int, optional
        A topic is searched from all its subscribers where that takes at most this number of steps (nodes and links
        met), and from 32 random ones or more otherwise. 2^20 unless given.
    n_subscriptions : int, optional
        Of the whole interest, where the given one is a part of it. Above a million, ``steps`` is 2^17 unless given, and
        8 searches or more are made.
    seed : int
        Of the random subscribers.

    Returns
    -------
    TopicHops
        One value per topic id. It depends on the topic's sub-overlay, these numbers and the seed alone.

    See Also
    --------
    mean_hops : the mean over all topics.

    Notes
    -----
    O(``steps``) per topic at most, where that is more than the fewest searches; else those searches.

    Examples
    --------
    >>> import topicloom as tl
    >>> from topicloom.measures import measure_topics, topic_hops
    >>> overlay = tl.design(tl.datasets.example())
    >>> topic_hops(overlay.interest, overlay, measure_topics(overlay.interest, overlay)).sums.tolist()
    [56, 2, 2, 2, 8, 2, 8]
    """
    total = interest.n_subscriptions if n_subscriptions is None else n_subscriptions
    many = total > MANY_SUBSCRIPTIONS
    usual, fewest = (_STEPS_OF_MANY, _FEWEST_OF_MANY) if many else (_STEPS_A_TOPIC, _FEWEST_SEARCHES)
    steps = usual if steps is None else steps
    sizes, weight = shapes.subscribers, np.maximum(shapes.subscribers + 2 * shapes.links, 1)
    connected = (shapes.components == 1) & (sizes > 1)
    searches = np.where(connected, np.minimum(np.maximum(steps // weight, fewest), sizes), 0)
    sampled, starts = connected & (searches < sizes), np.cumsum(searches) - searches
    topic = np.repeat(np.arange(interest.n_topics), searches)
    rank = np.arange(len(topic)) - starts[topic]
    drawn = draw_pairs(seed, _HOP_STREAM, rank, sizes[topic]) % np.maximum(sizes[topic], 1).astype(np.uint64)
    place = np.where(sampled[topic], drawn.astype(np.int64), rank)
    found = _sums(interest, links, topic, place)
    sums, variances = np.zeros(interest.n_topics, np.int64), np.zeros(interest.n_topics)
    if len(found):
        sums[connected] = np.add.reduceat(found, starts[connected])
    for t in np.flatnonzero(sampled).tolist():
        size, own = int(sizes[t]), found[starts[t] : starts[t] + searches[t]]
        sums[t] = round(int(sums[t]) * size / len(own))
        variances[t] = float(own.var(ddof=1)) * size**2 / len(own)
    return TopicHops(frozen(sums), frozen(variances), frozen(sampled))


def mean_hops(interest: Interest, links: Any, *, exact_steps: int | None = None, seed: int = 0) -> Hops:
    """Find the mean distance over all pairs of subscribers of all topics, inside the sub-overlays.

    Parameters
    ----------
    interest : Interest
    links : Overlay, pairs, table or graph
        By label or by id, as `Overlay.from_links` takes them.
    exact_steps : int, optional
        A topic is exact where searches from all its subscribers take at most this number of steps (nodes and links
        met): 2^20 unless given, or 2^17 for an interest of over a million subscriptions.
    seed : int
        Of the random subscribers from which larger topics are searched, 32 or more (8 above a million subscriptions).
        The estimate is without bias, and the same for the same seed on every machine.

    Returns
    -------
    Hops
        The mean, its standard error, and whether it is exact. The mean is None where a topic is not connected.

    Raises
    ------
    InvalidLinksError
        A link joins a node with itself or with one that does not exist.
    InvalidOptionError
        ``exact_steps`` or ``seed`` is negative or no whole number.

    See Also
    --------
    topicloom.measure : this mean among other measures.
    topic_hops : the distances of each topic.

    Notes
    -----
    O(``exact_steps``) per topic at most, where that is more than 32 searches; else those searches. And the cost of
    `measure_topics`.

    Examples
    --------
    >>> import topicloom as tl
    >>> from topicloom.measures import mean_hops
    >>> interest = tl.Interest.from_pairs(list("abcde"), ["news"] * 5)
    >>> mean_hops(interest, [(0, 1), (1, 2), (2, 3), (3, 4)])
    Hops(mean=2.0, standard_error=0.0, exact=True)
    >>> mean_hops(interest, [(0, 1), (1, 2), (2, 3)]).mean is None
    True
    >>> overlay = tl.design(tl.datasets.example())
    >>> round(mean_hops(overlay.interest, overlay).mean, 3)
    1.6
    """
    seed = checked_seed(seed)
    steps = None if exact_steps is None else checked_whole("exact_steps", exact_steps, 0)
    shapes = measure_topics(interest, links)
    if (shapes.diameter < 0).any():
        return Hops(None, None, exact=True)
    pairs = int((shapes.subscribers * (shapes.subscribers - 1)).sum())
    if not pairs:
        return Hops(0.0, 0.0, exact=True)
    found = topic_hops(interest, links, shapes, steps=steps, seed=seed)
    error = float(np.sqrt(found.variances.sum())) / pairs
    return Hops(int(found.sums.sum()) / pairs, error, exact=not found.sampled.any())


def _sums(interest: Interest, links: Any, topic: Int64Array, place: Int64Array) -> Int64Array:
    """Sum distances from the ``place[i]``-th subscriber of ``topic[i]`` to the others. Topics ascend."""
    normalized = link_ids(interest, links)
    finder = edge_finder(interest.indptr, normalized)
    sums = np.empty(len(topic), np.int64)
    topics, firsts = np.unique(topic, return_index=True)
    for t, first, last in zip(topics.tolist(), firsts, [*firsts[1:], len(topic)]):
        subscribers = interest.subscribers(t)
        count = topic_edges(finder, subscribers)
        indptr, neighbours = adjacency(len(subscribers), finder.src[:count], finder.dst[:count])
        sums[first:last] = distance_sums(indptr, neighbours, place[first:last])
    return sums
