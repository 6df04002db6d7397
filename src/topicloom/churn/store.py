"""The state of a maintainer in SQLite: what was acknowledged is on disk, whenever the process dies.

One transaction per event or batch, with a write-ahead log. A killed process loses nothing that was committed;
``sync="full"`` waits for the disk as well, so that nothing is lost when the machine stops. Only what changed is
written: the rows of nodes whose topics or backups changed, topics and links that came or went. Primaries mirror backups
and are not stored. A lock on a file beside the database keeps a second writer out; it goes with the process that holds
it. Readers may look at any time.
"""

import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, Self

import numpy as np

from topicloom.churn.state import OverlayState
from topicloom.errors import (
    InputNotFoundError,
    InvalidOptionError,
    OutputExistsError,
    StateFormatError,
    StateInUseError,
)
from topicloom.model.arrays import Int32Array

FORMAT = 1
SYNCS = ("full", "normal")
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE topic (slot INTEGER PRIMARY KEY, label TEXT NOT NULL);
CREATE TABLE node (slot INTEGER PRIMARY KEY, label TEXT NOT NULL, topics BLOB NOT NULL, backups BLOB NOT NULL);
CREATE TABLE link (u INTEGER, v INTEGER, number INTEGER NOT NULL, PRIMARY KEY (u, v)) WITHOUT ROWID;
"""


class Store:
    """A database that one process may write."""

    def __init__(self, path: Path, lock: IO[bytes], database: sqlite3.Connection) -> None:
        self._path, self._lock, self._database = path, lock, database
        self._open = True

    @classmethod
    def open(cls, path: Path, sync: str = "full") -> Self:
        """Open a database, which may be new, for writing.

        Raises
        ------
        StateInUseError
            Another maintainer has it open.
        """
        if sync not in SYNCS:
            raise InvalidOptionError(f"sync is {sync!r}; {', '.join(SYNCS)} are accepted")
        if not path.parent.is_dir():
            raise InputNotFoundError(f"{path.parent} is not a directory; the state {path.name} cannot be kept there")
        try:
            lock = path.with_name(path.name + "-lock").open("ab")
        except OSError as error:
            raise OutputExistsError(f"cannot write {path}: {error.strerror}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise StateInUseError(f"{path} is open for writing in another process; close that one first") from None
        try:
            # A stream hands its batches over on threads of its own, one after the other.
            database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            database.execute("PRAGMA journal_mode = WAL")
            database.execute(f"PRAGMA synchronous = {sync}")
        except sqlite3.Error as error:
            lock.close()
            raise StateFormatError(f"{path} cannot be opened as a state: {error}") from None
        return cls(path, lock, database)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Open a database to look at it as it is now, without keeping a writer out or waiting for one.

        Raises
        ------
        InputNotFoundError, StateFormatError
            There is no such file; it cannot be opened.
        """
        if not path.is_file():
            raise InputNotFoundError(f"{path} does not exist")
        try:
            database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", isolation_level=None, uri=True)
            database.execute("BEGIN")  # all that is read comes from one moment
        except sqlite3.Error as error:
            raise StateFormatError(f"{path} cannot be opened as a state: {error}") from None
        return cls(path, Path(os.devnull).open("rb"), database)

    @property
    def database(self) -> sqlite3.Connection:
        """The database, for tables that live beside the state."""
        return self._database

    @property
    def holds_state(self) -> bool:
        """Whether a state was ever committed."""
        found = self._database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'meta'").fetchone()
        return bool(found[0])

    def create(self, state: OverlayState, options: Mapping[str, Any], counts: Mapping[str, Any]) -> None:
        """Write a whole state, in one transaction."""
        self._database.execute("BEGIN IMMEDIATE")
        try:
            for statement in _TABLES.split(";"):
                self._database.execute(statement)
            facts = {**options, "format": FORMAT, "since": time.time()}
            self._database.executemany("INSERT INTO meta VALUES (?, ?)", facts.items())
            self._write(state, counts)
            self._database.execute("COMMIT")
        except BaseException:
            self._database.rollback()
            raise

    def commit(
        self,
        state: OverlayState,
        counts: Mapping[str, Any],
        *,
        also: Callable[[sqlite3.Connection], None] | None = None,
    ) -> None:
        """Write what has changed, the maintainer's counts and what ``also`` writes, in one transaction.

        When it returns, it is durable.

        If it fails, the state in memory is ahead of the disk: the store is closed, and the maintainer of no more use.
        """
        self.check_open()
        try:
            self._database.execute("BEGIN IMMEDIATE")
            self._write(state, counts)
            if also is not None:
                also(self._database)
            self._database.execute("COMMIT")
        except BaseException:
            self.close()
            raise

    def _write(self, state: OverlayState, counts: Mapping[str, Any]) -> None:
        put, drop = [], []
        for node in state.changed_nodes:
            label = state.nodes.labels[node] if node < len(state.nodes.labels) else None
            if label is None:
                drop.append((node,))
            else:
                put.append((node, label, _blob(state.rows.of(node)), _blob(state.backups.of(node))))
        run = self._database.executemany
        run("DELETE FROM node WHERE slot = ?", drop)
        run("INSERT OR REPLACE INTO node VALUES (?, ?, ?, ?)", put)
        topics = [(topic, state.topics.labels[topic]) for topic in state.changed_topics]
        run("DELETE FROM topic WHERE slot = ?", [(topic,) for topic, label in topics if label is None])
        run("INSERT OR REPLACE INTO topic VALUES (?, ?)", [pair for pair in topics if pair[1] is not None])
        links = [(*link, state.links.get(link)) for link in state.changed_links]
        run("DELETE FROM link WHERE u = ? AND v = ?", [link[:2] for link in links if link[2] is None])
        run("INSERT OR REPLACE INTO link VALUES (?, ?, ?)", [link for link in links if link[2] is not None])
        facts = {**counts, "next_link": state.next_link, "changed": time.time()}
        run("INSERT OR REPLACE INTO meta VALUES (?, ?)", facts.items())

    def facts(self) -> dict[str, Any]:
        """Options and counts of the state.

        Raises
        ------
        StateFormatError
            It is not a state of this version.
        """
        try:
            facts = dict(self._database.execute("SELECT key, value FROM meta"))
        except sqlite3.Error as error:
            raise StateFormatError(f"{self._path} is not a state of topicloom: {error}") from None
        if facts.get("format") != FORMAT:
            raise StateFormatError(
                f"{self._path} has state format {facts.get('format')!r}; this version reads format {FORMAT}"
            )
        return facts

    def load(self, state: OverlayState) -> None:
        """Fill an empty state: O(subscriptions + links + backups), however long its history."""
        query = self._database.execute
        state.topics.restore(query("SELECT slot, label FROM topic"))
        state.make_topics(len(state.topics.labels))
        state.nodes.restore(query("SELECT slot, label FROM node"))
        state.make_nodes(len(state.nodes.labels))
        for node, topics, backups in query("SELECT slot, topics, backups FROM node ORDER BY slot"):
            state.restore_node(node, _array(topics), _array(backups))
        links = query("SELECT u, v, number FROM link ORDER BY number").fetchall()
        ends = np.array(links, np.int64).reshape(-1, 3)[:, :2].astype(np.int32)
        state.add_links(ends[:, 0], ends[:, 1])
        state.links = {(u, v): number for u, v, number in links}
        state.next_link = self.facts()["next_link"]
        state.settle()

    def check_open(self) -> None:
        """Refuse to go on when the store is closed."""
        if not self._open:
            raise StateInUseError(f"{self._path} is closed; open it again to go on")

    def close(self) -> None:
        """Give the database up for another writer."""
        if self._open:
            self._open = False
            self._database.close()
            self._lock.close()


def _blob(numbers: Int32Array) -> bytes:
    return numbers.astype("<i4").tobytes()


def _array(blob: bytes) -> Int32Array:
    return np.frombuffer(blob, "<i4").astype(np.int32)
