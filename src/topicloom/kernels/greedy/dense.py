"""The dense search of the greedy engine: an upper bound of every pair's contribution, in the order of the tie rule.

Pair (i, i + d) of the circle is element i of row d - 1 of a table, so that the pairs of one level are met in rank
order by reading the table from its start. Contributions only fall: a stored value is an upper bound, looked at
again when the level comes down to it. The bound that replaces it counts the topics that both want, less those in
whose giant component both lie; the exact number is counted when that bound does not rule the pair out.

Topics that few want make up most of the bits and few of the contributions. Where that is so, they are left out of the
bits that are counted for bounds; how many of them a pair shares is counted once, in a second table. Topics are numbered
from the most wanted to the least, so that the rare ones come last.

Memory: n² / 2 bytes (twice that when contributions can exceed 255; twice that again with the second table), and 1 byte
per node and topic.
"""

from typing import NamedTuple

import numpy as np
from numba.core import types
from numba.extending import overload

from topicloom.kernels.greedy.bits import bit, lowest_bit, popcount
from topicloom.kernels.greedy.joining import joined
from topicloom.kernels.greedy.topic_weights import weight_of
from topicloom.kernels.greedy.vectors import COLUMN, GROUP, INSIDE, group_hits, group_max, lower
from topicloom.kernels.jit import borrowing

DENSE_BYTES = 1 << 30

# Rare topics are left out of the columns while they make up at most this share of what pairs share, if that halves
# a table of at least this many columns.
RARE_SHARE = 0.05
MANY_COLUMNS = 32

# Rows of the table in which rare topics are counted at a time: they stay in the nearer caches.
RARE_ROWS = 256

# With as many pairs of a group to look at, all of them are counted again at once (vectors) rather than one by one.
RECOUNT_ALL = 3


class Dense(NamedTuple):
    """Bounds of all pairs, and the topics of each place of the circle as bits in two layouts.

    The words (uint64 per place) serve single pairs, the tiles 64 neighbouring ones: tile b holds places 64 b to
    64 b + 127 of the circle (from its end it goes on at its start), so that any 64 places in a row lie in one tile,
    and what is read together lies together: column after column of 8 topics, a byte per place for what it wants and
    one for the topics in whose giant component it lies. Rare topics have no column.
    """

    tiles: np.ndarray  # uint8
    wants: np.ndarray
    inside: np.ndarray  # topics in whose giant component the place lies
    rare: np.ndarray  # like bound: rare topics that were apart at the start; one group of zeros if none is rare
    bound: np.ndarray  # uint8 or uint16 per pair
    top: np.ndarray  # per group of 64 pairs: at least the largest bound in it, so that a level passes over those below
    column_weight: np.ndarray | None  # like bound, per column: what each of its topics counts for; None if 1


@borrowing
def groups_per_row(n):
    """Groups that a row of the table takes. Its end is padded with zeros."""
    return (n + GROUP - 1) // GROUP


def columns(subscribers, n, bound_bytes):
    """Decide how many columns of 8 topics the bits have: rare topics get none where that saves half of the columns.

    Parameters
    ----------
    subscribers : int64, one per topic
        Falling.
    n : int
        Places of the circle.
    bound_bytes : int
        Bytes of a bound.

    Returns
    -------
    int

    Cost: O(topics).
    """
    n_topics = len(subscribers)
    n_columns = (n_topics + 7) // 8
    if n_columns < MANY_COLUMNS or bound_bytes * n * n + n * n_topics > DENSE_BYTES:
        return n_columns
    shared = subscribers.astype(np.float64) ** 2
    n_rare = int((np.cumsum(shared[::-1]) <= RARE_SHARE * shared.sum()).sum())
    left = (n_topics - n_rare + 7) // 8
    return left if 2 * left <= n_columns else n_columns


