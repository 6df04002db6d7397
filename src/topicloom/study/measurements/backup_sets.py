"""Backup and primary sets before the first round of churn (shadows paper, Figures 2 and 3)."""

from collections.abc import Iterator

import numpy as np

from topicloom.churn import Maintainer
from topicloom.methods.greedy.low_oda import low_oda
from topicloom.model import Interest
from topicloom.model.arrays import Int64Array
from topicloom.study.cells import Cell
from topicloom.study.inputs import interest_of
from topicloom.study.measurements.measurement import Figure, measures, require_connected


@measures("backups")
def backups(cell: Cell) -> Iterator[Figure]:
    """Backups and primaries per node, over all and by the number of topics that a node wants."""
    interest = interest_of(cell)
    overlay = low_oda(interest, seed=cell.seed)
    require_connected(cell, interest, overlay.links)
    maintainer = Maintainer(interest, overlay, backups=cell.method, coverage=cell.options["coverage"], seed=cell.seed)
    labels = [interest.node_label(node) for node in range(interest.n_nodes)]
    n_backups = np.array([len(maintainer.backups_of(label)) for label in labels])
    n_primaries = np.array([len(maintainer.primaries_of(label)) for label in labels])
    yield from backup_figures(interest, n_backups, n_primaries)


def backup_figures(interest: Interest, n_backups: Int64Array, n_primaries: Int64Array) -> Iterator[Figure]:
    """Means and extremes of backups and primaries per node, and means by the number of topics that a node wants."""
    yield Figure("backup_share", float(n_backups.mean()) / interest.n_nodes)
    yield Figure("fewest_primaries", int(n_primaries.min()))
    yield Figure("most_primaries", int(n_primaries.max()))
    yield Figure("share_under_5_primaries", float((n_primaries < 5).mean()))
    sizes = np.diff(interest.indptr)
    for size in np.unique(sizes).tolist():
        yield Figure("backups", float(n_backups[sizes == size].mean()), size)
        yield Figure("primaries", float(n_primaries[sizes == size].mean()), size)
