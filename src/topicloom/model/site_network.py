"""Network: sites, prices, who may dial whom, relays, caps and links that stand, by name."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from topicloom.errors import InvalidNetworkError, InvalidOptionError
from topicloom.model.arrays import Int32Array
from topicloom.model.checks import checked_kind
from topicloom.model.forbidden import ForbiddenLinks
from topicloom.model.interest import Interest
from topicloom.model.network_arrays import BoolArray, Float64Array, NetworkArrays
from topicloom.model.network_checks import check_network
from topicloom.model.network_rows import (
    EVERY_SITE,
    PARSERS,
    NetworkNode,
    NetworkPair,
    NetworkSite,
    NetworkTopic,
    Rows,
    SitePair,
    fail,
    listed,
    rows_of,
)


@dataclass(frozen=True, repr=False)
class Network:
    """The network that there is: sites, prices of links, firewalls, limits, relays, and links that stand.

    Only what differs from the usual has to be said: a link costs 1, every node may dial every other, no node relays,
    and nodes have as many links as they like. A rule for two sites holds for all their nodes, and is kept as such.

    Parameters
    ----------
    nodes : NetworkNode
        Every node of the overlay. Either all have a site or none has.
    sites : NetworkSite
        Where there are any, every site that a node names.
    site_pairs : SitePair
        A pair of sites holds in both directions unless the other direction has a row of its own, and has one price.
        ``*`` for both sites is the row of all pairs of different sites that have none. Without it, nodes of two sites
        without a row may not be linked, where any two different sites have one.
    pairs : NetworkPair
        A pair's own price comes before that of the sites. It does not let anyone dial.
    topics : NetworkTopic

    Raises
    ------
    InvalidNetworkError
        Something is unknown, named twice, out of range, or contradicts another row. The message names the rows.

    See Also
    --------
    Network.read : reads a folder of tables.
    Network.from_tables : takes tables of pandas or Arrow.

    Notes
    -----
    Takes O(nodes + sites + rows) memory. An `Overlay` keeps its network.

    Examples
    --------
    >>> import topicloom as tl
    >>> network = tl.Network.from_tables(
    ...     nodes={"node": ["a", "b", "c"], "site": ["north", "north", "south"], "max_links": [2, None, None]},
    ...     site_pairs={"from": ["north"], "to": ["south"], "price": [30]},
    ... )
    >>> network.price("a", "b"), network.price("b", "c")
    (1.0, 30.0)
    >>> network
    Network(3 nodes, 2 sites)
    """

    nodes: tuple[NetworkNode, ...]
    sites: tuple[NetworkSite, ...] = ()
    site_pairs: tuple[SitePair, ...] = ()
    pairs: tuple[NetworkPair, ...] = ()
    topics: tuple[NetworkTopic, ...] = ()

    def __post_init__(self) -> None:
        for name, kind in _KINDS.items():
            given = tuple(getattr(self, name))
            for one in given:
                checked_kind(f"a row of {name}", one, kind, kind.__name__)
            object.__setattr__(self, name, given)
        check_network(self)

    @classmethod
    def read(
        cls, folder: str | Path, *, separator: str | None = None, encoding: str | None = None, trim: bool = False
    ) -> Self:
        r"""Read a folder of tables: ``nodes.csv``, and ``sites``, ``site_pairs``, ``pairs`` and ``topics`` if given.

        Parameters
        ----------
        folder : str or Path
            The files end in .csv, .tsv or .txt, also compressed, and have a header: ``nodes`` (node, site, max_links,
            relay, price_of_relaying, dials, accepts; any other column says what fails together), ``sites`` (site,
            price, may_dial), ``site_pairs`` (from, to, price, may_dial), ``pairs`` (src, dst, price, forbidden,
            required, standing), ``topics`` (topic, rate, allowed_sites with semicolons between). Only the names are
            needed. Yes and no are written so.
        separator, encoding
            Of all files. They are found out unless given.
        trim
            Take blanks off both ends of the names of nodes and topics.

        Returns
        -------
        Network

        Raises
        ------
        InputNotFoundError, UnreadableInputError
        InvalidNetworkError
            The message has the file and the line.

        Examples
        --------
        >>> import tempfile, topicloom as tl
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "nodes.csv").write_text("node,site\na,north\nb,south\n")
        ...     tl.Network.read(folder)
        Network(2 nodes, 2 sites)
        """
        from topicloom.files.read.network_tables import read_tables  # upwards, as `Overlay.load` does

        return cls.from_rows(read_tables(Path(folder), separator=separator, encoding=encoding, trim=trim))

    @classmethod
    def from_tables(
        cls, nodes: Any, *, sites: Any = None, site_pairs: Any = None, pairs: Any = None, topics: Any = None
    ) -> Self:
        """Take tables of pandas, polars or Arrow, mappings of columns, or lists of rows, with the columns of `read`.

        Parameters
        ----------
        nodes, sites, site_pairs, pairs, topics : table

        Returns
        -------
        Network

        Raises
        ------
        InvalidNetworkError
            The message names the table and the row, the first of which is 1.
        """
        given = {"nodes": nodes, "sites": sites, "site_pairs": site_pairs, "pairs": pairs, "topics": topics}
        return cls.from_rows({name: rows_of(name, table) for name, table in given.items() if table is not None})

    @classmethod
    def from_rows(cls, tables: Mapping[str, Rows]) -> Self:
        """Make a network of rows: where each stands, and its cells by column. A cell is text, a value or None."""
        if not tables.get("nodes"):
            raise InvalidNetworkError("a network needs its nodes; the table nodes has no row")
        return cls(**{name: tuple(PARSERS[name](rows)) for name, rows in tables.items()})

    def __repr__(self) -> str:
        parts = [f"{len(self.nodes):,} nodes", f"{len(self.site_names):,} sites"]
        for name in ("pairs", "topics"):
            if rows := getattr(self, name):
                parts.append(f"{len(rows):,} {name}")
        return f"Network({', '.join(parts)})"

    @cached_property
    def site_names(self) -> tuple[str, ...]:
        """The sites, ascending. A network without sites has one without a name."""
        return tuple(sorted({node.site for node in self.nodes} | {site.site for site in self.sites}))

    def site_of(self, node: str) -> str:
        """Return the site of a node."""
        return self._nodes[node].site

    def price(self, u: str, v: str) -> float:
        """Return what a link between two nodes costs. It is infinite where none may be."""
        if not self.linkable(u, v):
            return math.inf
        sites, own = self._sites, self._pairs.get((u, v) if u < v else (v, u))
        if own is not None and own.price is not None:
            return own.price
        return float(sites.price[sites.number[self.site_of(u)], sites.number[self.site_of(v)]])

    def linkable(self, u: str, v: str) -> bool:
        """Tell whether two nodes may be linked: the pair is not forbidden, and one of them may dial the other."""
        own = self._pairs.get((u, v) if u < v else (v, u))
        return not (own is not None and own.forbidden) and self._dialled(u, v)

    def may_dial(self, u: str, v: str) -> bool:
        """Tell whether the first of two nodes may open a connection to the second."""
        one, other, sites = self._nodes[u], self._nodes[v], self._sites
        allowed = sites.may_dial[sites.number[one.site], sites.number[other.site]]
        return bool(one.dials and other.accepts and allowed)

    def forbidden_links(self) -> ForbiddenLinks:
        """Return those of the rules that `ForbiddenLinks` can say: forbidden pairs, and nodes that may not dial."""
        return ForbiddenLinks(
            (pair.key for pair in self.pairs if pair.forbidden),
            (node.node for node in self.nodes if not node.dials),
            (node.node for node in self.nodes if not node.accepts),
        )

    @cached_property
    def beyond_forbidden(self) -> tuple[str, ...]:
        """Rules that `forbidden_links` does not say, by name: what changes links knows forbidden links alone."""
        sites = self._sites
        found = {
            "prices": bool((sites.price != sites.price[0, 0]).any() or any(p.price is not None for p in self.pairs)),
            "who may dial between sites": not sites.may_dial.all(),
            "limits of links": any(node.max_links is not None for node in self.nodes),
            "relays": any(node.relay for node in self.nodes),
            "required links": any(pair.required for pair in self.pairs),
        }
        return tuple(name for name, there in found.items() if there)

    def refuse(self, what: str) -> None:
        """Refuse what changes links by other rules than those of the network.

        Raises
        ------
        InvalidOptionError
        """
        if self.beyond_forbidden:
            raise InvalidOptionError(
                f"{what} does not keep to the network of the overlay ({', '.join(self.beyond_forbidden)}); "
                "design the whole afresh with it"
            )

    def widened(self, interest: Interest) -> Interest:
        """Add the nodes that want nothing and may still have links: permitted relays, and ends of required links.

        Returns the interest itself if there are none. Labels stay in order; ids of nodes may change.
        """
        names = [interest.node_label(v) for v in range(interest.n_nodes)]
        useful = {node.node for node in self.nodes if node.relay}
        useful |= {end for pair in self.pairs if pair.required for end in pair.key}
        more = useful - set(names)
        if not more or interest.node_labels is None:
            return interest
        together = sorted({*names, *more}, key=lambda name: name.encode())
        place = {name: number for number, name in enumerate(together)}
        moved = np.array([place[name] for name in names], np.int64)
        labels = np.array(together, dtype=np.dtypes.StringDType())
        return Interest.from_ids(
            moved[interest.nodes],
            interest.topics,
            n_nodes=len(together),
            n_topics=interest.n_topics,
            node_labels=labels,
            topic_labels=interest.topic_labels,
            roles=interest.roles,
        )

    def resolve(self, interest: Interest, *, survive: str | None = None, keep: float = 0.0) -> NetworkArrays:
        """Turn the rules into arrays by the ids of an interest.

        Parameters
        ----------
        interest : Interest
            Each of its nodes has a row in ``nodes``.
        survive : str, optional
            ``site``, or another column of ``nodes``, whose groups may fail.
        keep : float
            Share in [0, 1) of a new link's price that a link which stands saves.

        Returns
        -------
        NetworkArrays

        Raises
        ------
        InvalidNetworkError
            A node of the interest is unknown, or wants a topic that may not be carried at its site.
        InvalidOptionError
            There is no such column, or ``keep`` is out of range.
        """
        keep = checked_keep(keep)
        names = [interest.node_label(v) for v in range(interest.n_nodes)]
        unknown = [name for name in names if name not in self._nodes]
        if unknown:
            raise InvalidNetworkError(
                f"{len(unknown):,} nodes of the subscriptions are not in nodes, such as {unknown[0]!r}; every node "
                "needs a row"
            )
        nodes, sites = [self._nodes[name] for name in names], self._sites
        number = {name: v for v, name in enumerate(names)}
        codes, prices = self._pair_prices(number)
        rates = np.array([self._rates.get(interest.topic_label(t), 1.0) for t in range(interest.n_topics)], np.float64)
        lowest = rates[rates > 0].min(initial=np.inf)
        rates[rates == 0] = lowest if np.isfinite(lowest) else 1.0
        return NetworkArrays(
            site=np.array([sites.number[node.site] for node in nodes], np.int32),
            price=sites.price,
            may_dial=sites.may_dial,
            dials=np.array([node.dials for node in nodes], bool),
            accepts=np.array([node.accepts for node in nodes], bool),
            pair_codes=codes,
            pair_price=prices,
            required=self._ids(number, (pair for pair in self.pairs if pair.required)),
            standing=self._ids(number, (p for p in self.pairs if p.standing and math.isfinite(self.price(*p.key)))),
            keep=keep,
            cap=np.array([-1 if node.max_links is None else node.max_links for node in nodes], np.int64),
            relay=np.array([node.relay for node in nodes], bool),
            row_price=np.array([node.price_of_relaying for node in nodes], np.float64),
            weight=rates,
            allowed_sites=self._allowed(interest, nodes),
            survive=None if survive is None else self.units(names, survive),
        )

    def units(self, names: Iterable[str], column: str) -> Int32Array:
        """Number the groups of a column of ``nodes`` in the order of their names. Returns the group of every node."""
        known = ["site", *sorted({name for node in self.nodes for name, _ in node.units})]
        if column not in known:
            raise InvalidOptionError(
                f"nodes have no column {column!r} of what fails together; they have {listed(known)}"
            )
        nodes = [self._nodes[name] for name in names]
        told = [self.unit_of(node.node, column) for node in nodes]
        blank = next((node for node, unit in zip(nodes, told) if not unit), None)
        if blank is not None:
            fail(blank.where, f"node {blank.node!r} has no {column}, which is to fail as a whole")
        place = {unit: number for number, unit in enumerate(sorted(set(told)))}
        return np.array([place[unit] for unit in told], np.int32)

    def unit_of(self, node: str, column: str) -> str:
        """Return what a column of ``nodes`` says a node fails with. It is empty if the column is."""
        found = self._nodes[node]
        return found.site if column == "site" else dict(found.units).get(column, "")

    def rates(self) -> dict[str, float]:
        """Return the rates that topics have, by topic."""
        return dict(self._rates)

    def tables(self) -> dict[str, pa.Table]:
        """Return its rows as the tables that an overlay directory holds, by name."""
        rows: dict[str, list[dict[str, Any]]] = {
            name: [
                {at.name: getattr(one, at.name) for at in fields(kind) if at.name not in ("where", "units")}
                for one in getattr(self, name)
            ]
            for name, kind in _KINDS.items()
        }
        rows["units"] = [
            {"node": node.node, "column": column, "unit": unit} for node in self.nodes for column, unit in node.units
        ]
        return {name: pa.Table.from_pylist(rows[name], _SCHEMAS[name]) for name in _SCHEMAS if rows[name]}

    @classmethod
    def from_kept(cls, tables: Mapping[str, pa.Table]) -> Self:
        """Read what `tables` made."""
        rows = {name: table.to_pylist() for name, table in tables.items()}
        units: dict[str, list[tuple[str, str]]] = {}
        for row in rows.pop("units", []):
            units.setdefault(row["node"], []).append((row["column"], row["unit"]))
        made: dict[str, Any] = {
            name: tuple(_KINDS[name](**row, where=f"{name} row {at}") for at, row in enumerate(kept, 1))
            for name, kept in rows.items()
        }
        for node in made.get("nodes", ()):
            object.__setattr__(node, "units", tuple(units.get(node.node, ())))
        for topic in made.get("topics", ()):
            allowed = topic.allowed_sites
            object.__setattr__(topic, "allowed_sites", None if allowed is None else tuple(allowed))
        return cls(**made)

    @cached_property
    def _nodes(self) -> dict[str, NetworkNode]:
        return {node.node: node for node in self.nodes}

    @cached_property
    def _pairs(self) -> dict[tuple[str, str], NetworkPair]:
        return {pair.key: pair for pair in self.pairs}

    @cached_property
    def _rates(self) -> dict[str, float]:
        return {topic.topic: topic.rate for topic in self.topics if topic.rate is not None}

    @cached_property
    def _sites(self) -> "_Sites":
        return _Sites.of(self)

    def _dialled(self, u: str, v: str) -> bool:
        """Whether one of two nodes may dial the other."""
        return self.may_dial(u, v) or self.may_dial(v, u)

    def _ids(self, number: Mapping[str, int], pairs: Iterable[NetworkPair]) -> Int32Array:
        found = [sorted((number[u], number[v])) for u, v in (pair.key for pair in pairs) if {u, v} <= number.keys()]
        return np.array(sorted(found), np.int32).reshape(-1, 2)

    def _pair_prices(self, number: Mapping[str, int]) -> tuple[Any, Float64Array]:
        found = []
        for (u, v), pair in self._pairs.items():
            if u in number and v in number and (pair.forbidden or pair.price is not None):
                low, high = sorted((number[u], number[v]))
                found.append((low << 32 | high, self.price(u, v)))
        found.sort()
        return np.array([code for code, _ in found], np.int64), np.array([price for _, price in found], np.float64)

    def _allowed(self, interest: Interest, nodes: Sequence[NetworkNode]) -> BoolArray | None:
        """Sites that may carry each topic, if any topic is bound to sites. Refuses a subscriber at another site."""
        bound = {topic.topic: topic for topic in self.topics if topic.allowed_sites is not None}
        if not bound:
            return None
        sites = self._sites.number
        allowed = np.ones((interest.n_topics, len(sites)), bool)
        for t in range(interest.n_topics):
            rule = bound.get(interest.topic_label(t))
            if rule is None or rule.allowed_sites is None:
                continue
            allowed[t] = [site in rule.allowed_sites for site in sites]
            for v in interest.subscribers(t).tolist():
                if not allowed[t, sites[nodes[v].site]]:
                    fail(
                        rule.where,
                        f"topic {rule.topic!r} may not leave {listed(rule.allowed_sites)}, and node "
                        f"{nodes[v].node!r} at {nodes[v].site!r} wants it",
                    )
        return allowed


def checked_keep(keep: Any) -> float:
    """The share of its price that a standing link saves, as a float from 0 to below 1, or an error."""
    if isinstance(keep, bool) or not isinstance(keep, int | float) or not 0 <= keep < 1:
        raise InvalidOptionError(f"keep is {keep!r}; a number from 0 to below 1 is accepted")
    return float(keep)


@dataclass(frozen=True)
class _Sites:
    """The rules between sites as matrices, by the number of the site."""

    number: dict[str, int]
    price: Float64Array
    may_dial: BoolArray

    @classmethod
    def of(cls, network: Network) -> Self:
        number = {name: at for at, name in enumerate(network.site_names)}
        rules = {(rule.src, rule.dst): rule for rule in network.site_pairs}
        default = rules.pop((EVERY_SITE, EVERY_SITE), None)
        ruled = any(src != dst for src, dst in rules)
        price, may_dial = np.ones((len(number),) * 2), np.ones((len(number),) * 2, bool)
        usual = 1.0 if default is None or default.price is None else default.price
        apart = np.ones_like(may_dial)
        np.fill_diagonal(apart, False)
        price[apart], may_dial[apart] = usual, not ruled if default is None else default.may_dial
        for site in network.sites:
            at = number[site.site]
            price[at, at], may_dial[at, at] = 1.0 if site.price is None else site.price, site.may_dial
        for (src, dst), rule in rules.items():
            a, b = number[src], number[dst]
            back = rules.get((dst, src))
            said = rule.price if rule.price is not None or back is None else back.price
            if said is not None:
                price[a, b] = price[b, a] = said
            may_dial[a, b] = rule.may_dial
            if back is None:
                may_dial[b, a] = rule.may_dial
        for array in (price, may_dial):
            array.setflags(write=False)
        return cls(number, price, may_dial)


_KINDS: dict[str, Any] = {
    "nodes": NetworkNode,
    "sites": NetworkSite,
    "site_pairs": SitePair,
    "pairs": NetworkPair,
    "topics": NetworkTopic,
}
_TEXT, _NUMBER, _TRUTH = pa.string(), pa.float64(), pa.bool_()
_SCHEMAS = {
    "nodes": pa.schema(
        [
            ("node", _TEXT),
            ("site", _TEXT),
            ("max_links", pa.int64()),
            ("relay", _TRUTH),
            ("price_of_relaying", _NUMBER),
            ("dials", _TRUTH),
            ("accepts", _TRUTH),
        ]
    ),
    "units": pa.schema([("node", _TEXT), ("column", _TEXT), ("unit", _TEXT)]),
    "sites": pa.schema([("site", _TEXT), ("price", _NUMBER), ("may_dial", _TRUTH)]),
    "site_pairs": pa.schema([("src", _TEXT), ("dst", _TEXT), ("price", _NUMBER), ("may_dial", _TRUTH)]),
    "pairs": pa.schema(
        [
            ("src", _TEXT),
            ("dst", _TEXT),
            ("price", _NUMBER),
            ("forbidden", _TRUTH),
            ("required", _TRUTH),
            ("standing", _TRUTH),
        ]
    ),
    "topics": pa.schema([("topic", _TEXT), ("rate", _NUMBER), ("allowed_sites", pa.list_(_TEXT))]),
}
KEPT = {name: schema.names for name, schema in _SCHEMAS.items()}  # tables of an overlay directory, and their columns
