"""The overlay directory: Parquet and JSON that any Spark, pandas, DuckDB or GraphFrames user can read.

::

    subscriptions/   node, topic, role                the cleaned interest; role where one is known
    links/           src, dst, shared_topics, order   labels, the smaller id first
    nodes/           id, topic_count, degree
    topics/          topic, subscribers, links, components, diameter (null when it is not connected), diameter_sampled
    rejected/        file, line, raw, node, topic, reason   input rows that were not used
    forbidden/       src, dst                         pairs that may not be linked; only where there are any
    dialling/        node, dials, accepts             nodes that may not dial, or not be dialled; likewise
    relays/          node, topic                      topics that nodes carry without wanting them; likewise
    network/…/       the tables of `Network`          nodes, units, sites, site_pairs, pairs, topics; likewise
    links.csv        src, dst, shared_topics          the links once more, for a spreadsheet; see `write_sheet`
    metrics.json     the values of `Metrics`
    run.json         format, id, method, options, seed, fingerprint, versions, counts, seconds per stage, files

This module reads and writes it without Spark; ``spark/steps/`` writes the same with Spark. Directories of topicloom 0.1
have no ``files`` in their ``run.json``; they are read, and checked as far as their columns allow.
"""

import csv
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from topicloom.errors import OverlayFormatError, TopicloomError
from topicloom.files.write.atomic import recover, whole_directory
from topicloom.files.write.parts import OpenFolder, Part, opened, read_part, write_parquet, write_parts
from topicloom.files.write.run_file import RUN_FILE, parse_run, run_header, write_json, write_run
from topicloom.model import labels as label_columns
from topicloom.model.arrays import Int32Array, Int64Array, degrees, normalized_links, shared_topics
from topicloom.model.forbidden import PAIRS, RULES, ForbiddenLinks
from topicloom.model.interest import ROLES, Interest, role_numbers
from topicloom.model.site_network import KEPT, Network

__all__ = [
    "load",
    "read_forbidden",
    "read_network",
    "read_run",
    "relay_table",
    "run_header",
    "save",
    "tables_of",
    "write_contents",
    "write_json",
    "write_parquet",
    "write_sheet",
]

_ATTEMPTS = 200
_MOST_IN_SHEET = 100_000
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet runs a cell that begins so
_PAUSE = 0.005  # seconds between attempts

RELAYS, NETWORK = "relays", "network"  # parts
_RELAY = ("node", "topic")
Loaded = tuple[Interest, Int32Array, dict[str, Any], ForbiddenLinks, Int32Array, Network | None]
Answer = TypeVar("Answer")


def save(
    destination: Path,
    interest: Interest,
    links: Int32Array,
    *,
    topic_columns: Mapping[str, pa.Array],
    metrics: Mapping[str, Any],
    run: Mapping[str, Any],
    forbidden: ForbiddenLinks,
    relays: Int32Array,
    network: Network | None,
    overwrite: bool = False,
) -> None:
    """Write an overlay directory, whole or not at all."""
    tables: dict[str, Part] = {**tables_of(interest, links, topic_columns)}
    counts = {
        "nodes": interest.n_nodes,
        "topics": interest.n_topics,
        "subscriptions": interest.n_subscriptions,
        "links": len(links),
    }
    facts = {**run_header(), **run, "counts": counts, "labels": interest.node_labels is not None}
    with whole_directory(destination, overwrite=overwrite) as staging:
        relayed = relay_table(interest, relays)
        tables |= {} if relayed is None else {RELAYS: relayed}
        write_contents(staging, tables, metrics=metrics, run=lambda: facts, forbidden=forbidden, network=network)


def write_contents(
    folder: Path,
    parts: Mapping[str, Part],
    *,
    metrics: Mapping[str, Any],
    run: Callable[[], Mapping[str, Any]],
    forbidden: ForbiddenLinks = ForbiddenLinks(),
    network: Network | None = None,
    during: AbstractContextManager[Any] = nullcontext(),
) -> None:
    """Write the contents of an overlay directory into an empty folder.

    Tables are written inside ``during``, which may take the time. ``run`` is asked for the facts of ``run.json``
    afterwards, so that they can hold it. There are no parts about forbidden links where nothing is forbidden, and none
    about a network where there is none.
    """
    rules = {} if network is None else {f"{NETWORK}/{name}": table for name, table in network.tables().items()}
    with during:
        write_parts(folder, {**parts, **forbidden.tables(), **rules})
        write_sheet(folder)
    write_json(folder / "metrics.json", metrics)
    write_run(folder, run())


