"""Stacked Greedy Merge (ours): k-topic-connected overlays with few links, for any k."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from topicloom.kernels.greedy.engine import greedy_links
from topicloom.kernels.tie_order import places_on_circle
from topicloom.kernels.trees.disjoint_paths import needed_links
from topicloom.methods.greedy.grown import greedy_memory, kept_off
from topicloom.methods.greedy.redundant_links import drop_redundant_links
from topicloom.methods.per_topic.harary_per_topic import harary_graphs
from topicloom.methods.per_topic.topic_graphs import similarity_sequence
from topicloom.methods.registry import Size, method
from topicloom.model import Interest, Overlay
from topicloom.model.arrays import Int32Array
from topicloom.model.checks import checked_seed, checked_whole


def _memory(size: Size, options: Mapping[str, Any]) -> int:
    """Bytes of the engine with blocks, and of the arcs of every sub-overlay, which are about k per subscription."""
    return greedy_memory(size) + (128 + 48 * min(int(options["k"]), size.nodes)) * size.subscriptions


@method(
    "stacked-gm",
    problem="few links for any k: every topic stays connected while fewer than k of its nodes are down",
    guarantee="k-topic-connected for the k asked, and minimal: no link can be dropped; no bound on the number of links",
    cost="k/2 times that of gm2, and up to k searches of a topic for each link and topic: seconds at 1,000 nodes",
    paper="ours; from Greedy Merge, GM2 and HararyPT of Chockler et al. and Chen, Jacobsen, Vitenberg",
    memory=_memory,
    max_k=None,
)
def stacked_greedy_merge(interest: Interest, *, k: int = 3, seed: int = 0, forbid: Any = None) -> Overlay:
    """Overlay with few links in which every topic survives the failure of any k - 1 nodes (ours).

    Three steps. Overlays of GM2 are laid over each other, none with a link of another, k / 2 of them and one of Greedy
    Merge if k is odd: that brings nearly every topic to k. Then every link of HararyPT whose ends fewer than k disjoint
    paths join in its topic is added: that proves k, because every set of fewer than k nodes leaves a link of the Harary
    graph across whatever it separates. Last, the links that no topic needs are dropped (`drop_redundant_links`).

    It has far fewer links than HararyPT (docs/methods/fault-tolerance.md). Takes k / 2 times as long as `gm2`, and
    up to k searches of a topic for each link and topic; memory as `gm2` and O(subscriptions).

    Pairs of node labels or ids in ``forbid`` are never linked; `design` says more. From k = 3 on a topic may then stay
    below k although other links could bring it there; `verify` says so.

    Parameters
    ----------
    interest : Interest
    k : int
        At least 1: the topic-connectivity that is wanted.
    seed : int
        Decides between equally good links.
    forbid : pairs of node labels or ids, optional
        Links that may not be used, as in `design`.

    Returns
    -------
    Overlay

    Raises
    ------
    InvalidOptionError
        ``k`` is not a whole number of at least 1.

    See Also
    --------
    gm2 : k = 2.
    harary_per_topic : the same guarantee, in less time.

    References
    ----------
    Ours, of Greedy Merge [gm-min-tco], GM2 and HararyPT [ktco]; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.generate(nodes=100, topics=20, subscriptions=8, seed=1)
    >>> overlay = tl.stacked_greedy_merge(interest, k=3)
    >>> tl.verify(interest, overlay.links, k=3).ok, overlay.n_links < tl.harary_per_topic(interest, k=3).n_links
    (True, True)
    >>> factory = tl.datasets.example()
    >>> overlay = tl.stacked_greedy_merge(factory, k=3)
    >>> overlay.n_links, overlay.verify(k=3).ok
    (10, True)
    """
    k, seed = checked_whole("k", k, 1), checked_seed(seed)
    enough = min(k, int(np.diff(interest.topic_indptr).max(initial=1)))  # then every topic is a clique
    barred, forbidden = kept_off(interest, forbid)
    links = _stacked(interest, enough, seed, barred)
    if enough > 2:  # Greedy Merge reaches 1 and GM2 reaches 2 by themselves
        links = _completed(interest, links, enough, barred)
    report = {} if forbid is None else {"forbidden_pairs": len(barred)}
    links = drop_redundant_links(interest, links, enough)
    return Overlay(interest, links, "stacked-gm", {"k": k}, seed, report, forbidden)


def _stacked(interest: Interest, k: int, seed: int, barred: Int32Array) -> Int32Array:
    """Links of k / 2 runs of GM2, and one of Greedy Merge if k is odd, that have no link in common."""
    places = places_on_circle(interest.n_nodes, seed)
    links = np.empty((0, 2), np.int32)
    for blocks in [True] * (k // 2) + [False] * (k % 2):
        more = greedy_links(
            interest.indptr,
            interest.topics,
            interest.n_topics,
            blocks=blocks,
            barred_links=np.concatenate([barred, links]),
            places=places,
            seed=seed,
        )
        if len(more) == 0:
            break
        links = np.concatenate([links, more])
    return links


def _completed(interest: Interest, links: Int32Array, k: int, barred: Int32Array) -> Int32Array:
    """The links, and those of HararyPT that are needed to make every topic k-connected."""
    rounds = list(harary_graphs(interest, k, similarity_sequence(interest)))
    src, dst, topic = (np.concatenate(column) for column in zip(*rounds)) if rounds else (np.empty(0, np.int32),) * 3
    candidates = np.sort(np.stack([src, dst], axis=1), axis=1)
    keys, forbidden = (pairs @ np.array([interest.n_nodes, 1]) for pairs in (candidates, np.sort(barred, axis=1)))
    allowed = ~np.isin(keys, forbidden)
    candidates, topic = candidates[allowed], topic[allowed]
    needed = needed_links(interest.indptr, interest.topics, links, candidates, topic, k)
    return np.concatenate([links, candidates[needed]]).astype(np.int32)
