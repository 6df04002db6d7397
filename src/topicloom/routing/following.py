"""Routes that follow an overlay under churn, with trees that stay where they can."""

from typing import NamedTuple, Protocol

from topicloom.judge.barriers import Row
from topicloom.model.overlay import Overlay
from topicloom.routing.changes import rows_of
from topicloom.routing.ownership import Brokers
from topicloom.routing.plan import Plan
from topicloom.routing.route_table import Routes
from topicloom.routing.topic_trees import Rates, routes


class Maintained(Protocol):
    """Whatever has an overlay that changes, such as `topicloom.Maintainer`."""

    @property
    def overlay(self) -> Overlay:
        """The overlay now."""


class RouteChange(NamedTuple):
    """Active rows (topic, src, dst, by label) that went and that came; those that went are shut first."""

    removed: tuple[Row, ...]
    added: tuple[Row, ...]


class RouteFollower:
    """Keeps one tree per topic over an overlay that changes, with few row changes.

    Parameters
    ----------
    source : Maintainer
        Or anything else with an ``overlay``.
    keep : Routes or Plan, optional
        The routes that run now.
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
        self._source = source
        self._standby, self._rates, self._inventory = standby, rates, inventory
        self._routes = self._chosen(keep)
        self._rows = _active(self._routes)

    @property
    def routes(self) -> Routes:
        """The routes after the last update."""
        return self._routes

    def update(self) -> RouteChange:
        """Take over what the overlay is now. Returns the rows that changed since the last update."""
        self._routes = self._chosen(self._routes)
        before, self._rows = self._rows, _active(self._routes)
        return RouteChange(tuple(sorted(before - self._rows)), tuple(sorted(self._rows - before)))

    def _chosen(self, keep: Routes | Plan | None) -> Routes:
        return routes(self._source.overlay, keep, self._standby, self._rates, inventory=self._inventory)


def _active(routes: Routes) -> frozenset[Row]:
    return frozenset(row for row, active in rows_of(routes).items() if active)
