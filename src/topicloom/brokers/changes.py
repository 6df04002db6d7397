"""``topicloom.diff``: the steps from one plan to another, in an order that never lets a cycle live."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from topicloom.brokers.touching import Touched, owner_names, touched_brokers
from topicloom.errors import UnsafeChangeError
from topicloom.judge.verify_routes import Row, cyclic_topics
from topicloom.routing.plan_folder import Plan
from topicloom.routing.route_table import Routes, rows_of

Link = tuple[str, str]


class TopicCutAtBarrier(NamedTuple):
    """A topic that is not whole between the two barriers.

    Attributes
    ----------
    topic : str
    parts : int
        Components of its rows that stay, among nodes that want it before and after.
    cut_off : int
        Nodes outside the largest of them.
    """

    topic: str
    parts: int
    cut_off: int


@dataclass(frozen=True)
class Steps:
    """How to go from one plan to another, as `topicloom.diff` returns it.

    All rows of ``off`` are shut, then comes the barrier at which every broker has done so, then the rows of ``on`` are
    opened. Two different trees of one topic form a cycle together, so the other order would multiply messages.

    Attributes
    ----------
    off, on : tuple of (topic, src, dst)
        Rows by label, sorted.
    kept : int
        Active rows of both plans.
    standby : tuple of (topic, src, dst)
        Rows that become ready and shut.
    new_links, retired_links : tuple of (src, dst)
        Links that carry rows in only one of the plans; firewalls have to know.
    cut : tuple of TopicCutAtBarrier
        Topics that are not whole at the barrier.
    touched : tuple of Touched
        Brokers that have to do something, and how.
    start : tuple of str
        Brokers of the new plan alone, in the order in which they start; they start before step 2.
    sessions : tuple of (owner, peer)
        Brokers that dialled a retired link, and whom: a queue that one keeps for the other can be cleared.
    make_first : bool
        Whether the brokers stand rows of both plans at once (RabbitMQ, Zenoh): duplicates, but no storm.
    """

    off: tuple[Row, ...]
    on: tuple[Row, ...]
    kept: int
    standby: tuple[Row, ...]
    new_links: tuple[Link, ...]
    retired_links: tuple[Link, ...]
    cut: tuple[TopicCutAtBarrier, ...]
    touched: tuple[Touched, ...]
    start: tuple[str, ...] = ()
    sessions: tuple[Link, ...] = ()
    make_first: bool = False

    @property
    def empty(self) -> bool:
        """Whether nothing has to be done."""
        return not (self.off or self.on or self.new_links or self.retired_links or self.touched)

    def __bool__(self) -> NoReturn:
        raise TypeError("steps have no truth value; use .empty")

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready dictionary."""
        return {
            "steps": [
                {"step": "off", "rows": [list(row) for row in self.off]},
                {"step": "barrier"},
                {"step": "on", "rows": [list(row) for row in self.on]},
            ],
            "kept": self.kept,
            "standby": [list(row) for row in self.standby],
            "new_links": [list(link) for link in self.new_links],
            "retired_links": [list(link) for link in self.retired_links],
            "cut": [cut._asdict() for cut in self.cut],
            "touched": [{**broker._asdict(), "rows": broker.rows} for broker in self.touched],
            "start": list(self.start),
            "sessions": [list(pair) for pair in self.sessions],
            "make_first": self.make_first,
        }


