"""An experiment: rounds of churn with Shadow exactly as the paper prints it."""

from collections.abc import Iterator
from statistics import fmean

import numpy as np

from topicloom.model.arrays import Int32Array
from topicloom.study.cells import Cell
from topicloom.study.churn_rounds import Churn
from topicloom.study.measurements.kinds import Figure, measures, require_connected
from topicloom.study.printed_low_oda import printed_low_oda
from topicloom.study.printed_shadow import MOST_LINKS, RHO, Nodes, build_backups, link, remove, repair

# Whether greedy, and whether primaries count in a node's weight.
BUILDERS = {"primal-dual": (False, True), "greedy": (True, True), "greedy, links alone": (True, False)}


@measures("printed-churn")
def printed_churn(cell: Cell) -> Iterator[Figure]:
    """Backups and degrees at the start; degrees after ``every`` rounds, judged; means over the joins and the leaves."""
    churn = Churn.of(cell)
    coverage, greedy, with_primaries = cell.options["coverage"], *BUILDERS[cell.options["backups"]]
    nodes = _before(churn, cell.seed)
    for v in range(churn.start):
        build_backups(nodes, v, coverage, greedy, with_primaries)
    yield Figure("max_degree", int(nodes.degree.max()), 0)
    yield Figure("average_degree", float(nodes.degree[nodes.present].mean()), 0)
    yield from _primaries(nodes)
    changed: dict[bool, list[int]] = {True: [], False: []}
    shares = []
    for number, turn in enumerate(churn.rounds, 1):
        v, topics = turn.node, churn.everyone.topics_of(turn.node)
        if turn.joins:
            nodes.present[v] = True
            build_backups(nodes, v, coverage, greedy, with_primaries)
            shadows = np.append(np.flatnonzero(nodes.backups[v]), v)
            changed[True].append(repair(nodes, shadows, v, topics))
        else:
            shadows = np.union1d(np.flatnonzero(nodes.backups[v]), nodes.neighbours[v, : nodes.degree[v]])
            changed[False].append(remove(nodes, v) + repair(nodes, shadows, -1, topics))
            for u in np.flatnonzero(nodes.backups[:, v]):
                build_backups(nodes, u, coverage, greedy, with_primaries)
        shares.append(len(shadows) / nodes.present.sum())
        if number % cell.options["every"] == 0:
            there = np.flatnonzero(nodes.present)
            require_connected(cell, churn.everyone.restrict(there), np.searchsorted(there, _links(nodes)))
            yield Figure("max_degree", int(nodes.degree.max()), number)
            yield Figure("average_degree", float(nodes.degree[there].mean()), number)
    yield Figure("join_links", fmean(changed[True]))
    yield Figure("leave_links", fmean(changed[False]))
    yield Figure("shadow_share", fmean(shares))
    yield Figure("largest_shadow_share", max(shares))


def _before(churn: Churn, seed: int) -> Nodes:
    """Everyone, those of the start linked by Low-ODA with ties as they fall."""
    everyone, interest = churn.everyone, churn.interest()
    count = everyone.n_nodes
    wants = np.zeros((count, everyone.n_topics), np.bool_)
    wants[everyone.nodes, everyone.topics] = True
    nodes = Nodes(
        wants,
        np.arange(count) < churn.start,
        np.zeros((count, MOST_LINKS), np.int32),
        np.zeros(count, np.int64),
        np.zeros((count, count), np.bool_),
        np.zeros(count, np.int64),
        np.array([seed, 0]),
    )
    for u, v in printed_low_oda(interest.indptr, interest.topics, interest.n_topics, RHO).tolist():
        link(nodes, u, v)
    return nodes


def _links(nodes: Nodes) -> Int32Array:
    ends = [(u, v) for u in np.flatnonzero(nodes.present) for v in nodes.neighbours[u, : nodes.degree[u]] if u < v]
    return np.array(ends, np.int32).reshape(-1, 2)


def _primaries(nodes: Nodes) -> Iterator[Figure]:
    primaries = nodes.primaries[nodes.present]
    yield Figure("backup_share", float(primaries.mean()) / len(primaries))
    yield Figure("fewest_primaries", int(primaries.min()))
    yield Figure("most_primaries", int(primaries.max()))
    yield Figure("share_under_5_primaries", float((primaries < 5).mean()))
