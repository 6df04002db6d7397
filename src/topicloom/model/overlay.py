"""Overlay: the links chosen for an interest."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from topicloom.errors import InvalidLinksError
from topicloom.extras import needing
from topicloom.model.arrays import Int32Array, Int64Array, degrees, frozen, normalized_links, shared_topics
from topicloom.model.checks import checked_kind, checked_seed, plain
from topicloom.model.forbidden import ForbiddenLinks
from topicloom.model.given_links import link_ids
from topicloom.model.interest import Interest, checked_interest
from topicloom.storage import overlay_directory
from topicloom.storage.run_file import json_options

if TYPE_CHECKING:
    import networkx
    import pandas

    from topicloom.model.results import Metrics, Verdict
    from topicloom.page import Page
    from topicloom.routing import Plan, Routes


@dataclass(frozen=True, eq=False, repr=False)
class Overlay:
    """Links over the nodes of an interest.

    Attributes
    ----------
    interest : Interest
        What it was built for.
    links : (m, 2) int32 array
        Node ids with u < v, no repeats, in the order in which they were added; read-only.
    method, options, seed
        How it was made; method is "given" for links that came from elsewhere.
    report : mapping
        What the method found on its way and is worth knowing, such as the star sets of ``dc``; JSON-ready. Of an
        overlay that was judged when it was written, ``verified`` says at which k, and whether it holds.
    forbidden : ForbiddenLinks
        Links that it may never have; what changes its links keeps off them, or refuses. None of ``links`` is forbidden.
    relays : (r, 2) int32 array
        Nodes and topics that they carry without wanting them, ascending; read-only.
    """

    interest: Interest
    links: Int32Array
    method: str = "given"
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    report: Mapping[str, Any] = field(default_factory=dict)
    forbidden: ForbiddenLinks = field(default_factory=ForbiddenLinks)
    relays: Int32Array = field(default_factory=lambda: np.empty((0, 2), np.int32))

    def __post_init__(self) -> None:
        checked_interest(self.interest, "Overlay")
        links = normalized_links(self.links, self.interest.n_nodes)
        if len(links) != len(np.asarray(self.links)):
            raise InvalidLinksError(f"{len(np.asarray(self.links)) - len(links):,} links are repeated")
        checked_kind("forbidden", self.forbidden, ForbiddenLinks, "ForbiddenLinks")
        object.__setattr__(self, "relays", _checked_relays(self.interest, self.relays))
        used = self.forbidden.used(self.interest, links)
        if len(used):
            u, v = map(self.interest.node_label, used[0].tolist())
            raise InvalidLinksError(f"{len(used):,} links are forbidden, such as {u!r} – {v!r}")
        object.__setattr__(self, "links", links)
        object.__setattr__(self, "options", MappingProxyType({name: plain(at) for name, at in self.options.items()}))
        object.__setattr__(self, "seed", checked_seed(self.seed))
        object.__setattr__(self, "report", MappingProxyType(dict(self.report)))

    @classmethod
    def from_links(cls, interest: Interest, links: Any, method: str = "given") -> Self:
        """Make an overlay of links that came from elsewhere. Text is a label and an integer is an id.

        Parameters
        ----------
        interest : Interest
        links : Overlay, pairs, table or graph
            An `Overlay`; an (m, 2) array or a list of pairs, of ids or of labels; a pandas, polars or Arrow table, or
            a mapping, with columns ``src`` and ``dst``; a networkx graph. Repeats count once.
        method : str
            What to call the way in which they were found.

        Raises
        ------
        InvalidLinksError
            Wrong shape, an unknown node, a node linked to itself, or a table or graph of integers for an interest with
            labels.

        Examples
        --------
        >>> import topicloom as tl
        >>> interest = tl.Interest.from_pairs(["a", "b", "c"], ["news"] * 3)
        >>> overlay = tl.Overlay.from_links(interest, [("a", "b"), ("b", "c")])
        >>> overlay.n_links, tl.verify(interest, overlay).ok
        (2, True)
        """
        return cls(interest, link_ids(interest, links), method)

    @classmethod
    def from_networkx(cls, interest: Interest, graph: "networkx.Graph[Any]") -> Self:
        """Make an overlay of the edges of a networkx graph. See `from_links`.

        Parameters
        ----------
        interest : Interest
        graph : networkx.Graph
            Its nodes are labels, or ids for an interest without labels.

        Returns
        -------
        Overlay

        Examples
        --------
        >>> import topicloom as tl
        >>> overlay = tl.design(tl.datasets.example())
        >>> tl.Overlay.from_networkx(overlay.interest, overlay.to_networkx()) == overlay
        True
        """
        return cls.from_links(interest, graph)

    @classmethod
    def from_pandas(cls, interest: Interest, table: "pandas.DataFrame") -> Self:
        """Make an overlay of a table with columns ``src`` and ``dst``. See `from_links`.

        Parameters
        ----------
        interest : Interest
        table : pandas.DataFrame

        Returns
        -------
        Overlay

        Examples
        --------
        >>> import topicloom as tl
        >>> overlay = tl.design(tl.datasets.example())
        >>> tl.Overlay.from_pandas(overlay.interest, overlay.to_pandas()) == overlay
        True
        """
        return cls.from_links(interest, table)

    @property
    def n_links(self) -> int:
        """Number of links."""
        return len(self.links)

    def degree(self) -> Int64Array:
        """Number of links at each node."""
        return degrees(self.links, self.interest.n_nodes)

    def verify(self, k: int = 1) -> "Verdict":
        """Judge the overlay as `topicloom.verify` does.

        Parameters
        ----------
        k : int
            1: every topic in one piece; k: also while fewer than k of its nodes are down.

        Returns
        -------
        Verdict

        Examples
        --------
        >>> import topicloom as tl
        >>> overlay = tl.design(tl.datasets.example())
        >>> overlay.verify().ok, overlay.verify(k=2).ok
        (True, False)
        """
        from topicloom.judge import verify  # upwards, as in `save`

        return verify(self.interest, self.links, k)

    def measure(self) -> "Metrics":
        """Measure the overlay as `topicloom.measure` does.

        Returns
        -------
        Metrics

        Examples
        --------
        >>> import topicloom as tl
        >>> tl.design(tl.datasets.example()).measure().links
        7
        """
        from topicloom.measures import measure  # upwards, as in `save`

        return measure(self.interest, self.links)

    def show(
        self,
        *,
        title: str = "overlay",
        plan: "Plan | Routes | None" = None,
        before: "Overlay | None" = None,
        sites: Mapping[str, str] | None = None,
    ) -> "Page":
        """Draw the overlay as one self-contained HTML page, as ``topicloom show`` does.

        The page needs no network. It says whether every topic is connected and what breaks when brokers, links or
        sites fail, draws the network, and finds brokers and topics by name. Names are shown as text, never as markup.

        Parameters
        ----------
        title : str
        plan : Plan or Routes, optional
            Routes over this overlay: the page then shows the tree of each topic.
        before : Overlay, optional
            What this one replaces, for the same interest: the page then shows which links go and come.
        sites : mapping of str to str, optional
            Site of each node by name. Nodes are grouped by the first part of their names otherwise.

        Returns
        -------
        Page
            A notebook shows it, and ``save`` writes it.

        See Also
        --------
        topicloom.drill : what breaks, as numbers.

        Notes
        -----
        Costs as much as `measure` and `verify`, and O(nodes²) to place up to 6,000 nodes, linear above. The page takes
        some 4 bytes a subscription.

        Examples
        --------
        >>> import topicloom as tl
        >>> tl.design(tl.datasets.example()).show(title="factory")
        Page(title='factory')
        """
        from topicloom.page import Page, document, gather  # upwards, as in `save`
        from topicloom.routing import Plan

        picture = gather(
            self,
            title=title,
            routes=plan.routes if isinstance(plan, Plan) else plan,
            before=None if before is None else before.links,
            sites=sites,
        )
        return Page(title, document(picture))

    def save(self, directory: str | Path, *, overwrite: bool = False) -> None:
        """Write the overlay directory (Parquet and JSON) that Spark, pandas or DuckDB can read, without Spark.

        The overlay is measured on the way. The directory appears whole or not at all.

        Parameters
        ----------
        directory : str or Path
        overwrite : bool
            Whether an overlay that is there may be replaced.

        Raises
        ------
        OutputExistsError
            The directory exists and ``overwrite`` is false, or it cannot be written.

        See Also
        --------
        load : reads it.

        Examples
        --------
        >>> import tempfile, topicloom as tl
        >>> overlay = tl.design(tl.datasets.example())
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     overlay.save(folder + "/overlay")
        ...     tl.Overlay.load(folder + "/overlay")
        Overlay(6 nodes, 7 topics, 7 links, method gm)
        """
        # An import that points up the layers (docs/decisions/0003): a saved overlay carries its measures.
        from topicloom.measures import measure_topics, summarize

        per_topic = measure_topics(self.interest, self.links)
        overlay_directory.save(
            Path(directory),
            self.interest,
            self.links,
            topic_columns=per_topic.columns(),
            metrics=summarize(self.interest, self.links, per_topic).to_dict(),
            run={
                "method": self.method,
                "options": json_options(self.options),
                "seed": self.seed,
                **_judged_apart(self.report),
            },
            forbidden=self.forbidden,
            overwrite=overwrite,
        )

    @classmethod
    def load(cls, directory: str | Path) -> Self:
        """Read an overlay directory, written by `save` or by ``topicloom design``, without Spark.

        Parameters
        ----------
        directory : str or Path

        Returns
        -------
        Overlay

        Raises
        ------
        InputNotFoundError, OverlayFormatError
            There is no such directory, or it is not one that topicloom wrote.

        See Also
        --------
        save : writes it, and has an example.
        """
        interest, links, run, forbidden = overlay_directory.load(Path(directory))
        judged = {"verified": run["verified"]} if "verified" in run else {}
        return cls(
            interest,
            links,
            run.get("method", "given"),
            run.get("options", {}),
            run.get("seed", 0),
            {**run.get("report", {}), **judged},
            forbidden,
        )

    def to_networkx(self) -> "networkx.Graph[str | int]":
        """The overlay as a networkx graph: nodes by label (by id without labels), links with ``shared_topics``."""
        with needing("networkx", "a networkx graph"):
            import networkx

        graph: networkx.Graph[str | int] = networkx.Graph()
        graph.add_nodes_from(self._names(np.arange(self.interest.n_nodes, dtype=np.int32)))
        shared = shared_topics(self.interest, self.links).tolist()
        ends = zip(self._names(self.links[:, 0]), self._names(self.links[:, 1]), shared)
        graph.add_edges_from((u, v, {"shared_topics": count}) for u, v, count in ends)
        return graph

    def to_pandas(self) -> "pandas.DataFrame":
        """The links as a DataFrame with the columns of ``links/``: src, dst, shared_topics, order."""
        with needing("pandas", "a pandas table"):
            import pandas

        return pandas.DataFrame(
            {
                "src": self._names(self.links[:, 0]),
                "dst": self._names(self.links[:, 1]),
                "shared_topics": shared_topics(self.interest, self.links),
                "order": np.arange(len(self.links)),
            }
        )

    def _names(self, nodes: Int32Array) -> list[str | int]:
        labels = self.interest.node_labels
        return list(nodes.tolist() if labels is None else labels[nodes].tolist())

    def __eq__(self, other: object) -> bool:
        """Whether the other one has the same interest, links in any order, and relays, by whatever method."""
        if not isinstance(other, Overlay):
            return NotImplemented
        return self is other or (
            self.n_links == other.n_links
            and self.interest == other.interest
            and np.array_equal(_sorted(self.links), _sorted(other.links))
            and np.array_equal(self.relays, other.relays)
        )

    def __hash__(self) -> int:
        return hash((self.interest, self.n_links))

    def __reduce__(self) -> tuple[Any, ...]:
        facts = (self.method, dict(self.options), self.seed, dict(self.report), self.forbidden, self.relays)
        return type(self), (self.interest, self.links, *facts)

    def __repr__(self) -> str:
        counts = (
            _counted(self.interest.n_nodes, "node"),
            _counted(self.interest.n_topics, "topic"),
            _counted(self.n_links, "link"),
        )
        return f"Overlay({', '.join(counts)}, method {self.method})"


def _judged_apart(report: Mapping[str, Any]) -> dict[str, Any]:
    """A report as ``run.json`` holds it: the verdict beside it, not in it."""
    judged = {"verified": report["verified"]} if "verified" in report else {}
    return {"report": {name: value for name, value in report.items() if name != "verified"}, **judged}


def _checked_relays(interest: Interest, relays: Any) -> Int32Array:
    """Nodes and topics that they carry, ascending and each once, or an error."""
    given = np.asarray(relays)
    if given.size == 0:
        return frozen(np.empty((0, 2), np.int32))
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise InvalidLinksError(f"relays must be an (r, 2) array of ids; got {given.dtype} of shape {given.shape}")
    if given.min() < 0 or (given.max(axis=0) >= (interest.n_nodes, interest.n_topics)).any():
        raise InvalidLinksError("relays name nodes or topics that are not in the interest")
    return frozen(np.unique(given.astype(np.int32), axis=0))


def _sorted(links: Int32Array) -> Int32Array:
    return links[np.lexsort((links[:, 1], links[:, 0]))]


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
