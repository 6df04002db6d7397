"""Apply each kind of event to the state: change subscriptions, repair topics, renew the backups of other nodes."""

import math
from collections.abc import Callable

import numpy as np

from topicloom.churn.forbidding import Fence
from topicloom.churn.options import BUILDERS, Options
from topicloom.churn.rebalance import Balance
from topicloom.churn.reconnect import (
    NOBODY,
    Repair,
    connect_node,
    connect_node_often,
    connect_pieces,
    cut_among,
    fresh_links,
    neighbours_in,
    reconnect,
    release_links,
    shares_topic,
)
from topicloom.churn.state import OverlayState
from topicloom.kernels.repair.repair import entries_of
from topicloom.model.arrays import Int32Array

Step = Callable[[], None]


class Actions:
    """Events on a state, by the policy of the options.

    Each returns what its repair looked at, and Step III: what remains to be done for the backups of others. ``builds``
    counts the backup sets built so far: each draws its own random numbers. While ``deferring`` is set, Step III only
    notes in ``later`` whose backups are to be built again; `finish` builds them.
    """

    def __init__(self, state: OverlayState, options: Options, balance: Balance | None, fence: Fence) -> None:
        self._state, self._options, self._balance, self._fence = state, options, balance, fence
        self.builds = 0
        self.deferring = False
        self.later = NOBODY

    def finish(self) -> None:
        """Build the backups that Step III has left for later."""
        later, self.later = self.later, NOBODY
        if len(later):
            self.build_backups(later)

    def join(self, label: str, topics: tuple[str, ...]) -> tuple[Repair, Step]:
        """Let a node join."""
        state = self._state
        node = state.add_node(label)
        return self._gain(node, state.topic_slots(topics))

    def subscribe(self, node: int, topics: tuple[str, ...]) -> tuple[Repair, Step]:
        """Let a node want more topics."""
        return self._gain(node, self._state.topic_slots(topics))

    def _gain(self, node: int, topics: Int32Array) -> tuple[Repair, Step]:
        """Let a node, old or new, want more topics."""
        state = self._state
        state.want(node, topics)
        if self._options.policy == "rebuild":
            return self._rebuild(), _nothing
        has = neighbours_in(state, node, topics)
        need = np.minimum(self._options.k, state.members.ragged.length[topics] - 1) - has
        lacking = topics[need > 0]
        if self._options.policy == "naive":
            everyone = state.subscribers(lacking)
            others = self._fence.allowed(node, everyone[everyone != node])
            return connect_node(state, node, others, lacking, self._options.rho), _nothing
        self.build_backups(np.array([node], np.int32))
        shadows = state.backups.of(node)
        if self._seeks_widely:
            everyone = state.subscribers(lacking)
            shadows = everyone[everyone != node]
        if self._options.k == 1:
            repair = connect_node(state, node, self._fence.allowed(node, shadows), lacking, self._options.rho)
            if self._fence:
                repair = self._connect_to_others(node, lacking, repair)
        else:
            repair = connect_node_often(state, node, shadows, lacking, need[need > 0], self._options.rho)
        return repair, lambda: self._cover_thin_topics(node, topics)

    def _connect_to_others(self, node: int, topics: Int32Array, repair: Repair) -> Repair:
        """Link a node in those topics in which its backups may not be linked to it."""
        left = topics[neighbours_in(self._state, node, topics) == 0]
        if not len(left):
            return repair
        everyone = self._state.subscribers(left)
        others = self._fence.allowed(node, everyone[everyone != node])
        more = connect_node(self._state, node, others, left, self._options.rho)
        return Repair(repair.shadows + more.shadows, repair.candidates + more.candidates)

    def leave(self, nodes: list[int]) -> tuple[Repair, Step]:
        """Let nodes leave, all at once."""
        state = self._state
        gone = np.array(nodes, np.int32)
        slots = gone.astype(np.int64)
        topics = np.unique(state.rows.gather(slots))
        neighbours = _others(state.neighbours.gather(slots), gone)
        backups = _others(state.backups.gather(slots), gone)
        primaries = _others(state.primaries.gather(slots), gone)
        for node in gone.tolist():
            state.remove_links(node, np.sort(state.neighbours.of(node)))
            state.set_backups(node, NOBODY)
            state.unwant(node, state.rows.of(node))
        repair = self._repair(neighbours, backups, topics)

        def update() -> None:
            self._renew_backups(primaries, gone)
            for node in gone.tolist():
                state.remove_node(node)
            state.forget_topics(topics)

        return repair, update

    def unsubscribe(self, node: int, topic_labels: tuple[str, ...]) -> tuple[Repair, Step]:
        """Let a node want fewer topics."""
        state = self._state
        topics = state.topic_slots(topic_labels)
        neighbours, backups = np.sort(state.neighbours.of(node)), state.backups.of(node)
        state.unwant(node, topics)
        state.remove_links(node, neighbours[~shares_topic(state, node, neighbours)])
        repair = self._repair(neighbours, backups, topics)

        def update() -> None:
            if self._options.policy == "shadow":
                state.set_backups(node, backups[shares_topic(state, node, backups)])
                primaries = state.primaries.of(node)
                node_ptr, _ = entries_of(state.rows.ragged, primaries, topics)
                self._renew_backups(np.sort(primaries[np.diff(node_ptr) > 0]), NOBODY)
            state.forget_topics(topics)

        return repair, update

    def _repair(self, neighbours: Int32Array, backups: Int32Array, topics: Int32Array) -> Repair:
        """Restore topics that lost a node with these neighbours."""
        state = self._state
        if self._options.policy == "rebuild":
            return self._rebuild()
        if self._options.policy == "naive" or self._seeks_widely:
            cut = cut_among(state, neighbours, topics)
            everyone = state.subscribers(cut)
            repair = connect_pieces(state, everyone, cut, self._options.rho, self._fence)
            release_links(state, repair.linked, self._options.release)
            return repair
        shadows = np.union1d(neighbours, backups)
        if self._options.k == 1:
            repair = connect_pieces(state, shadows, topics, self._options.rho, self._fence)
            if self._fence:
                repair = self._connect_through_others(neighbours, topics, repair)
            release_links(state, repair.linked, self._options.release)
            return repair
        return reconnect(state, shadows, topics, self._options.rho, self._options.k)

    def _connect_through_others(self, neighbours: Int32Array, topics: Int32Array, repair: Repair) -> Repair:
        """Connect topics whose shadows may not be linked as far as needed, by links among all subscribers."""
        cut = cut_among(self._state, neighbours, topics)
        if not len(cut):
            return repair
        more = connect_pieces(self._state, self._state.subscribers(cut), cut, self._options.rho, self._fence)
        linked = np.union1d(repair.linked, more.linked).astype(np.int32)
        return Repair(repair.shadows + more.shadows, repair.candidates + more.candidates, linked)

    @property
    def _seeks_widely(self) -> bool:
        """Whether degrees have crept up. Repairs then look among all subscribers, which takes fewer links."""
        return self._balance is not None and self._options.k == 1 and self._balance.drifted(self._state)

    def _rebuild(self) -> Repair:
        state = self._state
        interest, _ = state.snapshot()
        barred = self._fence.among(interest)
        links = fresh_links(interest, rho=self._options.rho, k=self._options.k, seed=self._options.seed, barred=barred)
        assert interest.node_labels is not None
        slots = np.array([state.nodes.number[label] for label in interest.node_labels.tolist()], np.int32)
        wanted = dict.fromkeys(map(tuple, np.sort(slots[links], axis=1).tolist()))
        for u, v in [link for link in state.links if link not in wanted]:
            state.remove_links(u, np.array([v], np.int32))
        new = np.array([link for link in wanted if link not in state.links], np.int32).reshape(-1, 2)
        state.add_links(new[:, 0], new[:, 1])
        return Repair(interest.n_nodes, math.comb(interest.n_nodes, 2))

    def build_backups(self, nodes: Int32Array) -> None:
        """Build the backups of nodes, each from scratch."""
        self._state.rebuild_backups(nodes, BUILDERS[self._options.backups], self._options.coverage, self.builds)
        self.builds += len(nodes)

    def _renew_backups(self, nodes: Int32Array, gone: Int32Array) -> None:
        """Build the backups of nodes again. If that is left for later, strike out at once those that are gone."""
        if not self.deferring:
            self.build_backups(nodes)
            return
        for node in nodes.tolist() if len(gone) else ():
            backups = self._state.backups.of(node)
            self._state.set_backups(node, backups[~np.isin(backups, gone)])
        self.later = nodes

    def _cover_thin_topics(self, node: int, topics: Int32Array) -> None:
        """Make the node a backup of all subscribers of topics with at most coverage + 1 of them."""
        state = self._state
        thin = topics[state.members.ragged.length[topics] <= self._options.coverage + 1]
        if len(thin) == 0:
            return
        for other in state.subscribers(thin).tolist():
            if other != node:
                state.add_backup(other, node)


def _others(nodes: Int32Array, gone: Int32Array) -> Int32Array:
    """Return the nodes without those that left, ascending."""
    if len(gone) == 1:  # nobody is in a list of its own, nor twice in one list
        return np.sort(nodes)
    return np.setdiff1d(nodes, gone)


def _nothing() -> None:
    pass
