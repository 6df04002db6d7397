"""What one event, or one batch of them, did to an overlay."""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple


class Rejection(NamedTuple):
    """An event of a batch that was not applied, and why."""

    event: Any
    reason: str


class RouteChange(NamedTuple):
    """Active rows (topic, src, dst, by label) that went and that came. Those that went are shut first."""

    removed: tuple[tuple[str, str, str], ...]
    added: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Change:
    """Links that an event or a batch changed, as the methods of `topicloom.Maintainer` return them.

    Attributes
    ----------
    added, removed : tuple of (str, str)
        Links by the labels of their ends, the smaller first, in the order in which they came or went. Those of a node
        that left are among the removed.
    shadow_size : int
        Nodes among which links were sought; summed over the repairs of a batch.
    candidates : int
        Links that were candidates of the greedy rule.
    seconds : float
        All of it; with a durable state, the commit included.
    backup_seconds : float
        The part of ``seconds`` that updating the backups of other nodes took (Step III of the paper).
    events : int
        Events applied.
    rejected : tuple of Rejection
        Events of a batch that could not be applied.
    rows : RouteChange, optional
        Rows of the topics' trees that went and came, where routes are followed (`Maintainer.follow_routes`).
    """

    added: tuple[tuple[str, str], ...] = ()
    removed: tuple[tuple[str, str], ...] = ()
    shadow_size: int = 0
    candidates: int = 0
    seconds: float = 0.0
    backup_seconds: float = 0.0
    events: int = 1
    rejected: tuple[Rejection, ...] = ()
    rows: RouteChange | None = None

    @property
    def repair_seconds(self) -> float:
        """Seconds without the backups of others: Steps I and II of the paper."""
        return self.seconds - self.backup_seconds

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready dictionary."""
        facts = asdict(self)
        return {
            **facts,
            "added": [list(link) for link in self.added],
            "removed": [list(link) for link in self.removed],
            "rejected": [rejection._asdict() for rejection in self.rejected],
            "rows": None if self.rows is None else rows_told(self.rows),
        }


def rows_told(rows: RouteChange) -> dict[str, list[list[str]]]:
    """Describe row changes for JSON, in the order in which they are to be made: ``off``, then ``on``."""
    return {"off": [list(row) for row in rows.removed], "on": [list(row) for row in rows.added]}
