"""How much work a refinement is: counted in visits of links, never in seconds, so that a call can be repeated.

One unit of effort takes about as long as Greedy Merge on the same interest, or less. That grows like the power 0.8 of
nodes times links. A visit takes 3 to 8 microseconds, and as long again for every 75 entries that its searches follow. A
list of partners takes as long as 5 visits and one more for every 250 members read.
"""

from dataclasses import dataclass

from topicloom.model import Overlay

_POWER, _DIVISOR = 0.8, 70
_VISITS_AT_LEAST = 500
_HOT, _COLD = 0.5, 0.15
_VISITS_PER_LIST, _MEMBERS_PER_VISIT, _ENTRIES_PER_VISIT = 5, 250, 75
_LEAST_READ, _MOST_READ = 500, 12_000
_FOR_PARTNERS = 0.4  # of the effort, at most about


def visits_per_unit(overlay: Overlay) -> int:
    """Visits of one unit of effort: (nodes · links)^0.8 / 70, and 500.

    >>> import topicloom as tl
    >>> visits_per_unit(tl.design(tl.datasets.example()))
    500
    """
    return int((overlay.interest.n_nodes * overlay.n_links) ** _POWER / _DIVISOR) + _VISITS_AT_LEAST


@dataclass(frozen=True)
class Schedule:
    """What a refinement of some effort does when."""

    visits: int
    per_unit: int
    chunk: int
    most_read: int

    @classmethod
    def of(cls, overlay: Overlay, effort: float) -> "Schedule":
        """The schedule for an overlay. Partners are looked for more widely the more effort there is."""
        per_unit = visits_per_unit(overlay)
        visits = max(round(effort * per_unit), 1)
        read = int(_MEMBERS_PER_VISIT * _FOR_PARTNERS * visits / max(overlay.interest.n_nodes, 1))
        return cls(visits, per_unit, max(250, overlay.n_links // 4), min(max(read, _LEAST_READ), _MOST_READ))

    @staticmethod
    def visits_for(lists: int, members: int, entries: int) -> int:
        """Visits that take as long as making lists of partners from members read, and following entries in searches."""
        return _VISITS_PER_LIST * lists + members // _MEMBERS_PER_VISIT + entries // _ENTRIES_PER_VISIT

    def temperature(self, done: int) -> int:
        """Temperature after that many visits: it falls geometrically, in 1,024ths of the weight of a median topic."""
        share = min(done / self.visits, 1.0)
        return round(1024 * _HOT * float((_COLD / _HOT) ** share))
