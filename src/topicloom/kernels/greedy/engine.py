"""The greedy engine: one loop that adds links by the rule of Greedy Merge, MinMax-ODA, Low-ODA or GM2.

Every rule takes the pair with the highest contribution among those it admits, ties by the one tie rule
(`tie_order`). Contributions only fall, so a search walks (level, rank) once and never back; the rules that prefer
pairs below the maximum degree keep a second place in the same walk, and start it again when that degree rises.
"""

import numpy as np

from topicloom.kernels.greedy.blocks import build_blocks
from topicloom.kernels.greedy.components import build_components, components_of_links
from topicloom.kernels.greedy.dense import DENSE_BYTES, bar_dense, build_dense, columns
from topicloom.kernels.greedy.joining import link_all
from topicloom.kernels.greedy.listed import build_listed
from topicloom.kernels.greedy.loop import GREEDY_MERGE, MINMAX_ODA, grown_links
from topicloom.kernels.greedy.sparse import build_sparse, build_sweep
from topicloom.kernels.greedy.topic_weights import node_weights
from topicloom.kernels.tie_order import pair_ranks, places_on_circle

__all__ = ["GREEDY_MERGE", "MINMAX_ODA", "cheapest_search", "greedy_links", "search_and_grow"]

NO_LINKS = np.empty((0, 2), np.int32)

LISTED_NODES = 64


def greedy_links(
    indptr,
    topics,
    n_topics,
    *,
    rho=GREEDY_MERGE,
    blocks=False,
    start_links=NO_LINKS,
    barred_links=NO_LINKS,
    components=None,
    degree=None,
    max_degree=0,
    candidate_nodes=None,
    candidate_links=None,
    topic_mask=None,
    weights=None,
    places=None,
    search=None,
    seed,
):
    """Add links to an overlay by a greedy rule until no candidate contributes.

    Parameters
    ----------
    indptr, topics, n_topics : int64, int32 arrays, int
        CSR of the interest, topics ascending in each row, and the number of topics.
    rho : float
        0 is Greedy Merge (the highest contribution), infinity MinMax-ODA, anything from 1 on Low-ODA.
    blocks : bool
        Join blocks (biconnected components) instead of components: with Greedy Merge's rule this is GM2. A
        contribution is then the number of shared topics in which no block contains both ends.
    start_links, barred_links : (m, 2) int arrays
        Links that stand already: their components and degrees count. Links that may not be added.
    components : int32 array, one per subscription, optional
        Subscriptions of a topic with equal numbers begin in one component, or block (beside what start_links join).
    degree, max_degree : int32 array per node and int, optional
        Degrees before the first link, instead of start_links' own; the maximum degree of an overlay of which this is
        a part.
    candidate_nodes, candidate_links : int arrays, optional
        Only links between these nodes, or only these links, may be added.
    topic_mask : bool array per topic, optional
        Only these topics count.
    weights : int array per topic, optional
        What a topic counts for in a contribution, at least 1; 1 without it.
    places : int32 array, optional
        Place of each node on the circle of the tie rule, to save its computation in repeated calls.
    search : "dense", "sparse", "listed" or None
        How to find the next link; None takes the one with the least estimated cost. The links are the same.
    seed : int
        Of the circle of the tie rule, if ``places`` is not given.

    Returns
    -------
    (m, 2) int32
        Links, u < v, in the order added.

    Cost: O(nodes² · topics) time at worst; `cheapest_search` says what each search takes.
    """
    n_nodes = len(indptr) - 1
    start_links, barred_links = _as_links(start_links), _as_links(barred_links)
    if places is None:
        places = places_on_circle(n_nodes, seed)
    if degree is None:
        degree = np.bincount(start_links.ravel(), minlength=n_nodes)
    max_degree = max(max_degree, degree.max(initial=0))
    start = np.empty(0, np.int32)
    if components is not None or (len(start_links) and not blocks):
        start = components_of_links(indptr, topics, NO_LINKS if blocks else start_links, components)
    if topic_mask is None:
        topic_mask = np.ones(n_topics, np.bool_)
    pairs = None if candidate_links is None else _as_links(candidate_links)
    if blocks and pairs is None and candidate_nodes is not None:
        pairs = _all_pairs(np.unique(candidate_nodes))
    if pairs is not None:
        candidate_nodes = np.unique(pairs) if candidate_nodes is None else np.intersect1d(pairs, candidate_nodes)
        search = "listed"
    if blocks:
        if pairs is not None:
            pairs = pairs[np.isin(pairs, candidate_nodes).all(axis=1)]
        candidate_nodes = None  # a component can be told by a number, how blocks hang together cannot: all nodes stay
    nodes = np.arange(n_nodes) if candidate_nodes is None else np.unique(np.asarray(candidate_nodes, np.int64))
    nodes = nodes[np.argsort(places[nodes])]

    node_ptr, topic, open_topics, start = _open_topics(indptr, topics, nodes, topic_mask, start)
    weight = None if weights is None else _without_divisor(np.asarray(weights, np.int64)[open_topics])
    lengths = np.diff(node_ptr)
    if search is None:
        search = cheapest_search(
            n_nodes, lengths, np.bincount(topic, minlength=len(open_topics)), node_weights(node_ptr, topic, weight)
        )
    n_open = len(open_topics)
    if search == "dense":
        topic, start, n_open, weight = _popular_first(node_ptr, topic, n_open, start, weight)
    if search == "dense" and len(nodes) < n_nodes:  # the table holds the whole circle
        node_ptr = np.zeros(n_nodes + 1, np.int64)
        node_ptr[places[nodes] + 1] = lengths
        node_ptr = np.cumsum(node_ptr)
        nodes = np.argsort(places)
    barred = np.sort(pair_ranks(n_nodes, places[barred_links]))
    build = build_blocks if blocks else build_components
    state = build(node_ptr, topic, n_open, start, weight)
    if blocks and len(start_links):
        position = np.empty(n_nodes, np.int32)
        position[nodes] = np.arange(n_nodes, dtype=np.int32)
        link_all(state, position[start_links])
    links = search_and_grow(
        state,
        search,
        places[nodes],
        n_nodes,
        _ranked_pairs(nodes, places, pairs, barred) if search == "listed" else NO_LINKS,
        barred,
        degree[nodes].astype(np.int64),
        int(max_degree),
        float(rho),
    )
    return np.sort(nodes[links].astype(np.int32), axis=1)


