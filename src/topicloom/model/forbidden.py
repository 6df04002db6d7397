"""ForbiddenLinks: links that an overlay may never have, by the names of their ends."""

import json
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
import pyarrow as pa

from topicloom.errors import InvalidLinksError, InvalidOptionError
from topicloom.model.arrays import Int32Array, normalized_links
from topicloom.model.interest import Interest
from topicloom.model.labels import MAX_LABEL_BYTES

MOST_PAIRS = 20_000_000
PAIRS, RULES = "forbidden", "dialling"  # parts of an overlay directory
_PAIR_COLUMNS, _RULE_COLUMNS = ("src", "dst"), ("node", "dials", "accepts")
_SHOWN = 5


class Dialling(Protocol):
    """What a broker of an inventory says of its connections."""

    @property
    def dials(self) -> bool:
        """Whether it may open connections."""

    @property
    def accepts(self) -> bool:
        """Whether it may be connected to."""


@dataclass(frozen=True)
class ForbiddenLinks:
    """Links that may not be: named pairs, and pairs of nodes of which neither may dial the other.

    An `Overlay` keeps them, so that whatever changes its links knows them. A node without a rule dials and accepts. It
    is true if it forbids anything.

    Parameters
    ----------
    pairs : pairs of str
        Nodes that may not be linked, also nodes that are not there yet. A node beside itself forbids nothing.
    no_dial, no_accept : set of str
        Nodes that may not open connections, and nodes that may not be connected to.

    Raises
    ------
    InvalidLinksError
        A pair is not one of two names.

    Notes
    -----
    Rules are kept per node: they take O(nodes) memory, however many pairs they forbid.

    Examples
    --------
    >>> import topicloom as tl
    >>> from topicloom.model import ForbiddenLinks
    >>> forbidden = ForbiddenLinks([("a", "b")], no_accept={"c", "d"})
    >>> forbidden.forbids("b", "a"), forbidden.forbids("c", "d"), forbidden.forbids("a", "c")
    (True, True, False)
    >>> interest = tl.Interest.from_pairs(list("abcabd"), list("tttuuu"))
    >>> overlay = tl.design(interest, forbid=forbidden)
    >>> overlay.forbidden == forbidden, tl.refine(overlay).n_links
    (True, 4)
    """

    pairs: frozenset[tuple[str, str]] = frozenset()
    no_dial: frozenset[str] = frozenset()
    no_accept: frozenset[str] = frozenset()

    def __init__(self, pairs: Iterable[Any] = (), no_dial: Iterable[str] = (), no_accept: Iterable[str] = ()) -> None:
        checked = (_checked_pair(pair) for pair in pairs)
        object.__setattr__(self, "pairs", frozenset(pair for pair in checked if pair[0] != pair[1]))
        for name, nodes in (("no_dial", no_dial), ("no_accept", no_accept)):
            object.__setattr__(self, name, frozenset(map(_checked_name, nodes)))

    @classmethod
    def of(cls, pairs: Iterable[Any] = (), brokers: Mapping[str, Dialling] | None = None) -> Self:
        """Take pairs, and what the brokers of an inventory may not do."""
        entries = () if brokers is None else brokers.items()
        return cls(
            pairs,
            (name for name, broker in entries if not broker.dials),
            (name for name, broker in entries if not broker.accepts),
        )

    def __bool__(self) -> bool:
        return bool(self.pairs or self.no_dial or self.no_accept)

    def __or__(self, other: Self) -> Self:
        """Return what either forbids."""
        return type(self)(self.pairs | other.pairs, self.no_dial | other.no_dial, self.no_accept | other.no_accept)

    def __repr__(self) -> str:
        return f"ForbiddenLinks({len(self.pairs):,} pairs, {len(self.no_dial | self.no_accept):,} nodes with rules)"

    def refuse(self, what: str) -> None:
        """Refuse what would not keep off forbidden links, where there are any.

        Raises
        ------
        InvalidOptionError
        """
        if self:
            raise InvalidOptionError(
                f"{what} does not keep off forbidden links, and the overlay has some; design the whole afresh with them"
            )

    def forbids(self, u: str, v: str) -> bool:
        """Tell whether two nodes may not be linked."""
        return bool(self._against({v}, u))

    def allowed(self, node: str, others: Set[str]) -> set[str]:
        """Return those of other nodes that a node may be linked to."""
        return set(others) - self._against(others, node) - {node}

    def ids(self, numbers: Mapping[str, int]) -> Int32Array:
        """Return the forbidden pairs among some nodes, (m, 2) int32 ascending. ``numbers`` gives the id of every name.

        Raises
        ------
        InvalidLinksError
            There are more than 20 million such pairs.
        """
        named = [
            (number, numbers[other])
            for name, number in numbers.items()
            for other in self._named.get(name, ())
            if name < other and other in numbers
        ]
        silent = sorted(numbers[name] for name in (self.no_dial - self.no_accept) & numbers.keys())
        closed = sorted(numbers[name] for name in (self.no_accept - self.no_dial) & numbers.keys())
        idle = sorted(numbers[name] for name in self.no_dial & self.no_accept & numbers.keys())
        count = len(silent) ** 2 // 2 + len(closed) ** 2 // 2 + len(idle) * len(numbers)
        if count > MOST_PAIRS:
            raise InvalidLinksError(
                f"about {count:,} pairs of brokers may not dial each other; at most {MOST_PAIRS:,} are accepted"
            )
        groups = [np.array(group, np.int64) for group in (silent, closed)]
        within = [np.column_stack([group[end] for end in np.triu_indices(len(group), 1)]) for group in groups]
        alone = [(one, other) for one in idle for other in numbers.values() if other != one]
        pairs = [np.array(found, np.int64).reshape(-1, 2) for found in (named, *within, alone)]
        highest = max(numbers.values(), default=-1)
        found = normalized_links(np.concatenate(pairs).astype(np.int32), highest + 1)
        ascending: Int32Array = found[np.lexsort((found[:, 1], found[:, 0]))]
        return ascending

    def among(self, interest: Interest) -> Int32Array:
        """Return the forbidden pairs of nodes of an interest, (m, 2) node ids. See `ids`."""
        return self.ids(_numbers(interest)) if self else np.empty((0, 2), np.int32)

    def used(self, interest: Interest, links: Int32Array) -> Int32Array:
        """Return the links that are forbidden, (m, 2) node ids. O(nodes + links + pairs)."""
        if not self or not len(links):
            return np.empty((0, 2), np.int32)
        names = [interest.node_label(v) for v in range(interest.n_nodes)]
        dials, accepts = (
            np.array([name not in group for name in names], bool) for group in (self.no_dial, self.no_accept)
        )
        u, v = links[:, 0].astype(np.int64), links[:, 1].astype(np.int64)
        bad = ~((dials[u] & accepts[v]) | (dials[v] & accepts[u]))
        numbers = {name: number for number, name in enumerate(names)}
        named = np.array([(numbers[a], numbers[b]) for a, b in self.pairs if a in numbers and b in numbers], np.int64)
        keys = np.sort(named.reshape(-1, 2), axis=1) @ np.array([len(names), 1])
        bad |= np.isin(np.minimum(u, v) * len(names) + np.maximum(u, v), keys)
        found: Int32Array = links[bad]
        return found

    def groups(self, nodes: Iterable[str]) -> list[list[str]]:
        """Split nodes into groups that cannot meet because every link between two groups is forbidden.

        There is one group when links that are allowed can connect them. Each is sorted; that of the smallest name
        comes first. Takes O(nodes + forbidden pairs) time.
        """
        waiting, found = set(nodes), []
        for start in sorted(waiting):
            if start not in waiting:
                continue
            waiting.discard(start)
            group, frontier = [start], [start]
            while frontier and waiting:
                reached = self.allowed(frontier.pop(), waiting)
                waiting -= reached
                group += reached
                frontier += reached
            found.append(sorted(group))
        return found

    def tables(self) -> dict[str, pa.Table]:
        """Return the parts of an overlay directory that hold it, by name. There are none if nothing is forbidden."""
        tables = {}
        if self.pairs:
            ends = zip(*sorted(self.pairs))
            tables[PAIRS] = pa.table({name: pa.array(end, pa.string()) for name, end in zip(_PAIR_COLUMNS, ends)})
        if self.no_dial or self.no_accept:
            nodes = sorted(self.no_dial | self.no_accept)
            told = [nodes, *([node not in group for node in nodes] for group in (self.no_dial, self.no_accept))]
            tables[RULES] = pa.table(dict(zip(_RULE_COLUMNS, told)))
        return tables

    @classmethod
    def from_tables(cls, pairs: pa.Table | None, rules: pa.Table | None) -> Self:
        """Read what `tables` made."""
        rows = [] if rules is None else rules.to_pylist()
        ends = [] if pairs is None else [pairs[name].to_pylist() for name in _PAIR_COLUMNS]
        if any(type(row[name]) is not bool for row in rows for name in _RULE_COLUMNS[1:]):
            raise InvalidLinksError(f"{RULES}/ has a rule that is neither true nor false")
        return cls(
            zip(*ends),
            (row["node"] for row in rows if not row["dials"]),
            (row["node"] for row in rows if not row["accepts"]),
        )

    def to_json(self) -> str:
        """Return it as text, for a durable state."""
        return json.dumps([sorted(map(list, self.pairs)), sorted(self.no_dial), sorted(self.no_accept)])

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` made."""
        pairs, no_dial, no_accept = json.loads(text)
        return cls(pairs, no_dial, no_accept)

    @cached_property
    def _named(self) -> dict[str, set[str]]:
        named: dict[str, set[str]] = {}
        for u, v in self.pairs:
            named.setdefault(u, set()).add(v)
            named.setdefault(v, set()).add(u)
        return named

    def _against(self, others: Set[str], node: str) -> set[str]:
        """Those of other nodes that a node may not be linked to."""
        mute, deaf = node in self.no_dial, node in self.no_accept
        if mute and deaf:
            return set(others)
        ruled = self.no_dial if mute else self.no_accept if deaf else self.no_dial & self.no_accept
        return set(self._named.get(node, set()) & others) | (ruled & others)


def separated_sentence(topic: Any, groups: list[list[str]]) -> str:
    """Say which groups of a topic's subscribers cannot meet."""
    shown = " and ".join(_group(group) for group in groups[:_SHOWN])
    rest = f" and {len(groups) - _SHOWN:,} more groups" if len(groups) > _SHOWN else ""
    return f"topic {topic!r} cannot be connected: every link between {shown}{rest} is forbidden"


def _group(names: list[str]) -> str:
    more = f", … {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return "{" + ", ".join(map(repr, names[:_SHOWN])) + more + "}"


def _numbers(interest: Interest) -> dict[str, int]:
    return {interest.node_label(v): v for v in range(interest.n_nodes)}


def _checked_pair(pair: Any) -> tuple[str, str]:
    ends: Iterator[Any] = iter(()) if isinstance(pair, str | bytes) or not isinstance(pair, Iterable) else iter(pair)
    names = [_checked_name(end) for end in ends]
    if len(names) != 2:
        raise InvalidLinksError(f"a forbidden pair is {pair!r:.80}; two names of nodes are accepted")
    return (names[0], names[1]) if names[0] < names[1] else (names[1], names[0])


def _checked_name(name: Any) -> str:
    if not isinstance(name, str) or len(name.encode("utf-8", "surrogatepass")) > MAX_LABEL_BYTES:
        raise InvalidLinksError(f"forbidden links name {name!r:.80}, which cannot be a node; text is accepted")
    return str(name)
