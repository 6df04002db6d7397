"""Parquet to rows of labels."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from topicloom.errors import MissingColumnError, UnreadableInputError
from topicloom.files.read.layout import Constant, Layout, Pick, picked
from topicloom.files.read.read_options import ReadOptions
from topicloom.files.read.rows import RowBuilder, as_labels, as_roles, usable_batch
from topicloom.model.labels import label_of

_ROWS_AT_ONCE = 1 << 17


def open_parquet(raw: BinaryIO, name: str) -> pq.ParquetFile:
    """A Parquet file, or an error that says that it is none."""
    try:
        file = pq.ParquetFile(raw)
        file.schema_arrow  # noqa: B018 - names that are no text are found out here
        return file
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise UnreadableInputError(f"{name} is not a whole Parquet file: {_first_line(error)}") from None


def parquet_layout(
    file: pq.ParquetFile, options: ReadOptions, name: str, *, partitions: Mapping[str, str | None]
) -> Layout:
    """Which columns hold the labels.

    Raises
    ------
    MissingColumnError
        One is missing, or holds neither text nor whole numbers (topics: nor lists of them).
    """
    schema = file.schema_arrow
    picks = picked(schema.names, options, partitions, name)
    for which, pick in enumerate(picks):
        if isinstance(pick, str):
            kind = _value_type(schema.field(pick).type)
            if which == 1 and _is_list(kind):
                kind = _value_type(kind.value_type)
            if not _is_label(kind):
                raise MissingColumnError(
                    f"column {pick!r} of {name} holds {kind}; labels are text or whole numbers"
                    + (", topics also lists of them" if which == 1 else "")
                )
    return Layout(*picks, tuple(schema.names))


class ParquetReader:
    """Turns row groups of a Parquet file into batches of rows. The number of a row counts from 1."""

    def __init__(self, layout: Layout, file: str, words: tuple[str, str], topics_separator: str | None) -> None:
        self._layout, self._file, self._topics_separator = layout, file, topics_separator
        self._builder = RowBuilder(file, words, trim=layout.trim)

    def batches(self, parquet: pq.ParquetFile, groups: Sequence[int], row: int) -> Iterator[pa.RecordBatch]:
        """Batches of all rows of the groups. The first row has the number given."""
        layout = self._layout
        names = [pick for pick in (layout.first, layout.second, layout.role) if isinstance(pick, str)]
        try:
            for part in parquet.iter_batches(_ROWS_AT_ONCE, row_groups=list(groups), columns=names or None):
                yield self._batch(part, row)
                row += len(part)
        except (pa.ArrowException, OSError, UnicodeError) as error:
            raise UnreadableInputError(f"{self._file} is a damaged Parquet file: {_first_line(error)}") from None

    def _batch(self, part: pa.RecordBatch, row: int) -> pa.RecordBatch:
        layout = self._layout
        first, second = (_column(pick, part) for pick in (layout.first, layout.second))
        role = None if layout.role is None else _column(layout.role, part)
        numbers = pa.array(range(row, row + len(part)), pa.int64())
        if self._topics_separator and not _is_list(second.type):
            second = pc.split_pattern(second.cast(pa.binary()), self._topics_separator.encode())
        if _is_list(second.type):
            whole = second
            second = pc.list_flatten(whole)
            parents = pc.list_parent_indices(whole)
            empty = pc.indices_nonzero(pc.fill_null(pc.equal(pc.list_value_length(whole), 0), True))
            if len(empty):  # a row without topics is rejected as one row
                parents = pa.concat_arrays([parents.cast(pa.int64()), empty.cast(pa.int64())])
                second = pa.concat_arrays([second, pa.nulls(len(empty), second.type)])
                order = pc.sort_indices(parents)
                parents, second = parents.take(order), second.take(order)
            first, numbers = first.take(parents), numbers.take(parents)
            role = None if role is None else role.take(parents)
        labels = [as_labels(_texts(column), trim=layout.trim) for column in (first, second)]
        roles = None if role is None else as_roles(pc.fill_null(_texts(role), b""))
        if labels[0] is not None and labels[1] is not None and (role is None or roles is not None):
            return usable_batch(labels[0], labels[1], roles)
        given = [_texts(first), _texts(second), pa.nulls(len(first), pa.binary()) if role is None else _texts(role)]
        for number, node, topic, said in zip(numbers.to_pylist(), *(column.to_pylist() for column in given)):
            shown = b", ".join(b"null" if value is None else value for value in (node, topic))
            self._builder.add(number, shown, node, topic, said)
        return self._builder.batch()


def _column(pick: Pick, part: pa.RecordBatch) -> pa.Array:
    if isinstance(pick, Constant):
        label, _ = label_of(pick.value, "")
        return pa.repeat(pa.scalar(pick.value if label is None else label, pa.string()), part.num_rows)
    column = part.column(str(pick))
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _texts(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_integer(column.type):
        column = column.cast(pa.string())
    return column.cast(pa.binary())


def _value_type(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_list(kind: Any) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _is_label(kind: Any) -> bool:
    checks = (
        pa.types.is_integer, pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_binary,
        pa.types.is_large_binary,
    )  # fmt: skip
    return any(check(kind) for check in checks)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
