"""An experiment: links that rebuilding exchanges when ties are taken in the order of the printed algorithm's lists."""

from collections.abc import Iterator, Sequence
from statistics import fmean

import numpy as np

from topicloom.model import Interest
from topicloom.study.cells import Cell
from topicloom.study.churn_rounds import Churn
from topicloom.study.literal_greedy_merge import literal_greedy_merge
from topicloom.study.measurements.kinds import Figure, measures, require_connected


@measures("literal-rebuild")
def literally_rebuilt(cell: Cell) -> Iterator[Figure]:
    """Links that the literal Greedy Merge exchanges from one round to the next, every so many rounds.

    Who is not there stays in the interest without a topic, so that nobody's place in the lists changes.
    """
    churn = Churn.of(cell)
    every = cell.options["every"]
    before: set[tuple[int, int]] = set()
    exchanged: list[tuple[bool, int, float]] = []
    for number, (turn, present) in enumerate(churn.present(), 1):
        if number % every == every - 1:
            before = _built(cell, churn.everyone, present)
        if number % every == 0:
            changed = len(before ^ _built(cell, churn.everyone, present))
            exchanged.append((turn.joins, changed, changed / len(before)))
    yield Figure("links_exchanged", fmean(changed for _, changed, _ in exchanged))
    yield Figure("repair_ratio", fmean(ratio for _, _, ratio in exchanged))
    for joins, name in ((True, "join"), (False, "leave")):
        ratios = [ratio for joined, _, ratio in exchanged if joined == joins]
        if ratios:
            yield Figure(f"{name}_repair_ratio", fmean(ratios))


def _built(cell: Cell, everyone: Interest, present: Sequence[int]) -> set[tuple[int, int]]:
    there = np.isin(everyone.nodes, np.array(present))
    interest = Interest.from_ids(
        everyone.nodes[there], everyone.topics[there], n_nodes=everyone.n_nodes, n_topics=everyone.n_topics
    )
    links = literal_greedy_merge(interest.indptr, interest.topics, interest.n_topics)
    require_connected(cell, interest, links)
    return {(u, v) for u, v in links.tolist()}
