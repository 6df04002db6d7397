"""MaintainerCore: a state with its options, what acts on it, and the file that it is kept in."""

import sqlite3
import time
from dataclasses import asdict, replace
from typing import Any, Self

import numpy as np

from topicloom.churn.actions import Actions, Step
from topicloom.churn.events import JOIN, LEAVE, SUBSCRIBE, Event
from topicloom.churn.forbidding import Fence
from topicloom.churn.journal import Also
from topicloom.churn.options import Options, history_of
from topicloom.churn.reading import history_report
from topicloom.churn.rebalance import Balance
from topicloom.churn.reconnect import Repair
from topicloom.churn.route_store import put_plan
from topicloom.churn.state import OverlayState
from topicloom.churn.store import Store
from topicloom.errors import InvalidEventError, InvalidLinksError, NotTopicConnectedError, StateFormatError
from topicloom.judge import verify
from topicloom.model import Change, ForbiddenLinks, Interest, Overlay, Rejection
from topicloom.model.arrays import Int32Array
from topicloom.model.change import RouteChange
from topicloom.routing import Plan, RouteFollower, Routes


class MaintainerCore:
    """Applies events to a state and, where there is a file, commits them.

    It trusts its caller: `Maintainer` checks arguments and events, lets in one thread at a time and refuses to go on
    after an exception.

    Attributes
    ----------
    options : Options
    state : OverlayState
    balance : Balance, optional
        Exchanges links when degrees creep up; there is one if the option ``rebalance`` is given.
    actions : Actions
        The four kinds of event under the policy.
    fence : Fence
        Keeps off forbidden links.
    events : int
        Events applied since the beginning.
    background : bool
        Whether Step III, the backups of others, is left for `finish` or the next event.
    life : dict
        How the overlay was designed (`history_of`).
    store : Store, optional
        The file of a durable state.
    follower : RouteFollower, optional
        Keeps the topics' trees, where routes are followed.
    """

    def __init__(self, options: Options, life: dict[str, Any], forbidden: ForbiddenLinks) -> None:
        if options.k > 1 or options.rebalance is not None:
            forbidden.refuse(f"upkeep at k = {options.k}" if options.k > 1 else "rebalance")
        self.options, self.life = options, life
        self.balance: Balance | None = None
        if options.rebalance is not None:
            self.balance = Balance(options.rebalance, rho=options.rho, k=options.k, seed=options.seed)
        self.state = OverlayState(options.seed)
        self.fence = Fence(self.state, forbidden)
        self.actions = Actions(self.state, options, self.balance, self.fence)
        self.events = 0
        self.background = False
        self.store: Store | None = None
        self.follower: RouteFollower | None = None

    @classmethod
    def begin(cls, interest: Interest, overlay: Overlay, options: Options) -> Self:
        """Judge an overlay, take its nodes, topics and links over, and build backups.

        Raises
        ------
        InvalidLinksError, NotTopicConnectedError
            The overlay is of another number of nodes; it is not k-topic-connected.
        """
        if overlay.interest is not interest and overlay.interest.n_nodes != interest.n_nodes:
            raise InvalidLinksError(
                f"the overlay is of {overlay.interest.n_nodes:,} nodes, the interest of {interest.n_nodes:,}"
            )
        overlay.refuse_change("churn")
        verdict = verify(interest, overlay.links, options.k)
        if not verdict.ok:
            raise NotTopicConnectedError(
                f"the overlay is not {options.k}-topic-connected: {len(verdict.broken):,} topics are broken, "
                f"first {verdict.broken[0].topic!r}"
            )
        made = cls(options, history_of(overlay), overlay.forbidden)
        made._fill(interest, overlay.links)
        return made

    def _fill(self, interest: Interest, links: Int32Array) -> None:
        state = self.state
        wanted = np.flatnonzero(np.diff(interest.topic_indptr))
        slots = np.full(interest.n_topics, -1, np.int32)
        slots[wanted] = state.topic_slots([interest.topic_label(t) for t in wanted.tolist()])
        for v in range(interest.n_nodes):
            node = state.add_node(interest.node_label(v))
            state.want(node, slots[interest.topics_of(v)])
        state.add_links(links[:, 0], links[:, 1])
        if self.options.policy == "shadow":
            self.actions.build_backups(np.arange(interest.n_nodes, dtype=np.int32))
        state.added = {}

    def apply(self, events: list[Event], rejected: tuple[Rejection, ...], also: Also | None) -> Change:
        """Apply events that are known to be possible, in their order, and commit them with what ``also`` writes.

        Leaves that follow one another are one failure. In the background, Step III of the last of them is left for
        `finish`. Returns the change, without the seconds that all of it took.
        """
        self.actions.finish()
        apart, shadows, candidates, at = 0.0, 0, 0, 0
        while at < len(events):
            upto = at + 1
            if events[at].event == LEAVE:
                while upto < len(events) and events[upto].event == LEAVE:
                    upto += 1
                repair, update = self.actions.leave([self._slot(event.node) for event in events[at:upto]])
            else:
                repair, update = self._act(events[at])
            shadows += repair.shadows
            candidates += repair.candidates
            step_three = time.perf_counter()
            self.actions.deferring = self.background and upto == len(events)
            update()
            apart += time.perf_counter() - step_three
            at = upto
        self.events += len(events)
        state = self.state
        if self.balance is not None:
            self.balance.after(state, len(events), self.events)
        change = Change(
            tuple(state.added), tuple(state.removed), shadows, candidates, 0.0, apart, len(events), rejected
        )
        if self.follower is not None:
            change = replace(change, rows=self.follower.update())
        if self.store is not None:

            def write(database: sqlite3.Connection) -> None:
                self.put_routes(database)
                if also is not None:
                    also(database, events=events, change=change)

            self.store.commit(state, self.counts(), also=write)
        state.settle()
        return change

    def put_routes(self, database: sqlite3.Connection) -> None:
        """Write the routes into the transaction of an event, where they are followed."""
        if self.follower is not None:
            put_plan(database, self.follower.plan)

    def follow(self, keep: Routes | Plan | None) -> RouteChange:
        """Keep a tree per topic from here on, also in the file. Returns the rows in which they differ from ``keep``."""
        self.follower = RouteFollower(self, keep)
        if self.store is not None:
            with self.store.transaction() as database:
                self.put_routes(database)
        return self.follower.since(keep)

    def finish(self) -> None:
        """Do what the last event has left for later, and commit it."""
        if len(self.actions.later):
            self.actions.finish()
            if self.store is not None:
                self.store.commit(self.state, self.counts())
            self.state.settle()

    def counts(self) -> dict[str, Any]:
        """Numbers that a durable state keeps beside its rows, and the slots whose backups are still to be built."""
        counts: dict[str, Any] = {"builds": self.actions.builds, "events": self.events}
        counts["later"] = " ".join(map(str, self.actions.later.tolist()))
        return counts | (self.balance.facts() if self.balance else {})

    def resume(self, later: Any) -> None:
        """Take up what a process that died had left for later.

        Raises
        ------
        StateFormatError
        """
        labels = self.state.nodes.labels
        numbers = [int(slot) for slot in str(later).split() if slot.isdecimal() and int(slot) < len(labels)]
        if " ".join(map(str, numbers)) != later or any(labels[slot] is None for slot in numbers):
            raise StateFormatError(f"what was left for later is {str(later)[:80]!r}, which are no nodes")
        self.actions.later = np.array(numbers, np.int32)

    def _act(self, event: Event) -> tuple[Repair, Step]:
        if event.event == JOIN:
            return self.actions.join(event.node, event.topics)
        action = self.actions.subscribe if event.event == SUBSCRIBE else self.actions.unsubscribe
        return action(self._slot(event.node), event.topics)

    @property
    def overlay(self) -> Overlay:
        """The overlay now. See `snapshot`."""
        return self.snapshot()

    def snapshot(self) -> Overlay:
        """Return the overlay now, with its interest. O(subscriptions + links)."""
        interest, links = self.state.snapshot()
        method, report = f"{self.options.policy}-churn", history_report(self.life, self.events)
        options, forbidden = asdict(self.options), self.fence.forbidden
        return Overlay(interest, links, method, options, self.options.seed, report, forbidden)

    def wanted_by(self, label: str) -> frozenset[str] | None:
        """Topics of a node. Returns None if there is no such node."""
        node = self.state.nodes.number.get(label)
        return None if node is None else frozenset(map(self.state.topics.label, self.state.rows.of(node).tolist()))

    def present(self, label: str) -> frozenset[str] | None:
        """An empty set if the node is there, None otherwise: `wanted_by` in O(1), where topics do not count."""
        return frozenset() if label in self.state.nodes.number else None

    def backups_of(self, node: Any) -> tuple[str, ...]:
        """Labels of a node's backups, ascending."""
        return self._labels(self.state.backups.of(self._slot(node)))

    def primaries_of(self, node: Any) -> tuple[str, ...]:
        """Labels of the nodes that have this one as backup, ascending."""
        return self._labels(self.state.primaries.of(self._slot(node)))

    def _slot(self, label: Any) -> int:
        number = self.state.nodes.number.get(str(label))
        if number is None:
            raise InvalidEventError(f"there is no node {label!r}")
        return number

    def _labels(self, nodes: Int32Array) -> tuple[str, ...]:
        return tuple(sorted(map(self.state.nodes.label, nodes.tolist())))