def search_and_grow(state, search, place, n_places, pairs, barred, degree, max_degree, rho):
    """Add links by the rule, found by a named search.

    Parameters
    ----------
    state : Components or Blocks
        Of nodes that are numbered along the circle. Overwritten.
    search : "dense", "sparse" or "listed"
    place : int32, one per node
        Where on the circle it sits. With the dense search the nodes are the whole circle.
    n_places : int
        Of the circle.
    pairs : (m, 2) int32, by rank
        Candidates of the listed search.
    barred : int64, ascending
        Ranks of links that the other two may not add.
    degree : int64, one per node
        Overwritten.
    max_degree : int
    rho : float
        As for `grown_links`.

    Returns
    -------
    (m, 2) int32
        Node numbers, in the order added.

    Cost: that of the search; `cheapest_search` estimates it.
    """
    most = int(node_weights(state.node_ptr, state.topic, state.weight).max(initial=0))
    walk = calm_walk = None
    if search == "dense":
        found = build_dense(state, np.dtype(f"uint{8 * _bound_bytes(most)}"))
        if len(barred):
            bar_dense(found, barred)
    elif search == "sparse":
        found = build_sparse(state, place, n_places, barred)
        walk = calm_walk = build_sweep(state, found, found.bound)
        if rho > 0:
            calm_walk = build_sweep(state, found, found.bound.copy())
    else:
        found = build_listed(pairs)
    return grown_links(state, found, walk, calm_walk, most, degree, max_degree, rho)


def cheapest_search(n_nodes, lengths, subscribers, worths=None):
    """Name the search with the least estimated cost.

    - listed: for few candidates; all their pairs.
    - dense: about 4 ns + 0.12 ns per 8 open topics that are not rare for each of the n² / 2 pairs of the circle, and
      4 ns for each topic that a pair shares; in n² / 2 bytes (n² where some are rare; two or four times that where the
      open topics of a node count for more than 255 or 65,535) + n · topics; not above `DENSE_BYTES`.
    - sparse: about 20 ns for each topic that a pair shares, Σ subscribers² / 2 in all, and 4 µs for each subscription;
      O(subscriptions) memory.

    The numbers were measured on one machine; only their ratio matters, and never the links.

    Parameters
    ----------
    n_nodes : int
        Places of the circle.
    lengths : int64, one per candidate
        Its number of open topics.
    subscribers : int64, one per open topic
        Its number of candidates.
    worths : int64, one per candidate, optional
        What its topics count for together, if that is not their number.

    Returns
    -------
    "listed", "dense" or "sparse"

    Cost: O(topics log topics).
    """
    if len(lengths) <= LISTED_NODES:
        return "listed"
    n_pairs = n_nodes * n_nodes / 2
    n_topics = len(subscribers)
    shared = (subscribers.astype(np.float64) ** 2).sum() / 2
    bound_bytes = _bound_bytes((lengths if worths is None else worths).max(initial=0))
    dense_bytes = n_pairs * bound_bytes + n_nodes * n_topics
    n_columns = columns(np.sort(subscribers)[::-1], n_nodes, bound_bytes)
    dense = n_pairs * (4 + 0.12 * n_columns) + 4 * shared
    sparse = 20 * shared + 4000 * lengths.sum()
    return "dense" if dense_bytes <= DENSE_BYTES and dense <= sparse else "sparse"


