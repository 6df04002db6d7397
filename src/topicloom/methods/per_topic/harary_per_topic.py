"""HararyPT: per topic the sparsest graph that survives k - 1 failures, all topics along one node sequence."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.errors import InvalidOptionError
from topicloom.kernels.streams import CYCLE_STREAM, draw_pairs
from topicloom.methods.per_topic.topic_graphs import distinct_links, similarity_sequence
from topicloom.methods.registry import Size, method
from topicloom.model import Interest, Overlay
from topicloom.model.arrays import Int32Array, Int64Array
from topicloom.model.checks import checked_seed, checked_whole

Keys = npt.NDArray[Any]
SEQUENCES = ("arbitrary", "similarity", "independent")


def _memory(size: Size, options: Mapping[str, Any]) -> int:
    """Estimate bytes: k / 2 links for each subscription while they are sorted, and a sort key for each node."""
    links = (96 + 48 * min(int(options["k"]), size.nodes)) * size.subscriptions
    return links + (192 * size.nodes if options["sequence"] == "similarity" else 0)


@method(
    "harary-pt",
    problem="any k: every topic stays connected while fewer than k of its nodes are down",
    guarantee="k-topic-connected for the k asked; the fewest links for each topic on its own, none for all together",
    cost="O(k · subscriptions · log) time, O(k · subscriptions) memory",
    paper="Chen, Jacobsen, Vitenberg: kTCO (GM2, HararyPT), §VII",
    memory=_memory,
    max_k=None,
)
def harary_per_topic(interest: Interest, *, k: int = 2, sequence: str = "arbitrary", seed: int = 0) -> Overlay:
    """Overlay with a Harary graph H(k, n) per topic, along one sequence of nodes that all topics share (HararyPT).

    Every topic is k-connected: any k - 1 nodes may fail. Topics that like nodes share have most of their links
    in common, because they follow the same sequence. A topic with at most k subscribers becomes a clique; with
    k = 1 every topic is a path. Takes O(k · subscriptions) links at most, and the time to sort them.

    Parameters
    ----------
    interest : Interest
    k : int
        At least 1: the topic-connectivity that is wanted.
    sequence : "arbitrary", "similarity" or "independent"
        The order of node ids, as in the paper; one that puts nodes with like interests beside each other, for fewer
        links; or a random one for each topic. docs/methods/fault-tolerance.md has numbers for the second. The third
        shows what a shared order saves.
    seed : int
        Of the orders with "independent"; the two others follow from the interest.

    Returns
    -------
    Overlay

    Raises
    ------
    InvalidOptionError
        ``k`` is not a whole number of at least 1, or there is no such sequence.

    See Also
    --------
    stacked_greedy_merge : the same guarantee with fewer links.
    ring_per_topic : k = 2 as a ring.

    References
    ----------
    [ktco] §VII, Algorithm 2; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcdef"), ["news"] * 6)
    >>> tl.harary_per_topic(interest, k=3).degree().tolist()
    [3, 3, 3, 3, 3, 3]
    >>> tl.harary_per_topic(interest, k=10).n_links  # six nodes have no more than 15 links: a clique
    15
    >>> factory = tl.datasets.example()
    >>> [tl.harary_per_topic(factory, k=k).n_links for k in (1, 2, 3)]
    [11, 12, 13]
    """
    k, seed = checked_whole("k", k, 1), checked_seed(seed)
    if sequence not in SEQUENCES:
        raise InvalidOptionError(f"sequence is {sequence!r}; accepted are {' and '.join(SEQUENCES)}")
    order = similarity_sequence(interest) if sequence == "similarity" else None
    keys = None
    if sequence == "independent":
        topic_of = np.repeat(np.arange(interest.n_topics), np.diff(interest.topic_indptr))
        keys = draw_pairs(seed, CYCLE_STREAM, topic_of, interest.topic_nodes)
    links = harary_links(interest, k, order, keys)
    return Overlay(interest, links, "harary-pt", {"k": k, "sequence": sequence}, seed)


def harary_links(
    interest: Interest, k: int, sequence: npt.NDArray[np.integer] | None = None, keys: Keys | None = None
) -> Int32Array:
    """Links of the Harary graphs of all topics, those between neighbours in the sequence first. See `harary_graphs`."""
    rounds = [distinct_links(src, dst) for src, dst, _ in harary_graphs(interest, k, sequence, keys)]
    ends = np.concatenate([np.empty((0, 2), np.int32), *rounds])
    return distinct_links(ends[:, 0], ends[:, 1])


def harary_graphs(
    interest: Interest, k: int, sequence: npt.NDArray[np.integer] | None = None, keys: Keys | None = None
) -> Iterator[tuple[Int32Array, Int32Array, Int64Array]]:
    """Links of every topic's Harary graph H(k, n) as (ends, other ends, topics), by their length along the sequence.

    ``sequence`` lists the nodes in order; None is the order of ids. With ``keys``, one for each entry of
    ``interest.topic_nodes``, each topic has its subscribers in the order of their keys instead.
    """
    nodes, indptr = interest.topic_nodes, interest.topic_indptr
    sizes = np.diff(indptr)
    topic_of = np.repeat(np.arange(interest.n_topics), sizes)
    if sequence is not None:
        place = np.empty(interest.n_nodes, np.int64)
        place[sequence] = np.arange(interest.n_nodes)
        keys = place[nodes]
    if keys is not None:
        nodes = nodes[np.lexsort((keys, topic_of))]
    start, size = indptr[topic_of], sizes[topic_of]
    position = np.arange(len(nodes)) - start

    def chords(
        chosen: npt.NDArray[np.bool_], reach: npt.NDArray[np.int64] | int
    ) -> tuple[Int32Array, Int32Array, Int64Array]:
        """Links from the chosen entries to the entry so far ahead, around the end of its topic."""
        ahead = np.broadcast_to(reach, chosen.shape)[chosen]
        ends = start[chosen] + (position[chosen] + ahead) % size[chosen]
        return nodes[chosen], nodes[ends], topic_of[chosen]

    if k == 1:
        yield chords(position + 1 < size, 1)
        return
    # Where n <= k these are all distances there are, so that the topic becomes a clique.
    widest = min(k, int(sizes.max(initial=0))) // 2
    for ahead in range(1, widest + 1):
        yield chords(size >= 2 * ahead, ahead)
    if k % 2:
        halves = (size + 1) // 2  # to the opposite entry; with odd n the first entry has two opposite ones
        yield chords((size > k) & (position < size // 2), halves)
        yield chords((size > k) & (size % 2 == 1) & (position == 0), size // 2)
