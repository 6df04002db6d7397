"""Proofs that caps on links cannot be kept, and which cap to raise first where there is none."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from topicloom.kernels.network.expanded import Expanded
from topicloom.kernels.network.reach import admissible_count, neighbours_of
from topicloom.model import Interest
from topicloom.model.arrays import Int32Array, Int64Array

_MOST_NODES = 200  # nodes whose covers are looked at
_SLACK = 1e-6
_LARGEST = 2_000  # members of a virtual topic of which pairs are counted


@dataclass(frozen=True)
class CapProof:
    """Why no overlay keeps the caps.

    Attributes
    ----------
    topic : int
        Whose members have too few links between them, -1 if the proof is about a node.
    node : int
        Whose topics need more neighbours than its cap, -1 if the proof is about a topic.
    has, needs : int
        Ends of links that the members may have and that a tree takes; or the cap, and the fewest neighbours.
    """

    topic: int
    node: int
    has: int
    needs: int

    def sentence(self, interest: Interest) -> str:
        """Say it, with names."""
        if self.topic >= 0:
            return (
                f"topic {interest.topic_label(self.topic)!r} cannot be connected: its subscribers may have "
                f"{self.has:,} ends of links together, and need {self.needs:,}"
            )
        return (
            f"node {interest.node_label(self.node)!r} may have {self.has:,} links, and its topics need at least "
            f"{self.needs:,} neighbours"
        )


def cap_proofs(x: Expanded) -> list[CapProof]:
    """Find virtual topics and nodes whose caps cannot be kept.

    A tree over a topic's w subscribers and r relays has w + r - 1 links, each with two ends: a relay is worth no more
    than its cap less two. A node needs a neighbour for each of its topics: no fewer than weights of its topics add up
    to, where the topics of no possible neighbour weigh more than 1 together.

    Parameters
    ----------
    x : Expanded

    Returns
    -------
    list of CapProof
        None is found in many cases in which there is no overlay: an empty list proves nothing.
    """
    return [*_short_topics(x), *_short_nodes(x)]


def _short_topics(x: Expanded) -> list[CapProof]:
    found: dict[int, CapProof] = {}
    for t in range(len(x.base)):
        entries = np.arange(x.topic_ptr[t], x.topic_ptr[t + 1])
        if len(entries) > _LARGEST or (x.cap[x.member[entries]] < 0).any():
            continue
        members = x.member[entries].astype(np.int64)
        able = [min(int(x.cap[v]), int(admissible_count(x, v, members))) for v in members]
        wants = x.wants[entries].tolist()
        has = sum(room if wanted else max(room - 2, 0) for room, wanted in zip(able, wants))
        needs = 2 * (sum(wants) - 1)
        if has < needs:
            found.setdefault(int(x.base[t]), CapProof(int(x.base[t]), -1, has, needs))
    return list(found.values())


def _short_nodes(x: Expanded) -> list[CapProof]:
    wanted = np.bincount(x.member, x.wants, len(x.cap))
    tight = np.flatnonzero((x.cap >= 0) & (wanted > x.cap))
    tight = tight[np.argsort((x.cap - wanted)[tight], kind="stable")][:_MOST_NODES]
    found = []
    for u in tight.tolist():
        needs = fewest_neighbours(x, u)
        if needs > x.cap[u]:
            found.append(CapProof(-1, u, int(x.cap[u]), needs))
    return found


def fewest_neighbours(x: Expanded, u: int) -> int:
    """Find how many neighbours the topics of a node need at least, by linear programming.

    Parameters
    ----------
    x : Expanded
    u : int

    Returns
    -------
    int
        What weights of the topics prove, whatever the solver made of them.
    """
    slots = np.arange(x.node_ptr[u], x.node_ptr[u + 1])
    topics = x.topic[slots[x.wants[x.entry[slots]]]]
    others, column = (np.array(found, np.int64) for found in neighbours_of(x, u, topics))
    if not len(others):
        return len(x.cap) if len(topics) else 0
    _, row = np.unique(others, return_inverse=True)
    serves = csr_matrix((np.ones(len(row)), (row, column)), (int(row.max()) + 1, len(topics)))
    if len(np.unique(column)) < len(topics):
        return len(x.cap)  # a topic that no link of the node can serve
    most, table = np.ones(serves.shape[0]), cast(Any, serves)  # the stubs know of dense tables only
    solved: Any = linprog(-np.ones(len(topics)), A_ub=table, b_ub=most, bounds=(0, 1), method="highs")
    if solved.x is None:
        return 0
    weight = np.maximum(solved.x, 0.0)
    weight /= max(1.0, float((serves @ weight).max()))
    return int(np.ceil(weight.sum() - _SLACK))


def cap_to_raise(x: Expanded, links: Int32Array, missing: Int64Array) -> Int64Array:
    """Order the nodes whose caps keep virtual topics in pieces by how many joins one more link would allow.

    Parameters
    ----------
    x : Expanded
    links : (m, 2) int32
    missing : int64, one per virtual topic

    Returns
    -------
    int64
        Nodes at their caps, the one whose cap to raise first before the others.
    """
    degree = np.bincount(links.ravel(), minlength=len(x.cap))
    full = (x.cap >= 0) & (degree >= x.cap)
    gain: npt.NDArray[np.float64] = np.zeros(len(x.cap))
    for t in np.flatnonzero(missing)[:50]:
        entries = np.arange(x.topic_ptr[t], x.topic_ptr[t + 1])
        members = x.member[entries[x.wants[entries]]].astype(np.int64)
        if len(members) > _LARGEST:
            continue
        label = _pieces(members, links)
        for u in members[full[members]]:
            elsewhere = members[label != label[members == u][0]]
            gain[u] += x.weight[t] * (admissible_count(x, u, elsewhere) > 0)
    order: Int64Array = np.argsort(-gain, kind="stable")
    return order[gain[order] > 0]


def _pieces(members: Int64Array, links: Int32Array) -> Int64Array:
    inside = links[np.isin(links, members).all(axis=1)]
    at = np.searchsorted(members, inside)
    graph = csr_matrix((np.ones(len(at)), (at[:, 0], at[:, 1])), (len(members), len(members)))
    labels: Int64Array = connected_components(graph, directed=False)[1].astype(np.int64)
    return labels
