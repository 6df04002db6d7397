"""How brokers take a change of plans: by gate, reload or restart, as their kind and version do."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from topicloom.brokers.kinds import CONFIGURE, GATE, KINDS, RELOAD, RESTART, ChangedRow, Target
from topicloom.judge.verify_routes import Row
from topicloom.routing.plan_folder import Plan
from topicloom.routing.route_table import Routes

START, STOP = "start", "stop"
_STRENGTH = (GATE, CONFIGURE, RELOAD, RESTART)


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
            ready = row in before and row in after
            way = kinds.way(node, ChangedRow(kinds.version(node), owner[link] == node, ready, same_link))
            if way is not None and (node not in how or _STRENGTH.index(way) > _STRENGTH.index(how[node])):
                how[node] = way
    names_before, names_after = (_nodes(plan.routes) for plan in (old, new))
    how |= dict.fromkeys(names_after - names_before, START) | dict.fromkeys(names_before - names_after, STOP)
    touched = tuple(Touched(node, how[node], rows[node]) for node in sorted(how))
    return touched, bool(how) and all(kinds.holds_both(node) for node in how)


class _Kinds:
    """What is known of the brokers' kinds and versions."""

    def __init__(self, brokers: Mapping[str, Any], target: str | None) -> None:
        self._brokers = brokers
        self._target = target

    def _target_of(self, node: str) -> Target | None:
        kind = KINDS.get(getattr(self._brokers.get(node), "kind", None) or self._target or "")
        return None if kind is None else kind.target

    def holds_both(self, node: str) -> bool:
        target = self._target_of(node)
        return target is not None and target.holds_both

    def version(self, node: str) -> tuple[int, ...]:
        text = getattr(self._brokers.get(node), "version", None) or "0"
        return tuple(int(part) for part in text.split(".") if part.isdecimal())

    def way(self, node: str, row: ChangedRow) -> str | None:
        """How a broker takes a changed row: `CONFIGURE` where its kind is not known. None when it has nothing to do.

        See docs/guide/routes.md for where the rules of each kind were measured.
        """
        target = self._target_of(node)
        return CONFIGURE if target is None else target.takes(row)


def owner_names(routes: Routes) -> dict[tuple[str, str], str]:
    """Link to the end of it that dials, by label."""
    name = routes.interest.node_label
    return {(name(int(u)), name(int(v))): name(int(w)) for (u, v), w in zip(routes.links, routes.link_owners)}


def _nodes(routes: Routes) -> set[str]:
    return {routes.interest.node_label(v) for v in range(routes.interest.n_nodes)}
