"""Backups before the first round of churn, and degrees, link changes and shadow sets over its rounds."""

from collections.abc import Iterator
from statistics import fmean
from typing import NamedTuple

import numpy as np

from topicloom.churn import Maintainer
from topicloom.methods.greedy.low_oda import low_oda
from topicloom.model import Interest
from topicloom.model.arrays import Int64Array
from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.inputs import Churn, interest_of
from topicloom_papers.measurements.measurement import Value, measures, require_connected


class Repaired(NamedTuple):
    """A round.

    Links changed, and as a share of all links; shadow set as a share of all nodes; topics of the node.
    """

    links: int
    ratio: float
    shadow: float
    topics: int


@measures("churn")
def churned(cell: Cell) -> Iterator[Value]:
    """Measure degrees after each ``every`` rounds, the overlay judged, and means over the joins and the leaves."""
    churn = Churn.of(cell)
    interest = churn.interest()
    base = low_oda(interest, seed=cell.seed)
    maintainer = Maintainer(
        interest,
        base,
        policy=cell.method,
        backups=cell.options.get("backups", "primal-dual"),
        coverage=cell.options.get("coverage", 3),
        seed=cell.seed,
    )
    degree = base.degree()
    yield Value("max_degree", int(degree.max()), 0)
    yield Value("average_degree", float(degree.mean()), 0)
    repaired: dict[bool, list[Repaired]] = {True: [], False: []}
    links, nodes = base.n_links, interest.n_nodes
    for number, turn in enumerate(churn.rounds, 1):
        change = churn.apply(maintainer, turn)
        changed = len(change.added) + len(change.removed)
        topics = len(churn.everyone.topics_of(turn.node))
        shadow = change.shadow_size / nodes
        repaired[turn.joins].append(Repaired(changed, changed / links, shadow, topics))
        links += len(change.added) - len(change.removed)
        nodes += 1 if turn.joins else -1
        if number % cell.options["every"] == 0:
            overlay = maintainer.overlay
            require_connected(cell, overlay.interest, overlay.links)
            degree = overlay.degree()
            yield Value("max_degree", int(degree.max()), number)
            yield Value("average_degree", float(degree.mean()), number)
    for joins, name in ((True, "join"), (False, "leave")):
        found = repaired[joins]
        yield Value(f"{name}_links", fmean(one.links for one in found))
        yield Value(f"{name}_repair_ratio", fmean(one.ratio for one in found))
        for size in sorted({tens(one.topics) for one in found}):
            yield Value(f"{name}_ratio_by_size", fmean(one.ratio for one in found if tens(one.topics) == size), size)
    shares = [one.shadow for found in repaired.values() for one in found]
    yield Value("shadow_share", fmean(shares))
    yield Value("largest_shadow_share", max(shares))


def tens(number: int) -> int:
    """The middle of the ten that a number falls into, to average over nodes of like size."""
    return 10 * (number // 10) + 5


@measures("backups")
def backups(cell: Cell) -> Iterator[Value]:
    """Backups and primaries per node, over all and by the number of topics that a node wants."""
    interest = interest_of(cell)
    overlay = low_oda(interest, seed=cell.seed)
    require_connected(cell, interest, overlay.links)
    maintainer = Maintainer(interest, overlay, backups=cell.method, coverage=cell.options["coverage"], seed=cell.seed)
    labels = [interest.node_label(node) for node in range(interest.n_nodes)]
    n_backups = np.array([len(maintainer.backups_of(label)) for label in labels])
    n_primaries = np.array([len(maintainer.primaries_of(label)) for label in labels])
    yield from backup_values(interest, n_backups, n_primaries)


def backup_values(interest: Interest, n_backups: Int64Array, n_primaries: Int64Array) -> Iterator[Value]:
    """Means and extremes of backups and primaries per node, and means by the number of topics that a node wants."""
    yield Value("backup_share", float(n_backups.mean()) / interest.n_nodes)
    yield Value("fewest_primaries", int(n_primaries.min()))
    yield Value("most_primaries", int(n_primaries.max()))
    yield Value("share_under_5_primaries", float((n_primaries < 5).mean()))
    sizes = np.diff(interest.indptr)
    for size in np.unique(sizes).tolist():
        yield Value("backups", float(n_backups[sizes == size].mean()), size)
        yield Value("primaries", float(n_primaries[sizes == size].mean()), size)
