"""Links that may not be: whether an overlay keeps off them, and which subscribers they keep apart."""

import numpy as np
import numpy.typing as npt

from topicloom.model.arrays import Int32Array, normalized_links


def forbidden_links(links: npt.ArrayLike, forbid: npt.ArrayLike, n_nodes: int) -> Int32Array:
    """Links of an overlay that are among the forbidden pairs, as (m, 2) node ids.

    >>> forbidden_links([(0, 1), (1, 2)], [(2, 1), (0, 2)], 3).tolist()
    [[1, 2]]
    """
    used, barred = normalized_links(links, n_nodes), normalized_links(forbid, n_nodes)
    mine, others = (pairs[:, 0].astype(np.int64) * n_nodes + pairs[:, 1] for pairs in (used, barred))
    return used[np.isin(mine, others)]


def separated_groups(subscribers: npt.ArrayLike, forbid: npt.ArrayLike) -> tuple[tuple[int, ...], ...]:
    """Groups of a topic's subscribers that cannot meet because every link between two groups is forbidden.

    One group when the topic can be connected. Each group is sorted; the group of the smallest node comes first. Takes
    O(subscribers + forbidden pairs) time, by searches over the links that are allowed.

    >>> separated_groups([0, 1, 2, 3], [(0, 2), (0, 3), (1, 2), (1, 3)])
    ((0, 1), (2, 3))
    """
    waiting = {int(v) for v in np.asarray(subscribers).ravel()}
    against: dict[int, set[int]] = {v: set() for v in waiting}
    for u, v in np.asarray(forbid, np.int64).reshape(-1, 2).tolist():
        if u in against and v in against:
            against[u].add(v)
            against[v].add(u)
    groups = []
    while waiting:
        start = min(waiting)
        waiting.discard(start)
        group, frontier = [start], [start]
        while frontier:
            reached = waiting - against[frontier.pop()]
            waiting -= reached
            group += reached
            frontier += reached
        groups.append(tuple(sorted(group)))
    return tuple(groups)
