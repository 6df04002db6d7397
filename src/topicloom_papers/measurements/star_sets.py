"""Sizes of the star sets of random partitions, one by one: an overlay's report has their mean and extremes alone."""

from collections.abc import Iterator

import numpy as np

from topicloom.methods.dc.partitioning import divide, trial_star_set
from topicloom.methods.dc.star_merge import Part
from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.inputs import interest_of
from topicloom_papers.measurements.measurement import Value, measures


@measures("star-sets")
def star_sets(cell: Cell) -> Iterator[Value]:
    """Measure the nodes of each partition's star set, by the number of the partition."""
    interest, count = interest_of(cell), cell.options["partitions"]
    subscribers = np.diff(interest.topic_indptr)
    partition = divide(interest, count, "random", seed=cell.seed)
    for number in range(count):
        part = Part.of(interest, np.flatnonzero(partition == number))
        yield Value("star_set_size", trial_star_set(part, subscribers, seed=cell.seed), number)
