"""Links that may not be: pairs of labels, and pairs of brokers of which neither may dial the other."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from topicloom.judge.connected import forbidden_links
from topicloom.model import BrokenTopic, ForbiddenLinks
from topicloom.model.arrays import Int32Array
from topicloom.model.forbidden import separated_sentence
from topicloom.routing.ownership import BrokerRole, undialled_pairs

_SHOWN = 5


@dataclass(frozen=True)
class Bars:
    """Forbidden pairs as they were given: by label.

    Attributes
    ----------
    pairs : tuple of pairs of str
    brokers : mapping or None
        Brokers by label; pairs of which neither may dial the other are forbidden, too.
    """

    pairs: tuple[tuple[str, str], ...] = ()
    brokers: Mapping[str, BrokerRole] | None = None

    @cached_property
    def forbidden(self) -> ForbiddenLinks:
        """What the overlay keeps of them."""
        return ForbiddenLinks.of(self.pairs, self.brokers)

    def by_id(self, numbers: Mapping[str, int], say: Callable[[str], object]) -> "BarredPairs":
        """Forbidden pairs as ids; ``numbers`` are the ids of all nodes. Says how many pairs forbid nothing.

        A pair that names a node without subscriptions, or one node twice, forbids nothing.

        Raises
        ------
        InvalidLinksError
            The inventory lacks a node, or forbids too many pairs.
        """
        found = [(numbers.get(u, -1), numbers.get(v, -1)) for u, v in self.pairs]
        used = [pair for pair in found if min(pair) >= 0 and pair[0] != pair[1]]
        if unused := len(found) - len(used):
            say(f"{unused:,} of {len(found):,} forbidden pairs name no two nodes of the subscriptions")
        named = np.array(used, np.int32).reshape(-1, 2)
        if self.brokers is not None:
            named = np.concatenate((named, undialled_pairs(numbers, self.brokers)))
        return BarredPairs(self.forbidden, numbers, named)


@dataclass(frozen=True)
class BarredPairs:
    """Forbidden pairs of an interest: by id.

    Attributes
    ----------
    forbidden : ForbiddenLinks
        The same as the overlay keeps them.
    numbers : mapping
        Id of every node by its label.
    ids : (m, 2) int32 array
    """

    forbidden: ForbiddenLinks
    numbers: Mapping[str, int]
    ids: Int32Array

    def faults(self, links: Any, broken: Iterable[tuple[BrokenTopic, Sequence[str]]]) -> list[str]:
        """What the judge finds wrong: forbidden links that are used, and topics that forbidden pairs cut.

        ``broken`` are broken topics with their subscribers, of which the first few are looked at.
        """
        used = forbidden_links(links, self.ids, len(self.numbers))
        faults = [f"{len(used):,} forbidden links are used"] if len(used) else []
        for _, (topic, subscribers) in zip(range(_SHOWN), broken):
            groups = self.forbidden.groups(subscribers)
            faults += [separated_sentence(topic.topic, groups)] if len(groups) > 1 else []
        return faults
