"""The plan: a folder with the rows of all topics, who dials, and for what it was made.

::

    routes/          topic, src, dst, owner, parent, forest, active   the rows, by label
    links/           src, dst, owner   the overlay's links, those without a row included
    nodes/           node, order       order: position in which the broker starts
    topics/          topic, exact      exact: its tree is known to have the least diameter
    subscriptions/   node, topic       who wants what
    plan.json        format, fingerprints, rule of the trees, target, generation
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from topicloom.errors import InputNotFoundError, PlanFormatError
from topicloom.files.write.atomic import recover, whole_directory
from topicloom.files.write.destination import check_local
from topicloom.files.write.parts import Part, write_parts
from topicloom.files.write.run_file import write_json
from topicloom.model import labels as label_columns
from topicloom.model.arrays import Int32Array, frozen
from topicloom.model.interest import Interest
from topicloom.routing.ownership import ranks
from topicloom.routing.route_table import Routes, names

FORMAT = 1

Source = Path | zipfile.ZipFile


@dataclass(frozen=True, eq=False)
class Plan:
    """Routes with what they were made for, as a folder on disk holds them.

    Attributes
    ----------
    routes : Routes
    target : str or None
        The kind of broker that the trees were chosen for, such as ``"nats"``; None for any.
    inventory_fingerprint : str or None
        Of the inventory that decided who dials; None without one.
    facts : mapping
        Whatever else ``plan.json`` holds.
    """

    routes: Routes
    target: str | None = None
    inventory_fingerprint: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def interest(self) -> Interest:
        """Who wants what."""
        return self.routes.interest

    @cached_property
    def generation(self) -> str:
        """SHA-256 of all rows: plans with the same rows have the same one, and so have the files of an export."""
        return generation_of_table(self.routes.table())

    def save(self, directory: str | Path, *, overwrite: bool = False) -> None:
        """Write the folder, whole or not at all.

        Parameters
        ----------
        directory : str or Path
        overwrite : bool
            Whether a plan that is there may be replaced.

        Raises
        ------
        OutputExistsError
            The folder exists and ``overwrite`` is false, or it cannot be written.

        Examples
        --------
        >>> import tempfile, topicloom as tl
        >>> overlay = tl.design(tl.datasets.example())
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tl.Plan(tl.routes(overlay)).save(folder + "/plan")
        ...     tl.Plan.load(folder + "/plan").routes
        Routes(7 topics, 13 rows)
        """
        with whole_directory(Path(directory), overwrite=overwrite) as staging:
            write_plan_contents(staging, _tables(self.routes), self._header)

    @classmethod
    def load(cls, directory: str | Path) -> Self:
        """Read a folder that `save` or ``topicloom routes`` wrote.

        Parameters
        ----------
        directory : str or Path

        Returns
        -------
        Plan

        Raises
        ------
        InputNotFoundError
            There is no such folder.
        PlanFormatError
            It is not a plan, is of another format, or contradicts itself.
        """
        check_local(directory)
        source = Path(directory)
        recover(source)
        if not source.is_dir():
            raise InputNotFoundError(f"{source} is not a directory; a plan that topicloom routes wrote is accepted")
        header = _read_header(source)
        routes = _read_routes(source, labelled=bool(header.get("labels", True)))
        facts = {name: header[name] for name in header if name not in _HEADER}
        return cls(routes, header.get("target"), header.get("fingerprints", {}).get("inventory"), facts)

    def to_bytes(self) -> bytes:
        """Pack the plan into an archive, for a database."""
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as parts:
            for name, table in _tables(self.routes).items():
                pq.write_table(table, packed := io.BytesIO(), compression="zstd")
                parts.writestr(name, packed.getvalue())
            about = [self.target, self.inventory_fingerprint, self.facts, self.interest.node_labels is not None]
            parts.writestr("about", json.dumps(about))
        return archive.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Unpack what `to_bytes` packed."""
        with zipfile.ZipFile(io.BytesIO(content)) as parts:
            *about, labelled = json.loads(parts.read("about"))
            return cls(_read_routes(parts, labelled=labelled), *about)

    def _header(self) -> dict[str, Any]:
        routes = self.routes
        fingerprints = {
            "interest": _digest(routes.interest.indptr, routes.interest.topics),
            "overlay": _digest(routes.links),
            "inventory": self.inventory_fingerprint,
        }
        counts = {
            "nodes": routes.interest.n_nodes,
            "topics": routes.interest.n_topics,
            "links": len(routes.links),
            "rows": routes.n_rows,
            "standby": len(routes.topic) - routes.n_rows,
            "forests": routes.n_forests,
        }
        labels = routes.interest.node_labels is not None
        return {**header(self.target, fingerprints, self.generation, counts), "labels": labels, **self.facts}


ROW = ("topic", "src", "dst", "owner", "parent", "forest", "active")
_HEADER = ("format", "fingerprints", "trees", "target", "generation", "labels", "counts")


def header(
    target: str | None, fingerprints: dict[str, str | None] | None, generation: str, counts: dict[str, int]
) -> dict[str, Any]:
    """What ``plan.json`` holds."""
    trees = "forests" if counts["forests"] else "least diameter"
    about = {"trees": trees, "target": target, "generation": generation, "labels": True, "counts": counts}
    return {"format": FORMAT, "fingerprints": fingerprints or {}, **about}


def write_plan_contents(folder: Path, parts: Mapping[str, Part], about: Callable[[], Mapping[str, Any]]) -> None:
    """Write the contents of a plan into an empty folder. ``about`` is asked for `header` when the tables are there."""
    write_parts(folder, parts)
    write_json(folder / "plan.json", about())


