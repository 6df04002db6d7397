"""The program of a node when another one has gone: shadows repair the overlay from what they know (shadows §V).

A node knows its topics, its neighbours and backups with their topics, and what each neighbour has told it: that
neighbour's topics, neighbours and backups. When a neighbour has gone, the lowest of the neighbours that it had leads:

1. it asks the other shadows (neighbours and backups of who has gone) whom they are linked to in the topics at stake;
2. it adds links between shadows by Low-ODA's rule until the pieces that it can tell apart are connected in each topic;
3. it tells the lower end of each new link to dial, and then the other neighbours that it is done.

A neighbour that does not hear so in time leads itself. Two shadows that meet only beyond the neighbours of shadows
count as apart: nobody looks further, so that the local repair may add links that one with a view of everything would
not. A backup takes part in a topic only where it is known to be connected with a neighbour of who has gone: what has to
be connected again are those neighbours, and a backup that hangs somewhere else does not help.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from topicloom.kernels.greedy.engine import greedy_links
from topicloom.simulation.network import Send, Up, Wake

ASK, REPORT, DIAL, LINK, DONE = "ask", "report", "dial", "link", "done"
Topics = frozenset[int]
Effect = Send | Wake | Up


class Told(NamedTuple):
    """What a neighbour has told of itself."""

    topics: Topics
    neighbours: tuple[int, ...]
    backups: tuple[int, ...]


class Rule(NamedTuple):
    """Low-ODA's rho, the seed of ties, and how long a neighbour waits for the one that leads."""

    rho: float
    seed: int
    patience: float


class ShadowNode:
    """A node, when a neighbour has gone. ``gone`` is None for a node that has not noticed."""

    def __init__(
        self, number: int, topics: Topics, neighbours: Mapping[int, Topics], gone: tuple[int, Told] | None, rule: Rule
    ) -> None:
        self.number, self.topics, self.neighbours, self.rule = number, topics, dict(neighbours), rule
        self.gone = gone
        self.reports: dict[int, tuple[Any, ...] | None] = {}
        self.leading = self.done = False
        self.undialled = 0
        self.waiting: set[int] = set()

    def start(self) -> list[Effect]:
        """Lead, or wait for the one that leads."""
        if self.gone is None:
            return []
        others = sorted(set(self.gone[1].neighbours) - {self.gone[0]})
        turn = others.index(self.number)
        return self._lead() if turn == 0 else [Wake(turn * self.rule.patience, "lead")]

    def receive(self, sender: int, message: tuple[Any, ...]) -> list[Effect]:
        """Take a message."""
        kind, *body = message
        if kind == ASK:
            return [Send(sender, (REPORT, *self._report(*body)))]
        if kind == REPORT:
            self.reports[sender] = tuple(body)
            return self._repair()
        if kind == DIAL:
            return [Send(peer, (LINK, tuple(sorted(self.topics))), told=True) for peer in body[0]]
        if kind == LINK:
            self.neighbours[sender] = frozenset(body[0])
        elif kind == DONE:
            self.done = True
        return []

    def acknowledged(self, to: int, message: tuple[Any, ...]) -> list[Effect]:
        """A link stands, or a shadow has been told which to dial."""
        if message[0] == LINK:
            return [Up(to)]
        self.undialled -= 1
        return self._tell_done()

    def gave_up(self, to: int, message: tuple[Any, ...]) -> list[Effect]:
        """Go on without a shadow that does not answer."""
        if message[0] == ASK:
            self.reports[to] = None
            return self._repair()
        return []

    def wake(self, what: str) -> list[Effect]:
        """Lead, if nobody has done so."""
        return [] if self.done or self.leading else self._lead()

    def _lead(self) -> list[Effect]:
        assert self.gone is not None
        self.leading = True
        node, told = self.gone
        shadows = sorted({*told.neighbours, *told.backups} - {node, self.number})
        self.reports = {self.number: self._report(node, tuple(sorted(told.topics)))}
        self.waiting = set(shadows)
        ask = (ASK, node, tuple(sorted(told.topics)))
        return [Send(shadow, ask) for shadow in shadows] or self._repair()

    def _report(self, node: int, topics: Sequence[int]) -> tuple[Any, ...]:
        """Degree, topics at stake, and the neighbours with whom one shares some of these, with the shared ones."""
        stake = self.topics.intersection(topics)
        links = tuple(
            (peer, tuple(sorted(stake & wanted)))
            for peer, wanted in sorted(self.neighbours.items())
            if peer != node and stake & wanted
        )
        degree = len(self.neighbours) - (node in self.neighbours)
        return degree, tuple(sorted(stake)), links

    def _repair(self) -> list[Effect]:
        """Choose links when all shadows have reported or do not answer, and have them dialled."""
        if self.done or not self.waiting <= self.reports.keys():
            return []
        reports = {node: report for node, report in self.reports.items() if report is not None}
        dials: dict[int, list[int]] = {}
        for u, v in chosen_links(reports, set(self.gone[1].neighbours) if self.gone else set(), self.rule):
            dials.setdefault(u, []).append(v)
        own = dials.pop(self.number, [])
        self.undialled = len(dials)
        out: list[Effect] = [Send(peer, (LINK, tuple(sorted(self.topics))), told=True) for peer in own]
        out += [Send(node, (DIAL, tuple(peers)), told=True) for node, peers in sorted(dials.items())]
        self.done = True
        return out + self._tell_done()

    def _tell_done(self) -> list[Effect]:
        assert self.gone is not None
        if self.undialled:
            return []
        others = sorted(set(self.gone[1].neighbours) - {self.gone[0], self.number})
        return [Send(other, (DONE,)) for other in others]


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
