"""Steps of the algorithm as it is printed, over its worst case (gm-min-tco paper, Figure 3)."""

from collections.abc import Iterator

from topicloom.study.cells import Cell
from topicloom.study.inputs import interest_of
from topicloom.study.measurements.measurement import Figure, measures, require_connected
from topicloom.study.printed.literal_gm import counted_greedy_merge


@measures("steps")
def steps(cell: Cell) -> Iterator[Figure]:
    """Contributions that the literal Greedy Merge counts at first and lowers later, over |V|²|T|."""
    interest = interest_of(cell)
    links, counted, lowered = counted_greedy_merge(interest.indptr, interest.topics, interest.n_topics)
    require_connected(cell, interest, links)
    worst = interest.n_nodes**2 * interest.n_topics
    yield Figure("steps_share", (counted + lowered) / worst)
    yield Figure("counted_share", counted / worst)
    yield Figure("lowered_share", lowered / worst)
    yield Figure("average_degree", 2 * len(links) / interest.n_nodes)
