"""Exact diameter of a connected graph, mostly by a few breadth-first searches.

Every search from v gives bounds for the eccentricity of every node w: ``max(d, ecc(v) - d) <= ecc(w) <=
ecc(v) + d`` with d the distance of v and w (Takes and Kosters, "Computing the eccentricity distribution of
large graphs", 2013). A node whose upper bound does not exceed the largest eccentricity seen is done. Trees
and overlays with hubs take a handful of searches.

Where bounds stay loose two things keep the cost down. A path of nodes of degree 2 is settled as a whole from
the searches of its two ends (rings, rings with chords). And when the bounds settle few nodes per search
(random graphs), the rest is searched from 64 nodes at a time, one bit each.
"""

import numpy as np

from topicloom.kernels.jit import serial

_WORD = 64
UNBOUNDED = 1 << 62
_ROUNDS = 16  # searches between two looks at whether the bounds still earn their cost


@serial
def adjacency(n, src, dst):
    """Turn a list of edges into rows of neighbours.

    Parameters
    ----------
    n : int
        Nodes are 0 … n-1.
    src, dst : integers
        The ends of each edge; each edge once, no loops.

    Returns
    -------
    indptr : int64, neighbours : int32
        CSR in which every edge is in both rows.

    Cost: O(n + edges).
    """
    indptr = np.zeros(n + 1, np.int64)
    for i in range(len(src)):
        indptr[src[i] + 1] += 1
        indptr[dst[i] + 1] += 1
    for v in range(n):
        indptr[v + 1] += indptr[v]
    fill = indptr[:-1].copy()
    neighbours = np.empty(2 * len(src), np.int32)
    for i in range(len(src)):
        neighbours[fill[src[i]]] = dst[i]
        fill[src[i]] += 1
        neighbours[fill[dst[i]]] = src[i]
        fill[dst[i]] += 1
    return indptr, neighbours


@serial
def search(indptr, neighbours, source, distance, queue):
    """Search breadth first from one node.

    Parameters
    ----------
    indptr, neighbours
        The graph in CSR form, every edge in both rows.
    source : int
    distance : int32, one per node
        Overwritten with the distances from the source, -1 where not reached.
    queue : int32, one per node
        Overwritten with the nodes in the order they are met; the last one reached is the farthest.

    Returns
    -------
    int
        The number of nodes reached.

    Cost: O(nodes + edges).
    """
    distance[:] = -1
    return search_on(indptr, neighbours, source, 0, distance, queue)


@serial
def search_on(indptr, neighbours, source, start, distance, queue):
    """Search breadth-first among the nodes that have no distance yet.

    Parameters
    ----------
    indptr, neighbours
        The graph in CSR form, every edge in both rows.
    source : int
    start : int
        Distance of the source.
    distance : int32, one per node
        Written for the nodes met. Those that are not negative before are not entered.
    queue : int32, one per node
        Overwritten with the nodes in the order they are met.

    Returns
    -------
    int
        The number of nodes met.

    Cost: O(nodes met + their edges).
    """
    distance[source] = start
    queue[0] = source
    head, tail = 0, 1
    while head < tail:
        v = queue[head]
        head += 1
        step = distance[v] + 1
        for e in range(indptr[v], indptr[v + 1]):
            w = neighbours[e]
            if distance[w] < 0:
                distance[w] = step
                queue[tail] = w
                tail += 1
    return tail


