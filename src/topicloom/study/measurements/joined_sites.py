"""Topic-connected overlays of 100 nodes each, joined into one (star-merge paper, §VIII-A)."""

from collections.abc import Iterator

import numpy as np

from topicloom.methods.dc.join import join
from topicloom.methods.greedy.greedy_merge import greedy_merge
from topicloom.model import Interest, Overlay
from topicloom.study.cells import Cell
from topicloom.study.inputs import interest_of
from topicloom.study.measurements.construction import degrees
from topicloom.study.measurements.measurement import Figure, measures, require_connected

MEMBERS = 100  # nodes of a sub-overlay


@measures("join")
def joined(cell: Cell) -> Iterator[Figure]:
    """Degrees, outer links and pn-ratio of Star Merge or Naive Merge."""
    overlay = join(sub_overlays(interest_of(cell), cell.seed), method=cell.method, seed=cell.seed)
    require_connected(cell, overlay.interest, overlay.links)
    yield from degrees(overlay)
    stars = [part["stars"] for part in overlay.report["overlays"]]
    yield Figure("star_set_mean", float(np.mean(stars)))


def sub_overlays(interest: Interest, seed: int) -> list[tuple[Interest, Overlay]]:
    """The interest cut into pieces of 100 nodes, each with its Greedy Merge overlay."""
    pieces = np.array_split(np.arange(interest.n_nodes), max(interest.n_nodes // MEMBERS, 1))
    interests = [interest.restrict(piece) for piece in pieces]
    return [(piece, greedy_merge(piece, seed=seed)) for piece in interests]
