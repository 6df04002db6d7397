"""The rows of a network's tables: what each kind of row says, and how cells become it."""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

from topicloom.errors import InvalidNetworkError
from topicloom.model.checks import checked_kind

Rows = Sequence[tuple[str, Mapping[str, Any]]]  # where each row stands, and its cells by column
_YES, _NO = ("yes", "true", "1", "x"), ("no", "false", "0")
_BETWEEN_SITES = ";"
EVERY_SITE = "*"
_SHOWN = 5
_MOST_LINKS = 2**31 - 1


@dataclass(frozen=True)
class NetworkNode:
    """A node: where it is, how many links it may have, and whether it may relay.

    ``units`` are further groups that may fail together, such as its rack, as pairs of a column and a name.
    """

    node: str
    site: str = ""
    max_links: int | None = None
    relay: bool = False
    price_of_relaying: float = 0.0
    dials: bool = True
    accepts: bool = True
    units: tuple[tuple[str, str], ...] = ()
    where: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class NetworkSite:
    """A site, the price of a link inside it, and whether its nodes may dial each other."""

    site: str
    price: float | None = None
    may_dial: bool = True
    where: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class SitePair:
    """The price of a link between two sites, and whether nodes of the first may dial nodes of the second."""

    src: str
    dst: str
    price: float | None = None
    may_dial: bool = True
    where: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class NetworkPair:
    """Two nodes, and what holds for a link between them: its price, or that it is forbidden, required or there now."""

    src: str
    dst: str
    price: float | None = None
    forbidden: bool = False
    required: bool = False
    standing: bool = False
    where: str = field(default="", compare=False, repr=False)

    @property
    def key(self) -> tuple[str, str]:
        """The two names in order."""
        return (self.src, self.dst) if self.src < self.dst else (self.dst, self.src)


@dataclass(frozen=True)
class NetworkTopic:
    """The rate of a topic in messages a second, and the sites of which nodes may carry it."""

    topic: str
    rate: float | None = None
    allowed_sites: tuple[str, ...] | None = None
    where: str = field(default="", compare=False, repr=False)


def fail(where: str, sentence: str) -> NoReturn:
    """Raise the error that says where a row is wrong."""
    raise InvalidNetworkError(f"{where}: {sentence}" if where else sentence)


def listed(names: Iterable[str]) -> str:
    """Some names in words, the first few of them."""
    every = list(names)
    more = f" and {len(every) - _SHOWN:,} more" if len(every) > _SHOWN else ""
    return ", ".join(map(repr, every[:_SHOWN])) + more


def rows_of(name: str, table: Any) -> Rows:
    """Rows of a table of any kind, with their cells by column."""
    if isinstance(table, pa.Table):
        rows = table.to_pylist()
    elif hasattr(table, "to_arrow"):  # polars
        rows = table.to_arrow().to_pylist()
    elif hasattr(table, "columns"):
        rows = pa.Table.from_pandas(table, preserve_index=False).to_pylist()
    elif isinstance(table, Mapping):
        columns = {column: list(cells) for column, cells in table.items()}
        lengths = {len(cells) for cells in columns.values()}
        if len(lengths) > 1:
            raise InvalidNetworkError(f"the columns of {name} have {min(lengths)} to {max(lengths)} rows; all the same")
        rows = [dict(zip(columns, cells)) for cells in zip(*columns.values())]
    elif isinstance(table, Iterable) and not isinstance(table, str):
        rows = [dict(checked_kind(f"a row of {name}", row, Mapping, "a mapping")) for row in table]
    else:
        raise InvalidNetworkError(f"{name} is {type(table).__name__}; a table, a mapping or a list of rows is accepted")
    return [(f"{name} row {place}", row) for place, row in enumerate(rows, 1)]