@serial
def bounded_diameter(indptr, neighbours, most_searches):
    """Find the diameter of a connected graph: the largest distance between two nodes.

    Parameters
    ----------
    indptr, neighbours : int64, int32
        The graph in CSR form, every edge in both rows.
    most_searches : int
        About this number of searches is made at most; ``UNBOUNDED`` for an exact answer.

    Returns
    -------
    diameter : int
        0 for one node. If the searches did not settle it, the largest eccentricity among them.
    exact : bool
        Whether it is settled.

    Cost: O(nodes · edges) time at worst, in practice a few searches; O(nodes) memory.
    """
    n = len(indptr) - 1
    if n <= 1:
        return 0, True
    # An eccentricity of v is in low[v] … high[v]; candidates are the nodes with high > best.
    low = np.zeros(n, np.int32)
    high = np.full(n, n, np.int32)
    distance = np.empty(n, np.int32)
    from_far_end = np.empty(n, np.int32)
    queue = np.empty(n, np.int32)
    chain = np.empty(n + 2, np.int32)
    best = 0
    widest = True
    searches = 0
    checkpoint = _ROUNDS
    candidates_then = n
    while True:
        v, candidates = _candidate(indptr, low, high, best, widest)
        if v < 0:
            return best, True
        if searches >= most_searches:
            return best, False
        if searches >= checkpoint:
            # A batch of 64 costs as many searches as there are times at which their frontiers pass a node.
            sources, spread = _gather(indptr, neighbours, v, high.copy(), best, distance, queue)
            passes = min(2 * spread + 1, best + 1)
            if (candidates_then - candidates) * passes < len(sources) * _ROUNDS:
                return _settle_by_words(indptr, neighbours, high, best, distance, queue), True
            checkpoint = searches + _ROUNDS
            candidates_then = candidates
        widest = not widest
        length = _walk_chain(indptr, neighbours, v, chain)
        if length <= 2:
            best = max(best, _settle_node(indptr, neighbours, v, low, high, distance, queue))
            searches += 1
        else:
            best = max(best, _settle_node(indptr, neighbours, chain[0], low, high, distance, queue))
            best = max(best, _settle_node(indptr, neighbours, chain[length], low, high, from_far_end, queue))
            best = max(best, _settle_chain(chain, length, low, high, distance, from_far_end))
            searches += 2


@serial
def _candidate(indptr, low, high, best, widest):
    """A candidate to search from next, -1 without any, and how many there are.

    The one with the highest upper bound (it may raise ``best``) or the lowest lower bound (it lies in the
    middle and lowers upper bounds); ties by degree.
    """
    chosen = -1
    chosen_key = 0
    chosen_degree = -1
    candidates = 0
    for v in range(len(high)):
        if high[v] > best:
            candidates += 1
            key = high[v] if widest else -low[v]
            degree = indptr[v + 1] - indptr[v]
            if chosen < 0 or key > chosen_key or (key == chosen_key and degree > chosen_degree):
                chosen, chosen_key, chosen_degree = v, key, degree
    return chosen, candidates


@serial
def _settle_node(indptr, neighbours, v, low, high, distance, queue):
    """Search from v and tighten all bounds. Returns the eccentricity of v."""
    reached = search(indptr, neighbours, v, distance, queue)
    eccentricity = distance[queue[reached - 1]]
    for w in range(len(low)):
        d = distance[w]
        low[w] = max(low[w], d, eccentricity - d)
        high[w] = min(high[w], eccentricity + d)
    return eccentricity


@serial
def _walk_chain(indptr, neighbours, v, chain):
    """Fill ``chain`` with the path through v whose inner nodes have degree 2. Returns its length, 0 without one.

    A ring attached at one node, or a ring alone, gives a path that ends where it starts.
    """
    if indptr[v + 1] - indptr[v] != 2:
        return 0
    # Back to one end first, then forward through v to the other.
    previous, current = v, neighbours[indptr[v]]
    while indptr[current + 1] - indptr[current] == 2 and current != v:
        previous, current = current, _other(indptr, neighbours, current, previous)
    chain[0] = current
    if current == v:
        following = neighbours[indptr[v]]
    else:
        following = previous
    length = 1
    previous, current = chain[0], following
    chain[1] = current
    while indptr[current + 1] - indptr[current] == 2 and current != chain[0]:
        previous, current = current, _other(indptr, neighbours, current, previous)
        length += 1
        chain[length] = current
    return length


@serial
def _other(indptr, neighbours, v, known):
    """The neighbour of a node of degree 2 that is not ``known``."""
    first = neighbours[indptr[v]]
    return neighbours[indptr[v] + 1] if first == known else first


