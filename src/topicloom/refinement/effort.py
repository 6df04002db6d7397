"""How much work a refinement is: counted in steps, never in seconds, so that a call can be repeated.

A *step* takes about a nanosecond. One unit of effort is the number of steps that Greedy Merge takes on the same
interest, or fewer: a formula fitted to times from 94 to 70,000 nodes. Making the state of a refinement is charged, too.
"""

from dataclasses import dataclass

import numpy as np

from topicloom.kernels.refinement.partners import FIRST_SEEN
from topicloom.kernels.refinement.swaps import STEPS_OF_LIST, STEPS_OF_READING
from topicloom.model import Interest

_HOT, _COLD = 0.5, 0.15
_LEAST_READ, _MOST_READ = 500, 12_000
_STEPS_OF_CHUNK = 4_000  # for each of a quarter of the links
_FOR_PARTNERS = 0.4  # of the effort, at most about


def steps_per_unit(interest: Interest, links: int, served: int) -> int:
    """Steps of one unit of effort for an overlay with that many links, which serve that many topics altogether.

    >>> import topicloom as tl
    >>> steps_per_unit(tl.datasets.example(), links=7, served=9)
    110000
    """
    subscribers = np.diff(interest.topic_indptr).astype(np.float64)
    n_nodes, pairs = interest.n_nodes, float(subscribers @ subscribers)
    table = 0.1 * pairs * (1 + n_nodes / 5_000) + 9.5 * (n_nodes * links) ** 0.8
    return round(int(100_000 + 300 * interest.n_topics + 1_000 * links + 40 * served + table), -3)


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