def relay_table(interest: Interest, relays: Int32Array) -> pa.Table | None:
    """Make the table ``relays/`` of an overlay directory. There is none where nobody relays."""
    if not len(relays):
        return None
    names = (_names(interest.node_labels, interest.n_nodes), _names(interest.topic_labels, interest.n_topics))
    return pa.table({what: of.take(pa.array(relays[:, at])) for at, (what, of) in enumerate(zip(_RELAY, names))})


def read_network(source: Path) -> Network | None:
    """Read the network that an overlay directory was designed for. Returns None without one.

    Raises
    ------
    InputNotFoundError, OverlayFormatError
    """
    return _while_replaced(source, lambda folder: _network(folder, _run(folder).get("files")))


def read_forbidden(source: Path) -> ForbiddenLinks:
    """Read which links an overlay directory says may not be.

    Raises
    ------
    InputNotFoundError, OverlayFormatError
    """
    return _while_replaced(source, lambda folder: _forbidden(folder, _run(folder).get("files")))


def write_sheet(folder: Path) -> None:
    """Write the links of ``links/`` once more, as a ``links.csv`` that a spreadsheet opens. topicloom never reads it.

    It is left out where there are more than 100,000 links, or where a name could be taken for a formula: names are kept
    as they are, and a spreadsheet would run it.
    """
    rows: list[dict[str, Any]] = []
    for path in (folder / "links").glob("*.parquet"):
        with path.open("rb") as file:
            part = pq.ParquetFile(file)
            if len(rows) + part.metadata.num_rows > _MOST_IN_SHEET:
                return
            rows += part.read().to_pylist()
    rows.sort(key=lambda row: row["order"])
    if any(row[end].startswith(_FORMULA) for row in rows for end in ("src", "dst")):
        return
    with (folder / "links.csv").open("x", encoding="utf-8-sig", newline="") as sheet:
        writer = csv.DictWriter(sheet, ["src", "dst", "shared_topics"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def load(source: Path) -> Loaded:
    """Read an overlay directory. Returns interest, links in the order added, and the facts of ``run.json``.

    They belong to one overlay also while another one is moved into its place: the directory is opened once, and read
    again if it was replaced and taken away meanwhile.

    Raises
    ------
    InputNotFoundError, OverlayFormatError
    """
    return _while_replaced(source, _loaded)


def read_run(source: Path) -> dict[str, Any]:
    """Read the facts of ``run.json``. Refuses a folder that is not an overlay directory of a known format."""
    return _while_replaced(source, _run)


def _while_replaced(source: Path, read: Callable[[OpenFolder], Answer]) -> Answer:
    for _ in range(_ATTEMPTS):
        recover(source)
        with opened(source) as folder:
            try:
                answer = read(folder)
            except OverlayFormatError:
                if folder.is_current():
                    raise
            else:
                # A folder with digests was read whole or not at all; of an older one, files may have been taken away.
                if folder.is_current() or (isinstance(answer, tuple) and "files" in answer[2]):
                    return answer
        time.sleep(_PAUSE)
    raise OverlayFormatError(f"{source} was replaced again and again while it was read; try it later")


def _run(folder: OpenFolder) -> dict[str, Any]:
    try:
        content = folder.read(RUN_FILE)
    except OverlayFormatError:
        raise OverlayFormatError(f"{folder.path} is not an overlay directory: it has no readable run.json") from None
    return parse_run(content, folder.path)


def _loaded(folder: OpenFolder) -> Loaded:
    run = _run(folder)
    digests = run.get("files")
    nodes = read_part(folder, "nodes", ["id"], digests, also=["topic_count", "degree"])
    topics = read_part(folder, "topics", ["topic"], digests, also=["subscribers"])
    subscriptions = read_part(folder, "subscriptions", ["node", "topic"], digests, also=["role"])
    links = read_part(folder, "links", ["src", "dst", "order"], digests)
    forbidden, network = _forbidden(folder, digests), _network(folder, digests)
    carried = read_part(folder, RELAYS, _RELAY, digests) if _holds(folder, RELAYS, digests) else None
    try:
        interest, pairs, facts = _assembled(folder.path, run, nodes, topics, subscriptions, links)
        return interest, pairs, facts, forbidden, _relays(folder.path, interest, carried), network
    except OverlayFormatError:
        raise
    except (TopicloomError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0][:200]
        raise OverlayFormatError(f"{folder.path} holds tables that do not fit together: {reason}") from None


def _holds(folder: OpenFolder, name: str, digests: Mapping[str, str] | None) -> bool:
    """Whether a folder has a part, or is said to have it."""
    return folder.has(name) or any(path.startswith(f"{name}/") for path in digests or ())


def _relays(source: Path, interest: Interest, table: pa.Table | None) -> Int32Array:
    if table is None:
        return np.empty((0, 2), np.int32)
    names = (_names(interest.node_labels, interest.n_nodes), _names(interest.topic_labels, interest.n_topics))
    ids = [_ids(table[what], of, source) for what, of in zip(_RELAY, names)]
    return np.column_stack(ids).astype(np.int32)


def _network(folder: OpenFolder, digests: Mapping[str, str] | None) -> Network | None:
    if not _holds(folder, NETWORK, digests):
        return None
    there = {name: f"{NETWORK}/{name}" for name in KEPT}
    found = {name for name in folder.entries(NETWORK) if name in KEPT}
    found |= {name for name, part in there.items() if any(path.startswith(f"{part}/") for path in digests or ())}
    tables = {name: read_part(folder, there[name], KEPT[name], digests) for name in KEPT if name in found}
    try:
        return Network.from_kept(tables)
    except (TopicloomError, TypeError) as error:
        raise OverlayFormatError(f"{folder.path}: {NETWORK}/ cannot be: {error}") from None


def _forbidden(folder: OpenFolder, digests: Mapping[str, str] | None) -> ForbiddenLinks:
    parts = []
    for name, columns in ((PAIRS, ["src", "dst"]), (RULES, ["node", "dials", "accepts"])):
        parts.append(read_part(folder, name, columns, digests) if _holds(folder, name, digests) else None)
    try:
        return ForbiddenLinks.from_tables(*parts)
    except TopicloomError as error:
        raise OverlayFormatError(f"{folder.path}: {error}") from None


def _assembled(
    source: Path, run: dict[str, Any], nodes: pa.Table, topics: pa.Table, subscriptions: pa.Table, links: pa.Table
) -> tuple[Interest, Int32Array, dict[str, Any]]:
    labelled = run.get("labels", True)
    node_names, node_order, node_labels = _index(nodes["id"], f"{source}: nodes/", labelled)
    topic_names, topic_order, topic_labels = _index(topics["topic"], f"{source}: topics/", labelled)
    interest = Interest.from_ids(
        _ids(subscriptions["node"], node_names, source),
        _ids(subscriptions["topic"], topic_names, source),
        n_nodes=len(node_names),
        n_topics=len(topic_names),
        node_labels=node_labels,
        topic_labels=topic_labels,
        roles=role_numbers(subscriptions["role"]) if "role" in subscriptions.column_names else None,
    )
    places = np.argsort(_whole_numbers(links["order"], f"{source}: order of links/"), kind="stable")
    ends = [_ids(links[name], node_names, source)[places] for name in ("src", "dst")]
    pairs = normalized_links(np.column_stack(ends), interest.n_nodes)
    found = {
        "nodes": len(nodes),
        "topics": len(topics),
        "subscriptions": interest.n_subscriptions,
        "links": len(pairs),
    }
    rows = {**found, "subscriptions": len(subscriptions), "links": len(links)}
    for name, count in found.items():
        expected = run.get("counts", {}).get(name, rows[name])
        if expected != count or rows[name] != count:
            raise OverlayFormatError(
                f"{source}: {name}/ has {count:,} different rows, not {max(expected, rows[name]):,}; the overlay is "
                "damaged, write it again"
            )
    _compare(nodes, "topic_count", node_order, np.diff(interest.indptr), f"{source}: nodes/ and subscriptions/")
    _compare(nodes, "degree", node_order, degrees(pairs, interest.n_nodes), f"{source}: nodes/ and links/")
    _compare(
        topics, "subscribers", topic_order, np.diff(interest.topic_indptr), f"{source}: topics/ and subscriptions/"
    )
    return interest, pairs, run


def tables_of(interest: Interest, links: Int32Array, topic_columns: Mapping[str, pa.Array]) -> dict[str, pa.Table]:
    """The tables of an overlay directory by name, none of its rows rejected."""
    node_names = _names(interest.node_labels, interest.n_nodes)
    topic_names = _names(interest.topic_labels, interest.n_topics)
    return {
        "subscriptions": pa.table(
            {
                "node": node_names.take(pa.array(interest.nodes)),
                "topic": topic_names.take(pa.array(interest.topics)),
                **({} if interest.roles is None else {"role": pa.array([None, *ROLES]).take(pa.array(interest.roles))}),
            }
        ),
        "links": pa.table(
            {
                "src": node_names.take(pa.array(links[:, 0])),
                "dst": node_names.take(pa.array(links[:, 1])),
                "shared_topics": pa.array(shared_topics(interest, links)),
                "order": pa.array(np.arange(len(links), dtype=np.int64)),
            }
        ),
        "nodes": pa.table(
            {
                "id": node_names,
                "topic_count": pa.array(np.diff(interest.indptr)),
                "degree": pa.array(degrees(links, interest.n_nodes)),
            }
        ),
        "topics": pa.table({"topic": topic_names, **topic_columns}),
        "rejected": label_columns.REJECTED.empty_table(),
    }


def _names(labels: npt.ArrayLike | None, count: int) -> pa.Array:
    return label_columns.to_arrow(labels) if labels is not None else pa.array(np.arange(count)).cast(pa.large_string())


def _index(
    names: pa.ChunkedArray, where: str, labelled: bool
) -> tuple[pa.Array, Int64Array, label_columns.Labels | None]:
    """Return names in id order, their rows in that order, and the labels unless they were ids to begin with."""
    texts = names.cast(pa.large_string()).combine_chunks()
    if texts.null_count:
        raise OverlayFormatError(f"{where} has a row without a name")
    order = pc.sort_indices(texts if labelled else texts.cast(pa.int64())).to_numpy()
    texts = texts.take(pa.array(order))
    if len(texts) > 1 and pc.any(pc.equal(texts[1:], texts[:-1])).as_py():
        again = texts[1:].filter(pc.equal(texts[1:], texts[:-1]))[0].as_py()
        raise OverlayFormatError(f"{where} names {again[:80]!r} twice")
    if not labelled and not texts.equals(pa.array(np.arange(len(texts))).cast(pa.large_string())):
        raise OverlayFormatError(f"{where} has ids that are not 0 to {len(texts) - 1}")
    return texts, order.astype(np.int64), label_columns.from_arrow(texts) if labelled else None


def _ids(column: pa.ChunkedArray, names: pa.Array, source: Path) -> Int64Array:
    ids = pc.index_in(column.cast(pa.large_string()).combine_chunks(), names)
    if ids.null_count:
        raise OverlayFormatError(f"{source}: a label occurs that is not listed in nodes/ or topics/")
    return np.asarray(ids.to_numpy(zero_copy_only=False), dtype=np.int64)


def _whole_numbers(column: pa.ChunkedArray, where: str) -> Int64Array:
    if column.null_count or not pa.types.is_integer(column.type):
        raise OverlayFormatError(f"{where} is not a column of whole numbers")
    return np.asarray(column.to_numpy(), dtype=np.int64)


def _compare(table: pa.Table, name: str, order: Int64Array, expected: Int64Array, where: str) -> None:
    """Compare a column that can be counted from other tables with what they say."""
    if name in table.column_names:
        said = _whole_numbers(table[name], f"{where}: {name}")[order]
        if not np.array_equal(said, expected):
            raise OverlayFormatError(f"{where} contradict each other in {name}; the overlay is damaged, write it again")