@serial
def _settle_chain(chain, length, low, high, from_start, from_end):
    """Exact eccentricities of the inner nodes of a chain from the distances of its two ends. Returns the largest.

    The inner node at place p reaches an outer node y in ``min(p + from_start[y], length - p + from_end[y])``.
    The first term is the smaller one when ``from_start[y] - from_end[y] <= length - 2p``, so running maxima
    over that difference answer for all p at once. Overwrites ``from_start`` on the inner nodes.
    """
    across = from_end[chain[0]]
    for p in range(1, length):
        from_start[chain[p]] = -1
    # At δ + across: the largest from_start of outer nodes with difference δ or less, from_end with δ or more.
    start_reach = np.full(2 * across + 2, -1, np.int64)
    end_reach = np.full(2 * across + 2, -1, np.int64)
    for y in range(len(from_start)):
        if from_start[y] >= 0:
            at = from_start[y] - from_end[y] + across
            start_reach[at] = max(start_reach[at], from_start[y])
            end_reach[at] = max(end_reach[at], from_end[y])
    for at in range(1, len(start_reach)):
        start_reach[at] = max(start_reach[at], start_reach[at - 1])
    for at in range(len(end_reach) - 2, -1, -1):
        end_reach[at] = max(end_reach[at], end_reach[at + 1])
    half_round = (length + across) // 2
    largest = 0
    for p in range(1, length):
        # To other nodes of the chain: along it, or around through its ends.
        eccentricity = max(min(p, half_round), min(length - p, half_round))
        at = length - 2 * p + across
        if at >= 0:
            reach = start_reach[min(at, 2 * across)]
            if reach >= 0:
                eccentricity = max(eccentricity, p + reach)
        if at < 2 * across:
            reach = end_reach[max(at + 1, 0)]
            if reach >= 0:
                eccentricity = max(eccentricity, length - p + reach)
        low[chain[p]] = eccentricity
        high[chain[p]] = eccentricity
        largest = max(largest, eccentricity)
    return largest


@serial
def _settle_by_words(indptr, neighbours, high, best, distance, queue):
    """Largest of ``best`` and the eccentricities of the candidates (high > best), 64 of them per search."""
    n = len(high)
    seen = np.empty(n, np.uint64)
    arriving = np.zeros(n, np.uint64)
    leaving = np.zeros(n, np.uint64)
    reached = np.empty(n, np.int32)
    for v in range(n):
        if high[v] > best:
            sources, _ = _gather(indptr, neighbours, v, high, best, distance, queue)
            deepest = _word_eccentricity(indptr, neighbours, sources, seen, arriving, leaving, queue, reached)
            best = max(best, deepest)
    return best


@serial
def _gather(indptr, neighbours, v, high, best, distance, queue):
    """Gather up to 64 of the nearest candidates (high > best) of v. Returns them, and the distance of the last.

    Sources close to each other reach any node at about the same time: their bits travel together.
    Overwrites ``distance`` and ``queue``.
    """
    distance[:] = -1
    sources = np.empty(_WORD, np.int32)
    count = 0
    distance[v] = 0
    queue[0] = v
    head, tail = 0, 1
    spread = 0
    while head < tail and count < _WORD:
        u = queue[head]
        head += 1
        if high[u] > best:
            sources[count] = u
            count += 1
            high[u] = 0
            spread = distance[u]
        for e in range(indptr[u], indptr[u + 1]):
            w = neighbours[e]
            if distance[w] < 0:
                distance[w] = distance[u] + 1
                queue[tail] = w
                tail += 1
    return sources[:count], spread


@serial
def _word_eccentricity(indptr, neighbours, sources, seen, arriving, leaving, frontier, reached):
    """Find the largest eccentricity of up to 64 sources. ``arriving`` and ``leaving`` are zero before and after."""
    seen[:] = 0
    size = len(sources)
    for i in range(size):
        bit = np.uint64(1) << np.uint64(i)
        seen[sources[i]] = bit
        leaving[sources[i]] = bit
        frontier[i] = sources[i]
    everyone = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(_WORD - size)
    levels = -1
    while size > 0:
        levels += 1
        n_reached = 0
        if 4 * size < len(seen):
            for i in range(size):
                v = frontier[i]
                bits = leaving[v]
                for e in range(indptr[v], indptr[v + 1]):
                    w = neighbours[e]
                    new = bits & ~seen[w]
                    if new != 0:
                        if arriving[w] == 0:
                            reached[n_reached] = w
                            n_reached += 1
                        arriving[w] |= new
        else:
            # Most nodes are on the frontier: asking the few that still miss a source is less work.
            for w in range(len(seen)):
                if seen[w] != everyone:
                    bits = np.uint64(0)
                    for e in range(indptr[w], indptr[w + 1]):
                        bits |= leaving[neighbours[e]]
                    new = bits & ~seen[w]
                    if new != 0:
                        arriving[w] = new
                        reached[n_reached] = w
                        n_reached += 1
        for i in range(size):
            leaving[frontier[i]] = 0
        for i in range(n_reached):
            w = reached[i]
            seen[w] |= arriving[w]
            leaving[w] = arriving[w]
            arriving[w] = 0
            frontier[i] = w
        size = n_reached
    return levels
