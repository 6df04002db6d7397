"""Leaves that are repaired by shadows alone, message by message."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from topicloom.churn import Maintainer
from topicloom.churn.state import node_key
from topicloom.errors import InvalidOptionError
from topicloom.judge import verify
from topicloom.model import Interest, Overlay, Verdict
from topicloom.model.checks import checked_seed, checked_whole
from topicloom_papers.simulation.backup_node import UPKEEP
from topicloom_papers.simulation.leave_reasons import LeaveRecord
from topicloom_papers.simulation.network import Faults, SimulatedNetwork
from topicloom_papers.simulation.shadow_node import ASK, DIAL, KNOWN, LINK, REPORT, SEARCH, ShadowNode
from topicloom_papers.simulation.shadow_planning import RepairRule, Told
from topicloom_papers.simulation.wave_node import ECHO, PROBE

# Messages without which a repair cannot be made; waves only save links.
REPAIR = (ASK, REPORT, SEARCH, KNOWN, DIAL, LINK)


class LeaveReport(NamedTuple):
    """What a leave, or several at once, took.

    Nodes, shadows, links added; messages and bytes of the repair, the longest chain of them until the last link was
    dialled, and the time until links stood; whether the judge found all topics connected. Then Step III: backup sets
    renewed, messages and bytes of that and of telling neighbours, and how many nodes lack backups in the end.
    """

    nodes: tuple[str, ...]
    shadows: int
    links: int
    messages: int
    bytes: int
    rounds: int
    time: float
    ok: bool
    renewed: int
    upkeep_messages: int
    upkeep_bytes: int
    uncovered: int


@dataclass(frozen=True)
class LeavesSimulation:
    """What came of leaves.

    Attributes
    ----------
    overlay : Overlay
        Over the nodes that stay.
    verdict : Verdict
        The judge's, after the last leave.
    reasons : mapping from topic to str
        Why a topic is not connected, for each that is not.
    leaves : tuple of LeaveReport
        One for each leave, each judged.
    backups : mapping from node to its backups
        Of the nodes that stay, in the end.
    """

    overlay: Overlay
    verdict: Verdict
    reasons: Mapping[int | str, str]
    leaves: tuple[LeaveReport, ...]
    backups: Mapping[str, tuple[str, ...]]


def simulate_leaves(
    interest: Interest,
    overlay: Overlay,
    leaves: Iterable[str | Collection[str]],
    *,
    coverage: int = 3,
    rho: float = 3.0,
    candidates: int | None = 6,
    reach: int = 8,
    faults: Faults = Faults(),
    seed: int = 0,
) -> LeavesSimulation:
    """Let nodes leave, one after the other or several at once, and their shadows repair the overlay alone.

    The neighbours of who has gone ask its backups and each other whom they are linked to, and add links between
    shadows by Low-ODA's rule. Neighbours alone suffice for topic-connectivity. Nodes that lost a backup then choose
    new backups (Step III) among nodes that they find by asking their neighbours, and the neighbours of these.

    Parameters
    ----------
    interest, overlay : Interest, Overlay
        Topic-connected, with labels.
    leaves : iterable of str, or of collections of str
        Nodes, in the order in which they leave. Those of a collection fail at the same time, as a rack does.
    coverage, rho
        Of the backups; of the link rule.
    candidates : int, optional
        How many candidates for each of its topics a node looks for before it chooses backups, at least ``coverage``.
        None: all that there are. After a single leave without losses, the backups are then those that `Maintainer`
        would choose for the same links.
    reach : int
        How many links far the one that leads a repair has others look whether pieces of a topic hang together. More
        saves links and costs messages; 0 looks no further than the neighbours of shadows.
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
    Some four messages per shadow and leave, and two for each link that a wave passes, in the topics that the neighbours
    of shadows do not show to be connected. Links beyond those of `Maintainer` are the price of looking no further than
    ``reach`` links. Step III costs more: some messages for each candidate of each node that lost a
    backup. Nodes that fail together are repaired together where a neighbour or backup of each of them stays and can be
    reached; ``reasons`` says which topics were not, and why.

    References
    ----------
    [shadows] §V, Algorithms 7, 8 and 12; docs/papers.md. The protocol is ours.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.generate(nodes=60, topics=12, subscriptions=4, seed=1)
    >>> run = tl.simulate_leaves(interest, tl.low_oda(interest), ["n07", ("n31", "n32", "n33")])
    >>> run.verdict.ok, [leave.ok for leave in run.leaves]
    (True, [True, True])
    >>> factory = tl.datasets.example()
    >>> run = tl.simulate_leaves(factory, tl.low_oda(factory), ["gate"])
    >>> run.verdict.ok, run.leaves[0].uncovered
    (True, 0)
    """
    checked_seed(seed)
    if candidates is not None:
        checked_whole("candidates", candidates, coverage)
    if interest.node_labels is None:
        raise InvalidOptionError("leaves are given by name, and the nodes of this interest have none")
    overlay.forbidden.refuse("simulate_leaves")
    maintainer = Maintainer(interest, overlay, policy="shadow", coverage=coverage, rho=rho, k=1, seed=seed)
    names = interest.node_labels.tolist()
    keys = np.array([node_key(name, seed) for name in names], np.uint64)
    patience = (faults.tries + 4) * faults.retry_after
    rule = RepairRule(float(rho), seed, patience, coverage, candidates, keys, checked_whole("reach", reach, 0))
    world = _World(interest, overlay, maintainer, rule)
    for turn, group in enumerate(leaves):
        world.leave(world.numbers((group,) if isinstance(group, str) else tuple(group)), faults, seed + turn)
    end = world.overlay()
    backups = {names[v]: tuple(names[u] for u in sorted(world.nodes[v].backups)) for v in sorted(world.present)}
    return LeavesSimulation(end, verify(end.interest, end.links), world.reasons, tuple(world.reports), backups)


class _World:
    """The nodes between two leaves, and the links that stand."""

    def __init__(self, interest: Interest, overlay: Overlay, maintainer: Maintainer, rule: RepairRule) -> None:
        self.interest, self.rule = interest, rule
        n = interest.n_nodes
        self.number_of = {interest.node_label(v): v for v in range(n)}
        self.present = set(range(n))
        self.links: list[set[int]] = [set() for _ in range(n)]
        for u, v in overlay.links.tolist():
            self.links[u].add(v)
            self.links[v].add(u)
        self.nodes = [ShadowNode(v, tuple(interest.topics_of(v).tolist()), rule) for v in range(n)]
        for v, node in enumerate(self.nodes):
            node.neighbours = {peer: self.nodes[peer].wanted for peer in self.links[v]}
            node.backups = {self.number_of[name] for name in maintainer.backups_of(interest.node_label(v))}
            for backup in node.backups:
                self.nodes[backup].primaries.add(v)
        for node in self.nodes:
            node.told = {peer: self.nodes[peer].own() for peer in node.primaries | node.neighbours.keys()}
        self.builds = n
        self.short: set[int] = set()  # nodes that lack backups
        self.reports: list[LeaveReport] = []
        self.reasons: dict[int | str, str] = {}

    def numbers(self, names: tuple[str, ...]) -> set[int]:
        """Check who is to leave."""
        gone: set[int] = set()
        for name in names:
            number = self.number_of.get(name, -1)
            if number not in self.present - gone:
                raise InvalidOptionError(
                    f"there is no node {name!r} to leave; each node of the interest can leave once"
                )
            gone.add(number)
        return gone

    def leave(self, gone: set[int], faults: Faults, seed: int) -> None:
        """Take nodes away at once and let their shadows act."""
        before = [set(peers) for peers in self.links]
        shadows = {peer for node in gone for peer in self.links[node] | self.nodes[node].backups} - gone
        self.present -= gone
        self.short |= {v for v in self.present if self.nodes[v].backups & gone}
        for v in self.present:
            self.nodes[v].notice(gone, self.builds)
        record = LeaveRecord(self.interest, gone, before, self.known(gone))
        quiet = Faults(faults.loss, 0.0, 0.0, faults.delays, faults.retry_after, faults.tries)
        network = SimulatedNetwork(self.nodes, quiet, seed=seed, horizon=float("inf"))
        network.crashed_at = {v: 0.0 for v in range(len(self.nodes)) if v not in self.present}
        renewed = sum(node.renewed for node in self.nodes)
        network.run()
        renewed = sum(node.renewed for node in self.nodes) - renewed
        self.builds += renewed
        self._note_links(gone, network)
        self._note_coverage()
        now = self.overlay()
        verdict = verify(now.interest, now.links)
        self._note_reasons(verdict, record, network)
        sums = [
            sum(count for kind, count in counts.items() if (kind in UPKEEP) == upkeep)
            for upkeep in (False, True)
            for counts in (network.traffic.messages, network.traffic.bytes)
        ]
        self.reports.append(
            LeaveReport(
                tuple(self.interest.node_label(node) for node in sorted(gone)),
                len(shadows),
                len({frozenset((change.node, change.peer)) for change in network.changes}),
                sums[0],
                sums[1],
                max(network.rounds[kind] for kind in (*REPAIR, PROBE, ECHO)),
                max((change.time for change in network.changes), default=0.0),
                verdict.ok,
                renewed,
                sums[2],
                sums[3],
                len(self.short),
            )
        )

    def _note_links(self, gone: set[int], network: SimulatedNetwork) -> None:
        """Note which links stand. A link that only one end takes for one is closed."""
        for node in gone:
            for peer in self.links[node]:
                self.links[peer].discard(node)
            self.links[node] = set()
        for change in network.changes:
            self.links[change.node].add(change.peer)
            self.links[change.peer].add(change.node)
        for v in self.present:
            known = self.nodes[v].neighbours
            self.nodes[v].neighbours = {peer: known.get(peer, self.nodes[peer].wanted) for peer in self.links[v]}

    def _note_coverage(self) -> None:
        """Note which of those who lost backups have a topic that fewer backups want than could."""
        subscribers = np.bincount([t for v in self.present for t in self.nodes[v].topics], minlength=1)
        for v in self.short & self.present:
            here = [self.nodes[backup].wanted for backup in self.nodes[v].backups & self.present]
            if all(
                sum(topic in wanted for wanted in here) >= min(self.rule.coverage, subscribers[topic] - 1)
                for topic in self.nodes[v].topics
            ):
                self.short.discard(v)
        self.short &= self.present

    def known(self, gone: set[int]) -> dict[int, dict[int, Told]]:
        """For each node that has gone, who of those that stay knows what it had told, and that."""
        known: dict[int, dict[int, Told]] = {node: {} for node in sorted(gone)}
        for v in sorted(self.present):
            for node, told in {**self.nodes[v].kept, **self.nodes[v].lost}.items():
                known[node][v] = told
        return known

    def _note_reasons(self, verdict: Verdict, record: LeaveRecord, network: SimulatedNetwork) -> None:
        """Say for each topic that is broken now and was not why."""
        topics = {self.interest.topic_name(topic): topic for topic in range(self.interest.n_topics)}
        broken = {item.topic for item in verdict.broken}
        self.reasons = {topic: why for topic, why in self.reasons.items() if topic in broken}
        heard = {v: self.nodes[v].lost.keys() | self.nodes[v].found.keys() for v in self.present}
        lost = [message for message in network.lost if message.kind in REPAIR]
        for name in sorted(broken - self.reasons.keys(), key=str):
            self.reasons[name] = record.reason(topics[name], self.links, heard, lost)

    def overlay(self) -> Overlay:
        """The overlay of the nodes that are there."""
        kept = np.array(sorted(self.present), np.int64)
        place = {node: number for number, node in enumerate(kept.tolist())}
        links = [(place[u], place[v]) for u in kept.tolist() for v in sorted(self.links[u]) if u < v]
        return Overlay.from_links(self.interest.restrict(kept), np.array(links, np.int64).reshape(-1, 2), "shadows")
