"""Branching on links with HiGHS: the fewest links among overlays that a price bound does not rule out.

Variables are pairs of nodes that share a topic. Rows say that the classes of a partition of a topic's subscribers need
one link less than there are classes; violated ones are added until none is found. HiGHS computes in floating point, so
that a proof by branching rests on its tolerances; a proof by prices does not.
"""

import time
from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from topicloom.judge.prices import SCALE
from topicloom.model import Interest
from topicloom.model.arrays import Int32Array, Int64Array

_THRESHOLDS = (0.999, 0.7, 0.4, 0.1)
_TOLERANCE = 1e-4


class Branched(NamedTuple):
    """Links of a better overlay or None, and the fewest links possible as far as it was proved."""

    links: Int32Array | None
    at_least: int


def candidate_links(interest: Interest, prices: Int64Array, most: int) -> Int32Array:
    """Pairs that an overlay can contain of which prices of pairs pay at most ``most`` links.

    Lower the prices of a pair to the dearest price on the path between its ends in each topic's cheapest tree. Trees
    stay cheapest, and a link there now earns only the sum of those: an overlay that contains it has at least
    (cost of the trees + SCALE - that sum) / SCALE links.
    """
    n = interest.n_nodes
    earned = np.full((n, n), -1, np.int64)
    total, at = 0, 0
    for t in range(interest.n_topics):
        members = interest.topic_nodes[interest.topic_indptr[t] : interest.topic_indptr[t + 1]]
        pairs = len(members) * (len(members) - 1) // 2
        if pairs:
            dearest, cost = _dearest_on_paths(len(members), prices[at : at + pairs].astype(np.int64))
            block = np.ix_(members, members)
            earned[block] = np.maximum(earned[block], 0) + dearest
            total += cost
        at += pairs
    u, v = np.nonzero(np.triu(earned >= 0, 1))
    fits = -(-(total + SCALE - earned[u, v]) // SCALE) <= most
    return np.stack([u[fits], v[fits]], axis=1).astype(np.int32)


def _dearest_on_paths(size: int, prices: Int64Array) -> tuple[Int64Array, int]:
    """Dearest price on the path between any two members in the cheapest tree (Prim), and the cost of that."""
    table = np.zeros((size, size), np.int64)
    table[np.triu_indices(size, 1)] = prices
    table += table.T
    dearest = np.zeros((size, size), np.int64)
    inside, cost = [0], 0
    price, parent = table[0].copy(), np.zeros(size, np.int64)
    price[0] = SCALE + 1
    for _ in range(size - 1):
        v = int(price.argmin())
        dearest[v, inside] = dearest[inside, v] = np.maximum(dearest[parent[v], inside], price[v])
        cost += int(price[v])
        inside.append(v)
        price[v] = SCALE + 1
        nearer = table[v] < price
        nearer[inside] = False
        price[nearer], parent[nearer] = table[v][nearer], v
    return dearest, cost


def branch(
    interest: Interest, pairs: Int32Array, at_least: int, most: int, seconds: float, n_standing: int = 0
) -> Branched:
    """Look for an overlay of ``at_least`` to ``most`` links among the pairs, for at most that many seconds.

    The first ``n_standing`` pairs are in every overlay that is looked for.
    """
    deadline = time.monotonic() + seconds
    rows = _PartitionRows(interest, pairs)
    relaxed = True  # first without whole numbers, which is quick and finds most rows
    while (left := deadline - time.monotonic()) > 0:
        answer = milp(
            np.ones(len(pairs)),
            integrality=np.full(len(pairs), 0 if relaxed else 1),
            bounds=Bounds(np.arange(len(pairs)) < n_standing, 1),
            constraints=[rows.constraint(), LinearConstraint(np.ones((1, len(pairs))), at_least, most)],
            options={"time_limit": left},
        )
        if answer.status == 2:  # infeasible
            return Branched(None, most + 1)
        if answer.x is None or (answer.status != 0 and relaxed):
            break
        found = rows.add_violated(answer.x)
        if relaxed:
            at_least = max(at_least, int(np.ceil(answer.fun - _TOLERANCE)))
            relaxed = found
            continue
        if answer.status == 0:
            at_least = max(at_least, int(np.ceil(answer.fun - _TOLERANCE)))
        if not found:
            return Branched(pairs[answer.x > 0.5], at_least)
        if answer.status != 0:
            break
    return Branched(None, at_least)


class _PartitionRows:
    """Partition rows so far."""

    def __init__(self, interest: Interest, pairs: Int32Array) -> None:
        self.pairs = pairs
        self.members = [
            interest.topic_nodes[interest.topic_indptr[t] : interest.topic_indptr[t + 1]]
            for t in range(interest.n_topics)
            if interest.topic_indptr[t + 1] - interest.topic_indptr[t] > 1
        ]
        self.n_nodes = interest.n_nodes
        self.columns: list[Int64Array] = []
        self.least: list[int] = []
        self.seen: set[bytes] = set()
        for members in self.members:
            self._add(self._classes(members, np.zeros(len(pairs), bool)))
            for node in members:
                classes = np.full(self.n_nodes, -1)
                classes[members], classes[node] = 0, 1
                self._add(classes)

    def constraint(self) -> LinearConstraint:
        """All rows as one constraint."""
        row = np.repeat(np.arange(len(self.columns)), [len(columns) for columns in self.columns])
        column = np.concatenate(self.columns)
        shape = (len(self.columns), len(self.pairs))
        return LinearConstraint(csr_array(coo_array((np.ones(len(row)), (row, column)), shape)), self.least, np.inf)

    def add_violated(self, value: np.ndarray) -> bool:
        """Add partition rows that the values violate. Returns whether there were any."""
        found = False
        for members in self.members:
            for threshold in _THRESHOLDS:
                classes = self._classes(members, value >= threshold)
                crossing = self._crossing(classes)
                if value[crossing].sum() < classes.max() - _TOLERANCE:
                    found |= self._add(classes)
        return found

    def _classes(self, members: Int32Array, stands: np.ndarray) -> Int64Array:
        """Components of a topic over the pairs that stand, from 0. Returns -1 for other nodes."""
        inside = np.zeros(self.n_nodes, bool)
        inside[members] = True
        used = self.pairs[stands]
        used = used[inside[used[:, 0]] & inside[used[:, 1]]]
        graph = coo_array((np.ones(len(used)), (used[:, 0], used[:, 1])), shape=(self.n_nodes,) * 2)
        _, label = connected_components(graph, directed=False)
        classes = np.full(self.n_nodes, -1)
        classes[members] = np.unique(label[members], return_inverse=True)[1]
        return classes

    def _crossing(self, classes: Int64Array) -> Int64Array:
        one, other = classes[self.pairs[:, 0]], classes[self.pairs[:, 1]]
        return np.flatnonzero((one >= 0) & (other >= 0) & (one != other))

    def _add(self, classes: Int64Array) -> bool:
        key = classes.tobytes()
        if classes.max() == 0 or key in self.seen:
            return False
        self.seen.add(key)
        self.columns.append(self._crossing(classes))
        self.least.append(int(classes.max()))
        return True