def generation_of_table(rows: pa.Table) -> str:
    """The `Plan.generation` of a table of rows, in any order and with the ends of each row in any order."""
    turned = pc.greater(rows["src"], rows["dst"])
    src, dst = (pc.if_else(turned, rows[one], rows[other]) for one, other in (("dst", "src"), ("src", "dst")))
    ordered = pa.table({**{name: rows[name] for name in ROW}, "src": src, "dst": dst})
    ordered = ordered.sort_by([(name, "ascending") for name in ("topic", "src", "dst")])
    return _generation(column.chunks for column in ordered.columns)


def generation_of(folder: Path) -> str:
    """The `Plan.generation` of Parquet files whose rows are in order. They are read by columns, a batch at a time."""
    from pyarrow.dataset import dataset  # here, because it loads pandas

    rows = dataset(folder)
    return _generation(chain.from_iterable(b.columns for b in rows.to_batches(columns=[name])) for name in ROW)


def _generation(columns: Iterable[Iterable[pa.Array]]) -> str:
    digest = hashlib.sha256()
    for column in columns:
        for part in column:
            for value in part.to_pylist():
                text = str(value).encode("utf-8", "surrogatepass")
                digest.update(len(text).to_bytes(8, "big") + text)
    return digest.hexdigest()


def _digest(*arrays: npt.NDArray[Any]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _tables(routes: Routes) -> dict[str, pa.Table]:
    interest = routes.interest
    nodes = names(interest.node_labels, interest.n_nodes)
    topics = names(interest.topic_labels, interest.n_topics)
    return {
        "routes": routes.table(),
        "links": pa.table(
            {
                "src": nodes.take(pa.array(routes.links[:, 0])),
                "dst": nodes.take(pa.array(routes.links[:, 1])),
                "owner": nodes.take(pa.array(routes.link_owners)),
            }
        ),
        "nodes": pa.table({"node": nodes, "order": pa.array(ranks(routes.order))}),
        "topics": pa.table({"topic": topics, "exact": pa.array(routes.exact)}),
        "subscriptions": pa.table(
            {"node": nodes.take(pa.array(interest.nodes)), "topic": topics.take(pa.array(interest.topics))}
        ),
    }


def _read_header(source: Path) -> dict[str, Any]:
    try:
        header = json.loads((source / "plan.json").read_text(encoding="utf-8"))
        version = header["format"]
    except (OSError, ValueError, KeyError, TypeError):
        raise PlanFormatError(f"{source} is not a plan: it has no readable plan.json") from None
    if version != FORMAT:
        raise PlanFormatError(f"{source} has plan format {version}; this version reads format {FORMAT}")
    return dict(header)


def _read_routes(source: Source, *, labelled: bool) -> Routes:
    nodes, topics = _read(source, "nodes", ["node", "order"]), _read(source, "topics", ["topic", "exact"])
    node_names, topic_names = _texts(nodes["node"]), _texts(topics["topic"])
    interest = _read_interest(source, node_names, topic_names, labelled=labelled)
    rows = _read(source, "routes", list(ROW))
    links = _read(source, "links", ["src", "dst"])
    ends = [_ids(links[name], node_names, source, "links") for name in ("src", "dst")]

    def ids(column: str) -> Int32Array:
        return _ids(rows[column], topic_names if column == "topic" else node_names, source, "routes")

    return Routes(
        interest,
        links=frozen(np.column_stack(ends)),
        topic=ids("topic"),
        src=ids("src"),
        dst=ids("dst"),
        owner=ids("owner"),
        parent=ids("parent"),
        forest=_filled(rows["forest"]),
        active=frozen(rows["active"].to_numpy().astype(bool)),
        order=frozen(np.argsort(nodes["order"].to_numpy()).astype(np.int32)),
        exact=frozen(topics["exact"].to_numpy().astype(bool)),
    )


def _read_interest(source: Source, node_names: pa.Array, topic_names: pa.Array, *, labelled: bool) -> Interest:
    subscriptions = _read(source, "subscriptions", ["node", "topic"])
    return Interest.from_ids(
        _ids(subscriptions["node"], node_names, source, "subscriptions"),
        _ids(subscriptions["topic"], topic_names, source, "subscriptions"),
        n_nodes=len(node_names),
        n_topics=len(topic_names),
        node_labels=label_columns.from_arrow(node_names) if labelled else None,
        topic_labels=label_columns.from_arrow(topic_names) if labelled else None,
    )


def _read(source: Source, part: str, columns: list[str]) -> pa.Table:
    try:
        table = pq.read_table(source / part if isinstance(source, Path) else io.BytesIO(source.read(part)))
    except (OSError, pa.ArrowException) as error:
        raise PlanFormatError(f"{source}: {part}/ cannot be read ({error})") from None
    missing = [name for name in columns if name not in table.column_names]
    if missing:
        raise PlanFormatError(f"{source}: {part}/ has no column {missing[0]!r}")
    return table


def _texts(column: pa.ChunkedArray) -> pa.Array:
    return column.cast(pa.large_string()).combine_chunks()


def _filled(column: pa.ChunkedArray) -> Int32Array:
    return frozen(pc.fill_null(column.cast(pa.int32()), -1).to_numpy())


def _ids(column: pa.ChunkedArray, known: pa.Array, source: Source, part: str) -> Int32Array:
    """Ids of names. Returns -1 where the column is null."""
    texts = _texts(column)
    ids = pc.index_in(texts, known)
    if ids.null_count > texts.null_count:
        raise PlanFormatError(f"{source}: {part}/ names a node or topic that nodes/ or topics/ does not list")
    return frozen(pc.fill_null(ids, -1).to_numpy().astype(np.int32))
