"""The greedy engine: one loop that adds links by the rule of Greedy Merge, MinMax-ODA, Low-ODA or GM2.

Every rule takes the pair with the highest contribution among those it admits, ties by the one tie rule
(`tie_order`). Contributions only fall, so a search walks (level, rank) once and never back; the rules that prefer
pairs below the maximum degree keep a second place in the same walk, and start it again when that degree rises.
"""

import numpy as np

from topicloom.kernels.greedy.blocks import build_blocks
from topicloom.kernels.greedy.components import build_components, components_of_links, number_entries
from topicloom.kernels.greedy.dense import DENSE_BYTES, columns
from topicloom.kernels.greedy.joining import link_all
from topicloom.kernels.greedy.loop import DENSE, GREEDY_MERGE, LISTED, MINMAX_ODA, SPARSE, grow
from topicloom.kernels.jit import serial
from topicloom.kernels.tie_order import pair_ranks, places_on_circle

__all__ = ["GREEDY_MERGE", "MINMAX_ODA", "cheapest_search", "greedy_links"]

SEARCHES = {"dense": DENSE, "sparse": SPARSE, "listed": LISTED}
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
    places=None,
    search=None,
    seed,
):
    """Links that a greedy rule adds to an overlay until no candidate contributes: (m, 2) int32, u < v, in order.

    Parameters
    ----------
    indptr, topics : int64, int32 arrays
        CSR of the interest, topics ascending in each row.
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
    places : int32 array, optional
        Place of each node on the circle of the tie rule, to save its computation in repeated calls.
    search : "dense", "sparse", "listed" or None
        How to find the next link; None takes the one with the least estimated cost. The links are the same.
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

    node_ptr, topic, n_open, start = _open_topics(indptr, topics, nodes, topic_mask, start)
    lengths = np.diff(node_ptr)
    if search is None:
        search = cheapest_search(n_nodes, lengths, np.bincount(topic, minlength=n_open))
    if search == "dense":
        topic, start = _popular_first(node_ptr, topic, n_open, start)
    if search == "dense" and len(nodes) < n_nodes:  # the table holds the whole circle
        node_ptr = np.zeros(n_nodes + 1, np.int64)
        node_ptr[places[nodes] + 1] = lengths
        node_ptr = np.cumsum(node_ptr)
        nodes = np.argsort(places)
    barred = np.sort(pair_ranks(n_nodes, places[barred_links]))
    wide = search == "dense" and lengths.max(initial=0) > 255
    build = build_blocks if blocks else build_components
    state = build(node_ptr, topic, n_open, start)
    if blocks and len(start_links):
        position = np.empty(n_nodes, np.int32)
        position[nodes] = np.arange(n_nodes, dtype=np.int32)
        link_all(state, position[start_links])
    links = grow(
        state,
        build(np.zeros(1, np.int64), topic[:0], 0, start[:0]),
        places[nodes],
        n_nodes,
        SEARCHES[search],
        np.zeros(1, np.uint16 if wide else np.uint8),
        _ranked_pairs(nodes, places, pairs, barred) if search == "listed" else NO_LINKS,
        barred,
        degree[nodes].astype(np.int64),
        int(max_degree),
        float(rho),
    )
    return np.sort(nodes[links].astype(np.int32), axis=1)


def cheapest_search(n_nodes, lengths, subscribers):
    """The search with the least estimated cost, by name.

    ``lengths`` are the candidates' numbers of open topics, ``subscribers`` the open topics' numbers of candidates.

    - listed: for few candidates; all their pairs.
    - dense: about 4 ns + 0.12 ns per 8 open topics that are not rare for each of the n² / 2 pairs of the circle, and
      4 ns for each topic that a pair shares; in n² / 2 bytes (n² where some are rare; twice that where a node wants
      more than 255 open topics) + n · topics; not above `DENSE_BYTES`.
    - sparse: about 20 ns for each topic that a pair shares, Σ subscribers² / 2 in all, and 4 µs for each subscription;
      O(subscriptions) memory.

    The numbers were measured on one machine; only their ratio matters, and never the links.
    """
    if len(lengths) <= LISTED_NODES:
        return "listed"
    n_pairs = n_nodes * n_nodes / 2
    n_topics = len(subscribers)
    shared = (subscribers.astype(np.float64) ** 2).sum() / 2
    bound_bytes = 1 if lengths.max(initial=0) <= 255 else 2
    dense_bytes = n_pairs * bound_bytes + n_nodes * n_topics
    n_columns = columns(np.sort(subscribers)[::-1], n_nodes, bound_bytes)
    dense = n_pairs * (4 + 0.12 * n_columns) + 4 * shared
    sparse = 20 * shared + 4000 * lengths.sum()
    return "dense" if dense_bytes <= DENSE_BYTES and dense <= sparse else "sparse"


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


@serial
def _open_topics(indptr, topics, nodes, topic_mask, start):
    """CSR of the nodes in the given order, cut down to topics that still have something to merge among them.

    Returns (node_ptr int64, topic int32 with open topics renumbered in order, how many there are, start cut likewise).
    """
    FRESH, OPEN = -1, -2
    first = np.full(len(topic_mask), FRESH, np.int64)  # the topic's first component, while there is no other
    for v in nodes:
        for k in range(indptr[v], indptr[v + 1]):
            t = topics[k]
            if topic_mask[t] and first[t] != OPEN:
                component = start[k] if len(start) else k
                if first[t] == FRESH:
                    first[t] = component
                elif first[t] != component:
                    first[t] = OPEN
    renumbered = np.full(len(topic_mask), -1, np.int32)
    n_open = 0
    for t in range(len(topic_mask)):
        if first[t] == OPEN:
            renumbered[t] = n_open
            n_open += 1
    node_ptr = np.zeros(len(nodes) + 1, np.int64)
    for x in range(len(nodes)):
        node_ptr[x + 1] = node_ptr[x]
        for k in range(indptr[nodes[x]], indptr[nodes[x] + 1]):
            node_ptr[x + 1] += renumbered[topics[k]] >= 0
    topic = np.empty(node_ptr[-1], np.int32)
    kept_start = np.empty(node_ptr[-1] if len(start) else 0, np.int32)
    at = 0
    for v in nodes:
        for k in range(indptr[v], indptr[v + 1]):
            if renumbered[topics[k]] >= 0:
                topic[at] = renumbered[topics[k]]
                if len(start):
                    kept_start[at] = start[k]
                at += 1
    return node_ptr, topic, n_open, kept_start


@serial
def _popular_first(node_ptr, topic, n_topics, start):
    """Topics of all nodes (CSR) renumbered from the most wanted to the least, still ascending; and start likewise."""
    topic_ptr, entry, member = number_entries(node_ptr, topic, n_topics)
    start_of = np.empty_like(start)
    for k in range(len(start)):
        start_of[entry[k]] = start[k]
    renumbered, moved = np.empty_like(topic), np.empty_like(start)
    free = node_ptr[:-1].copy()
    for rank, t in enumerate(np.argsort(topic_ptr[:-1] - topic_ptr[1:], kind="mergesort")):
        for e in range(topic_ptr[t], topic_ptr[t + 1]):
            k = free[member[e]]
            free[member[e]] += 1
            renumbered[k] = rank
            if len(start):
                moved[k] = start_of[e]
    return renumbered, moved
