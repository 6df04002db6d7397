"""What a shadow computes from what it has been told: links that repair an overlay, and backups (shadows §V).

Each function depends on its arguments alone.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.churn.state import Lists
from topicloom.kernels.greedy.engine import greedy_links
from topicloom.kernels.repair.backups import primal_dual_backups
from topicloom.kernels.streams import BACKUP_STREAM, draw

Numbers = tuple[int, ...]


class Told(NamedTuple):
    """What a node reports about itself. All of it ascends."""

    topics: Numbers
    neighbours: Numbers
    backups: Numbers
    primaries: Numbers


class RepairRule(NamedTuple):
    """What every node knows.

    Low-ODA's rho, the seed of ties, how long a neighbour waits for the one that leads, the coverage of backups, the
    number of candidates per topic after which a node chooses its backups (None: all that there are), the random key of
    each node, which follows from its name and the seed, and how many links far a wave goes.
    """

    rho: float
    seed: int
    patience: float
    coverage: int
    candidates: int | None
    keys: npt.NDArray[np.uint64]
    reach: int = 0


class Offer(NamedTuple):
    """What a candidate says when it is asked to be a backup: its links and primaries, and the topics it shares."""

    weight: int
    shared: Numbers


Report = tuple[Any, ...]
Pieces = dict[int, dict[int, int]]


def pieces_of(reports: Mapping[int, Report], neighbours: Collection[int]) -> Pieces:
    """For each topic the nodes that reports tie to a neighbour of who has gone, and the piece of each.

    A piece is called by its lowest node. Nodes that hang somewhere else are left out.
    """
    wanting: dict[int, set[int]] = {}
    edges: dict[int, list[tuple[int, int]]] = {}
    for node, (_, topics, links) in sorted(reports.items()):
        for topic in topics:
            wanting.setdefault(topic, set()).add(node)
        for peer, shared in links:
            for topic in shared:
                edges.setdefault(topic, []).append((node, peer))
    found: Pieces = {}
    for topic, nodes in wanting.items():
        pieces = found.setdefault(topic, {})
        for node in sorted(nodes.intersection(neighbours)):
            if node not in pieces:
                piece = _reached({node}, edges.get(topic, ()))
                pieces.update(dict.fromkeys(piece, min(piece)))
    return found


def chosen_links(
    reports: Mapping[int, Report],
    neighbours: Collection[int],
    rule: RepairRule,
    met: Collection[tuple[int, int, int]] = (),
) -> list[tuple[int, int]]:
    """Choose links between shadows by Low-ODA's rule over the reported pieces, with the lower number first.

    ``neighbours`` are those of who has gone; in a topic, a backup counts if a report ties it to one of them. ``met``
    has pieces that a wave has found to be one: the topic, and the names of the two.
    """
    pieces = pieces_of(reports, neighbours)
    entries = []
    for topic, piece_of in pieces.items():
        joined = [(one, other) for at, one, other in met if at == topic]
        name = {piece: min(_reached({piece}, joined)) for piece in set(piece_of.values())}
        entries += [(node, topic, name[piece]) for node, piece in piece_of.items()]
    entries.sort()
    names = sorted(reports.keys() | {node for node, _, _ in entries})
    nodes, flat, start = np.array(entries, np.int64).reshape(-1, 3).T
    topics, flat = np.unique(flat, return_inverse=True)
    links = greedy_links(
        np.searchsorted(nodes, [*names, names[-1] + 1]),
        flat.astype(np.int32),
        len(topics),
        rho=rule.rho,
        components=start.astype(np.int32),
        degree=np.array([reports[node][0] if node in reports else 0 for node in names], np.int64),
        candidate_nodes=np.searchsorted(names, sorted(reports)),
        seed=rule.seed,
    )
    return [(names[u], names[v]) for u, v in links.tolist()]


def chosen_backups(
    number: int, topics: Sequence[int], offers: Mapping[int, Offer], rule: RepairRule, build: int
) -> set[int]:
    """Backups of a node among those who offered themselves, by the rule of `Maintainer` (Alg. 12).

    ``topics`` are the node's, ascending, ``build`` numbers the choice: it seeds what is random in it.
    """
    nodes = [number, *sorted(offers)]
    place = {topic: at for at, topic in enumerate(topics)}
    rows, members = Lists(len(nodes)), Lists(len(topics))
    rows.put(0, np.arange(len(topics), dtype=np.int32))
    for at, node in enumerate(nodes[1:], 1):
        rows.put(at, np.array([place[topic] for topic in offers[node].shared], np.int32))
    sizes = [len(topics), *(len(offers[node].shared) for node in nodes[1:])]
    owner = np.repeat(np.arange(len(nodes), dtype=np.int32), sizes)
    members.push(rows.gather(np.arange(len(nodes))), owner)
    chosen = primal_dual_backups(
        rows.ragged,
        members.ragged,
        np.int32(0),
        np.array([0, *(offers[node].weight for node in nodes[1:])], np.int32),
        np.zeros(len(nodes), np.bool_),
        np.zeros(len(nodes), np.int32),
        rule.coverage,
        rule.keys[nodes],
        np.uint64(draw(rule.seed, BACKUP_STREAM, build)),
    )
    return {nodes[at] for at in chosen.tolist()}


def _reached(nodes: set[int], edges: Sequence[tuple[int, int]]) -> set[int]:
    """Nodes that links lead to from some nodes, and these."""
    peers: dict[int, list[int]] = {}
    for u, v in edges:
        peers.setdefault(u, []).append(v)
        peers.setdefault(v, []).append(u)
    found, rest = set(nodes), list(nodes)
    while rest:
        new = [peer for peer in peers.get(rest.pop(), ()) if peer not in found]
        found.update(new)
        rest += new
    return found