def build_dense(c, bound_type):
    """Make the dense search over all places of the circle.

    Parameters
    ----------
    c : Components or Blocks
        Topics are numbered from the most wanted to the least. If they have weights, those of one weight begin at a
        multiple of 8, rising: the topics of a column weigh the same.
    bound_type : dtype
        Of the bounds: uint8, uint16 or uint32.

    Returns
    -------
    Dense

    Cost: O(nodes²) bytes; O(nodes² · columns) time, and O(Σ over rare topics of subscribers²).
    """
    n = len(c.node_ptr) - 1
    n_topics = len(c.topic_ptr) - 1
    per_row = int(groups_per_row(n))
    n_words = (n_topics + 63) // 64
    bound_type = np.dtype(bound_type)
    n_columns = columns(np.diff(c.topic_ptr), n, bound_type.itemsize)
    n_groups = (n // 2) * per_row
    has_rare = 8 * n_columns < n_topics
    s = Dense(
        np.zeros(per_row * n_columns * COLUMN, np.uint8),
        np.zeros((n, n_words), np.uint64),
        np.zeros((n, n_words), np.uint64),
        np.zeros(n_groups * GROUP if has_rare else GROUP, bound_type),
        np.full(n_groups * GROUP, np.iinfo(bound_type).max, bound_type),
        np.zeros((n_groups + GROUP - 1) // GROUP * GROUP, bound_type),
        None if c.weight is None else c.weight[: 8 * n_columns : 8].astype(bound_type),
    )
    if has_rare:
        _count_rare(c, s.rare, 8 * n_columns, np.zeros(len(c.member), np.int32))
    _fill(c, s)
    return s


@borrowing
def _fill(c, s):
    """Note what every place wants, and the first bounds."""
    n = len(c.node_ptr) - 1
    per_row = groups_per_row(n)
    n_columns = len(s.tiles) // max(per_row * COLUMN, 1)
    for v in range(n):
        for k in range(c.node_ptr[v], c.node_ptr[v + 1]):
            t, e = c.topic[k], c.entry[k]
            s.wants[v, t >> 6] |= bit(t)
            if c.inside[e]:
                s.inside[v, t >> 6] |= bit(t)
            for part in range(0, INSIDE + 1 if c.inside[e] else 1, INSIDE):
                _flip(s.tiles, n, n_columns, part, v, t)
    for first_row in range(0, n // 2, GROUP):  # as many rows as two tiles serve: they stay in the nearest cache
        for g in range(per_row):
            for row in range(first_row, min(first_row + GROUP, n // 2)):
                last = n // 2 if 2 * (row + 1) == n else n
                at = (row * per_row + g) * GROUP
                x, y = tile_at(n_columns, g * GROUP), tile_at(n_columns, (g * GROUP + row + 1) % n)
                lower(s.tiles, n_columns, x, y, s.rare, rare_at(s.rare, at), s.bound, at, s.column_weight)
                for k in range(max(last - g * GROUP, 0), GROUP):
                    s.bound[at + k] = 0
                s.top[row * per_row + g] = group_max(s.bound, at)


@borrowing
def _count_rare(c, rare, first_rare, met):
    """For each pair, what the rare topics count for that it could still merge.

    ``met`` (int32 per entry, all 0) counts the members of its topic after it on the circle that were looked at.
    """
    n = len(c.node_ptr) - 1
    stride = groups_per_row(n) * GROUP
    homes, weight = c.homes, c.weight
    for first in range(1, n // 2 + 1, RARE_ROWS):
        end = min(first + RARE_ROWS, n // 2 + 1)
        for t in range(first_rare, len(c.topic_ptr) - 1):
            after = c.topic_ptr[t + 1]
            size = after - c.topic_ptr[t]
            for e in range(c.topic_ptr[t], after):
                i = c.member[e]
                while met[e] < size - 1:
                    f = e + 1 + met[e]
                    f -= size if f >= after else 0
                    d = c.member[f] - i
                    d += n if d < 0 else 0
                    if d >= end:
                        break
                    if (2 * d < n or i < c.member[f]) and not joined(homes, np.int32(e), np.int32(f)):
                        rare[(d - 1) * stride + i] += weight_of(weight, t)
                    met[e] += 1


@borrowing
def rare_at(rare, at):
    """Where in the second table the 64 pairs at this place of the first are."""
    return at if len(rare) > GROUP else 0


@borrowing
def tile_at(n_columns, place):
    """Where in the tiles the 64 places from this one on begin."""
    return (place // GROUP) * n_columns * COLUMN + place % GROUP


@borrowing
def bar_dense(s, ranks):
    """Rule out pairs for good.

    Parameters
    ----------
    s : Dense
        Changed in place.
    ranks : int64
        Of the pairs; see `pair_ranks`.

    Cost: O(ranks).
    """
    n = len(s.wants)
    if n:
        for rank in ranks:
            s.bound[(rank // n - 1) * groups_per_row(n) * GROUP + rank % n] = 0


@borrowing
def _flip(tiles, n, n_columns, part, v, t):
    """Change the bit of a place and a topic where tiles hold it: in the part "wants" or in "inside"."""
    if t >= 8 * n_columns:
        return
    column, change = (t >> 3) * COLUMN + part, np.uint8(1 << (t & 7))
    n_tiles = groups_per_row(n)
    for place in range(v, (n_tiles + 1) * GROUP, n):
        b, k = place // GROUP, place % GROUP
        if b < n_tiles:
            tiles[b * n_columns * COLUMN + column + k] ^= change
        if b > 0:
            tiles[(b - 1) * n_columns * COLUMN + column + GROUP + k] ^= change


@borrowing
def mirror(s, member, changed, n_changed, t):
    """Note that members entered the giant component of a topic, or left it.

    Parameters
    ----------
    s : Dense
        Changed in place.
    member : int32, one per entry
        Its place on the circle.
    changed : int32
        The first ``n_changed`` are the entries.
    n_changed : int
    t : int
        The topic.

    Cost: O(n_changed).
    """
    inside, tiles = s.inside, s.tiles
    n, n_columns = len(inside), len(tiles) // (groups_per_row(len(inside)) * COLUMN)
    for k in range(n_changed):
        v = member[changed[k]]
        inside[v, t >> 6] ^= bit(t)
        _flip(tiles, n, n_columns, np.int64(INSIDE), np.int64(v), t)


def _pair_bound(wants, inside, weight, u, v, n_words):
    """What the topics of the first words count for that places u and v both want and do not both have in the giant."""
    count = 0
    for w in range(n_words):
        rest = wants[u, w] & wants[v, w] & ~(inside[u, w] & inside[v, w])
        while rest:
            count += weight_of(weight, 64 * w + lowest_bit(rest))
            rest &= rest - np.uint64(1)
    return count


@overload(_pair_bound, inline="always")
def _compiled_pair_bound(wants, inside, weight, u, v, n_words):
    def counted(wants, inside, weight, u, v, n_words):
        return _count_shared(wants, inside, u, v, n_words)

    def weighed(wants, inside, weight, u, v, n_words):
        return _weigh_shared(wants, inside, weight, u, v, n_words)

    return counted if isinstance(weight, types.NoneType) else weighed


@borrowing
def _count_shared(wants, inside, u, v, n_words):
    """`_pair_bound` where every topic counts 1."""
    count = np.int64(0)
    for w in range(n_words):
        count += np.int64(popcount(wants[u, w] & wants[v, w] & ~(inside[u, w] & inside[v, w])))
    return count


@borrowing
def _weigh_shared(wants, inside, weight, u, v, n_words):
    """`_pair_bound` with weights."""
    total = np.int64(0)
    for w in range(n_words):
        rest = wants[u, w] & wants[v, w] & ~(inside[u, w] & inside[v, w])
        while rest:
            total += weight[64 * w + lowest_bit(rest)]
            rest &= rest - np.uint64(1)
    return total


@borrowing
def _pair_contribution(wants, inside, node_ptr, entry, homes, weight, u, v, n_words):
    """Contribution of places u and v, if it comes from topics of the first words."""
    total = np.int64(0)
    of_u, of_v = node_ptr[u], node_ptr[v]  # entries are in the order of the topics, as bits are
    for w in range(n_words):
        wants_u, wants_v = wants[u, w], wants[v, w]
        rest = wants_u & wants_v & ~(inside[u, w] & inside[v, w])
        while rest:
            below = (rest - np.uint64(1)) & ~rest
            q = entry[of_u + np.int64(popcount(wants_u & below))]
            r = entry[of_v + np.int64(popcount(wants_v & below))]
            if not joined(homes, q, r):
                total += weight_of(weight, 64 * w + np.int64(popcount(below)))
            rest &= rest - np.uint64(1)
        of_u += np.int64(popcount(wants_u))
        of_v += np.int64(popcount(wants_v))
    return total


@borrowing
def dense_pair(n, position):
    """Find the two places of a pair.

    Parameters
    ----------
    n : int
        Places of the circle.
    position : int
        Of the pair in the table.

    Returns
    -------
    start, end : int
        Of the shorter arc.

    Cost: O(1).
    """
    stride = groups_per_row(n) * GROUP
    i = position % stride
    return i, (i + position // stride + 1) % n


@borrowing
def dense_next(c, s, cursor, capped, floor):
    """Move on to the first pair, in (level, rank) order, that has the level of the cursor.

    Parameters
    ----------
    c : Components or Blocks
    s : Dense
        Its bounds are sharpened.
    cursor : int64: level, position
        Overwritten. No pair before it may qualify.
    capped : uint8, the circle twice
        Places that are left out.
    floor : int
        Lowest level that is looked for.

    Returns
    -------
    bool
        False when no pair of level ``floor`` or more remains.

    Cost: O(nodes² · columns) for each level at worst; 64 · 64 pairs below the level are passed over at once.
    """
    tiles, rare, bound, top = s.tiles, s.rare, s.bound, s.top
    wants, inside, homes = s.wants, s.inside, c.homes
    node_ptr, entry, weight, column_weight = c.node_ptr, c.entry, c.weight, s.column_weight
    n = len(wants)
    per_row = groups_per_row(n)
    n_groups = (n // 2) * per_row
    n_columns = len(tiles) // max(per_row * COLUMN, 1)
    n_frequent = min((8 * n_columns + 63) // 64, wants.shape[1])  # words with all topics that are not rare
    level, position = cursor[0], cursor[1]
    while level >= floor:
        group = position // GROUP
        below = np.int64(0)
        while group < n_groups:
            if group % GROUP == 0:
                highest = np.int64(group_max(top, group))
                if highest < level:
                    below = max(below, highest)
                    group += GROUP
                    continue
            if top[group] < level:
                below = max(below, np.int64(top[group]))
                group += 1
                continue
            at = group * GROUP
            i, d = (group % per_row) * GROUP, group // per_row + 1
            after = ~np.uint64(0) << np.uint64(max(position - at, 0))
            hits = group_hits(bound, at, level, capped, i, i + d) & after
            recounted = popcount(hits) >= RECOUNT_ALL
            if recounted:
                x, y = tile_at(n_columns, i), tile_at(n_columns, (i + d) % n)
                lower(tiles, n_columns, x, y, rare, rare_at(rare, at), bound, at, column_weight)
                hits = group_hits(bound, at, level, capped, i, i + d) & after
            while hits:
                k = lowest_bit(hits)
                u, v = i + k, (i + k + d) % n
                shares_rare = rare[rare_at(rare, at) + k] > 0
                n_words = wants.shape[1] if shares_rare else n_frequent
                if shares_rare or not recounted:
                    worth = _pair_bound(wants, inside, weight, u, v, n_words)
                else:
                    worth = level
                if worth >= level:
                    worth = _pair_contribution(wants, inside, node_ptr, entry, homes, weight, u, v, n_words)
                bound[at + k] = worth
                if worth == level:
                    cursor[0], cursor[1] = level, at + k
                    return True
                hits &= hits - np.uint64(1)
            top[group] = group_max(bound, at)
            below = max(below, np.int64(top[group]))
            group += 1
        # a capped pair keeps its bound, which may be the level's or above
        level = min(below, level - 1) if position == 0 else level - 1
        position = np.int64(0)
    cursor[0], cursor[1] = level, 0
    return False
