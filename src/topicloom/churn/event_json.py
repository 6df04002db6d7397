"""Events as lines of JSON, and what is told of batches: link changes and rejected events, as rows and lines.

``topicloom churn`` and the stream write the same; only how it is cut into files differs.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from topicloom.churn.events import Event
from topicloom.errors import InvalidEventError
from topicloom.model import Change
from topicloom.model.change import rows_told
from topicloom.model.labels import REJECTED

CHANGES = pa.schema(
    [("batch", pa.int64()), *((name, pa.string()) for name in ("event", "node", "id", "action", "src", "dst"))]
)
BATCH_REJECTED = pa.schema([("batch", pa.int64()), *REJECTED])


def parse_line(line: bytes) -> Any:
    """Parse a line of JSON.

    Raises
    ------
    InvalidEventError
        It is not JSON in UTF-8, or nested too deeply to be read.
    """
    try:
        return json.loads(line)
    except ValueError as error:
        raise InvalidEventError(f"it is not JSON: {error}") from None
    except RecursionError:
        raise InvalidEventError("it is not an event: its JSON is nested too deeply") from None


def change_line(batch: int, events: Iterable[Event], change: Change) -> dict[str, Any]:
    """Describe a batch as a line of ``changes.jsonl``: events, links added and removed, and rows if these are told."""
    line = {
        "batch": batch,
        "events": [event.to_dict() for event in events],
        "added": [list(link) for link in change.added],
        "removed": [list(link) for link in change.removed],
    }
    return line if change.rows is None else {**line, "rows": rows_told(change.rows)}


def change_rows(line: dict[str, Any]) -> list[dict[str, Any]]:
    """Turn a line of `change_line` into rows of `CHANGES`, one for each link. A batch of one event names the event."""
    single: dict[str, Any] = line["events"][0] if len(line["events"]) == 1 else {}
    number = single.get("id")
    head = {
        "batch": line["batch"],
        "event": single.get("event"),
        "node": single.get("node"),
        "id": None if number is None else str(number),
    }
    return [
        {**head, "action": action, "src": src, "dst": dst}
        for action, links in (("remove", line["removed"]), ("add", line["added"]))
        for src, dst in links
    ]


def rejected_row(file: str | None, event: Any, reason: str) -> dict[str, Any]:
    """Describe a rejected event as a row of ``rejected/``."""
    given = event.to_dict() if isinstance(event, Event) else event
    node = given.get("node") if isinstance(given, dict) else None
    return {
        "file": file,
        "line": None,  # an event has lost its line; one that is no JSON names it in its reason
        "raw": raw_text(given),
        "node": node if isinstance(node, str) and node.isprintable() else None,
        "topic": None,
        "reason": reason,
    }


def raw_text(given: Any) -> str:
    """Turn what was given into text that any file takes."""
    if isinstance(given, bytes):
        return given.decode("utf-8", "replace")
    if isinstance(given, str):
        return given.encode("utf-8", "backslashreplace").decode()  # JSON may hold half a surrogate pair
    return json.dumps(given, default=str)


def table(rows: Sequence[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    """Make an Arrow table of rows, also when there are none."""
    return pa.Table.from_pylist(list(rows), schema)
