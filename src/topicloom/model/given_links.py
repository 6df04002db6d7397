"""Links as people have them (pairs, tables, graphs, overlays; by label or by id) to ids of an interest."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.errors import InvalidLinksError
from topicloom.model import labels as label_columns
from topicloom.model.arrays import Int32Array, normalized_links
from topicloom.model.interest import Interest

TEXT_IS_A_LABEL = "in links, text is a label and an integer is an id"


def link_ids(interest: Interest, links: Any) -> Int32Array:
    """Links as an (m, 2) int32 array of ids with u < v, in the given order, repeats dropped.

    Text is a label and an integer is an id.

    Parameters
    ----------
    interest : Interest
    links : Overlay, pairs, table or graph
        An `Overlay`, also of another interest with the same labels; an (m, 2) array or a list of pairs, of ids or of
        labels; a pandas, polars or Arrow table, or a mapping, with columns ``src`` and ``dst``; a networkx graph.

    Raises
    ------
    InvalidLinksError
        Wrong shape, an unknown node, a node linked to itself, labels for an interest without labels, or a table or
        graph of integers for an interest with labels.

    Examples
    --------
    >>> interest = Interest.from_pairs(["a", "b", "c"], ["news"] * 3)
    >>> link_ids(interest, [("b", "a"), ("b", "c")]).tolist()
    [[0, 1], [1, 2]]
    """
    if isinstance(links, np.ndarray) and links.dtype.kind in "iu":
        return normalized_links(links, interest.n_nodes)
    if hasattr(links, "links") and isinstance(getattr(links, "interest", None), Interest):
        return _of_overlay(interest, links)
    if hasattr(links, "edges") and hasattr(links, "nodes"):
        return _of_columns(interest, *_columns(list(links.edges())), what="graph")
    if isinstance(links, Mapping) or hasattr(links, "columns"):
        return _of_columns(interest, *_of_table(links), what="table")
    if isinstance(links, str) or not hasattr(links, "__iter__"):
        raise InvalidLinksError(f"links are {type(links).__name__}; an Overlay, pairs, a table or a graph are accepted")
    given = links if isinstance(links, np.ndarray) else list(links)
    if len(given) and _holds_text(given):
        return _of_columns(interest, *_columns(given), what="list")
    try:
        return normalized_links(given, interest.n_nodes)
    except ValueError as error:
        raise (
            error if isinstance(error, InvalidLinksError) else InvalidLinksError(f"links are no pairs: {error}")
        ) from None


def _holds_text(given: Any) -> bool:
    if isinstance(given, np.ndarray):
        return given.dtype.kind in "UTO" and given.ndim == 2
    first = given[0]
    return isinstance(first, list | tuple | np.ndarray) and any(isinstance(end, str) for end in first)


def _columns(pairs: Any) -> tuple[list[Any], list[Any]]:
    for row, pair in enumerate(pairs):
        if len(pair) != 2:
            raise InvalidLinksError(f"link {row} has {len(pair)} ends, not two: {tuple(pair)!r}")
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def _of_table(table: Any) -> tuple[Any, Any]:
    names = getattr(table, "column_names", None) or list(table if isinstance(table, Mapping) else table.columns)
    for name in ("src", "dst"):
        if name not in names:
            listed = ", ".join(map(str, names))
            raise InvalidLinksError(f"a table of links has columns src and dst; this one has {listed or 'none'}")
    return table["src"], table["dst"]


def _of_columns(interest: Interest, src: Any, dst: Any, *, what: str) -> Int32Array:
    """Ids of the ends of links, given as two columns of labels or of ids."""
    ends = [_as_arrow(column) for column in (src, dst)]
    if not len(ends[0]):
        return normalized_links([], interest.n_nodes)
    kinds = {_kind(end) for end in ends}
    if kinds == {"text"}:
        return normalized_links(np.column_stack([_ids_of(interest, end) for end in ends]), interest.n_nodes)
    if kinds != {"ids"}:
        raise InvalidLinksError(f"{TEXT_IS_A_LABEL}; this {what} holds {' and '.join(sorted(kinds))}")
    if interest.node_labels is not None:
        raise InvalidLinksError(
            f"{TEXT_IS_A_LABEL}; this {what} holds integers, and the interest has labels: "
            "give labels as text, or ids as an (m, 2) array"
        )
    if any(end.null_count for end in ends):
        raise InvalidLinksError(f"a link of this {what} has a null end")
    return normalized_links(np.column_stack([end.to_numpy(zero_copy_only=False) for end in ends]), interest.n_nodes)


def _as_arrow(column: Any) -> pa.Array:
    try:
        array = pa.array(column) if not isinstance(column, pa.Array | pa.ChunkedArray) else column
    except (pa.ArrowException, TypeError) as error:
        raise InvalidLinksError(f"{TEXT_IS_A_LABEL}; these cannot be read: {error}") from None
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.chunks else pa.array([], array.type)
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _kind(column: pa.Array) -> str:
    if _is_text(column.type) or pa.types.is_null(column.type):
        return "text"
    return "ids" if pa.types.is_integer(column.type) else str(column.type)


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _ids_of(interest: Interest, texts: pa.Array) -> Any:
    if interest.node_labels is None:
        raise InvalidLinksError(f"{TEXT_IS_A_LABEL}; these links hold text, and the interest has no labels")
    ids = pc.index_in(texts.cast(pa.large_string()), label_columns.to_arrow(interest.node_labels))
    if ids.null_count:
        unknown = pc.unique(texts.filter(pc.is_null(ids)))
        example = unknown[0].as_py()
        if example is None:
            raise InvalidLinksError("a link has a null end")
        raise InvalidLinksError(
            f"links name {len(unknown):,} nodes that are not in the subscriptions, such as {example!r}"
        )
    return ids.to_numpy(zero_copy_only=False).astype(np.int64)


def _same_nodes(one: Interest, other: Interest) -> bool:
    if one.node_labels is None or other.node_labels is None:
        return one.n_nodes == other.n_nodes and one.node_labels is other.node_labels
    return np.array_equal(one.node_labels, other.node_labels)


def _of_overlay(interest: Interest, overlay: Any) -> Int32Array:
    """Links of an overlay, which may be that of another interest with labels."""
    own = overlay.interest
    if own is interest or _same_nodes(own, interest):
        return normalized_links(overlay.links, interest.n_nodes)
    if own.node_labels is None or interest.node_labels is None:
        raise InvalidLinksError(
            f"the overlay is one of {own.n_nodes:,} nodes and the interest has {interest.n_nodes:,}, "
            "and they have no labels by which to match them"
        )
    names = label_columns.to_arrow(own.node_labels)
    ends = [names.take(pa.array(overlay.links[:, side])) for side in (0, 1)]
    return _of_columns(interest, *ends, what="overlay")
