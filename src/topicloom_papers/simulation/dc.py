"""Decentralised divide-and-conquer, simulated: what it costs to build an overlay that nobody sees whole."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from topicloom.errors import InvalidOptionError
from topicloom.judge import verify
from topicloom.model import Interest, Overlay, Verdict
from topicloom.model.arrays import Int64Array, frozen
from topicloom.model.checks import checked_seed, checked_whole
from topicloom.model.interest import checked_interest
from topicloom_papers.simulation.dc_node import DcNode, World
from topicloom_papers.simulation.network import Faults, LinkChange, MessageTraffic, SimulatedNetwork
from topicloom_papers.simulation.planning import Planning, partitions_of

SETTLE = 10.0


@dataclass(frozen=True, eq=False)
class DcSimulation:
    """What came of a simulated run.

    Attributes
    ----------
    overlay : Overlay
        The links that stand at the end, over all nodes; those of crashed nodes are gone.
    verdict : Verdict
        The judge's, over the nodes that live.
    reasons : mapping from topic to str
        Why a topic is not connected, for each that is not.
    learnt : int64 array, per node
        Of how many other nodes it has learnt interests; over the nodes, ``learnt / nodes`` is pn-ratio(v).
    stars, speakers, alive : bool arrays, per node
    traffic : MessageTraffic
        Messages, bytes and tries.
    rounds : int
        The longest chain of messages of which each was sent after the one before was received.
    connected_at : float or None
        Time from which on all topics were connected, in units of the mean delay; None if they are not at the end.
    ended_at : float
        When the last link changed.
    trace : str
        Hash of all events. Same seed, same trace.
    """

    overlay: Overlay
    verdict: Verdict
    reasons: Mapping[int | str, str]
    learnt: Int64Array
    stars: np.ndarray[Any, np.dtype[np.bool_]]
    speakers: np.ndarray[Any, np.dtype[np.bool_]]
    alive: np.ndarray[Any, np.dtype[np.bool_]]
    traffic: MessageTraffic
    rounds: int
    connected_at: float | None
    ended_at: float
    trace: str

    def pn_ratios(self) -> dict[str, Int64Array]:
        """The share of all nodes of which a node has learnt interests, for star nodes, other speakers, and the rest."""
        ratio = self.learnt / max(len(self.learnt), 1)
        rest = self.alive & ~self.stars & ~self.speakers
        return {"star": ratio[self.stars], "speaker": ratio[self.speakers & ~self.stars], "other": ratio[rest]}


def simulate_dc(
    interest: Interest,
    *,
    partitions: int = 10,
    faults: Faults = Faults(),
    horizon: float | None = None,
    seed: int = 0,
) -> DcSimulation:
    """Let nodes build an overlay among themselves by divide and conquer, message by message.

    Partitions exchange interests and conquer, speakers exchange topics and star sets, and star nodes connect the
    partitions: steps 2 to 4 of star-merge §VI-C. Step 1, in which nodes organize themselves into partitions, is not
    played: nodes know from the start who is in which partition, beside their own topics and what they are told. Without
    faults the links are those of ``divide_and_conquer(interest, partitions=…, seed=…)``.

    Parameters
    ----------
    interest : Interest
    partitions : int
        At most the number of nodes.
    faults : Faults
        Delays, losses, retries and crashes.
    horizon : float, optional
        When the simulation stops at the latest; it stops before when nothing is left to do. Nodes look after their
        peers for as long as others may crash, and a while longer.
    seed : int
        Of the division and of the network.

    Returns
    -------
    DcSimulation

    See Also
    --------
    divide_and_conquer : the same in one place.
    simulate_leaves : nodes that leave.

    Notes
    -----
    The cost is about n · k messages for n nodes in partitions of k. What many nodes would compute alike is computed
    once.

    References
    ----------
    [star-merge] §VI-C, §VII; [gm-min-tco] §6.4; docs/papers.md. Faults and how they are met are ours.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.generate(nodes=60, topics=12, subscriptions=4, seed=1)
    >>> run = tl.simulate_dc(interest, partitions=4, seed=1)
    >>> run.verdict.ok, run.overlay.n_links == tl.divide_and_conquer(interest, partitions=4, seed=1).n_links
    (True, True)
    >>> factory = tl.datasets.example()
    >>> run = tl.simulate_dc(factory, partitions=2)
    >>> run.verdict.ok, run.overlay.n_links
    (True, 8)
    """
    checked_interest(interest, "simulate_dc")
    checked_seed(seed)
    n = interest.n_nodes
    if checked_whole("partitions", partitions, 1) > max(n, 1):
        raise InvalidOptionError(f"partitions is {partitions} for {n:,} nodes; at most one for each is accepted")
    patience = (faults.tries + 1) * faults.retry_after
    members = partitions_of(n, partitions, seed)
    partition = np.empty(n, np.int64)
    for number, nodes in enumerate(members):
        partition[nodes] = number
    watches = int((faults.crash_until + 4 * patience) / SETTLE) if faults.crashes else 0
    world = World(members, partition.tolist(), Planning(seed, n), patience, SETTLE, watches)
    programs = [DcNode(v, tuple(interest.topics_of(v).tolist()), world) for v in range(n)]
    if horizon is None:
        horizon = faults.crash_until + 40 * patience
    network = SimulatedNetwork(programs, faults, seed=seed, horizon=horizon)
    network.run()
    return _summed(interest, programs, network)


def _summed(interest: Interest, programs: list[DcNode], network: SimulatedNetwork) -> DcSimulation:
    n = interest.n_nodes
    alive = np.array([network.alive(v, network.horizon) for v in range(n)], np.bool_)
    standing = _standing(network.changes, network.crashed_at, float("inf"))
    overlay = Overlay.from_links(interest, np.array(sorted(standing), np.int64).reshape(-1, 2), "simulated dc")
    living = _living(interest, alive)
    verdict = verify(living, overlay.links)
    stars = np.zeros(n, np.bool_)
    speakers = np.zeros(n, np.bool_)
    learnt = np.zeros(n, np.int64)
    for node in programs:
        own_stars = node.heard[1][node.own] if node.heard else ()
        stars[node.number] = alive[node.number] and any(star == node.number for star, _ in own_stars)
        speakers[node.number] = alive[node.number] and node.sent > 0
        learnt[node.number] = len(_known(node)) - 1
    times = [change.time for change in network.changes]
    return DcSimulation(
        overlay,
        verdict,
        _reasons(living, verdict, programs, network, standing),
        frozen(learnt),
        frozen(stars),
        frozen(speakers),
        frozen(alive),
        network.traffic,
        max(network.depth, default=0),
        _connected_at(living, network) if verdict.ok else None,
        max(times, default=0.0),
        network.trace.hexdigest(),
    )


def _known(node: DcNode) -> set[int]:
    """Nodes whose interests a node has learnt, itself included."""
    lists = [] if node.heard is None else list(node.heard[1])
    lists += [summary.stars for summary in node.summaries.values() if summary.stars is not None]
    return set(node.interests) | {star for stars in lists for star, _ in stars}


def _standing(changes: Iterable[LinkChange], crashed_at: Mapping[int, float], time: float) -> set[tuple[int, int]]:
    """Links that stand at a time."""
    links: set[tuple[int, int]] = set()
    for change in changes:
        if change.time > time:
            break
        (links.add if change.up else links.discard)((change.node, change.peer))
    crashed = {node for node, at in crashed_at.items() if at <= time}
    return {link for link in links if crashed.isdisjoint(link)}


def _living(interest: Interest, alive: np.ndarray[Any, Any]) -> Interest:
    """The interest in which crashed nodes want nothing."""
    kept = alive[interest.nodes]
    return Interest.from_ids(
        interest.nodes[kept].astype(np.int64),
        interest.topics[kept].astype(np.int64),
        n_nodes=interest.n_nodes,
        n_topics=interest.n_topics,
        node_labels=interest.node_labels,
        topic_labels=interest.topic_labels,
    )


def _connected_at(living: Interest, network: SimulatedNetwork) -> float:
    """The first whole time from which on every topic was connected, looking back from the end.

    What is asked is when the nodes that live in the end are connected for good.
    """
    changed = {*(change.time for change in network.changes), *network.crashed_at.values()}
    connected = 0.0
    for time in sorted({float(np.ceil(time)) for time in changed}, reverse=True):
        links = sorted(_standing(network.changes, network.crashed_at, time - 1))
        if not verify(living, np.array(links, np.int64).reshape(-1, 2)).ok:
            connected = time
            break
    return connected


def _reasons(
    living: Interest,
    verdict: Verdict,
    programs: list[DcNode],
    network: SimulatedNetwork,
    standing: Set[tuple[int, int]],
) -> dict[int | str, str]:
    """Say for each broken topic what its subscribers believe that is not so, or do not know."""
    ends = [program for program in programs if network.alive(program.number, network.horizon)]
    lives = {program.number for program in ends}
    doubted = {node: witness.number for witness in ends for node in witness.suspects if node in lives}
    number_of = {living.topic_name(topic): topic for topic in range(living.n_topics)} if verdict.broken else {}
    found: dict[int | str, str] = {}
    for broken in verdict.broken:
        wanting = living.subscribers(number_of[broken.topic]).tolist()
        wrong = [node for node in wanting if node in doubted]
        unfinished = [node for node in wanting if not programs[node].view]
        if wrong:
            found[broken.topic] = f"node {wrong[0]} lives, and node {doubted[wrong[0]]} takes it for crashed"
        elif unfinished:
            found[broken.topic] = f"node {unfinished[0]} had not heard of its whole partition when the run stopped"
        else:
            found[broken.topic] = f"{_unfinished([programs[node] for node in wanting], standing)} when the run stopped"
    return found


def _unfinished(nodes: list[DcNode], standing: Set[tuple[int, int]]) -> str:
    """Say what kept nodes that all know a partition from having the links that they need."""
    first: dict[int, DcNode] = {}
    for node in nodes:
        other = first.setdefault(node.own, node)
        if other.view != node.view:
            return f"nodes {other.number} and {node.number} differed on who is in their partition"
    here = {node.number for node in nodes}
    for node in nodes:
        missing = sorted(peer for peer in node.dialled & here if (node.number, peer) not in standing)
        if missing:
            return f"node {node.number} was dialling node {missing[0]}"
    heard = [node for node in nodes if node.heard is not None]
    for node in heard:
        if node.heard and heard[0].heard and node.heard[1] != heard[0].heard[1]:
            return f"nodes {heard[0].number} and {node.number} had heard of different star sets"
    return "star nodes had not heard of each other's partitions"
