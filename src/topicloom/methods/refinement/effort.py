"""How much work a refinement is: counted in steps, never in seconds, so that a call can be repeated.

A *step* takes half a nanosecond to one. One unit of effort is the number of steps that take about as long as Greedy
Merge on the same interest: a formula of what Greedy Merge does, with constants fitted to its times on 100 interests of
50 to 70,000 nodes. Making the state of a refinement is charged, too.
"""

import math
from dataclasses import dataclass

import numpy as np

from topicloom.kernels.greedy.dense import columns
from topicloom.kernels.greedy.engine import cheapest_search
from topicloom.kernels.swaps.partners import FIRST_SEEN
from topicloom.kernels.swaps.swaps import STEPS_OF_LIST, STEPS_OF_READING
from topicloom.model import Interest

_HOT, _COLD = 0.5, 0.15
_LEAST_READ, _MOST_READ = 500, 12_000
_STEPS_OF_CHUNK = 4_000  # for each of a quarter of the links
_FOR_PARTNERS = 0.4  # of the effort, at most about


def steps_per_unit(interest: Interest, links: int, served: int) -> int:
    """Steps of one unit of effort for an overlay with that many links, which serve that many topics altogether.

    >>> import topicloom as tl
    >>> steps_per_unit(tl.datasets.example(), links=7, served=9)
    255000
    """
    return round(int(250_000 + 620 * links + 30 * served + _steps_of_search(interest)), -3)


def _steps_of_search(interest: Interest) -> float:
    """Steps that take about as long as the search of Greedy Merge.

    Its dense search lowers the bounds of all pairs of nodes until nothing is left to gain. The bound of a pair is
    lowered the more often the more topics two nodes share (pairs / nodes² at the mean), and every time the columns of
    the topics are read. Both count by their square roots. Topics that few want, in a table of their own, double that.
    Its sparse search sweeps over the subscribers of all topics of each node.
    """
    n_nodes, subscribers = float(interest.n_nodes), np.diff(interest.topic_indptr)
    subscribers = np.sort(subscribers[subscribers > 1])[::-1]
    pairs = float(subscribers.astype(np.float64) @ subscribers)
    if cheapest_search(interest.n_nodes, np.diff(interest.indptr), subscribers) == "sparse":
        return 2_200 * n_nodes + 400 * float(subscribers.sum()) + 2.8 * pairs
    n_columns = columns(subscribers, interest.n_nodes, bound_bytes=1)
    tables = 2 if 8 * n_columns < len(subscribers) else 1
    return 0.6 * n_nodes * n_nodes + 0.3 * tables * n_nodes * math.sqrt(pairs * (n_columns + 1))


@dataclass(frozen=True)
class Schedule:
    """What a refinement of some effort does when."""

    steps: int
    per_unit: int
    chunk: int
    most_read: int

    @classmethod
    def of(cls, interest: Interest, links: int, served: int, effort: float) -> "Schedule":
        """The schedule for an overlay. Partners are looked for more widely the more effort there is."""
        per_unit = steps_per_unit(interest, links, served)
        steps = max(round(effort * per_unit), 1)
        per_list = _FOR_PARTNERS * steps / max(interest.n_nodes, 1)
        read = int((per_list - STEPS_OF_LIST) / (STEPS_OF_READING * (1 + FIRST_SEEN)))
        chunk = _STEPS_OF_CHUNK * max(250, links // 4)
        return cls(steps, per_unit, chunk, min(max(read, _LEAST_READ), _MOST_READ))

    def temperature(self, done: int) -> int:
        """Temperature after that many steps: it falls geometrically, in 1,024ths of the weight of a median topic."""
        share = min(done / self.steps, 1.0)
        return round(1024 * _HOT * float((_COLD / _HOT) ** share))
