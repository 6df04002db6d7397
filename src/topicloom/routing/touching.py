"""How brokers take a change: by gate, reload or restart, by their kind and version."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from topicloom.judge.verify_routes import Row
from topicloom.routing.plan_folder import Plan
from topicloom.routing.route_table import Routes

START, STOP, RESTART, RELOAD, GATE, CONFIGURE = "start", "stop", "restart", "reload", "gate", "configure"
_STRENGTH = (GATE, CONFIGURE, RELOAD, RESTART)
_MAKE_FIRST = ("rabbitmq", "zenoh")


class Touched(NamedTuple):
    """A broker that has to do something.

    Attributes
    ----------
    node : str
    how : str
        ``start``, ``stop``, ``restart``, ``reload``, ``gate`` (rows are opened or shut live) or ``configure`` (its kind
        is not known).
    rows : int
        Changed rows at it.
    """

    node: str
    how: str
    rows: int


def touched_brokers(
    old: Plan, new: Plan, before: Mapping[Row, bool], after: Mapping[Row, bool], inventory: Any
) -> tuple[tuple[Touched, ...], bool]:
    """Brokers that a change touches, by name, and whether rows of both plans may live at once."""
    brokers = getattr(inventory, "brokers", inventory) or {}
    kinds = _Kinds(brokers, new.target)
    owner = {**owner_names(old.routes), **owner_names(new.routes)}
    changed = [row for row in {**before, **after} if before.get(row) != after.get(row)]
    rows: Counter[str] = Counter()
    how: dict[str, str] = {}
    links_before, links_after = ({row[1:] for row in given} for given in (before, after))
    for row in changed:
        link = row[1:]
        same_link = link in links_before and link in links_after
        for node in link:
            rows[node] += 1
            way = kinds.way(node, dials=owner[link] == node, ready=row in before and row in after, same_link=same_link)
            if way is not None and (node not in how or _STRENGTH.index(way) > _STRENGTH.index(how[node])):
                how[node] = way
    names_before, names_after = (_nodes(plan.routes) for plan in (old, new))
    how |= dict.fromkeys(names_after - names_before, START) | dict.fromkeys(names_before - names_after, STOP)
    touched = tuple(Touched(node, how[node], rows[node]) for node in sorted(how))
    return touched, bool(how) and all(kinds.kind(node) in _MAKE_FIRST for node in how)


class _Kinds:
    """What is known of the brokers' kinds and versions."""

    def __init__(self, brokers: Mapping[str, Any], target: str | None) -> None:
        self._brokers = brokers
        self._target = target

    def kind(self, node: str) -> str | None:
        return getattr(self._brokers.get(node), "kind", None) or self._target

    def version(self, node: str) -> tuple[int, ...]:
        text = getattr(self._brokers.get(node), "version", None) or "0"
        return tuple(int(part) for part in text.split(".") if part.isdecimal())

    def way(self, node: str, *, dials: bool, ready: bool, same_link: bool) -> str | None:
        """How a broker takes one changed row. Returns None when it has nothing to do.

        ``ready`` rows stand in both plans, open in one and shut in the other. See docs/guide/routes.md for where each
        rule was measured.
        """
        match self.kind(node):
            case "mosquitto" if ready:
                return None if dials else GATE
            case "mosquitto":
                live = RELOAD if self.version(node) >= (2, 1) else RESTART
                return live if dials else GATE
            case "nats":
                return RESTART if dials and not same_link and self.version(node) < (2, 14) else RELOAD
            case "rabbitmq":
                return RELOAD
            case "zenoh":
                return RESTART if dials and not same_link else None
        return CONFIGURE


def owner_names(routes: Routes) -> dict[tuple[str, str], str]:
    """Link to the end of it that dials, by label."""
    name = routes.interest.node_label
    return {(name(int(u)), name(int(v))): name(int(w)) for (u, v), w in zip(routes.links, routes.link_owners)}


def _nodes(routes: Routes) -> set[str]:
    return {routes.interest.node_label(v) for v in range(routes.interest.n_nodes)}
