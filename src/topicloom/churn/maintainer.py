"""Maintainer: an overlay that stays topic-connected while nodes join, leave and change their minds."""

import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Self

from topicloom.churn.durable import create, reopen
from topicloom.churn.events import JOIN, LEAVE, SUBSCRIBE, UNSUBSCRIBE, Event, in_order, why_not
from topicloom.churn.journal import Also, Journal
from topicloom.churn.options import Options, recorded_k
from topicloom.churn.reading import holds_state
from topicloom.churn.route_store import check_fits
from topicloom.churn.state_file import WriterLock
from topicloom.churn.store import checked_sync
from topicloom.churn.upkeep import MaintainerCore
from topicloom.errors import (
    HalfAppliedError,
    InputNotFoundError,
    InvalidEventError,
    InvalidOptionError,
    OutputExistsError,
    TopicloomError,
)
from topicloom.model import Change, Interest, Overlay, Rejection
from topicloom.model.change import RouteChange
from topicloom.model.checks import checked_kind
from topicloom.model.interest import checked_interest
from topicloom.routing import Plan, Routes, routes


class Maintainer:
    """Keeps an overlay topic-connected under churn, with few link changes per event.

    Parameters
    ----------
    interest : Interest
        Who wants what to begin with. Ids without labels become labels: their digits.
    overlay : Overlay
        Its overlay, k-topic-connected. Links that it forbids are never added, which takes k = 1 and no ``rebalance``;
        an event after which they would keep a topic in pieces is refused.
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
    k : int, optional
        Connectivity to maintain; unless given, the one that the overlay was designed for (its record says: 2 for
        ``gm2``, or its option k). "shadow" maintains any k (coverage must be at least k), "rebuild" 1 and 2, "naive" 1.
    seed : int
    rebalance : float, optional
        A factor of at least 1. While the maximum or average degree exceeds that of a fresh design by it, every event
        also makes up to two moves that lower it: a link released, exchanged or split, or two merged or diverted (ours;
        k = 1 and 2). Off unless given.
    release : int
        How many links between remaining nodes that no topic needs any more a repair may release (ours; policy "shadow"
        at k = 1). 0, the default, is the printed algorithm: a leave removes the leaver's own links and no other.

    background : bool
        Whether an event returns when its links stand (Step II of the paper), and the backups of others (Step III) are
        built by a thread meanwhile. The next event waits for it: states and links are the same as without. A durable
        state notes what is left to do, and a process that opens it does it first.

    Raises
    ------
    InvalidOptionError
        An option is unknown or out of range, or the policy cannot maintain k, or not without forbidden links.
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
    backups of its primaries are built again. Memory is O(subscriptions + links + backups).

    Threads may share a maintainer: one of them works at a time, and ``m.overlay`` (with its ``interest``) is of one
    moment. An exception in the middle of an event (Ctrl-C, no
    memory left) leaves half an event in memory. The maintainer then refuses everything else with `HalfAppliedError`; a
    durable state is closed, and holds the events before on disk.

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
    >>> tl.verify(m.interest, m.overlay.links).ok
    True
    """

    _upkeep: MaintainerCore
    _shown: Overlay | None
    _routes: Routes | None
    _busy: threading.RLock
    _whole: bool

    def __init__(
        self,
        interest: Interest,
        overlay: Overlay,
        policy: str = Options.policy,
        backups: str = Options.backups,
        coverage: int = Options.coverage,
        rho: float = Options.rho,
        k: int | None = None,
        seed: int = Options.seed,
        rebalance: float | None = Options.rebalance,
        release: int = Options.release,
        background: bool = False,
    ) -> None:
        checked_interest(interest, "Maintainer")
        checked_kind("the overlay given to Maintainer", overlay, Overlay, "an Overlay, as tl.design makes it,")
        k = recorded_k(overlay) if k is None else k
        options = Options(policy, backups, coverage, rho, k, seed, rebalance, release)
        self._begin(MaintainerCore.begin(interest, overlay, options), background)

    def _begin(self, upkeep: MaintainerCore, background: bool) -> None:
        if background and upkeep.options.rebalance is not None:
            raise InvalidOptionError("background cannot be combined with rebalance, which looks at finished events")
        self._upkeep = upkeep
        upkeep.background = bool(background)
        self._shown, self._routes = None, None
        self._busy, self._whole = threading.RLock(), True

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        interest: Interest | None = None,
        overlay: Overlay | None = None,
        plan: Plan | None = None,
        sync: str = "full",
        background: bool = False,
        **options: Any,
    ) -> Self:
        """Keep the state of a maintainer in a file. Every event or batch is durable when its method returns.

        With ``interest`` and ``overlay`` the file is created, with the options of the class. Without, it is reopened
        and goes on exactly where it stopped, in time in proportion to the state and not to its history. ``kill -9``
        loses no acknowledged event: an event is in the file whole or not at all.

        Parameters
        ----------
        path : str or Path
            An SQLite database; ``path-lock`` and SQLite's own files lie beside it.
        plan : Plan, optional
            Routes of the overlay, to follow and keep from the first event on (`follow_routes`); for a new file.
        sync : {"full", "normal"}
            "full": a method returns when the disk has its event, so that not even a power cut loses it. "normal": when
            the operating system has it; faster where the disk is slow to confirm, ``kill -9`` loses nothing either, but
            the last events before a power cut or a crash of the machine may be lost (all after some event, and the
            overlay is that of the events before).

        Raises
        ------
        StateInUseError
            Another process, or another maintainer of this one, has it open, by whatever name.
        StateFormatError
            The file is not a state, or it is damaged: checksums, a look at every row, and the judge tell.
        InputNotFoundError, OutputExistsError
            There is nothing to reopen; there is a state already, and ``interest`` was given; it cannot be written.
        InvalidOptionError
            Options were given that differ from those of the state; or a plan that is not of this overlay, or to reopen.

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
        if plan is not None and interest is None:
            raise InvalidOptionError("a plan is given to create a state; one that exists keeps its own")
        if interest is None and not path.exists():
            raise InputNotFoundError(f"{path} does not exist; give interest and overlay to create it")
        lock = WriterLock.take(path)
        try:
            sync = checked_sync(sync)
            if interest is None or overlay is None:
                made = cls.__new__(cls)
                made._begin(reopen(lock, sync, options), background)
                return made
            if holds_state(lock.path):
                raise OutputExistsError(f"{lock.path} holds a state already; open it without interest and overlay")
            made = cls(interest, overlay, background=background, **options)
            if plan is not None:
                check_fits(made.follow_routes(plan))
            create(lock, sync, made._upkeep)
            return made
        except BaseException:
            lock.release()
            raise

    def close(self) -> None:
        """Close the file of a durable state. Without one there is nothing to close."""
        with self._busy:
            if self._upkeep.store is not None:
                self._upkeep.store.close()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Let in one thread at a time, and none after an event that ended halfway."""
        with self._busy:
            if not self._whole:
                self.close()
                store = self._upkeep.store
                way = "make a new one" if store is None else f"open {store.path} again: it holds no halves"
                raise HalfAppliedError(f"an exception ended an event halfway, and half of it is here; {way}")
            yield

    def __getstate__(self) -> dict[str, Any]:
        """Return what is copied or pickled: a maintainer in memory, without its lock and without snapshots."""
        if self._upkeep.store is not None:
            raise InvalidOptionError("a maintainer with a durable state cannot be copied; its file has one writer")
        with self._turn():
            kept = {name: value for name, value in vars(self).items() if name != "_busy"}
            return kept | {"_shown": None, "_routes": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._busy = threading.RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def interest(self) -> Interest:
        """Who wants what now. Ids follow the labels' order. Topics that nobody wants are not in it."""
        return self.overlay.interest

    @property
    def overlay(self) -> Overlay:
        """The overlay now, for `interest`. Its links are in the order in which they were added."""
        with self._turn():
            if self._shown is None:
                self._shown = self._upkeep.snapshot()
            return self._shown

    @property
    def routes(self) -> Routes:
        """One tree per topic over the overlay now. Trees stay where they can from one look to the next.

        `follow_routes` keeps those of a plan, also in a durable state, and tells the rows that change. Without it they
        are chosen when they are asked for. Takes O(links + rows) time.
        """
        with self._turn():
            if self._upkeep.follower is not None:
                return self._upkeep.follower.routes
            self._routes = routes(self.overlay, keep=self._routes)
            return self._routes

    def follow_routes(self, keep: Routes | Plan | None = None) -> RouteChange:
        """Keep one tree per topic from here on, and tell in every `Change` the rows that went and came.

        Parameters
        ----------
        keep : Routes or Plan, optional
            The routes that run now. Their trees stay where they can; see `topicloom.routes`. If they have forests or
            standby rows, those after every event have them too.

        Returns
        -------
        RouteChange
            Rows in which the trees differ from ``keep``; none if those fit the overlay.

        Notes
        -----
        A broker that joins adds a row per topic, one that leaves with d rows of a topic takes these away and d - 1
        come. A durable state keeps the plan: a process that opens it goes on with the same trees. Every event then
        takes O(subscriptions + links + rows) time.

        Examples
        --------
        >>> import topicloom as tl
        >>> interest = tl.Interest.from_pairs(list("abcd"), ["news"] * 4)
        >>> m = tl.Maintainer(interest, tl.ring_per_topic(interest))
        >>> m.follow_routes()
        RouteChange(removed=(), added=())
        >>> m.join("e", ["news"]).rows
        RouteChange(removed=(), added=(('news', 'd', 'e'),))
        """
        with self._turn():
            return self._upkeep.follow(keep)

    @property
    def plan(self) -> Plan | None:
        """The routes that are followed, as a plan. It is None without `follow_routes`."""
        with self._turn():
            return None if self._upkeep.follower is None else self._upkeep.follower.plan

    @property
    def options(self) -> dict[str, Any]:
        """Policy, backups, coverage, rho, k, seed, rebalance and release."""
        return asdict(self._upkeep.options)

    @property
    def events_applied(self) -> int:
        """Events applied since the beginning."""
        return self._upkeep.events

    @property
    def n_nodes(self) -> int:
        """Number of nodes now. Takes O(1) time, unlike `interest`."""
        return len(self._upkeep.state.nodes)

    @property
    def n_links(self) -> int:
        """Number of links now. Takes O(1) time, unlike `overlay`."""
        return len(self._upkeep.state.links)

    @property
    def journal(self) -> Journal:
        """What a stream has taken in, and what it still has to hand out: beside the state, for a durable one."""
        if self._upkeep.store is None:
            raise InvalidOptionError("a maintainer without a durable state has no journal; use Maintainer.open")
        return Journal(self._upkeep.store)

    def backups_of(self, node: str) -> tuple[str, ...]:
        """List the backups of a node: together they want its topics, and they reconnect these when it leaves.

        Parameters
        ----------
        node : str

        Returns
        -------
        tuple of str
            Labels, ascending; none unless the policy is "shadow".
        """
        with self._turn():
            self.finish()
            return self._upkeep.backups_of(node)

    def primaries_of(self, node: str) -> tuple[str, ...]:
        """List the nodes that have a node as backup.

        Parameters
        ----------
        node : str

        Returns
        -------
        tuple of str
            Labels, ascending.
        """
        with self._turn():
            self.finish()
            return self._upkeep.primaries_of(node)

    def join(self, node: str, topics: Iterable[str]) -> Change:
        """Let a new node join.

        Parameters
        ----------
        node : str
            A label that no node has.
        topics : iterable of str
            What it wants. None is allowed: it stays unlinked.

        Returns
        -------
        Change
            Links added and removed.

        Raises
        ------
        InvalidEventError
            The node is already there, or a label is blank.
        """
        return self._apply_one({"event": JOIN, "node": node, "topics": topics})

    def leave(self, node: str) -> Change:
        """Let a node leave, or fail: nothing is asked of it.

        Parameters
        ----------
        node : str

        Returns
        -------
        Change
            Links added and removed, those of the node included.

        Raises
        ------
        InvalidEventError
            There is no such node.
        """
        return self._apply_one({"event": LEAVE, "node": node})

    def subscribe(self, node: str, topics: Iterable[str]) -> Change:
        """Let a node want more topics. A topic that a neighbour wants already costs no link at k = 1.

        Parameters
        ----------
        node : str
        topics : iterable of str
            Topics that it does not want yet.

        Returns
        -------
        Change
            Links added and removed.

        Raises
        ------
        InvalidEventError
            There is no such node, it wants one of the topics already, or no topic is named.
        """
        return self._apply_one({"event": SUBSCRIBE, "node": node, "topics": topics})

    def unsubscribe(self, node: str, topics: Iterable[str]) -> Change:
        """Let a node want fewer topics. Links over which no topic is shared any more are released.

        Parameters
        ----------
        node : str
        topics : iterable of str
            Topics that it wants.

        Returns
        -------
        Change
            Links added and removed.

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
            Called with the database, the events applied and their change (its seconds aside), to write what is to be on
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
        >>> len(change.removed), len(change.added), tl.verify(m.interest, m.overlay.links).ok
        (4, 1, True)
        """
        started = time.perf_counter()
        with self._turn():
            accepted, rejected = self.split_valid(events)
            if strict and rejected:
                raise InvalidEventError(rejected[0].reason)
            return self._run(accepted, started, tuple(rejected), also)

    def split_valid(self, events: Iterable[Any]) -> tuple[list[Event], list[Rejection]]:
        """Sort events, and set those apart that cannot be applied. Changes nothing.

        Parameters
        ----------
        events : iterable of Event or mapping
            As for `apply`.

        Returns
        -------
        list of Event
            Those that can be applied one after the other, in their order.
        list of Rejection
            The others, with the reason.
        """
        with self._turn():
            return in_order(events, self._upkeep.wanted_by, self._upkeep.fence.watch().why_not)

    def sift(self, events: Iterable[Any]) -> tuple[list[Event], list[Rejection]]:
        """Do the same as `split_valid`. Deprecated: this was its name up to 0.2."""
        warnings.warn("Maintainer.sift() is now called split_valid()", DeprecationWarning, stacklevel=2)
        return self.split_valid(events)

    def _apply_one(self, given: dict[str, Any]) -> Change:
        started = time.perf_counter()
        event = Event.read(given)
        look = self._upkeep.present if event.event in (JOIN, LEAVE) else self._upkeep.wanted_by
        with self._turn():
            upkeep = self._upkeep
            reason = why_not(event, look(event.node)) or upkeep.fence.watch().why_not(event, upkeep.wanted_by)
            if reason is not None:
                raise InvalidEventError(reason)
            return self._run([event], started, ())

    def _run(
        self, events: list[Event], started: float, rejected: tuple[Rejection, ...], also: Also | None = None
    ) -> Change:
        """Apply events that are known to be possible. After an exception nothing more is accepted."""
        store = self._upkeep.store
        if store is not None:
            store.check_open()
        self._whole = False
        try:
            self._shown = None
            change = self._upkeep.apply(events, rejected, also)
            self._whole = True
        finally:
            if store is not None and not self._whole:
                store.close()
        if len(self._upkeep.actions.later):
            threading.Thread(target=self._finish_later, daemon=True).start()
        return replace(change, seconds=time.perf_counter() - started)

    def finish(self) -> None:
        """Finish what ``background`` has left for later. Returns when it is done and, in a durable state, kept."""
        with self._turn():
            if not len(self._upkeep.actions.later):
                return
            if self._upkeep.store is not None:
                self._upkeep.store.check_open()
            self._whole = False
            self._upkeep.finish()
            self._whole = True

    def _finish_later(self) -> None:
        with suppress(TopicloomError):  # closed meanwhile, or an event ended halfway: the next caller is told
            self.finish()

    def __repr__(self) -> str:
        state, policy = self._upkeep.state, self._upkeep.options.policy
        counts = f"{len(state.nodes):,} nodes, {len(state.topics):,} topics, {len(state.links):,} links"
        return f"Maintainer({counts}, policy {policy})"