def diff(old: Plan, new: Plan, *, inventory: Mapping[str, Any] | Any | None = None) -> Steps:
    """Find the steps from one plan to another.

    Parameters
    ----------
    old, new : Plan
        What runs now, and what is to run.
    inventory : Inventory, or a mapping from node label to a broker with ``kind`` and ``version``; optional
        Says how each broker takes a change; without it the kind is that of the plan's target.

    Returns
    -------
    Steps

    Raises
    ------
    UnsafeChangeError
        The judge found a cycle among the rows that are live at a barrier, or a plan that breaks its promises.

    See Also
    --------
    routes : the trees of a plan.
    RouteFollower : trees that follow an overlay as it changes.

    Notes
    -----
    Takes O(rows of both plans) time and memory.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abc"), ["news"] * 3)
    >>> path, other = (tl.Overlay(interest, links) for links in ([(0, 1), (1, 2)], [(0, 1), (0, 2)]))
    >>> steps = tl.diff(tl.Plan(tl.routes(path)), tl.Plan(tl.routes(other)))
    >>> steps.off, steps.on, steps.kept
    ((('news', 'b', 'c'),), (('news', 'a', 'c'),), 1)
    >>> factory = tl.datasets.example()
    >>> plans = [tl.Plan(tl.routes(tl.design(factory, seed=seed))) for seed in (0, 1)]
    >>> steps = tl.diff(*plans)
    >>> len(steps.off), len(steps.on), steps.kept
    (5, 5, 8)
    """
    for plan, which in ((old, "old"), (new, "new")):
        verdict = plan.routes.verify()
        if not verdict.ok:
            first = verdict.broken[0]
            raise UnsafeChangeError(f"the {which} plan is broken: {first.kind} in topic {first.topic!r}, {first.nodes}")
    before, after = rows_of(old.routes), rows_of(new.routes)
    live, wanted = ({row for row, open_ in rows.items() if open_} for rows in (before, after))
    off, on, kept = live - wanted, wanted - live, live & wanted
    for moment, rows in (("before", live), ("at the barrier", live - off), ("after", (live - off) | on)):
        cyclic = cyclic_topics(rows)
        if cyclic:
            raise UnsafeChangeError(f"{moment} the rows of topic {cyclic[0]!r} would hold a cycle")
    old_links, new_links = ({row[1:] for row in rows} for rows in (before, after))
    touched, make_first = touched_brokers(old, new, before, after, inventory)
    return Steps(
        tuple(sorted(off)),
        tuple(sorted(on)),
        len(kept),
        tuple(sorted(row for row, open_ in after.items() if not open_ and row not in before)),
        tuple(sorted(new_links - old_links)),
        tuple(sorted(old_links - new_links)),
        _cut(old.routes, new.routes, off, kept),
        touched,
        _starting(old.routes, new.routes),
        _sessions(old.routes, old_links - new_links),
        make_first,
    )


def _starting(old: Routes, new: Routes) -> tuple[str, ...]:
    """Brokers that only the new plan has, in its start order."""
    known = {old.interest.node_label(v) for v in range(old.interest.n_nodes)}
    return tuple(name for v in new.order.tolist() if (name := new.interest.node_label(v)) not in known)


def _sessions(old: Routes, retired: set[Link]) -> tuple[Link, ...]:
    """(owner, peer) of the links that are retired."""
    owner = owner_names(old)
    return tuple(sorted((owner[link], link[owner[link] == link[0]]) for link in retired))


def _cut(old: Routes, new: Routes, off: set[Row], kept: set[Row]) -> tuple[TopicCutAtBarrier, ...]:
    """Topics that lose rows, and how the nodes that want them before and after hang together meanwhile."""
    losing = sorted({topic for topic, _, _ in off})
    rows: dict[str, list[Link]] = {topic: [] for topic in losing}
    for topic, src, dst in kept:
        if topic in rows:
            rows[topic].append((src, dst))
    members = [_subscribers(routes, set(losing)) for routes in (old, new)]
    cut = []
    for topic in losing:
        sizes = _part_sizes(members[0].get(topic, set()) & members[1].get(topic, set()), rows[topic])
        if len(sizes) > 1:
            cut.append(TopicCutAtBarrier(topic, len(sizes), sum(sizes) - max(sizes)))
    return tuple(cut)


def _subscribers(routes: Routes, topics: set[str]) -> dict[str, set[str]]:
    interest = routes.interest
    found = {}
    for t in range(interest.n_topics):
        name = interest.topic_label(t)
        if name in topics:
            ids = interest.topic_nodes[interest.topic_indptr[t] : interest.topic_indptr[t + 1]]
            found[name] = {interest.node_label(int(v)) for v in ids}
    return found


def _part_sizes(nodes: set[str], links: list[Link]) -> list[int]:
    """Sizes of the components of a graph, counted over ``nodes``."""
    leader: dict[str, str] = {}

    def top(node: str) -> str:
        while leader.get(node, node) != node:
            node = leader[node]
        return node

    for one, other in links:
        leader[top(one)] = top(other)
    return list(Counter(map(top, sorted(nodes))).values())
