"""The hops that a message really takes: mean distance of two subscribers inside their sub-overlay."""

from typing import Any

import numpy as np

from topicloom.kernels.paths.diameter import adjacency
from topicloom.kernels.paths.routing import distance_sums
from topicloom.kernels.paths.topic_shape import oriented_links, topic_edges
from topicloom.kernels.streams import draw_pairs
from topicloom.measures.topics import measure_topics
from topicloom.model.arrays import Int64Array
from topicloom.model.checks import checked_seed, checked_whole
from topicloom.model.given_links import link_ids
from topicloom.model.interest import Interest
from topicloom.model.results import Hops

_HOP_STREAM = 701  # of kernels.random: a number that no other use has
_EXACT_STEPS = 500_000_000
_SAMPLES = 4096


def mean_hops(interest: Interest, links: Any, *, exact_steps: int = _EXACT_STEPS, seed: int = 0) -> Hops:
    """Mean distance over all pairs of subscribers of all topics, inside the sub-overlays.

    Exact when searches from every subscriber of every topic take at most ``exact_steps`` steps (nodes and
    links met); otherwise the mean over 4,096 searches from random subscribers, unbiased, with its standard
    error. The same for the same seed on every machine.

    Raises
    ------
    InvalidOptionError
        ``exact_steps`` or ``seed`` is negative or no whole number.

    Examples
    --------
    >>> import topicloom as tl
    >>> from topicloom.measures import mean_hops
    >>> interest = tl.Interest.from_pairs(list("abcde"), ["news"] * 5)
    >>> mean_hops(interest, [(0, 1), (1, 2), (2, 3), (3, 4)])
    Hops(mean=2.0, standard_error=0.0, exact=True)
    >>> mean_hops(interest, [(0, 1), (1, 2), (2, 3)]).mean is None
    True
    """
    exact_steps, seed = checked_whole("exact_steps", exact_steps, 0), checked_seed(seed)
    shapes = measure_topics(interest, links)
    if (shapes.diameter < 0).any():
        return Hops(None, None, exact=True)
    sizes = shapes.subscribers
    ordered_pairs = sizes * (sizes - 1)
    if not ordered_pairs.any():
        return Hops(0.0, 0.0, exact=True)
    if int((sizes * (sizes + 2 * shapes.links)).sum()) <= exact_steps:
        every = np.repeat(np.arange(interest.n_topics), sizes)
        place = np.arange(len(every)) - interest.topic_indptr[every]
        sums = _sums(interest, links, every, place)
        return Hops(int(sums.sum()) / int(ordered_pairs.sum()), 0.0, exact=True)
    # A random ordered pair of subscribers decides the topic and the source; the search answers for all its
    # pairs.
    ends = np.cumsum(ordered_pairs)
    numbers_drawn = np.arange(_SAMPLES)
    pair = (draw_pairs(seed, _HOP_STREAM, numbers_drawn, numbers_drawn) % np.uint64(ends[-1])).astype(np.int64)
    topic = np.searchsorted(ends, pair, side="right")
    order = np.argsort(topic, kind="stable")
    topic, pair = topic[order], pair[order]
    place = (pair - (ends - ordered_pairs)[topic]) // (sizes[topic] - 1)
    means = _sums(interest, links, topic, place) / (sizes[topic] - 1)
    return Hops(float(means.mean()), float(means.std(ddof=1) / np.sqrt(len(means))), exact=False)


def _sums(interest: Interest, links: Any, topic: Int64Array, place: Int64Array) -> Int64Array:
    """Sum of distances from the ``place[i]``-th subscriber of ``topic[i]`` to the others; topics ascend."""
    normalized = link_ids(interest, links)
    starts, ends = oriented_links(interest.indptr, normalized)
    cells = np.full(interest.n_nodes, -1, np.int32)
    src, dst = np.empty(len(ends), np.int32), np.empty(len(ends), np.int32)
    used = np.zeros(len(ends), np.bool_)
    sums = np.empty(len(topic), np.int64)
    topics, firsts = np.unique(topic, return_index=True)
    for t, first, last in zip(topics.tolist(), firsts, [*firsts[1:], len(topic)]):
        subscribers = interest.subscribers(t)
        count = topic_edges(subscribers, starts, ends, cells, src, dst, used)
        indptr, neighbours = adjacency(len(subscribers), src[:count], dst[:count])
        sums[first:last] = distance_sums(indptr, neighbours, place[first:last])
    return sums
