"""Leaves that are repaired by shadows alone, message by message."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from topicloom.churn import Maintainer
from topicloom.errors import InvalidOptionError
from topicloom.judge import verify
from topicloom.model import Interest, Overlay, Verdict
from topicloom.model.checks import checked_seed
from topicloom.simulation.network import Faults, Network
from topicloom.simulation.shadow_node import Rule, ShadowNode, Told


class LeaveReport(NamedTuple):
    """What a leave took: shadows, links added, messages, bytes, rounds of messages, and the time until links stood."""

    node: str
    shadows: int
    links: int
    messages: int
    bytes: int
    rounds: int
    time: float
    ok: bool


@dataclass(frozen=True)
class LeavesSimulation:
    """What came of leaves.

    Attributes
    ----------
    overlay : Overlay
        Over the nodes that stay.
    verdict : Verdict
        The judge's, after the last leave.
    leaves : tuple of LeaveReport
        One for each leave, each judged.
    """

    overlay: Overlay
    verdict: Verdict
    leaves: tuple[LeaveReport, ...]


def simulate_leaves(
    interest: Interest,
    overlay: Overlay,
    leaves: Iterable[str],
    *,
    coverage: int = 3,
    rho: float = 3.0,
    faults: Faults = Faults(),
    seed: int = 0,
) -> LeavesSimulation:
    """Let nodes leave one after the other, and their shadows repair the overlay from what they know.

    The neighbours of who has gone ask its backups and each other whom they are linked to, and add links between
    shadows by Low-ODA's rule. Neighbours alone suffice for topic-connectivity. Backups are those that `Maintainer`
    builds at the beginning; who has gone is struck out, and no new ones are built (Step III may happen off-line).

    Parameters
    ----------
    interest, overlay : Interest, Overlay
        Topic-connected, with labels.
    leaves : iterable of str
        Nodes, in the order in which they leave.
    coverage, rho
        Of the backups; of the link rule.
    faults : Faults
        Delays, losses and retries; its crashes do not count here, since the leaves are given.
    seed : int

    Returns
    -------
    LeavesSimulation

    See Also
    --------
    Maintainer : repairs in one place.
    simulate_dc : how the overlay is built.

    Notes
    -----
    Some four messages per shadow and leave. Links beyond those of `Maintainer` are the price of not looking further
    than the neighbours of shadows.

    References
    ----------
    [shadows] §V, Algorithm 7; docs/papers.md. The protocol is ours.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.generate(nodes=60, topics=12, subscriptions=4, seed=1)
    >>> run = tl.simulate_leaves(interest, tl.low_oda(interest), ["n07", "n31"])
    >>> run.verdict.ok, [leave.ok for leave in run.leaves]
    (True, [True, True])
    >>> factory = tl.datasets.example()
    >>> run = tl.simulate_leaves(factory, tl.low_oda(factory), ["gate"])
    >>> run.verdict.ok
    True
    """
    checked_seed(seed)
    if interest.node_labels is None:
        raise InvalidOptionError("leaves are given by name, and the nodes of this interest have none")
    maintainer = Maintainer(interest, overlay, policy="shadow", coverage=coverage, rho=rho, k=1, seed=seed)
    names = interest.node_labels.tolist()
    number_of = {name: number for number, name in enumerate(names)}
    backups = [{number_of[name] for name in maintainer.backups_of(names[v])} for v in range(interest.n_nodes)]
    state = _State(interest, overlay, backups, Rule(float(rho), seed, (faults.tries + 4) * faults.retry_after))
    reports = []
    for turn, name in enumerate(leaves):
        if number_of.get(name) not in state.present:
            raise InvalidOptionError(f"there is no node {name!r} to leave; each node of the interest can leave once")
        reports.append(state.leave(number_of[name], faults, seed + turn))
    end = state.overlay()
    return LeavesSimulation(end, verify(end.interest, end.links), tuple(reports))


class _State:
    """The overlay between two leaves, of which each node knows its own part."""

    def __init__(self, interest: Interest, overlay: Overlay, backups: list[set[int]], rule: Rule) -> None:
        self.interest, self.backups, self.rule = interest, backups, rule
        self.topics = [frozenset(interest.topics_of(v).tolist()) for v in range(interest.n_nodes)]
        self.present = set(range(interest.n_nodes))
        self.neighbours: list[set[int]] = [set() for _ in self.topics]
        for u, v in overlay.links.tolist():
            self.neighbours[u].add(v)
            self.neighbours[v].add(u)

    def leave(self, node: int, faults: Faults, seed: int) -> LeaveReport:
        """Take a node away and let its shadows act."""
        self.present.discard(node)
        told = Told(self.topics[node], tuple(self.neighbours[node]), tuple(self.backups[node] & self.present))
        noticed = self.neighbours[node]
        programs = [
            ShadowNode(
                v,
                self.topics[v],
                {peer: self.topics[peer] for peer in self.neighbours[v]},
                (node, told) if v in noticed else None,
                self.rule,
            )
            for v in range(len(self.topics))
        ]
        quiet = Faults(faults.loss, 0.0, 0.0, faults.delays, faults.retry_after, faults.tries)
        network = Network(programs, quiet, seed=seed, horizon=float("inf"))
        network.run()
        for peer in noticed:
            self.neighbours[peer].discard(node)
        self.neighbours[node] = set()
        for change in network.changes:
            self.neighbours[change.node].add(change.peer)
            self.neighbours[change.peer].add(change.node)
        now = self.overlay()
        return LeaveReport(
            self.interest.node_label(node),
            len({*told.neighbours, *told.backups}),
            len({frozenset((change.node, change.peer)) for change in network.changes}),
            sum(network.traffic.messages.values()),
            sum(network.traffic.bytes.values()),
            max(network.depth, default=0),
            max((change.time for change in network.changes), default=0.0),
            verify(now.interest, now.links).ok,
        )

    def overlay(self) -> Overlay:
        """The overlay of the nodes that are there."""
        kept = np.array(sorted(self.present), np.int64)
        place = {node: number for number, node in enumerate(kept.tolist())}
        links = [(place[u], place[v]) for u in kept.tolist() for v in sorted(self.neighbours[u]) if u < v]
        return Overlay.from_links(self.interest.restrict(kept), np.array(links, np.int64).reshape(-1, 2), "shadows")
