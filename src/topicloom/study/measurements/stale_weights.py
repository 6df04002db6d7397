"""An experiment: backups built with weights that do not count the primaries gathered meanwhile.

Algorithms 11 and 12 of the shadows paper weigh a node by its links and its primaries. Whether the primaries are those
of the moment, or those from before all backup sets are built, the paper does not say. This is the second reading,
slow and plain; `topicloom.Maintainer` does the first.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from topicloom.methods.low_oda import low_oda
from topicloom.model import Interest
from topicloom.model.arrays import Int64Array
from topicloom.study.cells import Cell
from topicloom.study.interests import interest_of
from topicloom.study.measurements.kinds import Figure, measures, require_connected

BoolArray = npt.NDArray[np.bool_]


@measures("stale-weights")
def stale_weights(cell: Cell) -> Iterator[Figure]:
    """Backups and primaries when a node's weight is its number of links, whatever its primaries."""
    interest = interest_of(cell)
    overlay = low_oda(interest, seed=cell.seed)
    require_connected(cell, interest, overlay.links)
    wants = np.zeros((interest.n_nodes, interest.n_topics), np.bool_)
    wants[interest.nodes, interest.topics] = True
    weight = overlay.degree()
    build = _greedy if cell.method == "greedy" else _primal_dual
    random = np.random.default_rng(cell.seed)
    primaries = np.zeros(interest.n_nodes, np.int64)
    for node in range(interest.n_nodes):
        chosen: set[int] = set()
        for _ in range(cell.options["coverage"]):
            chosen |= build(interest, wants, weight, node, chosen, random)
        primaries[list(chosen)] += 1
    yield Figure("backup_share", float(primaries.mean()) / interest.n_nodes)
    yield Figure("fewest_primaries", int(primaries.min()))
    yield Figure("most_primaries", int(primaries.max()))
    yield Figure("share_under_5_primaries", float((primaries < 5).mean()))


def _greedy(
    interest: Interest, wants: BoolArray, weight: Int64Array, node: int, barred: set[int], random: np.random.Generator
) -> set[int]:
    """One cover by Algorithm 11: the least weight for each topic newly covered."""
    chosen: set[int] = set()
    rest = wants[node].copy()
    while rest.any():
        covered = wants[:, rest].sum(axis=1)
        covered[[node, *barred, *chosen]] = 0
        if not covered.any():
            break
        best = int(np.argmin(np.where(covered > 0, weight / np.maximum(covered, 1), np.inf)))
        chosen.add(best)
        rest &= ~wants[best]
    return chosen


def _primal_dual(
    interest: Interest, wants: BoolArray, weight: Int64Array, node: int, barred: set[int], random: np.random.Generator
) -> set[int]:
    """One cover by Algorithm 12: the least weight that is left among the subscribers of a random topic."""
    chosen: set[int] = set()
    rest, left = wants[node].copy(), weight.astype(np.float64)
    while rest.any():
        topic = int(random.choice(np.flatnonzero(rest)))
        candidates = [u for u in interest.subscribers(topic).tolist() if u != node and u not in barred | chosen]
        rest[topic] = False
        if candidates:
            best = min(candidates, key=left.__getitem__)
            left[candidates] -= left[best]
            chosen.add(best)
            rest &= ~wants[best]
    return chosen
