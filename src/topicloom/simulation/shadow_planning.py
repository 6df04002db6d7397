"""What a shadow computes from what it has been told: links that repair an overlay, and backups (shadows §V).

Each function depends on its arguments alone.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.churn.lists import Lists
from topicloom.kernels.churn.backups import primal_dual_backups
from topicloom.kernels.greedy.engine import greedy_links
from topicloom.kernels.streams import BACKUP_STREAM, draw

Numbers = tuple[int, ...]


class Told(NamedTuple):
    """What a node tells of itself; all ascending."""

    topics: Numbers
    neighbours: Numbers
    backups: Numbers
    primaries: Numbers


class Rule(NamedTuple):
    """What every node knows.

    Low-ODA's rho, the seed of ties, how long a neighbour waits for the one that leads, the coverage of backups, the
    number of candidates per topic after which a node chooses its backups (None: all that there are), and the random key
    of each node, which follows from its name and the seed.
    """

    rho: float
    seed: int
    patience: float
    coverage: int
    candidates: int | None
    keys: npt.NDArray[np.uint64]


class Offer(NamedTuple):
    """What a candidate says when it is asked to be a backup: its links and primaries, and the topics it shares."""

    weight: int
    shared: Numbers


def chosen_links(
    reports: Mapping[int, tuple[Any, ...]], neighbours: Collection[int], rule: Rule
) -> list[tuple[int, int]]:
    """Links between shadows, by Low-ODA's rule over the pieces that their reports tell of; the lower number first.

    ``neighbours`` are those of who has gone; in a topic, a backup counts if a report ties it to one of them.
    """
    wants: dict[int, set[int]] = {node: set(topics) for node, (_, topics, _) in reports.items()}
    known: dict[tuple[int, int], set[int]] = {}
    for node, (_, _, links) in reports.items():
        for peer, shared in links:
            wants.setdefault(peer, set()).update(shared)
            known.setdefault((min(node, peer), max(node, peer)), set()).update(shared)
    for topic in set().union(*wants.values()) if wants else ():
        edges = [link for link, shared in known.items() if topic in shared]
        tied = _reached({node for node in neighbours if node in reports}, edges)
        for node, wanted in wants.items():
            if node not in tied:
                wanted.discard(topic)
    names = sorted(wants)
    place = {node: number for number, node in enumerate(names)}
    indptr = np.cumsum([0, *(len(wants[node]) for node in names)])
    flat, topics = [topic for node in names for topic in sorted(wants[node])], sorted(set().union(*wants.values()))
    start = np.array([(place[u], place[v]) for u, v in sorted(known)], np.int32).reshape(-1, 2)
    links = greedy_links(
        indptr,
        np.searchsorted(topics, flat).astype(np.int32),
        len(topics),
        rho=rule.rho,
        start_links=start,
        degree=np.array([reports[node][0] if node in reports else 0 for node in names], np.int64),
        candidate_nodes=np.array([place[node] for node in sorted(reports)], np.int64),
        seed=rule.seed,
    )
    return [(names[u], names[v]) for u, v in links.tolist()]


def chosen_backups(number: int, topics: Sequence[int], offers: Mapping[int, Offer], rule: Rule, build: int) -> set[int]:
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
