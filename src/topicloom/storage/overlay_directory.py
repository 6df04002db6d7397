"""The overlay directory: Parquet and JSON that any Spark, pandas, DuckDB or GraphFrames user can read.

::

    subscriptions/   node, topic                      the cleaned interest that it was built for
    links/           src, dst, shared_topics, order   labels, the smaller id first
    nodes/           id, topic_count, degree
    topics/          topic, subscribers, links, components, diameter (null when it is not connected), diameter_sampled
    rejected/        file, raw, node, topic, reason   input rows that were not used
    metrics.json     the figures of `Metrics`
    run.json         format, method, options, seed, fingerprint, versions, counts, seconds per stage

This module reads and writes it without Spark; ``pipeline/`` writes the same with Spark.
"""

import json
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from topicloom.errors import InputNotFoundError, OverlayFormatError
from topicloom.model import labels as label_columns
from topicloom.model.arrays import Int32Array, Int64Array, degrees
from topicloom.model.interest import Interest
from topicloom.storage.atomic import recover, whole_directory
from topicloom.version import __version__

FORMAT = 1
_LINKS_AT_ONCE = 1 << 16
REJECTED = pa.schema([(name, pa.string()) for name in ("file", "raw", "node", "topic", "reason")])


def save(
    destination: Path,
    interest: Interest,
    links: Int32Array,
    *,
    topic_columns: Mapping[str, pa.Array],
    metrics: Mapping[str, Any],
    run: Mapping[str, Any],
    overwrite: bool = False,
) -> None:
    """Write an overlay directory, whole or not at all."""
    node_names, topic_names = (
        _names(interest.node_labels, interest.n_nodes),
        _names(interest.topic_labels, interest.n_topics),
    )
    tables = {
        "subscriptions": pa.table(
            {
                "node": node_names.take(pa.array(interest.nodes)),
                "topic": topic_names.take(pa.array(interest.topics)),
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
        "rejected": REJECTED.empty_table(),
    }
    with whole_directory(destination, overwrite=overwrite) as staging:
        for name, table in tables.items():
            (staging / name).mkdir()
            pq.write_table(table, staging / name / "part-00000.parquet")
        write_json(staging / "metrics.json", metrics)
        write_json(staging / "run.json", {**run_header(), **run, "labels": interest.node_labels is not None})


def load(source: Path) -> tuple[Interest, Int32Array, dict[str, Any]]:
    """Interest, links in the order added, and ``run.json`` of an overlay directory."""
    recover(source)
    if not source.is_dir():
        raise InputNotFoundError(f"{source} is not a directory")
    run = read_run(source)
    nodes, topics = _read(source, "nodes", ["id"]), _read(source, "topics", ["topic"])
    subscriptions = _read(source, "subscriptions", ["node", "topic"])
    links = _read(source, "links", ["src", "dst", "order"]).sort_by("order")
    node_names, node_labels = _index(nodes["id"], labelled=run.get("labels", True))
    topic_names, topic_labels = _index(topics["topic"], labelled=run.get("labels", True))
    node_ids = _ids(subscriptions["node"], node_names, source)
    order = np.argsort(node_ids, kind="stable")
    indptr = np.zeros(len(node_names) + 1, np.int64)
    np.cumsum(np.bincount(node_ids, minlength=len(node_names)), out=indptr[1:])
    interest = Interest.from_csr(
        indptr,
        _ids(subscriptions["topic"], topic_names, source)[order],
        len(topic_names),
        node_labels=node_labels,
        topic_labels=topic_labels,
    )
    ends = [_ids(links[name], node_names, source) for name in ("src", "dst")]
    return interest, np.column_stack(ends).astype(np.int32), run


def read_run(source: Path) -> dict[str, Any]:
    """Contents of ``run.json``; refuses a folder that is not an overlay directory of a known format."""
    try:
        run = json.loads((source / "run.json").read_text(encoding="utf-8"))
        version = run["format"]
    except (OSError, ValueError, KeyError, TypeError):
        raise OverlayFormatError(f"{source} is not an overlay directory: it has no readable run.json") from None
    if version != FORMAT:
        raise OverlayFormatError(f"{source} has overlay format {version}; this version reads format {FORMAT}")
    return dict(run)


def run_header() -> dict[str, Any]:
    """What every ``run.json`` starts with."""
    versions = {
        "topicloom": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pyarrow": pa.__version__,
    }
    return {"format": FORMAT, "versions": versions}


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """JSON with an indent, as strict parsers accept it (no NaN)."""
    path.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def shared_topics(interest: Interest, links: Int32Array) -> Int64Array:
    """For every link, how many topics both ends want: O(links × mean topics a node) by sorted merging."""
    lower = interest.indptr[links[:, 0]]
    sizes = interest.indptr[links[:, 0] + 1] - lower
    counts = np.empty(len(links), np.int64)
    wanted = interest.nodes.astype(np.int64) * max(interest.n_topics, 1) + interest.topics
    for start in range(0, len(links), _LINKS_AT_ONCE):
        part = slice(start, start + _LINKS_AT_ONCE)
        link_of = np.repeat(np.arange(len(sizes[part])), sizes[part])
        offsets = np.arange(len(link_of)) - np.repeat(np.cumsum(sizes[part]) - sizes[part], sizes[part])
        topic = interest.topics[lower[part][link_of] + offsets]
        keys = links[part, 1][link_of].astype(np.int64) * max(interest.n_topics, 1) + topic
        at = np.minimum(np.searchsorted(wanted, keys), len(wanted) - 1)
        counts[part] = np.bincount(link_of[wanted[at] == keys], minlength=len(sizes[part]))
    return counts


def _names(labels: npt.ArrayLike | None, count: int) -> pa.Array:
    return label_columns.to_arrow(labels) if labels is not None else pa.array(np.arange(count)).cast(pa.large_string())


def _read(source: Path, part: str, columns: list[str]) -> pa.Table:
    try:
        table = pq.read_table(source / part, columns=columns)
    except (OSError, pa.ArrowException) as error:
        raise OverlayFormatError(f"{source}: {part}/ cannot be read ({error})") from None
    missing = set(columns) - set(table.column_names)
    if missing:
        raise OverlayFormatError(f"{source}: {part}/ has no column {sorted(missing)[0]!r}")
    return table


def _index(names: pa.ChunkedArray, *, labelled: bool) -> tuple[pa.Array, label_columns.Labels | None]:
    """Names in id order, and as labels if they were not ids to begin with."""
    texts = names.cast(pa.large_string()).combine_chunks()
    order = pc.sort_indices(texts if labelled else texts.cast(pa.int64()))
    texts = texts.take(order)
    return texts, label_columns.from_arrow(texts) if labelled else None


def _ids(column: pa.ChunkedArray, names: pa.Array, source: Path) -> Int64Array:
    ids = pc.index_in(column.cast(pa.large_string()).combine_chunks(), names)
    if ids.null_count:
        raise OverlayFormatError(f"{source}: a label occurs that is not listed in nodes/ or topics/")
    return np.asarray(ids.to_numpy(zero_copy_only=False), dtype=np.int64)
