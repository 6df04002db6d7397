"""Maintainer: an overlay that stays topic-connected while nodes join, leave and change their minds."""

import math
import numbers
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from topicloom.churn.events import JOIN, LEAVE, SUBSCRIBE, UNSUBSCRIBE, Event, in_order, why_not
from topicloom.churn.journal import Also, Journal
from topicloom.churn.rebalance import Balance, checked_factor
from topicloom.churn.repair import (
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
from topicloom.churn.store import Store
from topicloom.errors import (
    InputNotFoundError,
    InvalidEventError,
    InvalidLinksError,
    InvalidOptionError,
    NotTopicConnectedError,
    OutputExistsError,
)
from topicloom.judge import verify
from topicloom.kernels.backups import GREEDY, PRIMAL_DUAL
from topicloom.kernels.repair import entries_of
from topicloom.model import Change, Interest, Overlay, Rejection
from topicloom.model.arrays import Int32Array
from topicloom.model.checks import checked_seed, checked_whole

_OPTIONS = ("policy", "backups", "coverage", "rho", "k", "seed", "rebalance")
POLICIES = ("shadow", "naive", "rebuild")
BUILDERS = {"primal-dual": PRIMAL_DUAL, "greedy": GREEDY}


class Maintainer:
    """Keeps an overlay topic-connected under churn, with few link changes per event.

    Parameters
    ----------
    interest : Interest
        Who wants what to begin with. Ids without labels become labels: their digits.
    overlay : Overlay
        Its overlay, k-topic-connected.
    policy : {"shadow", "naive", "rebuild"}
        Where a repair seeks new links. "shadow": among the neighbours and backups of a node that left; between a node
        that joined and its backups. "naive": among all subscribers of the topics that were cut; between a node that
        joined and all who share a topic with it. "rebuild": Low-ODA from scratch (GM2 at k = 2), the baseline.
    backups : {"primal-dual", "greedy"}
        How backups are chosen (policy "shadow").
    coverage : int
        The coverage factor λ: how many backups want each topic of a node, where there are as many.
    rho : float
        Of Low-ODA's link rule; at least 1.
    k : int
        Connectivity to maintain. "shadow" maintains any k (coverage must be at least k), "rebuild" 1 and 2, "naive" 1.
    seed : int
    rebalance : float, optional
        At least 1: while the maximum or average degree exceeds so many times that of a fresh design, every event also
        makes up to two moves that lower it: a link released, exchanged or split, or two merged (ours; k = 1 and 2). Off
        unless given.

    Raises
    ------
    InvalidOptionError
        An option is unknown or out of range, or the policy cannot maintain k.
    NotTopicConnectedError
        The overlay is not k-topic-connected.

    Notes
    -----
    After every event and batch the overlay is k-topic-connected, every topic of a node is wanted by ``coverage`` of its
    backups (or by all its other subscribers), and primaries mirror backups exactly. Degrees stay asymptotically those
    of Low-ODA where the optimum changes little from event to event (Lemma 5 of the paper).

    A shadow join takes O(backups · subscribers of a topic); a shadow leave walks the leaver's topics until it is clear
    which shadows still reach each other, and adds links by the greedy engine over the shadow set alone; then the
    backups of its primaries are built anew. At k = 1 up to two links that no topic needs any more are released with it.
    Memory is O(subscriptions + links + backups).

    References
    ----------
    Chen, Jacobsen, Vitenberg: Reinforce Your Overlay with Shadows, Algorithms 3–12. Subscribe, unsubscribe, batches and
    k > 1 are ours.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcd"), ["news"] * 4)
    >>> m = tl.Maintainer(interest, tl.ring_per_topic(interest))
    >>> m.join("e", ["news", "sport"]).added
    (('d', 'e'),)
    >>> m.leave("a").removed
    (('a', 'b'), ('a', 'd'))
    >>> bool(tl.verify(m.interest, m.overlay.links))
    True
    """

    _policy: str
    _builder: str
    _rho: float
    _coverage: int
    _k: int
    _seed: int
    _rebalance: float | None
    _balance: Balance | None
    _state: OverlayState
    _builds: int  # backup sets built so far: each draws its own random numbers
    _events: int
    _store: Store | None
    _shown: tuple[Interest, Overlay] | None

    def __init__(
        self,
        interest: Interest,
        overlay: Overlay,
        policy: str = "shadow",
        backups: str = "primal-dual",
        coverage: int = 3,
        rho: float = 3.0,
        k: int = 1,
        seed: int = 0,
        rebalance: float | None = None,
    ) -> None:
        self._set_options(policy, backups, coverage, rho, k, seed, rebalance)
        if overlay.interest is not interest and overlay.interest.n_nodes != interest.n_nodes:
            raise InvalidLinksError(
                f"the overlay is of {overlay.interest.n_nodes:,} nodes, the interest of {interest.n_nodes:,}"
            )
        verdict = verify(interest, overlay.links, self._k)
        if not verdict.ok:
            topic = interest.topic_label(verdict.broken[0].topic)
            raise NotTopicConnectedError(
                f"the overlay is not {self._k}-topic-connected: {len(verdict.broken):,} topics are broken, "
                f"first {topic!r}"
            )
        self._fill(interest, overlay.links)

    def _set_options(
        self, policy: str, backups: str, coverage: int, rho: float, k: int, seed: int, rebalance: float | None
    ) -> None:
        if policy not in POLICIES:
            raise InvalidOptionError(f"policy is {policy!r}; {', '.join(POLICIES)} are accepted")
        if backups not in BUILDERS:
            raise InvalidOptionError(f"backups is {backups!r}; {', '.join(BUILDERS)} are accepted")
        if isinstance(rho, bool) or not isinstance(rho, numbers.Real) or not rho >= 1:
            raise InvalidOptionError(f"rho is {rho!r}; a number from 1 up is accepted")
        self._policy, self._builder, self._rho = policy, backups, float(rho)
        self._coverage = checked_whole("coverage", coverage, 1, 1000)
        self._k = checked_whole("k", k, 1)
        self._seed = checked_seed(seed)
        if policy == "shadow" and self._coverage < self._k:
            raise InvalidOptionError(
                f"coverage is {coverage}; a node that joins needs at least k = {k} backups per topic"
            )
        if policy != "shadow" and self._k > (2 if policy == "rebuild" else 1):
            raise InvalidOptionError(f"policy {policy} does not maintain k = {k}; shadow does")
        self._rebalance = checked_factor(rebalance, policy, self._k)
        self._balance = (
            None if self._rebalance is None else Balance(self._rebalance, rho=self._rho, k=self._k, seed=self._seed)
        )
        self._state = OverlayState(self._seed)
        self._builds = self._events = 0
        self._store, self._shown = None, None

    def _fill(self, interest: Interest, links: Int32Array) -> None:
        state = self._state
        wanted = np.flatnonzero(np.diff(interest.topic_indptr))
        slots = np.full(interest.n_topics, -1, np.int32)
        slots[wanted] = state.topic_slots([interest.topic_label(t) for t in wanted.tolist()])
        for v in range(interest.n_nodes):
            node = state.add_node(interest.node_label(v))
            state.want(node, slots[interest.topics_of(v)])
        state.add_links(links[:, 0], links[:, 1])
        if self._policy == "shadow":
            self._build_backups(np.arange(interest.n_nodes, dtype=np.int32))
        state.added = {}

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        interest: Interest | None = None,
        overlay: Overlay | None = None,
        sync: str = "full",
        **options: Any,
    ) -> Self:
        """Maintainer whose state is kept in a file: every event or batch is durable when its method returns.

        With ``interest`` and ``overlay`` the file is created, with the options of the class. Without, it is reopened
        and goes on exactly where it stopped, in time in proportion to the state and not to its history. ``kill -9``
        loses no acknowledged event: an event is in the file whole or not at all.

        Parameters
        ----------
        path : str or Path
            An SQLite database; ``path-lock`` and SQLite's own files lie beside it.
        sync : {"full", "normal"}
            "full": a method returns when the disk has its event, so that not even a power cut loses it. "normal": when
            the operating system has it; faster where the disk is slow to confirm, ``kill -9`` loses nothing either, but
            the last events before a power cut or a crash of the machine may be lost (all after some event, and the
            overlay is that of the events before).

        Raises
        ------
        StateInUseError
            Another process, or another maintainer of this one, has it open.
        InputNotFoundError, OutputExistsError
            There is nothing to reopen; or there is a state already, and ``interest`` was given.
        InvalidOptionError
            Options were given that differ from those of the state.

        Examples
        --------
        >>> import tempfile, topicloom as tl
        >>> interest = tl.Interest.from_pairs(list("abcd"), ["news"] * 4)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = folder + "/state.db"
        ...     with tl.Maintainer.open(path, interest=interest, overlay=tl.ring_per_topic(interest)) as m:
        ...         change = m.leave("a")
        ...     with tl.Maintainer.open(path) as m:
        ...         m
        Maintainer(3 nodes, 1 topics, 2 links, policy shadow)
        """
        path = Path(path)
        if (interest is None) != (overlay is None):
            raise InvalidOptionError("interest and overlay are given together, to create a state, or neither")
        if interest is None and not path.exists():
            raise InputNotFoundError(f"{path} does not exist; give interest and overlay to create it")
        store = Store.open(path, sync)
        try:
            if interest is not None and overlay is not None:
                if store.holds_state:
                    raise OutputExistsError(f"{path} holds a state already; open it without interest and overlay")
                made = cls(interest, overlay, **options)
                store.create(made._state, made.options, {"builds": made._builds, "events": 0})
                made._state.settle()
            else:
                facts = store.facts()
                made = cls.__new__(cls)
                made._set_options(*({"rebalance": None, **facts}[name] for name in _OPTIONS))
                for name, value in options.items():
                    if made.options.get(name) != value:
                        raise InvalidOptionError(
                            f"{name} is {value!r}, but the state in {path} has {made.options.get(name)!r}"
                        )
                made._builds, made._events = facts["builds"], facts["events"]
                if made._balance is not None:
                    made._balance.restore(made._state, facts)
                store.load(made._state)
        except BaseException:
            store.close()
            raise
        made._store = store
        return made

    def close(self) -> None:
        """Close the file of a durable state; without one there is nothing to close."""
        if self._store is not None:
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def interest(self) -> Interest:
        """Who wants what now; ids follow the labels' order. Topics that nobody wants are not in it."""
        return self._snapshot()[0]

    @property
    def overlay(self) -> Overlay:
        """The overlay now, for `interest`; links in the order in which they were added."""
        return self._snapshot()[1]

    @property
    def options(self) -> dict[str, Any]:
        """Policy, backups, coverage, rho, k, seed and rebalance."""
        return {
            "policy": self._policy,
            "backups": self._builder,
            "coverage": self._coverage,
            "rho": self._rho,
            "k": self._k,
            "seed": self._seed,
            "rebalance": self._rebalance,
        }

    @property
    def events_applied(self) -> int:
        """Events applied since the beginning."""
        return self._events

    @property
    def n_nodes(self) -> int:
        """Nodes there are; O(1), unlike `interest`."""
        return len(self._state.nodes)

    @property
    def n_links(self) -> int:
        """Links there are; O(1), unlike `overlay`."""
        return len(self._state.links)

    @property
    def journal(self) -> Journal:
        """What a stream has taken in, and what it still has to hand out: beside the state, for a durable one."""
        if self._store is None:
            raise InvalidOptionError("a maintainer without a durable state has no journal; use Maintainer.open")
        return Journal(self._store.database)

    def backups_of(self, node: str) -> tuple[str, ...]:
        """Labels of a node's backups, ascending; none unless the policy is "shadow"."""
        return self._labels(self._state.backups.of(self._slot(node)))

    def primaries_of(self, node: str) -> tuple[str, ...]:
        """Labels of the nodes that have this one as backup, ascending."""
        return self._labels(self._state.primaries.of(self._slot(node)))

    def join(self, node: str, topics: Iterable[str]) -> Change:
        """Let a new node join, with the topics that it wants (none is allowed: it stays unlinked).

        Raises
        ------
        InvalidEventError
            The node is already there, or a label is blank.
        """
        return self._apply_one({"event": JOIN, "node": node, "topics": topics})

    def leave(self, node: str) -> Change:
        """Let a node leave, or fail: nothing is asked of it.

        Raises
        ------
        InvalidEventError
            There is no such node.
        """
        return self._apply_one({"event": LEAVE, "node": node})

    def subscribe(self, node: str, topics: Iterable[str]) -> Change:
        """Let a node want more topics. A topic that a neighbour wants already costs no link at k = 1.

        Raises
        ------
        InvalidEventError
            There is no such node, it wants one of the topics already, or no topic is named.
        """
        return self._apply_one({"event": SUBSCRIBE, "node": node, "topics": topics})

    def unsubscribe(self, node: str, topics: Iterable[str]) -> Change:
        """Let a node want fewer topics. Links over which no topic is shared any more are released.

        Raises
        ------
        InvalidEventError
            There is no such node, it does not want one of the topics, or no topic is named.
        """
        return self._apply_one({"event": UNSUBSCRIBE, "node": node, "topics": topics})

    def apply(self, events: Iterable[Any], *, strict: bool = True, also: Also | None = None) -> Change:
        """Apply a batch of events as one change, in the order of their (``at``, ``id``).

        Leaves that follow one another are one failure of several nodes at once: none of them takes part in the repair.

        Parameters
        ----------
        events : iterable of Event or mapping
            ``{"event": "join", "node": "x", "topics": ["a"]}``, "leave", "subscribe", "unsubscribe"; ``at`` and ``id``
            are optional.
        strict : bool
            True: a bad event raises, and nothing of the batch is applied. False: bad events are listed in
            ``Change.rejected``, and the rest is applied.
        also : callable, optional
            Called with the database, the events applied and their change (its seconds aside), to write what shall be on
            disk together with them; for a durable state.

        Raises
        ------
        InvalidEventError
            With ``strict``: the first event that cannot be applied.

        Examples
        --------
        >>> import topicloom as tl
        >>> interest = tl.Interest.from_pairs(list("abcde"), ["news"] * 5)
        >>> m = tl.Maintainer(interest, tl.ring_per_topic(interest))
        >>> change = m.apply([{"event": "leave", "node": "a"}, {"event": "leave", "node": "c"}])
        >>> len(change.removed), len(change.added), bool(tl.verify(m.interest, m.overlay.links))
        (4, 1, True)
        """
        started = time.perf_counter()
        accepted, rejected = self.sift(events)
        if strict and rejected:
            raise InvalidEventError(rejected[0].reason)
        return self._run(accepted, started, tuple(rejected), also)

    def sift(self, events: Iterable[Any]) -> tuple[list[Event], list[Rejection]]:
        """Events that can be applied one after the other, in their order, and those that cannot; nothing is changed."""
        return in_order(events, self._wanted_by)

    def _apply_one(self, given: dict[str, Any]) -> Change:
        started = time.perf_counter()
        event = Event.read(given)
        look = self._present if event.event in (JOIN, LEAVE) else self._wanted_by
        reason = why_not(event, look(event.node))
        if reason is not None:
            raise InvalidEventError(reason)
        return self._run([event], started, ())

    def _run(
        self, events: list[Event], started: float, rejected: tuple[Rejection, ...], also: Also | None = None
    ) -> Change:
        """Apply events that are known to be possible."""
        if self._store is not None:
            self._store.check_open()
        apart = 0.0
        shadows = candidates = 0
        at = 0
        while at < len(events):
            upto = at + 1
            if events[at].event == LEAVE:
                while upto < len(events) and events[upto].event == LEAVE:
                    upto += 1
                repair, update = self._leave([event.node for event in events[at:upto]])
            else:
                action = {JOIN: self._join, SUBSCRIBE: self._subscribe, UNSUBSCRIBE: self._unsubscribe}
                repair, update = action[events[at].event](events[at].node, events[at].topics)
            shadows += repair.shadows
            candidates += repair.candidates
            step_three = time.perf_counter()
            update()
            apart += time.perf_counter() - step_three
            at = upto
        self._events += len(events)
        self._shown = None
        state = self._state
        if self._balance is not None:
            self._balance.after(state, len(events), self._events)
        added, removed = tuple(state.added), tuple(state.removed)
        change = Change(added, removed, shadows, candidates, 0.0, apart, len(events), rejected)
        if self._store is not None:
            write = None if also is None else partial(also, events=events, change=change)
            counts = {"builds": self._builds, "events": self._events}
            self._store.commit(state, counts | (self._balance.facts() if self._balance else {}), also=write)
        state.settle()
        return replace(change, seconds=time.perf_counter() - started)

    # Each action returns what its repair looked at, and Step III: what remains to be done for the backups of others.

    def _join(self, label: str, topics: tuple[str, ...]) -> tuple[Repair, Callable[[], None]]:
        state = self._state
        node = state.add_node(label)
        return self._gain(node, state.topic_slots(topics))

    def _subscribe(self, label: str, topics: tuple[str, ...]) -> tuple[Repair, Callable[[], None]]:
        return self._gain(self._slot(label), self._state.topic_slots(topics))

    def _gain(self, node: int, topics: Int32Array) -> tuple[Repair, Callable[[], None]]:
        """A node, old or new, wants more topics."""
        state = self._state
        state.want(node, topics)
        if self._policy == "rebuild":
            return self._rebuild(), _nothing
        has = neighbours_in(state, node, topics)
        need = np.minimum(self._k, state.members.ragged.length[topics] - 1) - has
        lacking = topics[need > 0]
        if self._policy == "naive":
            everyone = np.unique(state.members.gather(lacking.astype(np.int64)))
            return connect_node(state, node, everyone[everyone != node], lacking, self._rho), _nothing
        self._build_backups(np.array([node], np.int32))
        shadows = state.backups.of(node)
        if self._seeks_widely:
            everyone = np.unique(state.members.gather(lacking.astype(np.int64)))
            shadows = everyone[everyone != node]
        if self._k == 1:
            repair = connect_node(state, node, shadows, lacking, self._rho)
        else:
            repair = connect_node_often(state, node, shadows, lacking, need[need > 0], self._rho)
        return repair, lambda: self._cover_thin_topics(node, topics)

    def _leave(self, labels: list[str]) -> tuple[Repair, Callable[[], None]]:
        state = self._state
        gone = np.array([self._slot(label) for label in labels], np.int32)
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
            self._build_backups(primaries)
            for node in gone.tolist():
                state.remove_node(node)
            state.forget_topics(topics)

        return repair, update

    def _unsubscribe(self, label: str, topic_labels: tuple[str, ...]) -> tuple[Repair, Callable[[], None]]:
        state = self._state
        node = self._slot(label)
        topics = state.topic_slots(topic_labels)
        neighbours, backups = np.sort(state.neighbours.of(node)), state.backups.of(node)
        state.unwant(node, topics)
        state.remove_links(node, neighbours[~shares_topic(state, node, neighbours)])
        repair = self._repair(neighbours, backups, topics)

        def update() -> None:
            if self._policy == "shadow":
                state.set_backups(node, backups[shares_topic(state, node, backups)])
                primaries = state.primaries.of(node)
                node_ptr, _ = entries_of(state.rows.ragged, primaries, topics)
                self._build_backups(np.sort(primaries[np.diff(node_ptr) > 0]))
            state.forget_topics(topics)

        return repair, update

    def _repair(self, neighbours: Int32Array, backups: Int32Array, topics: Int32Array) -> Repair:
        """Restore topics that lost a node with these neighbours."""
        state = self._state
        if self._policy == "rebuild":
            return self._rebuild()
        if self._policy == "naive" or self._seeks_widely:
            cut = cut_among(state, neighbours, topics)
            everyone = np.unique(state.members.gather(cut.astype(np.int64)))
            repair = connect_pieces(state, everyone, cut, self._rho)
            if self._policy == "shadow":
                release_links(state, repair.linked)
            return repair
        shadows = np.union1d(neighbours, backups)
        if self._k == 1:
            repair = connect_pieces(state, shadows, topics, self._rho)
            release_links(state, repair.linked)
            return repair
        return reconnect(state, shadows, topics, self._rho, self._k)

    @property
    def _seeks_widely(self) -> bool:
        """Whether degrees have crept up: then repairs look among all who want a topic, which takes fewer links."""
        return self._balance is not None and self._k == 1 and self._balance.drifted(self._state)

    def _rebuild(self) -> Repair:
        state = self._state
        interest, _ = state.snapshot()
        links = fresh_links(interest, rho=self._rho, k=self._k, seed=self._seed)
        assert interest.node_labels is not None
        slots = np.array([state.nodes.number[label] for label in interest.node_labels.tolist()], np.int32)
        wanted = dict.fromkeys(map(tuple, np.sort(slots[links], axis=1).tolist()))
        for u, v in [link for link in state.links if link not in wanted]:
            state.remove_links(u, np.array([v], np.int32))
        new = np.array([link for link in wanted if link not in state.links], np.int32).reshape(-1, 2)
        state.add_links(new[:, 0], new[:, 1])
        return Repair(interest.n_nodes, math.comb(interest.n_nodes, 2))

    def _build_backups(self, nodes: Int32Array) -> None:
        """Build the backups of nodes, each from scratch."""
        self._state.rebuild_backups(nodes, BUILDERS[self._builder], self._coverage, self._builds)
        self._builds += len(nodes)

    def _cover_thin_topics(self, node: int, topics: Int32Array) -> None:
        """Where a topic has no more than coverage + 1 subscribers, they all have each other: the new one too."""
        state = self._state
        thin = topics[state.members.ragged.length[topics] <= self._coverage + 1]
        if len(thin) == 0:
            return
        for other in np.unique(state.members.gather(thin.astype(np.int64))).tolist():
            if other != node:
                state.add_backup(other, node)

    def _wanted_by(self, label: str) -> frozenset[str] | None:
        node = self._state.nodes.number.get(label)
        return None if node is None else frozenset(map(self._state.topics.label, self._state.rows.of(node).tolist()))

    def _present(self, label: str) -> frozenset[str] | None:
        return frozenset() if label in self._state.nodes.number else None

    def _slot(self, label: Any) -> int:
        number = self._state.nodes.number.get(str(label))
        if number is None:
            raise InvalidEventError(f"there is no node {label!r}")
        return number

    def _labels(self, nodes: Int32Array) -> tuple[str, ...]:
        return tuple(sorted(map(self._state.nodes.label, nodes.tolist())))

    def _snapshot(self) -> tuple[Interest, Overlay]:
        if self._shown is None:
            interest, links = self._state.snapshot()
            self._shown = interest, Overlay(interest, links, f"{self._policy}-churn", self.options, self._seed)
        return self._shown

    def __repr__(self) -> str:
        counts = (
            f"{len(self._state.nodes):,} nodes, {len(self._state.topics):,} topics, {len(self._state.links):,} links"
        )
        return f"Maintainer({counts}, policy {self._policy})"


def _others(nodes: Int32Array, gone: Int32Array) -> Int32Array:
    """Those that did not go, ascending."""
    if len(gone) == 1:  # nobody is in a list of its own, nor twice in one list
        return np.sort(nodes)
    return np.setdiff1d(nodes, gone)


def _nothing() -> None:
    pass
