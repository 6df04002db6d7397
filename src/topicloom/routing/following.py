"""Routes that follow an overlay under churn, with trees that stay where they can."""

from typing import Protocol

from topicloom.judge.verify_routes import Row
from topicloom.model.change import RouteChange
from topicloom.model.overlay import Overlay
from topicloom.routing.ownership import Brokers
from topicloom.routing.plan_folder import Plan
from topicloom.routing.route_table import Routes, rows_of
from topicloom.routing.topic_trees import Rates, routes


class Maintained(Protocol):
    """Whatever has an overlay that changes, such as `topicloom.Maintainer`."""

    @property
    def overlay(self) -> Overlay:
        """The overlay now."""


class RouteFollower:
    """Keeps one tree per topic over an overlay that changes, with few row changes.

    Parameters
    ----------
    source : Maintainer
        Or anything else with an ``overlay``.
    keep : Routes or Plan, optional
        The routes that run now. If they have forests or standby rows, the next ones have them too.
    standby, rates, inventory
        As in `topicloom.routes`.

    Notes
    -----
    Rows that the overlay still allows stay; see `topicloom.routes` with ``keep``. A topic that a node subscribes to
    changes by one row. An update takes O(links + rows) time and memory, however small the change.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcd"), ["news"] * 4)
    >>> m = tl.Maintainer(interest, tl.ring_per_topic(interest))
    >>> follower = tl.RouteFollower(m)
    >>> change = m.join("e", ["news"])
    >>> follower.update()
    RouteChange(removed=(), added=(('news', 'd', 'e'),))
    """

    def __init__(
        self,
        source: Maintained,
        keep: Routes | Plan | None = None,
        *,
        standby: int = 0,
        rates: Rates | None = None,
        inventory: Brokers | None = None,
    ) -> None:
        self._source, self._rates, self._inventory = source, rates, inventory
        self._plan = keep if isinstance(keep, Plan) else None
        old = keep.routes if isinstance(keep, Plan) else keep
        self._forests = old is not None and old.n_forests > 0
        self._standby = standby or int(old is not None and old.n_rows < len(old.topic))
        self._routes = self._chosen(old)
        self._rows = _active(self._routes)

    @property
    def routes(self) -> Routes:
        """The routes after the last update."""
        return self._routes

    @property
    def plan(self) -> Plan:
        """The plan after the last update, for the brokers and the inventory of the plan that was kept."""
        if self._plan is None:
            return Plan(self._routes)
        return Plan(self._routes, self._plan.target, self._plan.inventory_fingerprint, self._plan.facts)

    def update(self) -> RouteChange:
        """Take over what the overlay is now. Returns the rows that changed since the last update."""
        before, self._routes = self._routes, self._chosen(self._routes)
        self._rows = _active(self._routes)
        return self.since(before)

    def since(self, keep: Routes | Plan | None) -> RouteChange:
        """Compare the routes with others. Returns the rows that differ, and no rows if there are no others."""
        old = keep.routes if isinstance(keep, Plan) else keep
        before = self._rows if old is None else _active(old)
        return RouteChange(tuple(sorted(before - self._rows)), tuple(sorted(self._rows - before)))

    def _chosen(self, keep: Routes | None) -> Routes:
        return routes(self._source.overlay, keep, self._standby, self._rates, self._forests, inventory=self._inventory)


def _active(routes: Routes) -> frozenset[Row]:
    return frozenset(row for row, active in rows_of(routes).items() if active)
