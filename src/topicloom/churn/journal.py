"""A stream's memory in the database of a durable state: which batches and event ids it has taken in.

What a batch tells the world (an outbox) is committed together with the links that it changed, and forgotten when it has
been handed out: after a crash it is handed out again, word for word.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from topicloom.churn.event_json import change_line
from topicloom.churn.events import Event
from topicloom.model import Change

_TABLES = (
    "CREATE TABLE IF NOT EXISTS seen (id TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS outbox (batch INTEGER PRIMARY KEY, changes TEXT NOT NULL, rejected TEXT NOT NULL)",
)
_IDS_AT_ONCE = 500


class Also(Protocol):
    """Writes into the transaction in which events are committed."""

    def __call__(self, database: sqlite3.Connection, *, events: Sequence[Event], change: Change) -> None: ...


class Entry(NamedTuple):
    """What a batch tells the world: a `change_line`, and rows of `rejected_row`."""

    batch: int
    changes: dict[str, Any]
    rejected: list[dict[str, Any]]


class Journal:
    """Batches and event ids that a stream has taken in, and what it still has to hand out."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def prepare(self) -> None:
        """Make the tables, if they are not there."""
        for statement in _TABLES:
            self._database.execute(statement)

    @property
    def last_batch(self) -> int | None:
        """Number of the last batch taken in."""
        number: int | None = self._fact("batch")
        return number

    @property
    def fingerprint(self) -> str | None:
        """Fingerprint of what arrived with the last batch."""
        digest: str | None = self._fact("fingerprint")
        return digest

    @property
    def query(self) -> str | None:
        """The streaming query that numbers the batches."""
        query: str | None = self._fact("query")
        return query

    def seen(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys (`id_key`) that earlier batches held."""
        wanted, found = list(keys), set()
        for start in range(0, len(wanted), _IDS_AT_ONCE):
            part = wanted[start : start + _IDS_AT_ONCE]
            marks = ",".join("?" * len(part))
            found |= {key for (key,) in self._database.execute(f"SELECT id FROM seen WHERE id IN ({marks})", part)}
        return found

    def record(
        self,
        database: sqlite3.Connection,
        *,
        events: Sequence[Event],
        change: Change,
        batch: int,
        query: str,
        fingerprint: str,
        keys: Iterable[str],
        rejected: Sequence[dict[str, Any]],
    ) -> None:
        """Write down a batch, within the transaction that commits its events."""
        changes = json.dumps(change_line(batch, events, change))
        run = database.executemany
        run("INSERT INTO seen VALUES (?)", [(key,) for key in keys])
        run("INSERT INTO outbox VALUES (?, ?, ?)", [(batch, changes, json.dumps(list(rejected)))])
        facts = {"batch": batch, "fingerprint": fingerprint, "query": query}
        run("INSERT OR REPLACE INTO meta VALUES (?, ?)", facts.items())

    def to_hand_out(self) -> list[Entry]:
        """Batches that were committed and, as far as is known, not handed out yet."""
        rows = self._database.execute("SELECT batch, changes, rejected FROM outbox ORDER BY batch").fetchall()
        return [Entry(batch, json.loads(changes), json.loads(rejected)) for batch, changes, rejected in rows]

    def handed_out(self, batch: int) -> None:
        """Forget what a batch had to tell."""
        self._database.execute("DELETE FROM outbox WHERE batch = ?", (batch,))

    def _fact(self, key: str) -> Any:
        found = self._database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if found is None else found[0]


def id_key(number: int | str) -> str:
    """An event id as the journal knows it: 1 and "1" are two."""
    return json.dumps(number)
