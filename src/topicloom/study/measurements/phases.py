"""Times of the two phases of divide and conquer: inner links and outer links (star-merge, Figures 7 and 9)."""

import time
from collections.abc import Iterator

import numpy as np

from topicloom.methods.dc.conquer import Settings, build_core, conquer
from topicloom.methods.dc.divide_and_conquer import MERGE_LIMIT, divide_and_conquer, merge_levels
from topicloom.methods.dc.partitioning import divide
from topicloom.methods.dc.star_merge import Part
from topicloom.study.cells import Cell
from topicloom.study.inputs import interest_of
from topicloom.study.measurements.measurement import Figure, measures, require_connected


@measures("time-phases", alone=True)
def phases(cell: Cell) -> Iterator[Figure]:
    """CPU seconds of T_in (partitions, with their star sets) and T_out (the star merge), after one run to warm up.

    Star sets are counted as inner: that is where they are computed, and their time is small beside the rest.
    """
    interest, count = interest_of(cell), int(cell.options["partitions"])
    overlay = divide_and_conquer(interest, partitions=count, seed=cell.seed)
    require_connected(cell, interest, overlay.links)
    settings = Settings(interest.n_topics, seed=cell.seed)
    subscribers = np.diff(interest.topic_indptr)
    nobody = build_core(Part.of(interest, np.empty(0, np.int64)), settings)
    start = time.process_time()
    partition = divide(interest, count, "random", seed=cell.seed)
    pieces = [
        conquer(Part.of(interest, np.flatnonzero(partition == number)), number, nobody, subscribers, settings)
        for number in range(count)
    ]
    between = time.process_time()
    levels = list(merge_levels(pieces, MERGE_LIMIT, settings))
    end = time.process_time()
    links = sum(len(piece.links) for level in [pieces, *levels] for piece in level)
    if links != overlay.n_links:
        raise AssertionError(f"the phases have {links} links, the whole has {overlay.n_links}")
    yield Figure("inner_seconds", between - start)
    yield Figure("outer_seconds", end - between)
