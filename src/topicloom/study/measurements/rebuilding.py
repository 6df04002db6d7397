"""What Low-ODA from scratch gives, and how many links it exchanges, over the same rounds of churn."""

from collections.abc import Iterator, Sequence
from statistics import fmean

import numpy as np

from topicloom.methods.low_oda import low_oda
from topicloom.model import Interest
from topicloom.study.cells import Cell
from topicloom.study.churn_rounds import Churn
from topicloom.study.measurements.churn import tens
from topicloom.study.measurements.kinds import Figure, measures, require_connected

Links = set[tuple[int, int]]


@measures("rebuild")
def rebuilt(cell: Cell) -> Iterator[Figure]:
    """Degrees every so many rounds, and links exchanged against the round before.

    With ``ties="kept"`` a node keeps its place in the tie order as others come and go, as where equally good links are
    taken in the order of a list; with ``"drawn"`` the order is drawn anew when the number of nodes changes, as
    `topicloom.design` does.
    """
    churn = Churn.of(cell)
    kept, every = cell.options["ties"] == "kept", cell.options["every"]
    before: Links = set()
    exchanged: dict[bool, list[tuple[int, float, int]]] = {True: [], False: []}
    for number, (turn, present) in enumerate(churn.present(), 1):
        if number % every == every - 1:
            before = _built(cell, churn.everyone, present, kept)
        if number % every == 0:
            now = _built(cell, churn.everyone, present, kept)
            changed = len(before ^ now)
            size = tens(len(churn.everyone.topics_of(turn.node)))
            exchanged[turn.joins].append((changed, changed / len(before), size))
            degree = np.bincount(np.array(list(now)).ravel(), minlength=churn.everyone.n_nodes)
            yield Figure("max_degree", int(degree.max()), number)
            yield Figure("average_degree", 2 * len(now) / len(present), number)
    for joins, name in ((True, "join"), (False, "leave")):
        found = exchanged[joins]
        if found:
            yield Figure(f"{name}_repair_ratio", fmean(ratio for _, ratio, _ in found))
        for size in sorted({size for _, _, size in found}):
            yield Figure(f"{name}_ratio_by_size", fmean(ratio for _, ratio, at in found if at == size), size)
    both = [one for found in exchanged.values() for one in found]
    yield Figure("repair_ratio", fmean(ratio for _, ratio, _ in both))
    yield Figure("links_exchanged", fmean(changed for changed, _, _ in both))


def _built(cell: Cell, everyone: Interest, present: Sequence[int], kept: bool) -> Links:
    """Links of Low-ODA for the nodes present, by their numbers among everyone."""
    nodes = np.sort(np.array(present))
    if not kept:
        interest = everyone.restrict(nodes)
        links = low_oda(interest, seed=cell.seed).links
        require_connected(cell, interest, links)
        return {(int(nodes[u]), int(nodes[v])) for u, v in links.tolist()}
    there = np.isin(everyone.nodes, nodes)  # the others stay, wanting nothing: nobody's number changes
    interest = Interest.from_ids(
        everyone.nodes[there], everyone.topics[there], n_nodes=everyone.n_nodes, n_topics=everyone.n_topics
    )
    links = low_oda(interest, seed=cell.seed).links
    require_connected(cell, interest, links)
    return {(u, v) for u, v in links.tolist()}
