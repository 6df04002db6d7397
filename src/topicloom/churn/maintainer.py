"""Maintainer: an overlay that stays topic-connected while nodes join, leave and change their minds."""

import time
from collections.abc import Iterable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from topicloom.churn.actions import Actions, Step
from topicloom.churn.events import JOIN, LEAVE, SUBSCRIBE, UNSUBSCRIBE, Event, in_order, why_not
from topicloom.churn.journal import Also, Journal
from topicloom.churn.options import Options
from topicloom.churn.rebalance import Balance
from topicloom.churn.repair import Repair
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
from topicloom.model import Change, Interest, Overlay, Rejection
from topicloom.model.arrays import Int32Array


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
        makes up to two moves that lower it: a link released, exchanged or split, or two merged or diverted (ours; k = 1
        and 2). Off unless given.

    Raises
    ------
    InvalidOptionError
        An option is unknown or out of range, or the policy cannot maintain k.
    NotTopicConnectedError
        The overlay is not k-topic-connected.

    Notes
    -----
    After every event and batch the overlay is k-topic-connected, every topic of a node is wanted by ``coverage`` of its
    backups (or by all its other subscribers), and primaries mirror backups exactly. The paper's
    Lemma 5 bounds the degrees by Low-ODA's for a fixed number of events, where the optimum changes little from event
    to event and each shadow set can be connected with degrees of the order of the optimum.

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

    _options: Options
    _balance: Balance | None
    _state: OverlayState
    _actions: Actions
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
        self._set_options(Options.checked(policy, backups, coverage, rho, k, seed, rebalance))
        if overlay.interest is not interest and overlay.interest.n_nodes != interest.n_nodes:
            raise InvalidLinksError(
                f"the overlay is of {overlay.interest.n_nodes:,} nodes, the interest of {interest.n_nodes:,}"
            )
        verdict = verify(interest, overlay.links, self._options.k)
        if not verdict.ok:
            topic = interest.topic_label(verdict.broken[0].topic)
            raise NotTopicConnectedError(
                f"the overlay is not {self._options.k}-topic-connected: {len(verdict.broken):,} topics are broken, "
                f"first {topic!r}"
            )
        self._fill(interest, overlay.links)

    def _set_options(self, options: Options) -> None:
        self._options = options
        self._balance = None
        if options.rebalance is not None:
            self._balance = Balance(options.rebalance, rho=options.rho, k=options.k, seed=options.seed)
        self._state = OverlayState(options.seed)
        self._actions = Actions(self._state, options, self._balance)
        self._events = 0
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
        if self._options.policy == "shadow":
            self._actions.build_backups(np.arange(interest.n_nodes, dtype=np.int32))
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
                store.create(made._state, made.options, {"builds": made._actions.builds, "events": 0})
                made._state.settle()
            else:
                facts = store.facts()
                made = cls.__new__(cls)
                made._set_options(Options.checked(*({"rebalance": None, **facts}[name] for name in Options.names())))
                for name, value in options.items():
                    if made.options.get(name) != value:
                        raise InvalidOptionError(
                            f"{name} is {value!r}, but the state in {path} has {made.options.get(name)!r}"
                        )
                made._actions.builds, made._events = facts["builds"], facts["events"]
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
        return asdict(self._options)

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
                repair, update = self._actions.leave([self._slot(event.node) for event in events[at:upto]])
            else:
                repair, update = self._act(events[at])
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
            counts = {"builds": self._actions.builds, "events": self._events}
            self._store.commit(state, counts | (self._balance.facts() if self._balance else {}), also=write)
        state.settle()
        return replace(change, seconds=time.perf_counter() - started)

    def _act(self, event: Event) -> tuple[Repair, Step]:
        if event.event == JOIN:
            return self._actions.join(event.node, event.topics)
        action = self._actions.subscribe if event.event == SUBSCRIBE else self._actions.unsubscribe
        return action(self._slot(event.node), event.topics)

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
            self._shown = (
                interest,
                Overlay(interest, links, f"{self._options.policy}-churn", self.options, self._options.seed),
            )
        return self._shown

    def __repr__(self) -> str:
        counts = (
            f"{len(self._state.nodes):,} nodes, {len(self._state.topics):,} topics, {len(self._state.links):,} links"
        )
        return f"Maintainer({counts}, policy {self._options.policy})"