def _bound_bytes(most):
    """Bytes of a bound in the dense table when no contribution is above ``most``."""
    return 1 if most < 1 << 8 else 2 if most < 1 << 16 else 4


def _as_links(links):
    return np.asarray(links, np.int32).reshape(-1, 2)


def _all_pairs(nodes):
    return np.stack([nodes[ends] for ends in np.triu_indices(len(nodes), 1)], axis=1).astype(np.int32)


def _ranked_pairs(nodes, places, pairs, barred):
    """Candidate pairs (all pairs of nodes if None) as positions in ``nodes``, by rank, the barred ones left out."""
    if pairs is None:
        pairs = _all_pairs(np.arange(len(nodes)))
    else:
        position = np.full(len(places), -1, np.int32)
        position[nodes] = np.arange(len(nodes), dtype=np.int32)
        pairs = position[pairs]
        pairs = pairs[(pairs >= 0).all(axis=1) & (pairs[:, 0] != pairs[:, 1])]
    ranks, first = np.unique(pair_ranks(len(places), places[nodes][pairs]), return_index=True)
    return pairs[first[~np.isin(ranks, barred)]]


def _open_topics(indptr, topics, nodes, topic_mask, start):
    """CSR of the nodes in the given order, cut down to topics that still have something to merge among them.

    Returns (node_ptr int64, topic int32 with open topics renumbered in order, which topics those are, start cut
    likewise).
    """
    lengths = indptr[nodes + 1] - indptr[nodes]
    node_ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    taken = np.arange(node_ptr[-1]) + np.repeat(indptr[nodes] - node_ptr[:-1], lengths)
    topic = topics[taken]
    if len(start):
        start = start[taken]
        first = np.empty(len(topic_mask), np.int32)  # some component of the topic: open if another one differs
        first[topic] = start
        is_open = topic_mask & (np.bincount(topic[start != first[topic]], minlength=len(topic_mask)) > 0)
    else:
        is_open = topic_mask & (np.bincount(topic, minlength=len(topic_mask)) > 1)
    kept = is_open[topic]
    n_kept = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
    number = (np.cumsum(is_open) - 1).astype(np.int32)
    return n_kept[node_ptr], number[topic[kept]], np.flatnonzero(is_open), start[kept] if len(start) else start


def _without_divisor(weight):
    """Weights divided by what divides them all, so that there are no empty levels. Returns None if all are then 1."""
    weight = weight // max(int(np.gcd.reduce(weight)), 1)
    return None if (weight == 1).all() else weight


def _popular_first(node_ptr, topic, n_topics, start, weight):
    """Renumber the topics of all nodes (CSR) by falling popularity, ascending in each row, and start likewise.

    Where topics have weights, these come first, rising, and the topics of each begin at a multiple of 8: numbers in
    between belong to no topic. Returns (topic, start, how many numbers there are, weight).
    """
    subscribers = np.bincount(topic, minlength=n_topics)
    number = np.empty(n_topics, np.int64)
    if weight is None:
        number[np.argsort(-subscribers, kind="stable")] = np.arange(n_topics)
    else:
        order = np.lexsort((-subscribers, weight))
        values, first, counts = np.unique(weight[order], return_index=True, return_counts=True)
        room = (counts + 7) // 8 * 8
        starts = np.cumsum(room) - room
        number[order] = np.arange(n_topics) + np.repeat(starts - first, counts)
        n_topics, weight = int(room.sum()), np.repeat(values, room)
    key = np.repeat(np.arange(len(node_ptr) - 1) * n_topics, np.diff(node_ptr)) + number[topic]
    if len(start):
        order = np.argsort(key)
        key, start = key[order], start[order]
    else:
        key.sort()
    return (key % max(n_topics, 1)).astype(np.int32), start, n_topics, weight
