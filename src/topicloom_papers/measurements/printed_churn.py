"""Experiments: backups, and rounds of churn, with Shadow as the paper prints it."""

from collections.abc import Iterator
from statistics import fmean

import numpy as np

from topicloom.model import Interest
from topicloom.model.arrays import Int32Array
from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.inputs import Churn, interest_of
from topicloom_papers.measurements.churn_curves import backup_values
from topicloom_papers.measurements.measurement import Value, measures, require_connected
from topicloom_papers.printed.literal_low_oda import printed_low_oda
from topicloom_papers.printed.literal_shadow import (
    ALIKE,
    LINKS,
    LINKS_AND_PRIMARIES,
    MOST_LINKS,
    RHO,
    Nodes,
    build_backups,
    link,
    remove,
    repair,
)

# Whether greedy, and what a node weighs.
BUILDERS = {
    "primal-dual": (False, LINKS_AND_PRIMARIES),
    "greedy": (True, LINKS_AND_PRIMARIES),
    "greedy, links alone": (True, LINKS),
    "greedy, all alike": (True, ALIKE),
}


@measures("printed-backups")
def printed_backups(cell: Cell) -> Iterator[Value]:
    """Backups and primaries before the first round, over all nodes and by the number of topics that a node wants."""
    interest = interest_of(cell)
    nodes = linked(interest, interest.n_nodes, cell.seed)
    require_connected(cell, interest, _links(nodes))
    for v in range(interest.n_nodes):
        build_backups(nodes, v, cell.options["coverage"], *BUILDERS[cell.method])
    yield from backup_values(interest, nodes.backups.sum(axis=1), nodes.primaries)


@measures("printed-churn")
def printed_churn(cell: Cell) -> Iterator[Value]:
    """Measure degrees at the start and after every ``every`` rounds, judged, and means over joins and leaves."""
    churn = Churn.of(cell)
    how = (cell.options["coverage"], *BUILDERS[cell.options["backups"]])
    nodes = linked(churn.everyone, churn.start, cell.seed)
    for v in range(churn.start):
        build_backups(nodes, v, *how)
    yield Value("max_degree", int(nodes.degree.max()), 0)
    yield Value("average_degree", float(nodes.degree[nodes.present].mean()), 0)
    changed: dict[bool, list[int]] = {True: [], False: []}
    shares = []
    for number, turn in enumerate(churn.rounds, 1):
        v, topics = turn.node, churn.everyone.topics_of(turn.node)
        if turn.joins:
            nodes.present[v] = True
            build_backups(nodes, v, *how)
            shadows = np.append(np.flatnonzero(nodes.backups[v]), v)
            changed[True].append(repair(nodes, shadows, v, topics))
        else:
            shadows = np.union1d(np.flatnonzero(nodes.backups[v]), nodes.neighbours[v, : nodes.degree[v]])
            changed[False].append(remove(nodes, v) + repair(nodes, shadows, -1, topics))
            for u in np.flatnonzero(nodes.backups[:, v]):
                build_backups(nodes, u, *how)
        shares.append(len(shadows) / nodes.present.sum())
        if number % cell.options["every"] == 0:
            there = np.flatnonzero(nodes.present)
            require_connected(cell, churn.everyone.restrict(there), np.searchsorted(there, _links(nodes)))
            yield Value("max_degree", int(nodes.degree.max()), number)
            yield Value("average_degree", float(nodes.degree[there].mean()), number)
    yield Value("join_links", fmean(changed[True]))
    yield Value("leave_links", fmean(changed[False]))
    yield Value("shadow_share", fmean(shares))
    yield Value("largest_shadow_share", max(shares))


def linked(everyone: Interest, start: int, seed: int) -> Nodes:
    """Everyone, the first ``start`` of them there and linked by Low-ODA with ties as they fall."""
    interest = everyone.restrict(np.arange(start))
    count = everyone.n_nodes
    wants = np.zeros((count, everyone.n_topics), np.bool_)
    wants[everyone.nodes, everyone.topics] = True
    nodes = Nodes(
        wants,
        np.arange(count) < start,
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
