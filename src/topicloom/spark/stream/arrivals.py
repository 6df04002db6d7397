"""Turn the rows of a micro-batch into events in their order, and set those apart that cannot be read."""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.churn.event_json import parse_line, raw_text
from topicloom.churn.events import Event
from topicloom.churn.journal import id_key
from topicloom.errors import InvalidEventError, MissingColumnError

VALUE = "value"
NEEDED = ("event", "node")
COLUMNS = (*NEEDED, "topics", "at", "id")
FILE, BLOCK = "_file", "_block"
# What gives rows without times their order: places in files, or the offsets of Kafka's partitions.
_ORDERS = ((FILE, BLOCK), ("topic", "partition", "offset"), ("partition", "offset"))


class Arrival(NamedTuple):
    """A row of a batch: what was given, where it came from, and the event in it or why there is none."""

    raw: Any
    file: str | None
    event: Event | None
    reason: str | None

    @property
    def key(self) -> str | None:
        """The key by which an event that arrives again is recognised, None without an id."""
        number = self.event.id if self.event is not None else self.raw.get("id") if isinstance(self.raw, dict) else None
        return id_key(number) if isinstance(number, int | str) and not isinstance(number, bool) else None


def check_columns(events: DataFrame) -> None:
    """Refuse a table that has neither a column of JSON nor the columns of an event."""
    if VALUE in events.columns or set(NEEDED) <= set(events.columns):
        return
    missing = next(name for name in NEEDED if name not in events.columns)
    raise MissingColumnError(
        f"missing column {missing!r}: events have the columns {', '.join(COLUMNS)}, or one column {VALUE!r} with JSON; "
        f"the table has {', '.join(events.columns) or 'none'}"
    )


def arrivals(batch: DataFrame) -> list[Arrival]:
    """Collect the rows of a batch in the order of files and lines, or of Kafka's offsets, without blank lines."""
    parsed = set(NEEDED) <= set(batch.columns)
    wanted = [F.col(name) for name in COLUMNS if name in batch.columns] if parsed else [F.col(VALUE).cast("binary")]
    order = next((names for names in _ORDERS if set(names) <= set(batch.columns)), ())
    keys = [F.col(name).alias(f"order{x}") for x, name in enumerate(order)]
    keys.append(F.monotonically_increasing_id().alias(f"order{len(order)}"))  # rises along a block of a file
    table = batch.select(*wanted, *keys).toArrow()
    table = table.sort_by([(f"order{x}", "ascending") for x in range(len(keys))])
    files = table["order0"].to_pylist() if order and order[0] == FILE else [None] * len(table)
    rows = _rows(table.select([name for name in table.column_names if not name.startswith("order")]))
    return [_arrival(row, file) for row, file in zip(rows, files) if not _blank(row)]


def fingerprint(found: Iterable[Arrival]) -> str:
    """Hash a batch. The order of its rows does not matter."""
    texts = sorted(raw_text(arrival.raw) for arrival in found)
    digest = hashlib.blake2b(digest_size=16)
    for text in texts:
        digest.update(f"{len(text)}:".encode() + text.encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def _rows(table: pa.Table) -> Iterator[Any]:
    """Yield each row as bytes of JSON, as a dictionary, or as the error of text that is not UTF-8."""
    if table.column_names == [VALUE]:
        yield from table[VALUE].to_pylist()
        return
    try:
        yield from table.to_pylist()
    except UnicodeDecodeError:
        for at in range(len(table)):
            row = table.slice(at, 1)
            try:
                yield row.to_pylist()[0]
            except UnicodeDecodeError as error:
                yield error


def _blank(row: Any) -> bool:
    return row is None or (isinstance(row, bytes) and not row.strip())


def _arrival(row: Any, file: str | None) -> Arrival:
    if isinstance(row, UnicodeDecodeError):
        return Arrival(row.object, file, None, f"it is not valid UTF-8: {row.reason}")
    try:
        given = parse_line(row) if isinstance(row, bytes) else row
    except InvalidEventError as error:
        return Arrival(row, file, None, str(error))
    try:
        return Arrival(given, file, Event.read(given), None)
    except InvalidEventError as error:
        return Arrival(given, file, None, str(error))
