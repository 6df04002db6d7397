"""A stream's memory in the database of a durable state: which batches and event ids it has taken in.

What a batch tells the world (an outbox) is committed together with the links that it changed, and forgotten when it has
been handed out: after a crash it is handed out again, word for word. The rows of both have a sum, as those of the
state have: an id that is missing would let an event be applied twice.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from topicloom.churn.event_json import change_line
from topicloom.churn.events import Event
from topicloom.churn.integrity import as_text, row_sum
from topicloom.churn.state_file import in_words
from topicloom.churn.store import Store
from topicloom.errors import StateFormatError
from topicloom.model import Change

_TABLES = (
    "CREATE TABLE IF NOT EXISTS seen (id TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS outbox (batch INTEGER PRIMARY KEY, changes TEXT NOT NULL, rejected TEXT NOT NULL)",
)
_IDS_AT_ONCE = 500
_SUM = "journal_sum"


class Also(Protocol):
    """Writes into the transaction in which events are committed."""

    def __call__(self, database: sqlite3.Connection, *, events: Sequence[Event], change: Change) -> None: ...


class JournalEntry(NamedTuple):
    """What a batch tells the world: a `change_line`, and rows of `rejected_row`."""

    batch: int
    changes: dict[str, Any]
    rejected: list[dict[str, Any]]


class Journal:
    """Batches and event ids that a stream has taken in, and what it still has to hand out."""

    def __init__(self, store: Store) -> None:
        self._store, self._database = store, store.database

    def prepare(self) -> None:
        """Create the tables, or check their rows where they exist. O(ids).

        Raises
        ------
        StateFormatError
            Rows are missing, or are not those that were written.
        """
        with in_words(self._store.path):
            tables = {name for (name,) in self._database.execute("SELECT name FROM sqlite_master")}
            known = self._fact(_SUM)
            if not {"seen", "outbox"} & tables and known in (None, as_text(0)):
                with self._store.transaction() as database:
                    for statement in _TABLES:
                        database.execute(statement)
                    _put_sum(database, 0)
                return
            found = sum(map(_sum_of, self._database.execute("SELECT 'seen', id FROM seen")))
            found += sum(map(_sum_of, self._database.execute("SELECT 'outbox', * FROM outbox")))
            if known is None:  # version 0.1 kept no sum
                with self._store.transaction() as database:
                    _put_sum(database, found)
            elif known != as_text(found):
                raise StateFormatError(f"{self._store.path} is damaged: it has lost ids or changes that a stream wrote")

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
        """Return the keys (`id_key`) among these that earlier batches held."""
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
        """Record a batch within the transaction that commits its events."""
        changes = json.dumps(change_line(batch, events, change))
        run = database.executemany
        seen, entry = [(key,) for key in keys], (batch, changes, json.dumps(list(rejected)))
        run("INSERT INTO seen VALUES (?)", seen)
        run("INSERT INTO outbox VALUES (?, ?, ?)", [entry])
        facts = {"batch": batch, "fingerprint": fingerprint, "query": query}
        run("INSERT OR REPLACE INTO meta VALUES (?, ?)", facts.items())
        new = sum(_sum_of(("seen", *row)) for row in seen) + _sum_of(("outbox", *entry))
        _put_sum(database, int(self._fact(_SUM), 16) + new)

    def to_hand_out(self) -> list[JournalEntry]:
        """Return the batches that were committed and may not have been handed out."""
        with in_words(self._store.path):
            rows = self._database.execute("SELECT batch, changes, rejected FROM outbox ORDER BY batch").fetchall()
            return [JournalEntry(batch, json.loads(changes), json.loads(rejected)) for batch, changes, rejected in rows]

    def handed_out(self, batch: int) -> None:
        """Forget what a batch had to tell."""
        with self._store.transaction() as database:
            gone = database.execute("SELECT 'outbox', * FROM outbox WHERE batch = ?", (batch,)).fetchall()
            database.execute("DELETE FROM outbox WHERE batch = ?", (batch,))
            _put_sum(database, int(self._fact(_SUM), 16) - sum(map(_sum_of, gone)))

    def _fact(self, key: str) -> Any:
        found = self._database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if found is None else found[0]


def _sum_of(row: Sequence[Any]) -> int:
    return row_sum(*(value if isinstance(value, bytes) else str(value).encode() for value in row))


def _put_sum(database: sqlite3.Connection, total: int) -> None:
    database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_SUM, as_text(total)))


def id_key(number: int | str) -> str:
    """Turn an event id into the journal's key. 1 and "1" have different keys."""
    return json.dumps(number)
