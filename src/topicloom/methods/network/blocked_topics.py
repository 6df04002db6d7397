"""Topics that no allowed link can connect: the groups that cannot meet, and the relays that would mend it."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from topicloom.kernels.network.expanded import Expanded, lay_out
from topicloom.kernels.network.reach import groups_of
from topicloom.model import Interest
from topicloom.model.arrays import Int64Array
from topicloom.model.network_arrays import NetworkArrays

_SHOWN = 20
_MOST_TRIED = 200  # nodes of which two or three together are tried as relays


@dataclass(frozen=True)
class BlockedTopic:
    """A topic whose subscribers no allowed link can bring together, whatever the caps and prices.

    Attributes
    ----------
    topic : int
    unit : int
        The failure unit without which it is so, -1 if it is so with all nodes up.
    groups : tuple of int64 arrays
        Subscribers; those of different groups cannot meet.
    relays : tuple of int
        Nodes that would connect the groups if they relayed the topic; empty if no nodes would.
    """

    topic: int
    unit: int
    groups: tuple[Int64Array, ...]
    relays: tuple[int, ...]

    def to_dict(self, interest: Interest) -> dict[str, Any]:
        """JSON-ready dictionary with names: at most twenty groups, and twenty nodes of each."""
        return {
            "topic": interest.topic_label(self.topic),
            "unit": None if self.unit < 0 else self.unit,
            "groups": [[interest.node_label(int(v)) for v in group[:_SHOWN]] for group in self.groups[:_SHOWN]],
            "relays": [interest.node_label(v) for v in self.relays],
        }


def blocked_topics(x: Expanded, broken: Int64Array, network: NetworkArrays) -> list[BlockedTopic]:
    """Explain virtual topics that growth without caps left in pieces.

    Parameters
    ----------
    x : Expanded
    broken : int64
        Virtual topics.
    network : NetworkArrays

    Returns
    -------
    list of BlockedTopic
        In the order of ``broken``.
    """
    chosen: list[int] = []
    return [_explain(x, int(t), network, chosen) for t in broken]


def _explain(x: Expanded, t: int, network: NetworkArrays, chosen: list[int]) -> BlockedTopic:
    """Explain one virtual topic. ``chosen`` has the relays that mend others: they are tried first."""
    entries = np.arange(x.topic_ptr[t], x.topic_ptr[t + 1])
    members = x.member[entries].astype(np.int64)
    labels = groups_of(x, members)
    wants = x.wants[entries]
    groups = tuple(members[wants & (labels == label)] for label in np.unique(labels[wants]))
    topic, unit = int(x.base[t]), int(x.unit[t])
    able = np.ones(len(x.site), bool) if network.allowed_sites is None else network.allowed_sites[topic][x.site]
    able = able.copy()
    able[members] = False
    if unit >= 0 and network.survive is not None:
        able &= network.survive != unit
    candidates = np.flatnonzero(able)
    relays: tuple[int, ...] = ()
    for tried in _relay_sets(chosen, candidates):
        if _connects(x, members, wants, tried):
            relays = tried
            break
    else:
        if _connects(x, members, wants, tuple(candidates.tolist())):
            relays = _thinned(x, members, wants, candidates.tolist())
    chosen.extend(v for v in relays if v not in chosen)
    return BlockedTopic(topic, unit, groups, relays)


def _relay_sets(chosen: list[int], candidates: Int64Array) -> Iterator[tuple[int, ...]]:
    able = candidates.tolist()
    first = [v for v in chosen if v in set(able)]
    yield from ((v,) for v in first)
    yield from ((v,) for v in able if v not in first)
    if len(able) <= _MOST_TRIED:
        yield from combinations(able, 2)


def _connects(x: Expanded, members: Int64Array, wants: Any, relays: tuple[int, ...]) -> bool:
    labels = groups_of(x, np.concatenate([members, np.array(relays, np.int64)]))
    return len(np.unique(labels[: len(members)][wants])) == 1


def _thinned(x: Expanded, members: Int64Array, wants: Any, relays: list[int]) -> tuple[int, ...]:
    """Leave out one relay after the other while the rest connects the topic."""
    needed = list(relays)
    for v in relays:
        rest = tuple(other for other in needed if other != v)
        if _connects(x, members, wants, rest):
            needed = list(rest)
    return tuple(needed)


def split_blocked(x: Expanded, broken: Int64Array) -> Expanded:
    """Let every group of a virtual topic that cannot be whole be a virtual topic of its own.

    Parameters
    ----------
    x : Expanded
    broken : int64
        The virtual topics in question.

    Returns
    -------
    Expanded
        Without caps each of its virtual topics can be whole. Nodes alone in their group have none.
    """
    if not len(broken):
        return x
    part = np.zeros(len(x.member), np.int64)
    for t in broken:
        entries = slice(int(x.topic_ptr[t]), int(x.topic_ptr[t + 1]))
        part[entries] = groups_of(x, x.member[entries].astype(np.int64))
    key = x.topic_of.astype(np.int64) * (int(part.max(initial=0)) + 1) + part
    _, first, of = np.unique(key, return_index=True, return_inverse=True)
    wanted = np.bincount(of, x.wants, len(first))
    keep = wanted[of] > 1
    number = np.cumsum(wanted > 1) - 1
    order = np.lexsort((x.member[keep], number[of][keep]))
    parent = x.topic_of[first[wanted > 1]]
    new, member, wants, row = (column[keep][order] for column in (number[of], x.member, x.wants, x.row))
    base, unit, weight = x.base[parent], x.unit[parent], x.weight[parent]
    made: Expanded = lay_out(x, new, member, wants, row, base, unit, weight)
    return made