class _Row:
    """The cells of one row, checked as they are taken."""

    def __init__(self, where: str, cells: Mapping[str, Any]) -> None:
        self.where = where
        cells = {name: _BETWEEN_SITES.join(map(str, c)) if _is_list(c) else c for name, c in cells.items()}
        self._cells = {
            str(name): cell
            for name, cell in cells.items()
            if cell is not None and cell != "" and cell == cell  # noqa: PLR0124 - NaN
        }

    def text(self, name: str) -> str:
        cell = self._cells.pop(name, "")
        if isinstance(cell, bool | float) and not float(cell).is_integer():
            fail(self.where, f"{name} is {cell!r}, not a name")
        return str(int(cell)) if isinstance(cell, float) else str(cell)

    def name(self, name: str) -> str:
        found = self.text(name)
        if not found:
            fail(self.where, f"{name} is empty")
        return found

    def number(self, name: str) -> float | None:
        cell = self._cells.pop(name, None)
        if cell is None:
            return None
        try:
            return float(cell)
        except (TypeError, ValueError):
            point = str(cell).replace(",", ".", 1)
            hint = f"; write {point}" if str(cell).count(",") == 1 and _is_number(point) else ""
            fail(self.where, f"{name} is {str(cell)[:40]!r}, not a number{hint}")

    def whole(self, name: str) -> int | None:
        found = self.number(name)
        if found is not None and not (found.is_integer() and abs(found) <= _MOST_LINKS):
            fail(self.where, f"{name} is {found:g}; a whole number up to {_MOST_LINKS:,} is accepted")
        return None if found is None else int(found)

    def yes(self, name: str, usual: bool) -> bool:
        cell = self._cells.pop(name, usual)
        told = str(cell).strip().lower()
        if isinstance(cell, bool | np.bool_) or told in (*_YES, *_NO):
            return told in _YES
        return fail(self.where, f"{name} is {str(cell)[:40]!r}; yes or no is accepted")

    def rest(self, known: Sequence[str]) -> dict[str, str]:
        """Return the cells that nobody took, as text. Refuses a column whose name is almost one that is known."""
        for name in self._cells:  # but the first, which every row has
            if alike := difflib.get_close_matches(name, known[1:], 1, 0.75):
                fail(self.where, f"there is a column {name!r}; perhaps {alike[0]!r} is meant")
        return {name: self.text(name) for name in list(self._cells)}

    def end(self, known: Sequence[str]) -> None:
        """Refuse cells that nobody took."""
        for name in self._cells:
            fail(self.where, f"there is a column {name!r}; known are {', '.join(known)}")


_COLUMNS = {
    "nodes": ("node", "site", "max_links", "relay", "price_of_relaying", "dials", "accepts"),
    "sites": ("site", "price", "may_dial"),
    "site_pairs": ("from", "to", "price", "may_dial"),
    "pairs": ("src", "dst", "price", "forbidden", "required", "standing"),
    "topics": ("topic", "rate", "allowed_sites"),
}


def _nodes_of(rows: Rows) -> Iterator[NetworkNode]:
    for where, cells in rows:
        row = _Row(where, cells)
        yield NetworkNode(
            node=row.name("node"),
            site=row.text("site"),
            max_links=row.whole("max_links"),
            relay=row.yes("relay", usual=False),
            price_of_relaying=row.number("price_of_relaying") or 0.0,
            dials=row.yes("dials", usual=True),
            accepts=row.yes("accepts", usual=True),
            units=tuple(row.rest(_COLUMNS["nodes"]).items()),
            where=where,
        )


def _sites_of(rows: Rows) -> Iterator[NetworkSite]:
    for where, cells in rows:
        row = _Row(where, cells)
        yield NetworkSite(row.name("site"), row.number("price"), row.yes("may_dial", usual=True), where)
        row.end(_COLUMNS["sites"])


def _site_pairs_of(rows: Rows) -> Iterator[SitePair]:
    for where, cells in rows:
        row = _Row(where, cells)
        yield SitePair(row.name("from"), row.name("to"), row.number("price"), row.yes("may_dial", usual=True), where)
        row.end(_COLUMNS["site_pairs"])


def _pairs_of(rows: Rows) -> Iterator[NetworkPair]:
    for where, cells in rows:
        row = _Row(where, cells)
        said = {name: row.yes(name, usual=False) for name in ("forbidden", "required", "standing")}
        yield NetworkPair(row.name("src"), row.name("dst"), row.number("price"), **said, where=where)
        row.end(_COLUMNS["pairs"])


def _topics_of(rows: Rows) -> Iterator[NetworkTopic]:
    for where, cells in rows:
        row = _Row(where, cells)
        topic, rate = row.name("topic"), row.number("rate")
        allowed = [name.strip() for name in row.text("allowed_sites").split(_BETWEEN_SITES)]
        yield NetworkTopic(topic, rate, tuple(filter(None, allowed)) or None, where)
        row.end(_COLUMNS["topics"])


def _is_list(cell: Any) -> bool:
    return isinstance(cell, list | tuple | np.ndarray)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


PARSERS: dict[str, Any] = {
    "nodes": _nodes_of,
    "sites": _sites_of,
    "site_pairs": _site_pairs_of,
    "pairs": _pairs_of,
    "topics": _topics_of,
}
